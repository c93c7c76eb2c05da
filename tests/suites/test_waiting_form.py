# SPDX-License-Identifier: MIT
"""The form of checks that wait: what waits is a generator, and nobody forgets to go through it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("fixtures", "suites")


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def _waits(function: ast.FunctionDef) -> bool:
    returned = function.returns
    return isinstance(returned, ast.Subscript) and ast.unparse(returned.value) == "Waiting"


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def forgotten(tree: ast.Module, waiting: set[str]) -> list[int]:
    """The lines with a call of something that waits whose generator is thrown away, or taken for its result."""
    driven = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.YieldFrom)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    driven |= {id(call.args[0]) for call in calls if _name(call) == "wait_out"}
    returned = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Return)}
    return [call.lineno for call in calls if _name(call) in waiting and id(call) not in driven | returned]


def test_what_waits_is_gone_through() -> None:
    trees = dict(_trees())
    ordinary = {
        function.name for tree in trees.values() for function in _functions(tree) if not _waits(function)
    }
    waiting = {function.name for tree in trees.values() for function in _functions(tree) if _waits(function)}
    found = [f"{path}:{line}" for path, tree in trees.items() for line in forgotten(tree, waiting - ordinary)]
    assert len(waiting - ordinary) > 10
    assert not found, "\n".join(["write `yield from`, or `wait_out`:", *found])


def test_a_forgotten_call_is_found() -> None:
    body = "def check():\n    yield from ends()\n    ends()\n    wait_out(ends(), loop)\n    return ends()\n"
    assert forgotten(ast.parse(body), {"ends"}) == [3]


def test_every_check_that_waits_is_marked() -> None:
    found = [
        f"{path}: {function.name}"
        for path, tree in _trees()
        for function in _functions(tree)
        if function.name.startswith("test_")
        and _waits(function)
        is not any(ast.unparse(mark).startswith("side_by_side") for mark in function.decorator_list)
    ]
    assert not found, "\n".join(
        ["a check that waits returns Waiting[None], and is marked side_by_side:", *found]
    )
