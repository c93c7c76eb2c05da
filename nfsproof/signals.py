# SPDX-License-Identifier: MIT
"""Handlers of signals for a while: those that are ignored stay so, as under nohup."""

from __future__ import annotations

import contextlib
import signal
import typing as t
from collections.abc import Callable, Iterable, Iterator


@contextlib.contextmanager
def handled(handler: Callable[[int, object], None], numbers: Iterable[int]) -> Iterator[None]:
    """A handler of these signals."""
    before: dict[int, t.Any] = {}
    try:
        for number in numbers:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    except ValueError:  # not in the main thread: nobody can interrupt
        before.clear()
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)


def interruptible() -> contextlib.AbstractContextManager[None]:
    """SIGTERM and SIGHUP end what runs, with the servers that it has started, as Ctrl-C does."""
    return handled(_interrupt, (signal.SIGTERM, signal.SIGHUP))


def _interrupt(_number: int, _frame: object) -> t.NoReturn:
    raise KeyboardInterrupt
