# SPDX-License-Identifier: MIT
"""Import circles, with imports for types and inside functions counted: there are few, and each has its reason.

import-linter compares the rooms and the layers of the server. Circles within a room are found here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.rooms import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]

HONEST: dict[frozenset[str], str] = {
    frozenset({"nfsclient.clients.nfs4.client", "nfsclient.clients.nfs4.session"}): (
        "an Nfs4 makes sessions, and a Session sends its compounds through an Nfs4"
    ),
    frozenset(
        f"nfsserver.fs.{name}"
        for name in (
            "attributes",
            "data",
            "filesystem",
            "inode",
            "named_attributes",
            "names",
            "objects",
            "permissions",
            "rules",
        )
    ): "one arrow back, for types: Inode.fs is a FileSystem, whose methods are the functions of these modules",
}
"""The circles that there are, and why. docs/architecture.md says the same."""

Graph = Mapping[str, set[str]]


def named(folder: Path, root: Path) -> dict[str, Path]:
    """The modules below a folder by their full names."""
    modules = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a module imports anywhere in its text. `from package import module` is of that module alone."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inner = [f"{base}.{alias.name}" for alias in node.names]
            yield from (each if each in modules else base for each in inner)


def packages_above(name: str) -> set[str]:
    """The packages that a module is in."""
    parts = name.split(".")
    return {".".join(parts[:number]) for number in range(1, len(parts))}


def imports_of(modules: Mapping[str, Path]) -> Graph:
    """Module -> the modules among these that it imports, and the packages that these are in: they run before."""
    graph = {}
    for name, path in modules.items():
        found = set(imported(name, path, modules))
        around = {package for each in found for package in packages_above(each)} - packages_above(name)
        graph[name] = {each for each in found | around if each in modules and each != name}
    return graph


def circles(graph: Graph) -> set[frozenset[str]]:
    """The groups of modules in which each reaches each other (strongly connected components of more than one)."""
    order: list[str] = []
    seen: set[str] = set()
    for start in graph:
        _finish(start, graph, seen, order)
    backward: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backward[target].add(name)
    found: set[frozenset[str]] = set()
    seen = set()
    for start in reversed(order):
        group: list[str] = []
        _finish(start, backward, seen, group)
        if len(group) > 1:
            found.add(frozenset(group))
    return found


def _finish(start: str, graph: Graph, seen: set[str], order: list[str]) -> None:
    """Append what can be reached from `start` and was not seen, each after all that it reaches."""
    if start in seen:
        return
    seen.add(start)
    stack = [(start, iter(graph[start]))]
    while stack:
        name, left = stack[-1]
        following = next((each for each in left if each not in seen), None)
        if following is None:
            order.append(name)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(graph[following])))


def test_there_are_no_circles_but_those_with_a_reason() -> None:
    modules = {name: path for folder in PROGRAMS for name, path in named(ROOT / folder, ROOT).items()}
    assert len(modules) > 1000
    found = circles(imports_of(modules))
    new = [" <-> ".join(sorted(group)) for group in found - HONEST.keys()]
    assert not new, (
        "new import circles: move what both need into a module of its own, or let one side ask for a Protocol"
    )
    gone = [" <-> ".join(sorted(group)) for group in HONEST.keys() - found]
    assert not gone, "these are circles no more: take them from HONEST and from docs/architecture.md"


def test_a_circle_is_found_however_it_is_closed(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    texts = {
        "__init__": "from p.a import A\n",
        "a": "from . import b\n",
        "b": "import typing as t\nif t.TYPE_CHECKING:\n    from p.c import C\n",
        "c": "def late():\n    from .a import A\n",
        "d": "import p.a\nfrom p import a\nfrom p.e import E\n",
        "e": "import d\n",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    assert circles(imports_of(named(package, tmp_path))) == {frozenset({"p.a", "p.b", "p.c"})}


def test_circles_that_share_a_module_are_one() -> None:
    graph = {"a": {"b"}, "b": {"a", "c"}, "c": {"b", "d"}, "d": set[str](), "e": {"a", "f"}, "f": {"e"}}
    assert circles(graph) == {frozenset("abc"), frozenset("ef")}


def test_a_circle_through_the_package_of_a_module_is_found(tmp_path: Path) -> None:
    """`a` imports a module of `q` that needs nothing, but q/__init__.py runs first, and needs `a`."""
    texts = {"p/__init__": "", "p/a": "import p.q.low\n", "p/q/__init__": "from p.q.high import X\n"}
    texts |= {"p/q/low": "", "p/q/high": "from p.a import A\n"}
    (tmp_path / "p" / "q").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert circles(imports_of(named(tmp_path / "p", tmp_path))) == {frozenset({"p.a", "p.q", "p.q.high"})}
