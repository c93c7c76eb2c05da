# SPDX-License-Identifier: MIT
"""Lines and fields of a TOML file, to report mistakes in it."""

from __future__ import annotations

import re
import tomllib
import typing as t
from collections.abc import Iterable, Sequence

_STRINGS = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*''', re.DOTALL
)
"""Strings of TOML, and comments, in which quotes mean nothing."""


def _blank(found: re.Match[str]) -> str:
    """A string of several lines as its first and empty ones; all else as it is."""
    first, _, rest = found[0].partition("\n")
    return f"{first}\n" + "\n" * rest.count("\n") if rest else found[0]


class Places:
    """The lines of a file, and checks of plain values that know where they stand."""

    def __init__(self, text: str, name: str, error: type[ValueError]) -> None:
        # What stands in a text of several lines looks like tables and fields, and is none.
        self.lines = _STRINGS.sub(_blank, text).split("\n")
        self._text = text
        self._name = name
        self._error = error

    def parse(self) -> dict[str, t.Any]:
        """The file as plain values. Raises the error of the file."""
        try:
            return tomllib.loads(self._text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise self._error(f"{self._name}: not TOML: {error}") from error

    def tables(self, name: str) -> list[int]:
        """The lines in which the tables ``[[name]]`` begin."""
        header = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
        return [number for number, line in enumerate(self.lines, 1) if header.match(line)]

    def table(self, name: str) -> int:
        """The line of ``[name]``; 0 if it is not there."""
        return next((n for n, line in enumerate(self.lines, 1) if line.strip().startswith(f"[{name}]")), 0)

    def table_below(self, name: str, start: int) -> int:
        """The line of ``[name]`` that follows the table at line `start`; `start` if it is written in another way."""
        for number in range(start, len(self.lines)):
            text = self.lines[number].strip()
            if text.startswith(f"[{name}]"):
                return number + 1
            if text.startswith("[["):
                break
        return start

    def bad(self, start: int, key: str, what: str) -> ValueError:
        """The error; `start` is the line of the table."""
        line = start
        for number in range(max(start, 1), len(self.lines) + 1):
            text = self.lines[number - 1]
            if number > start and text.lstrip().startswith("["):
                break
            if re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", text):
                line = number
                break
        where = f"{self._name}:{line}" if line else self._name
        return self._error(f"{where}: {key}: {what}")

    def only(self, table: dict[str, object], known: Iterable[str], start: int, what: str) -> None:
        """No other fields. Raises the error of the file, as all that follow."""
        for key in table:
            if key not in known:
                raise self.bad(start, key, f"unknown field of {what}; there are {', '.join(known)}")

    def text(self, table: dict[str, t.Any], key: str, start: int) -> str:
        """A text, empty if it is not there."""
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self.bad(start, key, f"expected a text, seen {value!r}")
        return value

    def texts(self, table: dict[str, t.Any], key: str, start: int) -> tuple[str, ...]:
        """A list of texts, none of them empty."""
        value = table.get(key, [])
        if not (isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)):
            raise self.bad(start, key, f"expected a list of texts, seen {value!r}")
        return tuple(value)

    def one_of(
        self, table: dict[str, t.Any], key: str, known: Sequence[str], default: str, start: int
    ) -> str:
        value = table.get(key, default)
        if value not in known:
            raise self.bad(start, key, f"expected one of {', '.join(known)}, seen {value!r}")
        return str(value)

    def flag(self, table: dict[str, t.Any], key: str, default: bool, start: int) -> bool:
        value = table.get(key, default)
        if not isinstance(value, bool):
            raise self.bad(start, key, f"expected true or false, seen {value!r}")
        return value

    def number(
        self, table: dict[str, t.Any], key: str, default: int, start: int, what: str, least: int = 0
    ) -> int:
        """A whole number; `what` says of what."""
        value = table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.bad(start, key, f"expected {what}, {least} or more, seen {value!r}")
        return value
