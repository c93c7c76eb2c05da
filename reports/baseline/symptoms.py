# SPDX-License-Identifier: MIT
"""Symptoms: patterns of people, searched in texts of servers, for a limited time."""

from __future__ import annotations

import re
import signal
import threading
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


class TooSlow(Exception):
    """The search did not end in time; the text says so."""


def finds(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; an empty one always is. Raises `TooSlow`."""
    if not pattern:
        return True
    with _limited(SECONDS):
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
        raise TooSlow(f"takes longer than {seconds:g} s to search: write it without nested repetition")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
