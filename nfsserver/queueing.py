# SPDX-License-Identifier: MIT
"""The times of a server that has a processor, a cache and disks, around the embedded server, for measurements.

A call waits for the processor, and with the share `1 - hits` for a disk, too; then it is carried out and answered.
Times are drawn from exponential distributions, so responses are those of queueing theory: M/M/1, then M/M/m. What a
call does is not changed: RFCs promise no time.

    state of a call      where it is                       what moves it
    in the queue         `_waiting`, by the time of its end    that time: carried out, and its reply is sent
    answered             nowhere                           -

What must stay true:

- The times of a call follow from arrivals alone (`Line`), not from when the loop serves it: if that is late, calls
  after it are not.
- Only calls of NFS wait, NULL aside. MOUNT and portmap are answered at once.
- The memory is bounded: with `MOST_WAITING` calls in the queue, further ones are answered at once.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import random
import socket
import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from nfsclient.protocol import nfs3
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.server import Connection
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage, Middleware
from nfsserver.transport import AnswerDatagram, AnswerRecord, TransportMiddleware
from nfsserver.waiting import DeadlineMember

MOST_WAITING: t.Final = 50_000
_PROGRAM: t.Final = slice(12, 16)
_PROCEDURE: t.Final = slice(20, 24)
_NFS: t.Final = nfs3.NFS3.number.to_bytes(4, "big")


class BadTimes(ValueError):
    """Times that make no sense. The text says what was expected and seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What a call takes. Times are in seconds, on average, and exponentially distributed; the delay is fixed."""

    service: float = 0.0
    """Of the one processor."""
    disk: float = 0.0
    disks: int = 1
    hits: float = 1.0
    """The share of calls that need no disk."""
    delay: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("service", "disk", "delay"):
            if not 0 <= getattr(self, name) <= 60:
                raise BadTimes(f"{name}: expected 0 to 60000 ms, got {1000 * getattr(self, name):g}")
        if not 1 <= self.disks <= 1000:
            raise BadTimes(f"disks: expected 1 to 1000, got {self.disks}")
        if not 0 <= self.hits <= 1:
            raise BadTimes(f"hits: expected 0 to 1, got {self.hits:g}")

    @classmethod
    def of_text(cls, text: str) -> Times:
        """``service=2,disk=12,disks=4,hits=0.5,delay=1``; times in ms. Raises `BadTimes`."""
        known = {each.name for each in fields(cls)}
        found: dict[str, t.Any] = {}
        for part in filter(None, text.split(",")):
            name, _, value = (each.strip() for each in part.partition("="))
            if name not in known:
                raise BadTimes(f"expected one of {', '.join(sorted(known))}, got {part!r}")
            try:
                number = int(value) if name in {"disks", "seed"} else float(value)
            except ValueError:
                raise BadTimes(f"{name}: expected a number, got {value!r}") from None
            found[name] = number / 1000 if name in {"service", "disk", "delay"} else number
        return cls(**found)


class Line:
    """When calls end, by the times of their arrivals."""

    def __init__(self, times: Times) -> None:
        self._times = times
        self._draw = random.Random(times.seed)
        self._free_at = 0.0
        """When the processor has nothing to do."""
        self._disks = [0.0] * times.disks
        """When each disk has nothing to do: a heap."""

    def arrive(self, now: float) -> float:
        """A call arrives, not before an earlier one: when it ends."""
        times = self._times
        end = self._free_at = max(now, self._free_at) + self._time(times.service)
        if self._draw.random() >= times.hits:
            end = max(end, self._disks[0]) + self._time(times.disk)
            heapq.heapreplace(self._disks, end)
        return end + times.delay

    def _time(self, mean: float) -> float:
        return self._draw.expovariate(1 / mean) if mean else 0.0


class Queue(DeadlineMember, TransportMiddleware):
    """The calls of a server in their queue, as middleware."""

    def __init__(self, times: Times, loop: Loop) -> None:
        self._line = Line(times)
        self._on = loop
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()

    def around_calls(self, _operation: AnyOperation, /) -> Sequence[AnyAroundCall]:
        return ()

    def around_messages(self) -> Sequence[AroundMessage]:
        return ()

    def below_messages(self) -> Sequence[TransportMiddleware]:
        """Itself."""
        return (self,)

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Put a call into the queue."""
        if self._is_quick(message):
            proceed(connection, message)
            return
        connection.unanswered += 1
        self._enter(functools.partial(_answer, connection, message, proceed))

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Put a call into the queue."""
        if self._is_quick(message):
            proceed(sock, message, peer)
        else:
            self._enter(lambda: proceed(sock, message, peer))

    def _is_quick(self, message: bytes) -> bool:
        is_work = message[_PROGRAM] == _NFS and any(message[_PROCEDURE])
        return not is_work or len(self._waiting) >= MOST_WAITING

    def _enter(self, answer: Callable[[], None]) -> None:
        heapq.heappush(self._waiting, (self._line.arrive(self._on.clock()), next(self._count), answer))
        self.watch(self._on)

    def next_deadline(self) -> float | None:
        """When the next call ends."""
        return self._waiting[0][0] if self._waiting else None

    def on_deadline(self, now: float) -> None:
        """Carry out the calls that end."""
        while self._waiting and self._waiting[0][0] <= now:
            heapq.heappop(self._waiting)[2]()
        if not self._waiting:
            self.unwatch()


def _answer(connection: Connection, message: bytes, proceed: AnswerRecord) -> None:
    connection.unanswered -= 1
    if connection in connection.server.connections:
        proceed(connection, message)
        connection.on_writable()


def queue(server: ServerApi, loop: Loop, times: Times) -> Queue:
    """Put a queue before a server."""
    made = Queue(times, loop)
    surround: Callable[[Middleware], object] = server.surround  # type: ignore[attr-defined]
    surround(made)
    return made
