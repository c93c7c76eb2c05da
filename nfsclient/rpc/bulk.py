# SPDX-License-Identifier: MIT
"""Receiving bulk data in place: the head of a large reply first, then its data to where it belongs."""

from __future__ import annotations

import socket
import struct
import typing as t
from collections.abc import Callable

from nfsclient.errors import XdrError
from nfsclient.rpc.core import USUAL_REPLY_SIZE
from nfsclient.rpc.loop import Clock
from nfsclient.rpc.plan import Plan
from nfsclient.rpc.record import LAST_FRAGMENT
from nfsclient.rpc.sockets import KernelTimeout
from nfsclient.xdr import Buffer

_WORD = struct.Struct(">I")
_HEAD = struct.Struct(">IIIIIII")
"""Record mark and the six words of a usual reply."""
_RESULTS = 4 + USUAL_REPLY_SIZE

WORTH_IT = 48 << 10
"""Data below this is copied with less effort than it takes to receive it apart."""


class BulkReply(t.NamedTuple):
    """A reply that was received in place."""

    xid: int
    result: t.Any


Find: t.TypeAlias = Callable[[int], tuple[t.Any, memoryview | None] | None]
"""From an XID to the arguments of the call and where its data is to go; None for no call of the procedure."""


class BulkReceiver:
    """Receives replies that carry much data, from a blocking socket that nobody else reads.

    Only the usual shape is received in place: one fragment, an accepted reply with an empty verifier, results
    with all their optional parts. Whatever was read of any other is given back as plain bytes, for the
    ordinary way; so is a reply that does not arrive completely in time.
    """

    def __init__(self, sock: socket.socket, timeout: KernelTimeout, clock: Clock) -> None:
        self._sock = sock
        self._timeout = timeout
        self._clock = clock

    def receive(self, plan: Plan[t.Any], find: Find, deadline: float) -> BulkReply | bytes:
        """The next reply, or bytes for the ordinary way. Raises OSError.

        BlockingIOError means that nothing has come within the kernel's timeout, which the caller has set.
        """
        bulk = plan.bulk
        assert bulk is not None
        at = _RESULTS + bulk.at
        head = self._sock.recv(at + 4)
        if len(head) != at + 4:
            return head
        mark, xid, mtype, stat, flavor, length, accept = _HEAD.unpack_from(head)
        (count,) = _WORD.unpack_from(head, at)
        padded = count + (-count & 3)
        if mark != LAST_FRAGMENT + at + padded or mtype != 1 or stat or flavor or length or accept:
            return head
        found = find(xid)
        if found is None or not WORTH_IT <= count <= bulk.asked(found[0]):
            return head
        try:
            result, end = plan.unpack(head[:at] + b"\0\0\0\0", _RESULTS)
        except XdrError:
            return head
        if end != at + 4 or bulk.data(result) is None:
            return head
        into = found[1]
        if into is None or len(into) < count:
            data, rest = self._take_fresh(count, padded, deadline)
        else:
            data, rest = self._take_into(into[:count], padded, deadline)
        if data is None:
            return head + rest
        bulk.place(result, data)
        return BulkReply(xid, result)

    def _take_fresh(self, count: int, padded: int, deadline: float) -> tuple[Buffer | None, bytes]:
        """Data in a buffer of its own; or None, and what came."""
        try:
            whole: Buffer = self._sock.recv(padded, socket.MSG_WAITALL)
        except BlockingIOError:
            return None, b""
        if len(whole) != padded:
            buffer = bytearray(padded)
            buffer[: len(whole)] = whole
            filled = len(whole) + self._fill(memoryview(buffer)[len(whole) :], deadline)
            if filled != padded:
                return None, bytes(buffer[:filled])
            whole = buffer
        if count != padded and any(whole[count:]):
            return None, bytes(whole)
        return memoryview(whole)[:count], b""

    def _take_into(self, view: memoryview, padded: int, deadline: float) -> tuple[Buffer | None, bytes]:
        """Data in the buffer of the caller; or None, and what came."""
        filled = self._fill(view, deadline)
        if filled != len(view):
            return None, bytes(view[:filled])
        if padded != len(view):
            padding = bytearray(padded - len(view))
            filled = self._fill(memoryview(padding), deadline)
            if filled != len(padding) or any(padding):
                return None, bytes(view) + bytes(padding[:filled])
        return view, b""

    def _fill(self, view: memoryview, deadline: float) -> int:
        """Fill `view`; how much of it was filled when the deadline passed or the stream ended."""
        filled = 0
        while filled < len(view):
            try:
                received = self._sock.recv_into(view[filled:], 0, socket.MSG_WAITALL)
            except BlockingIOError:
                received = 0
            filled += received
            left = deadline - self._clock()
            if not received or left <= 0:
                break
            if filled < len(view):
                self._timeout.allow(left)
        return filled
