# SPDX-License-Identifier: MIT
"""The README of a room names its folders, and only files that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READMES = sorted(
    path
    for path in [*ROOT.glob("*/README.md"), *ROOT.glob("suites/*/README.md")]
    if path.parent.name not in {"docs", "tests"} and not path.parent.name.startswith(".")
)
_FILE = re.compile(r"[\w./-]+\.(?:py|txt|toml|md)")
_FOLDER = re.compile(r"[\w/-]+/")
_PATTERN = re.compile(r"test_[A-Z]+\.py")
_IN_THE_WHEEL = "nfsproof/_home/"


def named(text: str) -> Iterator[str]:
    """What a page has in backticks."""
    for words in re.findall(r"`([^`\n]+)`", text):
        yield from words.split(", ")


def is_there(room: Path, word: str) -> bool:
    """Whether a name is that of a file or folder of the room, or of the project by its path."""
    return any((place / word).exists() for place in (room, room.parent, ROOT)) or bool(
        [path for path in room.rglob(Path(word).name) if str(path).endswith(word.rstrip("/"))]
    )


def untrue(room: Path, text: str) -> list[str]:
    """The files and folders that a page names and that are not there."""
    words = [
        word
        for word in named(text)
        if (_FILE.fullmatch(word) or _FOLDER.fullmatch(word))
        and not _PATTERN.fullmatch(word)
        and word != _IN_THE_WHEEL
    ]
    return [word for word in words if not is_there(room, word)]


def unnamed(room: Path, text: str) -> list[str]:
    """The folders of a room that its page does not name."""
    folders = [folder.name for folder in sorted(room.iterdir()) if (folder / "__init__.py").exists()]
    return [name for name in folders if f"{name}/" not in text]


@pytest.mark.parametrize("page", READMES, ids=lambda page: str(page.parent.relative_to(ROOT)))
def test_a_room_is_as_its_readme_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert untrue(page.parent, text) == []
    assert unnamed(page.parent, text) == []


def test_what_is_not_there_is_found(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "__init__.py").touch()
    (tmp_path / "one.py").touch()
    text = "`one.py`, `two.py` and `gone/`; `test_OPERATION.py` is a pattern"
    assert untrue(tmp_path, text) == ["two.py", "gone/"]
    assert unnamed(tmp_path, text) == ["kept"]
