# SPDX-License-Identifier: MIT
"""A test that uses what `bin/nfsproof` does not install says so, with `needs` or `need` of tests/needs.py."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.needs import REQUIRED, TOOLS

ROOT = Path(__file__).resolve().parents[2]
MECHANISM = ROOT / "tests" / "needs.py"
STARTS = re.compile(r"subprocess\.(run|Popen|check_call|check_output)|(asyncio\.)?create_subprocess_exec")
STARTED_BY_ANOTHER = {"rpcbind_inside.py": "test_rpcbind.py"}
"""Programs that only a test starts, which declares what they use."""
EVERYWHERE = {"sh", "/bin/sh", "true", "cat", "env", "/usr/bin/env"}
"""Programs that every system of POSIX has."""
SELDOM = {tool.name for tool in TOOLS.values() if "nfsproof install" not in tool.get}
"""Programs that a command may begin with, and that a machine may lack."""
HEAD = 'import subprocess\nfrom playwright.sync_api import Page\nsubprocess.run(["tshark", "-r", "x"])\n'


@cache
def brought() -> frozenset[str]:
    """Modules that the dependencies and the extra `test` bring, and those that they bring in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    left = [*project["dependencies"], *extras["test"]]
    names: set[str] = set()
    while left:
        requirement = left.pop()
        name = re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")
        if name == project["name"]:  # nfsproof[packet]: another extra of ours
            left += [
                package
                for extra in re.findall(r"\w+", requirement.partition("[")[2])
                for package in extras[extra]
            ]
            continue
        if name in names or "extra ==" in requirement:
            continue
        names.add(name)
        try:
            left += importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
    owners = importlib.metadata.packages_distributions()
    return frozenset(
        module
        for module, of in owners.items()
        if names & {distribution.lower().replace("_", "-") for distribution in of}
    )


def is_brought(module: str) -> bool:
    """Whether it is part of Python, of this project, or of what is always installed."""
    return module in sys.stdlib_module_names or (ROOT / module).is_dir() or module in brought()


def used(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Packages and programs that a module uses and that a machine may lack, with their lines."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING"):
        return
    if isinstance(tree, ast.Import):
        yield from ((alias.name.partition(".")[0], tree.lineno) for alias in tree.names)
    elif isinstance(tree, ast.ImportFrom):
        yield (tree.module or "").partition(".")[0], tree.lineno
    elif isinstance(tree, (ast.List, ast.Tuple)):
        yield from ((word, tree.lineno) for word in _programs(tree))
    elif isinstance(tree, ast.Call) and ast.unparse(tree.func).endswith("importorskip"):
        yield from (
            (str(argument.value).partition(".")[0], tree.lineno)
            for argument in tree.args
            if isinstance(argument, ast.Constant)
        )
    elif isinstance(tree, ast.Call) and STARTS.fullmatch(ast.unparse(tree.func)) and tree.args:
        yield from ((word, tree.lineno) for word in _begun(tree.args[0]))
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(tree, ast.Compare) and isinstance(child, (ast.List, ast.Tuple))):
            yield from used(child)


def _words(node: ast.List | ast.Tuple) -> list[str]:
    return [
        str(element.value) if isinstance(element, ast.Constant) else ast.unparse(element)
        for element in node.elts
    ]


def _programs(node: ast.List | ast.Tuple) -> Iterator[str]:
    """Of a command: the program if it is a known tool, and the module that Python is to run."""
    words = _words(node)
    if words and words[0] in SELDOM and isinstance(node.ctx, ast.Load) and len(words) > 1:
        yield words[0]
    if words[:1] == ["sys.executable"] and "-m" in words[:-1]:
        module = node.elts[words.index("-m") + 1]
        if isinstance(module, ast.Constant):
            yield str(module.value).partition(".")[0]


