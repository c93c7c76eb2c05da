# SPDX-License-Identifier: MIT
"""What `nfsproof new-check` is to write: an id and options, checked against the rules for ids and what is there."""

from __future__ import annotations

import ast
import importlib
import re
import typing as t
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fixtures.ids import OF_SEVERAL, folders, id_of, operations, protocols_of, subject_of, violations
from nfsclient.rpc.program import AnyOperation, Operation
from nfsclient.similar import similar_text
from nfsjudge import Level
from nfsproof.newcheck.source import Source
from nfsproof.unfilled import MARK, NAME
from reports.coverage.tables import read_tables
from reports.idlist import IdList

_SECTION = re.compile(r"(?:rfc\s*(?P<rfc>\d+)[\s:]+)?(?P<section>[0-9A-Z]+(?:\.[0-9A-Z]+)*)", re.IGNORECASE)
_STEM = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_LONGEST_TITLE = 108
DECLARES: t.Final = frozenset(level.lower() for level in Level)
"""The functions that declare a clause: `must`, `stated`, ... of nfsjudge."""


class CannotMake(Exception):
    """Why the check cannot be made: says what was expected, what was seen and what to do."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line says; empty: nothing was said."""

    id: str
    title: str = ""
    section: str = ""
    level: str = ""
    gist: str = ""
    clause: str = ""
    mutant: str = ""
    procedures: tuple[str, ...] = ()
    file: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause that the check proves."""

    name: str
    rfc: str
    section: str
    imported_from: str = ""
    """The module that declares it, when it is not the file of the check."""
    is_new: bool = False

    @property
    def citation(self) -> str:
        """Where it stands: RFC 1813 section 3.3.14."""
        return f"{self.rfc} {'section' if self.section[0].isdigit() else 'appendix'} {self.section}"


@dataclass(frozen=True, slots=True)
class Bent:
    """An operation with the name of its constant, and the module that has it."""

    constant: str
    module: str
    procedure: AnyOperation


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written, and where."""

    wish: Wish
    protocol: str
    subject: str
    slug: str
    stem: str
    clause: Clause
    mutant: str
    """With hyphens."""
    mutant_exists: bool
    bends: tuple[Bent, ...]

    @property
    def function(self) -> str:
        """The name of the check in Python."""
        return f"test_{self.slug.replace('-', '_')}"

    @property
    def suite_file(self) -> str:
        """Below the checkout."""
        return f"suites/{self.protocol}/test_{self.stem}.py"

    @property
    def mutant_file(self) -> str:
        """The file that mirrors it."""
        return f"nfsmutants/{self.protocol}/{self.stem}.py"


def make_plan(wish: Wish, root: Path) -> Plan:
    """Raises `CannotMake`."""
    protocol, subject, slug = _parts(wish.id, root)
    _check_texts(wish)
    stem = _stem(root, protocol, subject, slug, wish.file)
    file = root / "suites" / protocol / f"test_{stem}.py"
    if wish.after and (not file.exists() or _function(wish.after) not in Source(file).functions()):
        raise CannotMake(f"--after: no check {wish.after} in {file.relative_to(root)}")
    mutant, exists = _mutant(wish, protocol, subject, slug)
    return Plan(
        wish,
        protocol,
        subject,
        slug,
        stem,
        _clause(wish, root, file, protocol, subject, slug),
        mutant,
        exists,
        () if protocol == "rpc" or exists else _bends(wish, protocol, subject),
    )


def _function(word: str) -> str:
    """The function of a check, by its slug, its id or the name itself."""
    return "test_" + word.rpartition("/")[2].replace("-", "_").removeprefix("test_")


# ---------------------------------------------------------------- the id


