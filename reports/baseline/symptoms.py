# SPDX-License-Identifier: MIT
"""Symptoms: patterns of people, searched in texts of servers, for a limited time."""

from __future__ import annotations

import re
import signal
import threading
import types
import typing as t
from collections.abc import Iterator
from contextlib import contextmanager

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
