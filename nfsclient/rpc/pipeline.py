# SPDX-License-Identifier: MIT
"""Many calls of one procedure at once: encoded in bursts, decoded where they arrive.

The ordinary way makes an object for each call. Here a call is an entry in a dictionary, a burst is one send,
and results are decoded straight out of the received chunk.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Iterator

from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.rpc.core import StreamCore, decode_reply
from nfsclient.rpc.record import LAST_FRAGMENT, Record
from nfsclient.xdr import Buffer, XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential
    from nfsclient.rpc.blocking import RpcClient
    from nfsclient.rpc.program import Procedure

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_MARK_AND_XID = struct.Struct(">II")
_USUAL = struct.Struct(">IIIIIII")
_END = object()


class PipelineWindow(t.Generic[A, R]):
    """The calls of one `pipeline` that are under way, by XID."""

    def __init__(
        self,
        client: RpcClient,
        core: StreamCore,
        procedure: Procedure[A, R],
        credential: Credential,
        timeout: float,
    ) -> None:
        self.inflight: dict[int, A] = {}
        self._client = client
        self._core = core
        self._procedure = procedure
        self._header = core.templates.header(procedure, credential)
        self._timeout = timeout
        self._late: list[tuple[int, Record]] = []

    def deliver(self, xid: int, record: Record) -> None:
        """Take a reply that another reader of the connection received."""
        self._late.append((xid, Record(record.payload(), 0, record.end - record.start)))

    def run(self, arguments: Iterator[A], outstanding: int) -> Iterator[tuple[A, R]]:
        """(arguments, result) as replies arrive. Raises the error of the first call that has one."""
        self._core.windows.append(self)
        try:
            more = True
            while True:
                if more:
                    more = self._send_burst(arguments, outstanding)
                if not self.inflight:
                    return
                yield from self._receive()
        finally:
            self._core.windows.remove(self)

    def _send_burst(self, arguments: Iterator[A], outstanding: int) -> bool:
        """Fill the window; False when there are no more arguments."""
        inflight, header, pack = self.inflight, self._header, _MARK_AND_XID.pack
        next_xid = self._core.next_xid
        room = outstanding - len(inflight)
        burst: list[Buffer] = []
        more = True
        while room > 0:
            args = next(arguments, _END)
            if args is _END:
                more = False
                break
            room -= 1
            call = t.cast("A", args)
            at = len(burst)
            burst += (b"", header)
            call.pack(burst)
            xid = next_xid()
            size = 4
            for buffer in burst[at + 1 :]:
                size += len(buffer)
            burst[at] = pack(LAST_FRAGMENT | size, xid)
            inflight[xid] = call
        if burst:
            self._client.transmit(burst)
        return more

    def _receive(self) -> Iterator[tuple[A, R]]:
        """Wait for replies and give those that came."""
        client, clock = self._client, self._client.loop.clock
        deadline = clock() + self._timeout
        while not self._late:
            if not client.is_open:
                raise ConnectionLost(self._procedure.label, client.why_closed)
            data = client.receive_chunk(deadline)
            if data:
                yield from self._take(data)
                return
            if not self._late and clock() >= deadline:
                raise RpcTimeout(self._procedure.label, self._timeout)
        late, self._late = self._late, []
        for xid, record in late:
            yield self.inflight.pop(xid), decode_reply(self._procedure, record)

    def _take(self, data: bytes) -> Iterator[tuple[A, R]]:
        inflight, unpack = self.inflight, self._procedure.res.unpack_from
        usual = _USUAL.unpack_from
        pos, size = 0, len(data)
        if self._core.assembler.is_idle:
            while size - pos >= 28:
                mark, xid, mtype, stat, flavor, length, accept = usual(data, pos)
                end = pos - 0x7FFF_FFFC + mark
                # Anything but a whole, plainly successful reply to a call of ours goes the careful way.
                if end < pos or end > size or mtype != 1 or stat or flavor or length or accept:
                    break
                args = inflight.get(xid)
                if args is None:
                    break
                result, stop = unpack(data, pos + 28)
                if stop != end:
                    break
                del inflight[xid]
                pos = end
                yield args, result
        if pos < size:
            yield from self._take_carefully(data[pos:] if pos else data)

    def _take_carefully(self, data: bytes) -> Iterator[tuple[A, R]]:
        self._client.take(data)
        late, self._late = self._late, []
        for xid, record in late:
            yield self.inflight.pop(xid), decode_reply(self._procedure, record)
