# SPDX-License-Identifier: MIT
"""Serves until it is stopped: what `nfsproof serve` runs. One loop, no threads."""

from __future__ import annotations

import signal
import socket
import typing as t
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nfsclient.rpc.loop import Loop
from nfsserver.server import Server

_TURN = 3600.0
"""Seconds after which an idle loop looks around; signals wake it at once."""


class _Wakeup:
    """Signals as a member of the loop: the interpreter writes each one's number to a socket that we read."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._reading, self.writing = socket.socketpair()
        self._reading.setblocking(False)
        self.writing.setblocking(False)
        self.received = False
        loop.add(self)

    def close(self) -> None:
        self._loop.remove(self)
        self._reading.close()
        self.writing.close()

    def fileno(self) -> int:
        return self._reading.fileno()

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_readable(self) -> None:
        numbers = self._reading.recv(64)
        self.received = self.received or bool({signal.SIGINT, signal.SIGTERM} & set(numbers))

    def on_writable(self) -> None:
        """Nothing is written."""

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed."""


@contextmanager
def _signals(loop: Loop) -> Iterator[_Wakeup]:
    """While it lasts, SIGINT and SIGTERM do nothing but wake the loop."""
    wakeup = _Wakeup(loop)
    before = signal.set_wakeup_fd(wakeup.writing.fileno(), warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, _ignore) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wakeup
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        wakeup.close()


def _ignore(_number: int, _frame: t.Any) -> None:
    """The wakeup socket reports the signal; the default action must not happen."""


def _run(loop: Loop, wakeup: _Wakeup, stop: Callable[[], bool] | None, *, precisely: bool = False) -> None:
    def stopped() -> bool:
        return wakeup.received or (stop is not None and stop())

    if precisely:
        while not stopped():
            loop.run_precisely(loop.clock() + _TURN)
        return
    while not loop.run_until(stopped, loop.clock() + _TURN):
        pass


def run_until_stopped(loop: Loop, stop: Callable[[], bool] | None = None) -> None:
    """Run the loop until SIGINT, SIGTERM or `stop` says so. For the main thread only."""
    with _signals(loop) as wakeup:
        _run(loop, wakeup, stop)


def serve(
    server: Server,
    loop: Loop,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    udp: bool = True,
    announce: Callable[[Server], None] | None = None,
    stop: Callable[[], bool] | None = None,
    precisely: bool = False,
) -> None:
    """Listen, call `announce` once the server answers, serve until stopped, close. Raises OSError.

    `precisely`: what has a time happens at it, and not up to a millisecond later (see `Loop.run_precisely`).
    """
    with _signals(loop) as wakeup:  # before anybody can know of this server and want to stop it
        server.listen(loop, host, port, udp=udp)
        try:
            if announce is not None:
                announce(server)
            _run(loop, wakeup, stop, precisely=precisely)
        finally:
            server.close()
