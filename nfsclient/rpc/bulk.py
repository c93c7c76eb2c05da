# SPDX-License-Identifier: MIT
"""Receiving bulk data in place: the head of a large reply first, then its data to where it belongs."""

from __future__ import annotations

import socket
import struct
import typing as t
from collections.abc import Callable

from nfsclient.errors import XdrError
from nfsclient.rpc.core import USUAL_REPLY
from nfsclient.rpc.loop import Clock
from nfsclient.rpc.plan import WORTH_IT, Plan
from nfsclient.rpc.program import BulkResult
from nfsclient.rpc.record import LAST_FRAGMENT
from nfsclient.rpc.sockets import KernelTimeout
from nfsclient.xdr import Buffer, XdrType

R = t.TypeVar("R", bound=XdrType)

_WORD = struct.Struct(">I")
_HEAD = struct.Struct(">II20s")
"""Record mark, XID, and what follows the XID in a usual reply."""


class BulkReply(t.NamedTuple):
    """A reply that was received in place."""

    xid: int
    result: t.Any


Find: t.TypeAlias = Callable[[int], tuple[t.Any, memoryview | None] | None]
"""From an XID to the arguments of the call and where its data is to go; None for no call of the same form."""


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

    def receive(
        self, plan: Plan[t.Any], bulk: BulkResult[t.Any, t.Any], find: Find, deadline: float
    ) -> BulkReply | bytes:
        """The next reply, which has its data where `bulk` says, or bytes for the ordinary way. Raises OSError.

        BlockingIOError means that nothing has come within the kernel's timeout, which the caller has set.
        """
        head = self._sock.recv(bulk.head)
        xid = int.from_bytes(head[4:8], "big")
        found = find(xid)
        if found is None:
            return head
        result, rest = self.complete(plan, bulk, found[0], found[1], head, deadline)
        return rest if result is None else BulkReply(xid, result)

    def complete(
        self,
        plan: Plan[R],
        bulk: BulkResult[t.Any, R],
        args: t.Any,
        into: memoryview | None,
        head: bytes,
        deadline: float,
    ) -> tuple[R | None, bytes]:
        """Receive the data after the first `bulk.head` bytes of a reply to a call with `args`.

        Gives the result; or None, and everything that was read. Raises OSError but for a timeout.
        """
        size = bulk.head
        if len(head) != size:
            return None, head
        mark, _, usual = _HEAD.unpack_from(head)
        (count,) = _WORD.unpack_from(head, size - 4)
        padded = count + (-count & 3)
        if usual != USUAL_REPLY or mark != LAST_FRAGMENT - 4 + size + padded:
            return None, head
        if not WORTH_IT <= count <= bulk.asked(args):
            return None, head
        try:
            result, end = plan.unpack(head[:-4] + b"\0\0\0\0", _HEAD.size)
        except XdrError:
            return None, head
        if end != size or bulk.data(result) is None:
            return None, head
        left = deadline - self._clock()
        if left < 0.9 * self._timeout.seconds:
            self._timeout.allow(left)
        if into is None or len(into) < count:
            data, rest = self._take_fresh(count, padded, deadline)
        else:
            data, rest = self._take_into(into[:count], padded, deadline)
        if data is None:
            return None, head + rest
        bulk.place(result, data)
        return result, b""

    def _take_fresh(self, count: int, padded: int, deadline: float) -> tuple[Buffer | None, bytes]:
        """Data in a separate buffer; or None, and what was received."""
        try:
            whole: Buffer = self._sock.recv(padded, socket.MSG_WAITALL)
        except BlockingIOError:
            return None, b""
        filled = len(whole)
        if filled != padded:
            whole = bytearray(whole) + bytearray(padded - filled)
            if self._clock() < deadline:
                filled += self._fill(memoryview(whole)[filled:], deadline)
        if filled != padded or (count != padded and any(whole[count:])):
            return None, bytes(whole[:filled])
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
        size, filled = len(view), 0
        try:
            filled = received = self._sock.recv_into(view, 0, socket.MSG_WAITALL)
            while filled != size and received:
                left = deadline - self._clock()
                if left <= 0:
                    break
                self._timeout.allow(left)
                received = self._sock.recv_into(view[filled:], 0, socket.MSG_WAITALL)
                filled += received
        except BlockingIOError:
            pass
        return filled
