# SPDX-License-Identifier: MIT
"""Many calls of one procedure at once: encoded in bursts, decoded where they arrive.

The ordinary way makes an object for each call. Here a call is an entry in a dictionary, a burst is one send,
and results are decoded straight out of the received chunk. Whatever is not plain success goes through the core,
which gives it back by `deliver`.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Iterator

from nfsclient.errors import ConnectionLost, RpcTimeout, XdrError
from nfsclient.rpc.bulk import WORTH_IT, BulkReply
from nfsclient.rpc.core import USUAL_REPLY, StreamCore, decode_reply
from nfsclient.rpc.plan import Plan
from nfsclient.rpc.record import LAST_FRAGMENT, Record, size_of
from nfsclient.xdr import Buffer, XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.blocking import RpcClient

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_MARK_AND_XID = struct.Struct(">II")
_HEAD = struct.Struct(">II20s")
_HEAD_SIZE = _HEAD.size
_MARK_TO_END = 4 - LAST_FRAGMENT
"""Added to the record mark of a whole record: the record's size with its mark."""


class PipelineWindow(t.Generic[A, R]):
    """The calls of one `pipeline` that are under way, by XID."""

    def __init__(self, client: RpcClient, core: StreamCore, plan: Plan[R], timeout: float) -> None:
        self.inflight: dict[int, A] = {}
        self._client = client
        self._core = core
        self._plan = plan
        self._timeout = timeout
        self._late: list[tuple[int, Record]] = []

    def deliver(self, xid: int, record: Record) -> None:
        """Take a reply that the core found among what it was given."""
        self._late.append((xid, Record(record.payload(), 0, record.end - record.start)))

    def run(self, arguments: Iterator[A], outstanding: int) -> Iterator[tuple[A, R]]:
        """(arguments, result) as replies arrive. Raises the error of the first call that has one."""
        inflight = self.inflight
        self._core.windows.append(self)
        try:
            more = self._send_burst(arguments, outstanding)
            while inflight:
                reply = self._receive()
                if isinstance(reply, BulkReply):
                    yield inflight.pop(reply.xid), reply.result
                elif reply:
                    # Calls that are answered by now make room: let the server work while we decode.
                    answered = _count_records(reply) if more else 0
                    if answered > 1 and self._core.assembler.is_idle:
                        more = self._send_burst(arguments, outstanding - len(inflight) + answered)
                    yield from self._take(reply)
                yield from self._take_late()
                if more:
                    more = self._send_burst(arguments, outstanding - len(inflight))
        finally:
            self._core.windows.remove(self)

    def _send_burst(self, arguments: Iterator[A], room: int) -> bool:
        """Make up to `room` calls; False when there are no more arguments."""
        if room <= 0:
            return True
        inflight, header, pack = self.inflight, self._plan.header, _MARK_AND_XID.pack
        next_xid, joins = self._core.next_xid, not self._plan.sends_bulk
        base = LAST_FRAGMENT + 4 + len(header)
        burst: list[Buffer] = []
        for args in arguments:
            body: list[Buffer] = []
            args.pack(body)
            xid = next_xid()
            if joins:
                encoded = b"".join(body)
                burst += (pack(base + len(encoded), xid), header, encoded)
            else:
                burst += (pack(base + size_of(body), xid), header, *body)
            inflight[xid] = args
            room -= 1
            if not room:
                break
        if burst:
            self._client.transmit(burst, self._timeout)
        return not room

    def _receive(self) -> BulkReply | bytes:
        """Wait until replies come, as they are, or by `deliver` (then nothing is returned)."""
        client, label = self._client, self._plan.procedure.label
        deadline = client.loop.clock() + self._timeout
        while not self._late:
            if not client.is_open:
                raise ConnectionLost(label, client.why_closed)
            reply = self._receive_once(deadline)
            if reply:
                return reply
            if client.loop.clock() >= deadline and not self._late:
                raise RpcTimeout(label, self._timeout)
        return b""

    def _receive_once(self, deadline: float) -> BulkReply | bytes:
        bulk = self._plan.bulk
        if bulk is not None and self._core.assembler.is_idle:
            asked = bulk.asked(next(iter(self.inflight.values())))
            if asked >= WORTH_IT:
                return self._client.receive_bulk(self._plan, self._find, deadline)
        return self._client.receive_chunk(deadline)

    def _find(self, xid: int) -> tuple[A, None] | None:
        args = self.inflight.get(xid)
        return None if args is None else (args, None)

    def _take(self, data: bytes) -> Iterator[tuple[A, R]]:
        """Decode usual replies in place; the rest of the chunk, from the first other one on, goes to the core."""
        inflight, unpack, head = self.inflight, self._plan.unpack, _HEAD.unpack_from
        pos, size = 0, len(data)
        try:
            if self._core.assembler.is_idle:
                while size - pos >= _HEAD_SIZE:
                    mark, xid, usual = head(data, pos)
                    end = pos + mark + _MARK_TO_END
                    if usual != USUAL_REPLY or end > size or end < pos or xid not in inflight:
                        break
                    try:
                        result, stop = unpack(data, pos + _HEAD_SIZE)
                    except XdrError:
                        break
                    if stop != end:
                        break
                    pos = end
                    yield inflight.pop(xid), result
        finally:
            # Also when the caller stops listening in between: the stream must stay in step.
            if pos < size:
                self._client.take(data[pos:] if pos else data)

    def _take_late(self) -> Iterator[tuple[A, R]]:
        while self._late:
            xid, record = self._late.pop(0)
            args = self.inflight.pop(xid, None)
            if args is not None:
                yield args, decode_reply(self._plan.procedure, record)


def _count_records(data: bytes) -> int:
    """How many whole records `data` holds, if all are of one fragment and one size; else 0."""
    if len(data) < _HEAD_SIZE:
        return 0
    size = int.from_bytes(data[:4], "big") + _MARK_TO_END
    if not 4 < size <= len(data):
        return 0
    end = len(data) // size * size
    count = end // size
    return count if all(data[at:end:size] == data[at : at + 1] * count for at in range(4)) else 0