def _parts(check_id: str, root: Path) -> tuple[str, str, str]:
    """Protocol, subject and slug of an id that is right and free."""
    wrong = violations(check_id)
    if wrong:
        raise CannotMake(f"{check_id}: {'; '.join(wrong)}")
    if "[" in check_id:
        raise CannotMake(f"{check_id}: name it without parameters; pytest.mark.parametrize adds them later")
    protocol, subject, slug = check_id.split("/")
    if protocol not in folders():
        raise CannotMake(f"{protocol} is no protocol of the suites: expected one of {', '.join(folders())}")
    known = operations(protocol)
    if subject.upper() in known and subject not in known:
        raise CannotMake(f"{subject} is an operation: write {protocol}/{subject.upper()}/{slug}")
    if subject not in known and _STEM.fullmatch(subject) is None:
        raise CannotMake(f"{subject} is no operation of {protocol}{_near(subject, known)}")
    listed = IdList.read(root / "suites" / "ids.txt")
    if check_id in listed.present | listed.functions:
        raise CannotMake(f"{check_id} is taken")
    now = listed.current(check_id)
    if now != check_id:
        raise CannotMake(
            f"{check_id} is the old name of {now}: baselines would follow it there; choose another"
        )
    if check_id in listed.gone:
        raise CannotMake(f"{check_id} is the name of a removed check: baselines may have it; choose another")
    return protocol, subject, slug


def _near(word: str, known: Iterable[str]) -> str:
    return similar_text(word, known, cutoff=0.5)


def _check_texts(wish: Wish) -> None:
    if len(wish.title) > _LONGEST_TITLE or "\n" in wish.title or "\\" in wish.title or '"' in wish.title:
        raise CannotMake(
            f"--title: expected one line of at most {_LONGEST_TITLE} characters without quotes and backslashes"
        )
    if "\n" in wish.gist or len(wish.gist) > 2 * _LONGEST_TITLE:
        raise CannotMake(f"--gist: expected one line of at most {2 * _LONGEST_TITLE} characters")


def _stem(root: Path, protocol: str, subject: str, slug: str, wanted: str) -> str:
    """The file's name without test_ and .py."""
    folder = root / "suites" / protocol
    stems = [path.stem.removeprefix("test_") for path in sorted(folder.glob("test_*.py"))]
    of_subject = [stem for stem in stems if subject_of(protocol, stem) == subject]
    check_id = f"{protocol}/{subject}/{slug}"
    for stem in of_subject:
        for function in Source(folder / f"test_{stem}.py").functions():
            if id_of(f"suites/{protocol}/test_{stem}.py::{function}") == check_id:
                raise CannotMake(f"{check_id} is taken: suites/{protocol}/test_{stem}.py has it")
    if wanted:
        stem = Path(wanted).stem.removeprefix("test_")
        if _STEM.fullmatch(stem) is None or subject_of(protocol, stem) != subject:
            raise CannotMake(
                f"--file: a check in test_{stem}.py would be about {subject_of(protocol, stem)}, not {subject}"
            )
        return stem
    if len(of_subject) > 1:
        raise CannotMake(f"{subject} has several files: --file {' or --file '.join(of_subject)}")
    if of_subject:
        return of_subject[0]
    if subject not in operations(protocol):
        subjects = {subject_of(protocol, stem) for stem in stems} | operations(protocol)
        raise CannotMake(
            f"{protocol} has no subject {subject}{_near(subject, subjects)}; --file {subject} makes it"
        )
    return subject.lower()


# ---------------------------------------------------------------- the clause


def _clause(wish: Wish, root: Path, file: Path, protocol: str, subject: str, slug: str) -> Clause:
    places = [
        (file, ""),
        (root / "suites" / protocol / "clauses.py", f"suites.{protocol}.clauses"),
        (root / "suites" / "clauses.py", "suites.clauses"),
    ]
    if wish.clause and not wish.clause.isidentifier():
        raise CannotMake(f"--clause: {wish.clause} is no name of a constant")
    known: list[str] = []
    for path, module in places if wish.clause else ():
        constants = Source(path).constants() if path.exists() else {}
        declared = {name: value for name, value in constants.items() if _is_requirement(value)}
        known += declared
        if wish.clause in declared:
            if wish.section or wish.level or wish.gist:
                raise CannotMake(
                    f"{wish.clause} is there: --section, --level and --gist are for a new clause"
                )
            return _declared(wish.clause, declared[wish.clause], module)
    if wish.clause and not (wish.section or wish.gist):
        raise CannotMake(
            f"no clause {wish.clause} in {' or '.join(str(path.relative_to(root)) for path, _ in places)}"
            f"{_near(wish.clause, known)}; with --section it becomes a new one, and one of another suite file moves to "
            "clauses.py first"
        )
    rfc, section = _section(wish.section, protocol, subject)
    name = wish.clause or f"{slug.replace('-', '_').upper()}_{NAME}"
    return Clause(name, rfc, section, is_new=True)


