# SPDX-License-Identifier: MIT
"""The times of a server that has a processor, a cache and disks, around the embedded server, for measurements.

A call waits for the processor, and if the cache does not have what it needs, for a disk; then it is carried out and
answered. The share of hits is given, or follows from the memory, as in "NFS Sensitivity to High Performance Networks"
(section 4.1): memory divided by what is touched, which is a share of the bytes of all files.

Each message costs the processor `overhead` besides: the call, and the reply. With `packet`, a call or a reply of more
bytes is several messages. How long a reply is shows when it is there; so what is beyond its first message keeps the
processor busy after it, before calls that arrive later.

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

import contextlib
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
_IN_MS: t.Final = ("service", "disk", "delay", "overhead")
_WHOLE: t.Final = ("disks", "packet", "seed")
_LOOK: t.Final = 1.0
"""Seconds between two looks at how many bytes all files have."""
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
    overhead: float = 0.0
    """Of the processor for each message, besides: fixed."""
    packet: int = 0
    """Bytes of a message; 0: a call or a reply is one, whatever its size."""
    memory: float = 0.0
    """MiB of the cache, from which the share of hits follows; 0: it is `hits`."""
    touched: float = 0.1
    """The share of the bytes of all files that is touched."""
    seed: int = 1

    def __post_init__(self) -> None:
        for name in _IN_MS:
            if not 0 <= getattr(self, name) <= 60:
                raise BadTimes(f"{name}: expected 0 to 60000 ms, got {1000 * getattr(self, name):g}")
        if not 1 <= self.disks <= 1000:
            raise BadTimes(f"disks: expected 1 to 1000, got {self.disks}")
        if not 0 <= self.hits <= 1:
            raise BadTimes(f"hits: expected 0 to 1, got {self.hits:g}")
        if not 0 < self.touched <= 1:
            raise BadTimes(f"touched: expected more than 0, up to 1, got {self.touched:g}")
        if not 0 <= self.memory <= 1 << 20:
            raise BadTimes(f"memory: expected 0 to {1 << 20} MiB, got {self.memory:g}")
        if self.packet and not 64 <= self.packet <= 1 << 20:
            raise BadTimes(f"packet: expected 64 to {1 << 20} bytes, or 0, got {self.packet}")

    def hits_of(self, stored: int) -> float:
        """The share of hits while files have these bytes."""
        if not self.memory:
            return self.hits
        touched = self.touched * stored
        return min(1.0, self.memory * (1 << 20) / touched) if touched else 1.0

    def packets(self, size: int) -> int:
        """How many messages a call or a reply of these bytes is."""
        return max(1, -(-size // self.packet)) if self.packet else 1

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
                number = int(value) if name in _WHOLE else float(value)
            except ValueError:
                raise BadTimes(f"{name}: expected a number, got {value!r}") from None
            found[name] = number / 1000 if name in _IN_MS else number
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

    def arrive(self, now: float, packets: int = 1, hits: float | None = None) -> float:
        """A call of this many messages arrives, not before an earlier call: when it ends. `hits`: their share now."""
        times = self._times
        busy = self._time(times.service) + (packets + 1) * times.overhead
        end = self._free_at = max(now, self._free_at) + busy
        if self._draw.random() >= (times.hits if hits is None else hits):
            end = max(end, self._disks[0]) + self._time(times.disk)
            heapq.heapreplace(self._disks, end)
        return end + times.delay

    def replied(self, at: float, packets: int) -> None:
        """A reply of this many messages goes then: what is beyond the first keeps the processor busy from then on."""
        if packets > 1:
            self._free_at = max(at, self._free_at) + (packets - 1) * self._times.overhead

    def _time(self, mean: float) -> float:
        return self._draw.expovariate(1 / mean) if mean else 0.0


class Queue(DeadlineMember, TransportMiddleware):
    """The calls of a server in their queue, as middleware."""

    def __init__(self, times: Times, loop: Loop, stored: Callable[[], int] = lambda: 0) -> None:
        """`stored`: the bytes of all files."""
        self._line = Line(times)
        self._times = times
        self._on = loop
        self._stored = stored
        self._hits = times.hits
        self._look_at = 0.0
        self._waiting: list[tuple[float, int, Callable[[float], None]]] = []
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
        self._enter(functools.partial(self._answer_record, connection, message, proceed), len(message))

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Put a call into the queue."""
        if self._is_quick(message):
            proceed(sock, message, peer)
        else:
            self._enter(functools.partial(self._answer_datagram, sock, message, peer, proceed), len(message))

    def _is_quick(self, message: bytes) -> bool:
        is_work = message[_PROGRAM] == _NFS and any(message[_PROCEDURE])
        return not is_work or len(self._waiting) >= MOST_WAITING

    def _enter(self, answer: Callable[[float], None], size: int) -> None:
        now = self._on.clock()
        if self._times.memory and now >= self._look_at:
            self._hits, self._look_at = self._times.hits_of(self._stored()), now + _LOOK
        ends_at = self._line.arrive(now, self._times.packets(size), self._hits)
        heapq.heappush(self._waiting, (ends_at, next(self._count), answer))
        self.watch(self._on)

    def _answer_record(
        self, connection: Connection, message: bytes, proceed: AnswerRecord, at: float
    ) -> None:
        connection.unanswered -= 1
        if connection not in connection.server.connections:
            return
        before = connection.buffered
        proceed(connection, message)
        self._line.replied(at, self._times.packets(connection.buffered - before))
        connection.on_writable()

    def _answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, at: float
    ) -> None:
        seen = _Seen(sock)
        with contextlib.suppress(OSError):
            proceed(t.cast("socket.socket", seen), message, peer)
        self._line.replied(at, self._times.packets(seen.size))

    def next_deadline(self) -> float | None:
        """When the next call ends."""
        return self._waiting[0][0] if self._waiting else None

    def on_deadline(self, now: float) -> None:
        """Carry out the calls that end."""
        while self._waiting and self._waiting[0][0] <= now:
            ends_at, _, answer = heapq.heappop(self._waiting)
            answer(ends_at)
        if not self._waiting:
            self.unwatch()


class _Seen:
    """A socket of datagrams, and how many bytes it sent."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.size = 0

    def sendto(self, data: bytes, peer: t.Any) -> int:
        """As `socket.sendto`."""
        self.size += len(data)
        return self._sock.sendto(data, peer)


def queue(server: ServerApi, loop: Loop, times: Times) -> Queue:
    """Put a queue before a server."""

    def stored() -> int:
        exports = server.backend.exports.values()
        return sum(each.size for export in exports for each in export.inodes() if each.data is not None)

    made = Queue(times, loop, stored)
    surround: Callable[[Middleware], object] = server.surround  # type: ignore[attr-defined]
    surround(made)
    return made
