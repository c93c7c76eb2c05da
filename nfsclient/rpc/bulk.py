# SPDX-License-Identifier: MIT
"""Receiving bulk data in place: the head of a large reply first, then its data to where it belongs."""

from __future__ import annotations

import socket
import struct
import typing as t

from nfsclient.errors import NfsClientError
from nfsclient.rpc.core import USUAL_REPLY_SIZE, Pending, StreamCore
from nfsclient.rpc.loop import Clock
from nfsclient.rpc.record import LAST_FRAGMENT
from nfsclient.xdr import Buffer

_WORD = struct.Struct(">I")
_HEAD_START = struct.Struct(">IIIIIII")
"""Record mark and the six words of a usual reply."""

WORTH_IT = 32 << 10
"""Data below this is copied with less effort than it takes to receive it apart."""


class BulkReceiver:
    """Receives replies to calls that ask for much data, where the socket is ours alone.

    Only the usual shape is received in place: one fragment, an accepted reply with an empty verifier, results
    that are complete. Any other is handed back as plain bytes.
    """

    def __init__(self, core: StreamCore) -> None:
        self._core = core

    @property
    def is_expected(self) -> bool:
        """Whether a large reply may come next."""
        if not self._core.assembler.is_idle:
            return False
        for pending in self._core.pending.values():
            bulk = pending.procedure.bulk
            if bulk is not None and bulk.asked(pending.args) >= WORTH_IT:
                return True
        return False

    def receive(self, sock: socket.socket, clock: Clock) -> bytes | None:
        """Receive a reply and finish its call (None), or give the bytes for the ordinary way."""
        size = 4 + USUAL_REPLY_SIZE + self._least_head()
        head = sock.recv(size)
        if len(head) < size:
            return head
        mark, xid, *usual = _HEAD_START.unpack_from(head)
        pending = self._core.pending.get(xid)
        length = mark & ~LAST_FRAGMENT
        if pending is None or usual != [1, 0, 0, 0, 0] or not mark & LAST_FRAGMENT:
            return head
        count = self._count(pending, head, length)
        if count is None or not self._decode_head(pending, head):
            return head
        self._take_data(sock, pending, head, count, clock)
        return None

    def _least_head(self) -> int:
        """Bytes of results up to the data, for the calls that are under way."""
        ats = [p.procedure.bulk.at for p in self._core.pending.values() if p.procedure.bulk is not None]
        return min(ats) + 4

    def _count(self, pending: Pending[t.Any], head: bytes, length: int) -> int | None:
        """How much data follows the head, if the record is as long as that makes it."""
        bulk = pending.procedure.bulk
        at = 4 + USUAL_REPLY_SIZE + (bulk.at if bulk is not None else 0)
        if bulk is None or len(head) != at + 4:
            return None
        (count,) = _WORD.unpack_from(head, at)
        fits = length == USUAL_REPLY_SIZE + bulk.at + 4 + count + -count % 4
        return count if fits and WORTH_IT <= count <= bulk.asked(pending.args) else None

    def _decode_head(self, pending: Pending[t.Any], head: bytes) -> bool:
        """Decode the results as if they had no data; False when they are of another shape."""
        results = head[4 + USUAL_REPLY_SIZE : -4] + bytes(4)
        try:
            pending.result = pending.procedure.res.from_xdr(results)
        except NfsClientError:
            return False
        return True

    def _take_data(
        self, sock: socket.socket, pending: Pending[t.Any], head: bytes, count: int, clock: Clock
    ) -> None:
        padding = -count % 4
        into = pending.into
        data: Buffer
        if into is not None and len(into) >= count:
            view = into[:count]
            receive_into(sock, view)
            data = view
            tail = receive_exactly(sock, padding) if padding else b""
        else:
            whole = receive_exactly(sock, count + padding)
            data = memoryview(whole)[:count]
            tail = bytes(whole[count:])
        del self._core.pending[pending.xid]
        bulk = pending.procedure.bulk
        assert bulk is not None
        bulk.place(pending.result, data)
        if any(tail) or self._core.recorder is not None:
            self._finish_slowly(pending, head, bytes(data) + tail, clock())
        pending.done = True

    def _finish_slowly(self, pending: Pending[t.Any], head: bytes, rest: bytes, now: float) -> None:
        """Judge the whole message in the ordinary way: for its recorder, or for the error in its padding."""
        message = head[4:] + rest
        try:
            pending.procedure.res.from_xdr(message[USUAL_REPLY_SIZE:])
        except NfsClientError as error:
            pending.result, pending.error = None, error
        if self._core.recorder is not None:
            self._core.record(pending, message, now)


def receive_exactly(sock: socket.socket, count: int) -> bytes | bytearray:
    """`count` bytes from a blocking socket. Raises OSError when they do not come in time, or at all."""
    first = sock.recv(count, socket.MSG_WAITALL)
    if len(first) == count:
        return first
    if not first:
        raise ConnectionResetError("the server closed it in the middle of a reply")
    buffer = bytearray(count)
    buffer[: len(first)] = first
    receive_into(sock, memoryview(buffer)[len(first) :])
    return buffer


def receive_into(sock: socket.socket, view: memoryview) -> None:
    """Fill `view` from a blocking socket. Raises OSError when the bytes do not come in time, or at all."""
    while len(view):
        received = sock.recv_into(view, len(view), socket.MSG_WAITALL)
        if not received:
            raise ConnectionResetError("the server closed it in the middle of a reply")
        view = view[received:]
