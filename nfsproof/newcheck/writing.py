# SPDX-License-Identifier: MIT
"""The texts of a new check and its mutant, and the files that get them."""

from __future__ import annotations

import ast
import importlib.util
import json
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfsjudge import Level
from nfsproof.newcheck.plan import DECLARES, Bent, CannotMake, Plan
from nfsproof.newcheck.source import Source, call_lines
from nfsproof.unfilled import MARK, NAME

_LONGEST_MODULE = 600
Fixtures: t.TypeAlias = tuple[tuple[str, str, str], ...]
"""What a check begins with: names of fixtures, their types, the modules of these. A folder of suites says its own."""
_BY_DEFAULT: t.Final[Fixtures] = (("wire", "MakeWire", "fixtures.checks.wire"),)
_HEADER = '# SPDX-License-Identifier: MIT\n"""{}"""\n\nfrom __future__ import annotations\n'


@dataclass(frozen=True, slots=True)
class Written:
    """One thing that was written, and where."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def write_check(plan: Plan, root: Path) -> list[Written]:
    """All files are made first, then written. Raises `CannotMake`."""
    suite = _open(root / plan.suite_file, _suite_header(plan))
    sources = [suite]
    _add_check(plan, suite)
    found = [Written(plan.suite_file, suite.line_of(f"def {plan.function}("), f"the check {plan.wish.id}")]
    if plan.clause.is_new:
        line = suite.line_of(f"{plan.clause.name} = ")
        found.insert(0, Written(plan.suite_file, line, f"its clause, {plan.clause.citation}"))
    if not plan.mutant_exists:
        bending = _open(root / plan.mutant_file, _mutant_header(plan))
        _add_mutant(plan, bending, after=_mutants_of(suite, _function_before(plan)))
        sources.append(bending)
        line = bending.line_of(f"def {plan.mutant.replace('-', '_')}(")
        found.append(Written(plan.mutant_file, line, f"its mutant {plan.mutant}"))
    for source in sources:
        if len(source.lines) > _LONGEST_MODULE:
            name = source.path.relative_to(root)
            raise CannotMake(
                f"{name} would have {len(source.lines)} lines, {_LONGEST_MODULE} are allowed: --file"
            )
    for source in sources:
        source.write()
    return found


def _open(path: Path, header: str) -> Source:
    return Source(path) if path.exists() else Source(path, _HEADER.format(header))


def _suite_header(plan: Plan) -> str:
    about = plan.subject if plan.subject.isupper() else f"{MARK}: what {plan.subject} is about"
    return f"{about} ({plan.clause.citation})."


def _mutant_header(plan: Plan) -> str:
    return f"Mutants that the checks in {plan.suite_file} catch."


# ---------------------------------------------------------------- the check


def _add_check(plan: Plan, suite: Source) -> None:
    name = f"suites.{plan.protocol}"
    folder = importlib.import_module(name) if importlib.util.find_spec(name) is not None else None
    fixtures: Fixtures = getattr(folder, "BEGINS_WITH", _BY_DEFAULT)
    for _, type_name, module in fixtures:
        suite.add_import(module, type_name)
    suite.add_import("nfsjudge", "proves")
    if plan.clause.imported_from:
        suite.add_import(plan.clause.imported_from, plan.clause.name)
    if plan.clause.is_new:
        _add_clause(plan, suite)
    mark, home = getattr(folder, "MARK", ("", ""))
    if mark:
        suite.add_import(home, mark)
    title = plan.wish.title or f"{MARK}: the claim in one sentence"
    arguments = ", ".join(name for name, _, _ in fixtures)
    suite.add_function(
        [
            *([f"@{mark}"] if mark else []),
            *call_lines("@proves", [plan.clause.name, f'killed_by="{plan.mutant}"'], ""),
            *call_lines(f"def {plan.function}", [f"{name}: {of}" for name, of, _ in fixtures], " -> None:"),
            f'    """{title.removesuffix(".")}."""',
            f"    {NAME}({arguments})  # arrange, do one act, judge one thing with expect()",
        ],
        after=_function_before(plan),
    )


def _function_before(plan: Plan) -> str:
    word = plan.wish.after.rpartition("/")[2].replace("-", "_")
    return f"test_{word.removeprefix('test_')}" if word else ""


def _add_clause(plan: Plan, suite: Source) -> None:
    if plan.clause.name in suite.names():
        raise CannotMake(f"{plan.suite_file} has something else that is named {plan.clause.name}")
    level = (plan.wish.level or Level.STATED).lower()
    suite.add_import("nfsjudge", level)
    gist = plan.wish.gist or f"{MARK}: the clause in your own words"
    words = [_quoted(plan.clause.rfc), _quoted(plan.clause.section), _quoted(gist)]
    lines = call_lines(f"{plan.clause.name} = {level}", words, "")
    if not plan.wish.level:
        inner = lines[1:-1] or [f"    {', '.join(words)}"]
        lines = [f"{plan.clause.name} = {level}(  # {MARK}: must or should, if the text says so", *inner, ")"]
    suite.add_constant(lines, like=DECLARES)


def _quoted(text: str) -> str:
    """As the formatter quotes it: with single quotes only where the text has double ones."""
    return (
        f"'{text}'"
        if '"' in text and "'" not in text and "\\" not in text
        else json.dumps(text, ensure_ascii=False)
    )


# ---------------------------------------------------------------- the mutant


def _mutants_of(suite: Source, check: str) -> tuple[str, ...]:
    """The functions of the mutants that a check names."""
    node = suite.functions().get(check)
    words = [word for call in node.decorator_list for word in _words(call, "killed_by")] if node else []
    return tuple(word.replace("-", "_") for word in words)


def _words(call: ast.expr, argument: str) -> Iterator[str]:
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        if keyword.arg == argument:
            for node in ast.walk(keyword.value):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def _add_mutant(plan: Plan, bending: Source, after: tuple[str, ...]) -> None:
    function = plan.mutant.replace("-", "_")
    if function in bending.names():
        raise CannotMake(f"{plan.mutant_file} has something else that is named {function}")
    if plan.protocol == "rpc":
        decorator, call, result, gives = _of_messages(bending)
    else:
        decorator, call, result, gives = _of_calls(plan, bending)
    about = plan.subject if plan.subject.isupper() else "the server"
    bending.add_function(
        [
            *decorator,
            *call_lines(f"def {function}", [call], f" -> {result}:"),
            f'    """{MARK}: what {about} does wrong, in one sentence"""',
            f"    return {NAME}({gives})",
        ],
        after=next((name for name in after if name in bending.functions()), ""),
    )


def _of_messages(bending: Source) -> tuple[list[str], str, str, str]:
    bending.add_import("nfsmutants.form", "Message")
    bending.add_import("nfsmutants.form", "wire_mutant")
    bending.add_import("nfsserver.middleware", "Answer")
    return ["@wire_mutant()"], "message: Message", "Answer", "message.proceed()"


def _of_calls(plan: Plan, bending: Source) -> tuple[list[str], str, str, str]:
    bending.add_import("nfsmutants.form", "mutant")
    constants = [bending.named(bend.module, bend.constant) for bend in plan.bends]
    if len(plan.bends) > 1:
        bending.add_typing()
        bending.add_import("nfsmutants.form", "AnyCall")
        bends = f"({', '.join(constants)})"
        return call_lines("@mutant", [bends], ""), "call: AnyCall", "t.Any", "call.proceed()"
    bent = plan.bends[0]
    result = _import_type(bending, bent, bent.procedure.res)
    alias = bent.procedure.name.capitalize()
    own = _alias_in(bending, bent.procedure.args.__name__)
    if own:
        call = own
    elif alias in _aliases(bending.path.parent / "calls.py"):
        bending.add_import(f"nfsmutants.{plan.protocol}.calls", alias)
        call = alias
    else:
        bending.add_import("nfsmutants.form", "Call")
        call = f"Call[{_import_type(bending, bent, bent.procedure.args)}, {result}]"
    return call_lines("@mutant", constants, ""), f"call: {call}", result, "call.proceed()"


def _alias_in(bending: Source, args: str) -> str:
    """The name that the file itself gives to calls with these arguments: ``Readlink = Call[p.Readlink4Args, ...]``."""
    for name, value in bending.constants().items():
        if isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Call":
            first = ast.unparse(value.slice).strip("()").partition(",")[0]
            if first.rpartition(".")[2] == args:
                return name
    return ""


def _aliases(path: Path) -> Iterator[str]:
    """The names of the types of calls that a protocol declares."""
    return iter(Source(path).constants() if path.exists() else ())


def _import_type(bending: Source, bent: Bent, of: type) -> str:
    """Its name, after it is imported: from the protocol, or from the module that has the type of all protocols."""
    module = bent.module if of.__module__.startswith(bent.module) else of.__module__
    return bending.named("nfsclient.xdr" if module.startswith("nfsclient.xdr.") else module, of.__name__)
