# SPDX-License-Identifier: MIT
"""The English of the project: docs, messages, docstrings, comments and identifiers have no phrase of words.toml."""

from __future__ import annotations

import ast
import functools
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
class Allowed:
    """Identifiers that may have a word, in files whose paths begin with one of `where`."""

    names: frozenset[str]
    where: tuple[str, ...]


@dataclass(frozen=True)
class Word:
    """A phrase to avoid."""

    pattern: re.Pattern[str]
    better: str
    is_prose: bool = True
    """False: it is avoided in identifiers only."""
    allowed: tuple[Allowed, ...] = ()

    def allows(self, name: str, path: str) -> bool:
        return any(name in each.names and path.startswith(each.where) for each in self.allowed)


def read_list(text: str) -> tuple[list[Word], tuple[str, ...]]:
    """The phrases, and the beginnings of the paths that are skipped."""
    table = tomllib.loads(text)
    words = []
    for entry in [*table["word"], *table.get("name", ())]:
        phrase = entry["phrase"].replace(" ", r"\s+")
        pattern = re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.IGNORECASE)
        allowed = tuple(
            Allowed(frozenset(each["names"]), tuple(each["where"])) for each in entry.get("allowed", ())
        )
        words.append(Word(pattern, entry["better"], entry in table["word"], allowed))
    return words, tuple(table["skipped"])


def pieces(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, text) of everything that people read in a file."""
    if path.endswith(".js"):
        yield from (
            (text.count("\n", 0, match.start()) + 1, match.group()) for match in JAVASCRIPT.finditer(text)
        )
        return
    if not path.endswith(".py"):
        yield 1, text
        return
    yield from _strings(text, docstrings_only=path.startswith(DATA))
    yield from _comments(text)


@functools.lru_cache(maxsize=1)
def _nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


def _strings(text: str, *, docstrings_only: bool) -> Iterator[tuple[int, str]]:
    for node in _nodes(text):
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


def identifiers(text: str) -> Iterator[tuple[int, str]]:
    """(line, name) of what a module names itself: functions, classes, arguments, variables, attributes."""
    for node in _nodes(text):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if isinstance(node.ctx, ast.Store):
                    yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case (
                ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name))
            ):
                yield node.lineno, name


def as_words(name: str) -> str:
    """The words of a name: ``max size`` of ``_max_size`` and ``MaxSize``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("_", " ").strip().lower()


def _suspects(names: frozenset[str], patterns: tuple[str, ...]) -> list[str]:
    """Those of the names that have one of the phrases."""
    any_phrase = re.compile("|".join(patterns), re.IGNORECASE)
    return [name for name in names if any_phrase.search(as_words(name))]


def offences(path: str, text: str, words: list[Word]) -> list[str]:
    """``FILE:LINE: 'phrase': write ...`` for each phrase in a file."""
    found = {
        (first + piece.count("\n", 0, match.start()), " ".join(match.group().split()), word.better)
        for first, piece in pieces(path, text)
        for word in words
        if word.is_prose
        for match in word.pattern.finditer(piece)
    }
    if path.endswith(".py"):
        named = list(identifiers(text))
        wrong = {
            name: [
                word.better
                for word in words
                if word.pattern.search(as_words(name)) and not word.allows(name, path)
            ]
            for name in _suspects(
                frozenset(name for _, name in named), tuple(word.pattern.pattern for word in words)
            )
        }
        found |= {(line, name, better) for line, name in named for better in wrong.get(name, ())}
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
    return [path for path in paths if path.endswith(".py") or Path(path).suffix in PROSE]


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
        ("tests/a.py", "\nis_told = 1\n", 2),
        ("tests/a.py", "\nx.are_told_ = 1\n", 2),
        ("tests/a.py", "def f(a, *,\n    is_told=1): ...\n", 2),
        ("tests/a.py", "\nclass WhatIsTold: ...\n", 2),
        ("tests/a.py", "[1 for\n is_told in ()]\n", 2),
        ("tests/a.py", "try: ...\nexcept E as is_told: ...\n", 2),
        ("tests/a.py", "match 1:\n    case A(b=is_told): ...\n", 2),
        ("tests/a.py", "def test_it_is_told() -> None: ...\n", 1),
    ],
)
def test_a_phrase_is_found_with_its_line(path: str, text: str, line: int) -> None:
    assert [offence.partition(": ")[0] for offence in offences(path, text, WORDS)] == [f"{path}:{line}"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "This told us.\n"),
        ("nfsproof/a.py", "is_retold = untold = 1\n"),
        ("nfsproof/a.py", "told_apart = print(is_told)\n"),
        ("tests/a.py", 'assert out == "it is told"\n'),
    ],
)
def test_other_text_is_left_alone(path: str, text: str) -> None:
    assert offences(path, text, WORDS) == []


NAMES, _ = read_list(
    'skipped = []\nword = []\n[[name]]\nphrase = "held"\nbetter = "locked"\n'
    '[[name.allowed]]\nnames = ["held"]\nwhere = ["suites/", "nfsserver/a.py"]\nbecause = "locks are"\n'
)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("reports/a.py", "held = 1\n", 1),
        ("suites/a.py", "held = 1\n", 0),
        ("nfsserver/a.py", "held = 1\n", 0),
        ("nfsserver/b.py", "held = 1\n", 1),
        ("suites/a.py", "is_held = 1\n", 1),
        ("reports/a.py", '"""It held a lock."""\n', 0),
    ],
)
def test_a_word_for_identifiers_has_places_where_it_is_right(path: str, text: str, found: int) -> None:
    assert len(offences(path, text, NAMES)) == found


def test_every_identifier_that_is_allowed_occurs() -> None:
    words, _ = read_list(LIST.read_text(encoding="utf-8"))
    allowed = [each for word in words for each in word.allowed]
    open_ = {
        (name, where)
        for each in allowed
        for name in each.names
        for where in (each.where if len(each.names) == 1 else ("",))
    }
    for path in project_files():
        text = (ROOT / path).read_text(encoding="utf-8") if path.endswith(".py") else ""
        likely = {(name, where) for name, where in open_ if path.startswith(where) and name in text}
        if likely:
            named = {name for _, name in identifiers(text)}
            open_ -= {(name, where) for name, where in likely if name in named}
    assert open_ == set()