def _begun(command: ast.expr) -> Iterator[str]:
    """The program of a command that is started where it is written."""
    if isinstance(command, (ast.List, ast.Tuple)) and command.elts:
        first = command.elts[0]
        if isinstance(first, ast.Constant) and first.value not in EVERYWHERE:
            yield str(first.value)
    elif isinstance(command, ast.Call):  # "openssl req ...".split()
        literal = next((node for node in ast.walk(command) if isinstance(node, ast.Constant)), None)
        if literal is not None and isinstance(literal.value, str):
            yield literal.value.split()[0]


def undeclared(text: str) -> list[str]:
    """The tools that a file uses without a word about it."""
    declared = {
        word.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"need", "needs"}
        for word in node.args
        if isinstance(word, ast.Constant)
    }
    return [
        f"{line}: {name}"
        for name, line in used(ast.parse(text))
        if name not in declared and not is_brought(name)
    ]


FILES = sorted(
    path
    for path in (ROOT / "tests").rglob("*.py")
    if path != MECHANISM and path.name not in STARTED_BY_ANOTHER
)


def test_every_tool_is_declared_where_it_is_used() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{name}: bin/nfsproof does not install it: write needs({name.split()[1]!r})"
        for path in FILES
        for name in undeclared(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (HEAD, ["2: playwright", "3: tshark", "3: tshark"]),
        ('needs("playwright", "tshark")\n' + HEAD, []),
        ("import sys\nsubprocess.run([sys.executable, '-m', 'ruff', 'check'])\n", ["2: ruff"]),
        ("import sys\nsubprocess.run([sys.executable, '-P', '-m', 'nfsproof'])\n", []),
        ("import sys\nsubprocess.run([sys.executable, '-m', *words])\n", []),
        ("subprocess.run('openssl req -new'.split())\n", ["1: openssl"]),
        ("if t.TYPE_CHECKING:\n    import playwright\n", []),
        ("import pytest, json, nfsclient, hypothesis, pluggy\n", []),
        ("def f():\n    import mypy.api\n", ["2: mypy"]),
        ("pytest.importorskip('playwright.sync_api', reason='x')\n", ["1: playwright"]),
    ],
)
def test_what_a_file_uses_is_found(text: str, found: list[str]) -> None:
    assert undeclared(text) == found


def run_with(pytester: pytest.Pytester, body: str, *words: str) -> dict[str, int]:
    """A test file with the hooks of tests/conftest.py."""
    pytester.makeconftest(
        "from tests.conftest import pytest_configure, pytest_runtest_setup, pytest_terminal_summary"
    )
    pytester.makepyfile(f"from tests.needs import need, needs\n{body}")
    outcomes: dict[str, int] = pytester.runpytest_inprocess("-p", "no:cacheprovider", *words).parseoutcomes()
    return outcomes


MISSING = """
import pytest, tests.needs
tests.needs.TOOLS["no-such-tool"] = tests.needs.Tool("no-such-tool", lambda: False, "nowhere", "dev")

@needs("no-such-tool")
def test_marked():
    raise AssertionError

def test_inside():
    need("no-such-tool")
    raise AssertionError

@needs("git")
def test_there():
    pass
"""


@pytest.fixture
def tools_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.needs.TOOLS", {**TOOLS})


def test_a_test_without_its_tool_is_left_out_by_name(
    pytester: pytest.Pytester,
    tools_as_they_were: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(REQUIRED, raising=False)
    assert run_with(pytester, MISSING) == {"skipped": 2, "passed": 1}
    assert "   2 needs no-such-tool, which is not installed here (nowhere)" in capsys.readouterr().out


@pytest.mark.parametrize("required", ["dev", "git, no-such-tool"])
def test_a_tool_that_must_be_there_is_a_failure(
    pytester: pytest.Pytester, tools_as_they_were: None, monkeypatch: pytest.MonkeyPatch, required: str
) -> None:
    monkeypatch.setenv(REQUIRED, required)
    assert run_with(pytester, MISSING) == {"failed": 1, "errors": 1, "passed": 1}


def test_tests_of_an_extra_can_be_chosen(
    pytester: pytest.Pytester, tools_as_they_were: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REQUIRED, raising=False)
    assert run_with(pytester, MISSING, "-m", 'needs(extra="dev")') == {"skipped": 1, "deselected": 2}
