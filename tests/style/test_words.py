# SPDX-License-Identifier: MIT
"""The project's English: docs, messages, docstrings and comments contain none of the phrases in words.toml."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.needs import need

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "style" / "words.toml"
PROSE = {".md", ".j2", ".js", ".css", ".yml", ".toml", ""}
"""Endings of files that are read completely; the empty one is for programs such as bin/nfsproof."""
UNREAD = ("LICENSE", "baselines/", "tests/style/")
"""Baselines quote what servers said; this folder quotes the phrases."""
DATA = ("tests/", "benchmarks/")
"""Strings of these are data: only docstrings and comments are read."""

JAVASCRIPT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
"""Comments and strings of JavaScript, as far as this project's scripts need it."""


@dataclass(frozen=True)
class Word:
    """A phrase to avoid."""

    pattern: re.Pattern[str]
    better: str


def read_list(text: str) -> tuple[list[Word], tuple[str, ...]]:
    """The phrases, and the beginnings of the paths that are skipped."""
    table = tomllib.loads(text)
    words = []
    for one in table["word"]:
        phrase = one["phrase"].replace(" ", r"\s+")
        words.append(Word(re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.IGNORECASE), one["better"]))
    return words, tuple(table["skipped"])


def pieces(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, text) of everything that people read in a file."""
    if path.endswith(".js"):
        yield from ((text.count("\n", 0, one.start()) + 1, one.group()) for one in JAVASCRIPT.finditer(text))
        return
    if not path.endswith(".py"):
        yield 1, text
        return
    yield from _strings(ast.parse(text), docstrings_only=path.startswith(DATA))
    yield from _comments(text)


def _strings(tree: ast.Module, *, docstrings_only: bool) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _is_text(node.value):
            yield node.lineno, str(node.value.value)  # type: ignore[attr-defined]
        elif not docstrings_only and _is_text(node) and not isinstance(node, ast.Expr):
            yield node.lineno, str(node.value)  # type: ignore[attr-defined]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments; those on consecutive lines are one text, since a phrase may be broken over two lines."""
    first, lines = 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if lines and token.start[0] != first + len(lines):
            yield first, "\n".join(lines)
            lines = []
        first = first if lines else token.start[0]
        lines.append(token.string.lstrip("#"))
    if lines:
        yield first, "\n".join(lines)


def offences(path: str, text: str, words: list[Word]) -> list[str]:
    """``FILE:LINE: 'phrase': write ...`` for each phrase in a file."""
    found = {
        (first + piece.count("\n", 0, match.start()), " ".join(match.group().split()), word.better)
        for first, piece in pieces(path, text)
        for word in words
        for match in word.pattern.finditer(piece)
    }
    return [f"{path}:{line}: {phrase!r}: write {better}" for line, phrase, better in sorted(found)]


def project_files() -> list[str]:
    """All files of the project that git knows or would add, relative to its root."""
    need("git")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("needs a git checkout: the files of the project are those that git lists")
    paths = (line for line in listed.stdout.splitlines() if (ROOT / line).is_file())
    return [one for one in paths if one.endswith(".py") or Path(one).suffix in PROSE]


def test_no_phrase_of_the_list_is_used() -> None:
    words, skipped = read_list(LIST.read_text(encoding="utf-8"))
    found = [
        line
        for path in project_files()
        if not path.startswith((*skipped, *UNREAD))
        for line in offences(path, (ROOT / path).read_text(encoding="utf-8"), words)
    ]
    assert not found, "\n".join(["write plain English (tests/style/words.toml):", *found])


WORDS, _ = read_list('skipped = []\n[[word]]\nphrase = "(is|are) told"\nbetter = "is reported"\n')


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.md", "One.\n\nIt is\ntold.\n", 3),
        ("nfsproof/a.py", '"""One.\n\nIt IS told.\n"""\n', 3),
        ("nfsproof/a.py", "a = 1\n# They are\n# told.\n", 2),
        ("nfsproof/a.py", 'print(\n    "it is "\n    "told"\n)\n', 2),
        ("nfsproof/a.py", 'print(f"{1} is told")\n', 1),
        ("tests/a.py", 'def f():\n    """It is told."""\n', 2),
    ],
)
def test_a_phrase_is_found_with_its_line(path: str, text: str, line: int) -> None:
    assert [one.partition(": ")[0] for one in offences(path, text, WORDS)] == [f"{path}:{line}"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "This told us.\n"),
        ("nfsproof/a.py", "is_told = 1\n"),
        ("tests/a.py", 'assert out == "it is told"\n'),
    ],
)
def test_other_text_is_left_alone(path: str, text: str) -> None:
    assert offences(path, text, WORDS) == []
