# SPDX-License-Identifier: MIT
"""Rules of the house that no linter knows: what a room may import, how large a module is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rooms import PROGRAMS, ROOMS

ROOT = Path(__file__).resolve().parents[2]
STANDARD_LIBRARY_ONLY = ("nfsclient", "nfsserver", "nfsmutants", "nfsjudge", "nfsfaults")
SCAPY_LAYERS = ROOT / "nfsfaults" / "packet"
"""Nothing imports these unless a user does: `[tool.importlinter]`."""
LONGEST_MODULE = 600


def modules(rooms: tuple[str, ...] = PROGRAMS) -> Iterator[Path]:
    """Every Python file of the rooms."""
    for room in rooms:
        yield from sorted((ROOT / room).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level names of everything that is imported below a node, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("room", STANDARD_LIBRARY_ONLY)
def test_room_imports_the_standard_library_only(room: str) -> None:
    allowed = sys.stdlib_module_names | {"_typeshed", "nfsclient", room}
    if room == "nfsmutants":
        allowed |= {"nfsserver"}
    strangers = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules((room,))
        for name in imported(ast.parse(path.read_bytes()))
        if name not in allowed and not (name == "scapy" and path.is_relative_to(SCAPY_LAYERS))
    }
    assert not strangers


def test_modules_are_of_readable_size() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_every_file_names_its_licence_first() -> None:
    programs = [path for path in (ROOT / "bin" / "nfsproof", ROOT / ".ci" / "run") if path.exists()]
    bare = [
        str(path.relative_to(ROOT))
        for path in [*modules(), *programs]
        if path.stat().st_size and "# SPDX-License-Identifier: MIT" not in path.read_text().splitlines()[:2]
    ]
    assert bare == []


def test_annotations_are_never_evaluated_early() -> None:
    """Python 3.14 keeps annotations elsewhere than 3.11; with the future import both keep strings."""
    missing = []
    for path in modules(ROOMS):
        tree = ast.parse(path.read_bytes())
        annotated = any(isinstance(node, ast.AnnAssign | ast.FunctionDef) for node in ast.walk(tree))
        if annotated and "__future__" not in imported(tree):
            missing.append(str(path.relative_to(ROOT)))
    assert missing == []


def test_reports_read_records_only() -> None:
    """Of the judge, besides verdicts, deviations, harms, numbers and keys of duplicates; import-linter limits more."""
    allowed = {
        "nfsjudge.reason",
        "nfsjudge.records",
        "nfsjudge.deviation",
        "nfsjudge.verdict",
        "nfsjudge.wording",
        "nfsjudge.clients",
        "nfsjudge.duplicates",
        "nfsjudge.harm",
    }
    others = {
        f"{path.relative_to(ROOT)}: {node.module}"
        for path in modules(("reports",))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("nfsjudge")
        if node.module not in allowed
    }
    assert not others


def test_no_sleep() -> None:
    """Waiting is for events with deadlines."""
    sleepers = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules(ROOMS)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "sleep"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "time"
    ]
    assert sleepers == []
