# SPDX-License-Identifier: MIT
"""A Python file that gets imports and definitions; all other lines stay as they are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

WIDTH = 110
"""Columns, as the formatter has them (pyproject.toml)."""
_FIRST_PARTY = frozenset(
    (
        "fixtures",
        "nfsclient",
        "nfsfaults",
        "nfsjudge",
        "nfsmutants",
        "nfsproof",
        "nfsserver",
        "reports",
        "suites",
    )
)


class Source:
    """The lines of a file, and what is added to them. `write` saves them."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path = path
        self.lines = (path.read_text(encoding="utf-8") if text is None else text).splitlines()

    @property
    def text(self) -> str:
        """The whole file."""
        return "\n".join(self.lines) + "\n"

    def write(self) -> None:
        """Save it."""
        self.path.write_text(self.text, encoding="utf-8")

    # ---- what is there

    def _body(self) -> list[ast.stmt]:
        return ast.parse(self.text).body

    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions of the module, by name."""
        return {node.name: node for node in self._body() if isinstance(node, ast.FunctionDef)}

    def constants(self) -> dict[str, ast.expr]:
        """What is assigned at module level, by name."""
        return {name: value for _, name, value in self._assignments()}

    def names(self) -> set[str]:
        """Every name that the module defines or imports."""
        imported = {
            alias.asname or alias.name
            for node in self._imports()
            for alias in node.names
            if alias.name != "*"
        }
        classes = {node.name for node in self._body() if isinstance(node, ast.ClassDef)}
        return imported | classes | self.functions().keys() | self.constants().keys()

    def line_of(self, start: str) -> int:
        """The number of the last line that begins so."""
        return max(number for number, line in enumerate(self.lines, 1) if line.startswith(start))

    def _assignments(self) -> Iterator[tuple[ast.stmt, str, ast.expr]]:
        for node in self._body():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield node, node.targets[0].id, node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                yield node, node.target.id, node.value

    def _imports(self) -> list[ast.Import | ast.ImportFrom]:
        return [node for node in self._body() if isinstance(node, ast.Import | ast.ImportFrom)]

    # ---- imports

    def prefix_of(self, module: str) -> str:
        """``p.`` if the file has ``from package import module as p``; empty if it does not import the module itself."""
        for node in self._imports():
            of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                if of + alias.name == module:
                    return f"{alias.asname or alias.name}."
        return ""

    def named(self, module: str, name: str) -> str:
        """How the file writes a name of a module; it is imported if need be."""
        prefix = self.prefix_of(module)
        if not prefix:
            self.add_import(module, name)
        return prefix + name

    def add_import(self, module: str, name: str) -> None:
        """``from module import name``, in the order that the linter wants; nothing where it is there already."""
        for node in self._imports():
            if (
                isinstance(node, ast.Import)
                or node.module != module
                or any(alias.asname for alias in node.names)
            ):
                continue
            there = [alias.name for alias in node.names]
            if name in there:
                return
            if not any("#" in line for line in self.lines[node.lineno - 1 : node.end_lineno]):
                was_long = node.end_lineno != node.lineno
                self.lines[node.lineno - 1 : node.end_lineno] = _from_import(module, [*there, name], was_long)
                return
        self._insert_import(_from_import(module, [name]), (_section(module), 1, module))

    def add_typing(self) -> None:
        """``import typing as t``."""
        if "t" not in self.names():
            self._insert_import(["import typing as t"], (_section("typing"), 0, "typing"))

    def _insert_import(self, lines: list[str], key: tuple[int, int, str]) -> None:
        nodes = [(_key(node), node) for node in self._imports()]
        before = [node for other, node in nodes if other <= key]
        after = [node for other, node in nodes if other > key]
        if before and _key(before[-1])[0] == key[0]:
            at, text = before[-1].end_lineno or 0, lines
        elif after and _key(after[0])[0] == key[0]:
            at, text = after[0].lineno - 1, lines
        else:
            at, text = (before[-1].end_lineno or 0), ["", *lines]
        self.lines[at:at] = text

    # ---- definitions

    def add_constant(self, lines: list[str], *, like: Container[str]) -> None:
        """After the last constant that calls a function in `like`, or else after the imports."""
        end, follows = 0, False
        body = self._body()
        for number, node in enumerate(body):
            if isinstance(node, ast.Import | ast.ImportFrom) and not follows:
                end = node.end_lineno or 0
            elif isinstance(node, ast.Assign | ast.AnnAssign) and _calls(node.value, like):
                end, follows = node.end_lineno or 0, True
                docstring = body[number + 1] if number + 1 < len(body) else None
                if isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant):
                    end = docstring.end_lineno or 0
        self.lines[end:end] = lines if follows else ["", *lines]

    def add_function(self, lines: list[str], *, after: str = "") -> None:
        """After another function, or at the end."""
        node = self.functions().get(after)
        if node is not None:
            end = node.end_lineno or 0
            self.lines[end:end] = ["", "", *lines]
        else:
            self.lines += ["", "", *lines]


def call_lines(start: str, arguments: Iterable[str], end: str) -> list[str]:
    """``start(arguments)end`` in one line, or as the formatter breaks it."""
    words = list(arguments)
    line = f"{start}({', '.join(words)}){end}"
    if len(line) <= WIDTH:
        return [line]
    joined = f"    {', '.join(words)}"
    inner = [joined] if len(joined) <= WIDTH else [f"    {word}," for word in words]
    return [f"{start}(", *inner, f"){end}"]


def _from_import(module: str, names: list[str], long: bool = False) -> list[str]:
    ordered = sorted(names, key=_rank_of_name)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH and not long:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in ordered), ")"]


def _rank_of_name(name: str) -> tuple[int, str]:
    """Constants come first, then classes, then the rest."""
    is_constant = name.isupper() and len(name) > 1
    return (0 if is_constant else 1 if name[:1].isupper() else 2), name.lower()


def _section(module: str) -> int:
    top = module.partition(".")[0]
    if top == "__future__":
        return 0
    if top in sys.stdlib_module_names:
        return 1
    return 3 if top in _FIRST_PARTY else 2


def _key(node: ast.Import | ast.ImportFrom) -> tuple[int, int, str]:
    """Sections in order; in each, ``import x`` comes before ``from x import y``."""
    if isinstance(node, ast.Import):
        return _section(node.names[0].name), 0, node.names[0].name
    return _section(node.module or ""), 1, node.module or ""


def _calls(value: ast.expr | None, names: Container[str]) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in names
