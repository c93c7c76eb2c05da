# SPDX-License-Identifier: MIT
"""Symptoms: patterns of people, searched in texts of servers, for a limited time."""

from __future__ import annotations

import re
import signal
import threading
import time
import types
import typing as t
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_LONGEST = 120
"""Characters of a text that a pattern is made of."""
_GAPS = 24
_VARIES = re.compile(
    r"(?P<name>'[^']*')|(?P<number>(?<![A-Za-z_])(?:0x)?[0-9a-f]*\d[0-9a-f]*(?:\.\d+)?(?:\.\.\.)?(?![A-Za-z_]))"
)
_STAND_IN = {"name": "'[^']*'", "number": r"[0-9a-fx.]+"}
SECONDS = 2.0
"""How long one search may take. A pattern such as ``(a+)+b`` may take longer than the universe has."""
SECONDS_OF_FILE = 20.0
"""How long the patterns of one file may take in all."""
LONGEST = 4000
"""Characters of a pattern."""
_BAD: t.Final = (re.error, OverflowError, RecursionError)
"""What `re` raises for an invalid pattern, and for too many brackets in each other."""


class TooSlow(Exception):
    """The search did not end in time; the text says so."""


class BadPattern(ValueError):
    """No regular expression; the text says why."""


class Patience:
    """The time that the patterns of one file may still take: that of the processor, whatever else the machine does."""

    def __init__(self, seconds: float | None = None) -> None:
        self._left = SECONDS_OF_FILE if seconds is None else seconds

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Raise `TooSlow` in time, and at once when the time of the file is used up."""
        if self._left <= 0:
            raise TooSlow(
                f"not searched: the symptoms of the file take longer than {SECONDS_OF_FILE:g} s in all"
            )
        began = time.process_time()
        try:
            with _limited(min(SECONDS, self._left)):
                yield
        finally:
            self._left -= time.process_time() - began


def require_pattern(pattern: str, patience: Patience) -> None:
    """Raise `BadPattern` unless the text is a regular expression of a reasonable size."""
    if len(pattern) > LONGEST:
        raise BadPattern(f"expected at most {LONGEST} characters, seen {len(pattern)}")
    try:
        with patience.limited():
            re.compile(pattern)
    except _BAD as error:
        raise BadPattern(f"expected a regular expression: {error}") from error
    except TooSlow as error:
        raise BadPattern(f"expected a simpler regular expression: it {error}") from error


def finds(pattern: str, text: str, patience: Patience) -> bool:
    """Whether the pattern is found in the text; an empty one always is. Raises `TooSlow`."""
    if not pattern:
        return True
    with patience.limited():
        return re.search(pattern, text) is not None


def pattern_of_texts(texts: Iterable[str]) -> str:
    """A pattern that is found in all of the texts, with room for other names, numbers and handles.

    Empty if the texts differ in more than these, or say nothing.
    """
    given = list(texts)
    patterns = {_pattern(text) for text in given}
    if len(patterns) != 1:
        return ""
    (pattern,) = patterns
    return pattern if all(re.search(pattern, text) for text in given) else ""


def _pattern(text: str) -> str:
    """Of the first line: what differs from run to run, or from check to check, becomes a class of characters."""
    lines = text.splitlines()
    line = lines[0] if lines else ""
    if not line.strip() or not line.isprintable():
        return ""
    parts, end = list[str](), 0
    for found in _VARIES.finditer(line[:_LONGEST]):
        parts += [
            re.escape(line[end : found.start()]).replace(r"\ ", " "),
            _STAND_IN[found.lastgroup or "number"],
        ]
        end = found.end()
        if len(parts) > _GAPS:
            break
    else:
        parts.append(re.escape(line[end:_LONGEST]).replace(r"\ ", " "))
    return "".join(parts)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in time; `re` looks for signals while it searches. Without a limit where there are no timers."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: types.FrameType | None) -> t.NoReturn:
        raise TooSlow(f"takes longer than {seconds:.2g} s to search: write it without nested repetition")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