def _is_requirement(value: ast.expr) -> t.TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in DECLARES


def _declared(name: str, value: ast.Call, module: str) -> Clause:
    rfc, section = (
        str(argument.value) if isinstance(argument, ast.Constant) else MARK for argument in value.args[:2]
    )
    return Clause(name, rfc, section, imported_from=module)


def _section(word: str, protocol: str, subject: str) -> tuple[str, str]:
    """RFC and section; without a word those of the operation."""
    if word:
        found = _SECTION.fullmatch(word.strip())
        if found is None:
            raise CannotMake(f'--section: expected 3.3.14 or "RFC 1813 3.3.14", got {word}')
        return f"RFC {found['rfc']}" if found["rfc"] else _rfc_of(protocol), found["section"].upper()
    rfc = _rfc_of(protocol)
    title = re.compile(rf"\w+ \d+: {re.escape(subject)}\b", re.IGNORECASE)
    documents = [document for document in read_tables().documents if document.name == rfc]
    found_there = [
        each.number for document in documents for each in document.sections if title.match(each.title)
    ]
    if len(found_there) != 1:
        raise CannotMake(
            "which section of the RFC? --section 3.3.14, or --clause NAME for a clause that is there"
        )
    return rfc, found_there[0]


# ---------------------------------------------------------------- the mutant


def _mutant(wish: Wish, protocol: str, subject: str, slug: str) -> tuple[str, bool]:
    from nfsmutants import all_mutants

    names = {mutant.name for mutant in all_mutants()}
    if wish.mutant:
        name = wish.mutant.replace("_", "-").lower()
        if re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) is None:
            raise CannotMake(f"--mutant: {wish.mutant} has other characters than a-z, 0-9 and -")
        return name, name in names
    version = protocol[-1] if protocol[-1].isdigit() else ""
    operation = (
        subject.replace("_", "").lower() if subject in operations(protocol) else protocol.rstrip("234")
    )
    return f"{operation}{version}-fill-in-{slug}", False


def _rfc_of(folder: str) -> str:
    """The RFC of a section that is named without one."""
    if folder not in OF_SEVERAL:
        return protocols_of(folder)[0].rfc
    return str(importlib.import_module(f"suites.{folder}").RFC)


def _bends(wish: Wish, protocol: str, subject: str) -> tuple[Bent, ...]:
    """What the mutant bends: the procedures that are named, or the subject in its latest version."""
    words = wish.procedures or ((subject,) if subject in operations(protocol) else ())
    if not words:
        raise CannotMake(
            f"{subject} is no operation: --procedure NAME says what the mutant bends; may be repeated"
        )
    found = []
    constants = [
        Bent(name, module.__name__, value)
        for protocol in protocols_of(protocol)
        for module in protocol.loaded
        for name, value in vars(module).items()
        if isinstance(value, Operation)
    ]
    for word in words:
        fitting = [
            fitting_constant
            for fitting_constant in constants
            if word.upper() in {fitting_constant.constant, fitting_constant.procedure.name}
        ]
        if not fitting:
            names = {constant.constant for constant in constants}
            raise CannotMake(f"--procedure: {protocol} has no {word}{_near(word.upper(), names)}")
        exact = [constant for constant in fitting if constant.constant == word.upper()]
        found.append((exact or sorted(fitting, key=lambda fitting: fitting.procedure.version))[-1])
    return tuple(found)
