# SPDX-License-Identifier: MIT
"""Many calls of one procedure at once, without I/O: encoded in bursts, decoded where they arrive.

The ordinary way makes an object for each call. Here a call is an entry in a dictionary, a burst is one send,
and results are decoded straight out of the received chunk. Whatever is not plain success goes to the core, which
gives replies to calls of the window back by `deliver`.

The life of a call:

    state        where it is                   what ends it
    under way    in `inflight`, by XID         its usual reply, which `take` decodes; or a reply that `deliver` brings
    late         in `inflight`, and `_late`    `take_late`, which gives the result or raises its error
    done         nowhere                       -

What must stay true:

- The bytes of the stream reach their reader in order. While the window holds a chunk, no other bytes may go to the
  core before `release` has sent it the rest: `Link.take` calls that first, and `take` does so wherever its loop ends,
  also when its caller leaves it in the middle.
- `take` accepts only what it understands completely: one fragment, a usual header, an XID of this window, a result that
  ends where the record ends. At the first other record it stops, and the core gets that one and all after it.
- A window decodes by itself only while it `is_alone`: no other window, no call in `core.pending`, no half record.
  Else a reply could be somebody else's.
- An XID is in one window or in `core.pending`, never in both: both draw from `core.next_xid`.
- Nothing here has a deadline or knows that a connection was lost: who runs the window (`RpcClient.pipeline`) does.
"""

from __future__ import annotations

import struct
import typing as t
from collections import deque
from collections.abc import Callable, Iterator

from nfsclient.errors import XdrError
from nfsclient.rpc.core import USUAL_REPLY, StreamCore, decode_reply
from nfsclient.rpc.plan import Plan
from nfsclient.rpc.record import LAST_FRAGMENT, Record, size_of
from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_MARK_AND_XID = struct.Struct(">II")
_HEAD = struct.Struct(">II20s")
"""Record mark, XID, and what follows the XID in a usual reply."""
_HEAD_SIZE = _HEAD.size
_MARK_TO_SIZE = 4 - LAST_FRAGMENT
"""Added to the mark of a record in one fragment: its size with the mark."""


class CallWindow(t.Generic[A, R]):
    """The calls of one `pipeline` that are under way, by XID.

    `feed` takes bytes that the core is to look at. A chunk that `take` is decoding is *held*: before other
    bytes go to the core, `release` must send what is left of it there, or the stream would be out of order.
    """

    def __init__(
        self, core: StreamCore, plan: Plan[R], arguments: Iterator[A], feed: Callable[[bytes], None]
    ) -> None:
        self.inflight: dict[int, A] = {}
        self.plan = plan
        self.is_exhausted = False
        """Whether there are no more arguments."""
        self._core = core
        self._arguments = arguments
        self._feed = feed
        self._chunk = b""
        self._pos = 0
        self._late: deque[tuple[int, Record]] = deque()

    # ------------------------------------------------------------ calls out

    def burst(self, room: int) -> list[Buffer]:
        """The framed bytes of up to `room` new calls."""
        burst: list[Buffer] = []
        if room <= 0 or self.is_exhausted:
            return burst
        inflight, header, pack = self.inflight, self.plan.header, _MARK_AND_XID.pack
        next_xid, joins = self._core.next_xid, not self.plan.sends_bulk
        base = LAST_FRAGMENT + 4 + len(header)
        for args in self._arguments:
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
                return burst
        self.is_exhausted = True
        return burst

    # ------------------------------------------------------------ replies in

    @property
    def is_alone(self) -> bool:
        """Whether whatever arrives next can only answer calls of this window, and fits into it."""
        core = self._core
        return len(core.windows) == 1 and not core.pending and core.assembler.is_idle and not self._chunk

    @property
    def has_late(self) -> bool:
        """Whether replies wait that came by `deliver`."""
        return bool(self._late)

    @property
    def is_holding(self) -> bool:
        """Whether there is a chunk for `take`."""
        return bool(self._chunk)

    def deliver(self, xid: int, record: Record) -> None:
        """Take a reply that the core found among what it was given."""
        self._late.append((xid, Record(record.payload(), 0, record.end - record.start)))

    def hold(self, data: bytes) -> None:
        """Keep a chunk, that arrived while the window was alone, for `take`."""
        self._chunk, self._pos = data, 0

    def release(self) -> None:
        """Give what is left of the held chunk to the core."""
        rest, self._chunk = self._chunk[self._pos :], b""
        if rest:
            self._feed(rest)

    def answered(self) -> int:
        """How many whole records the held chunk has, if all are of one fragment and one size; else 0."""
        data = self._chunk
        if len(data) < _HEAD_SIZE:
            return 0
        size = int.from_bytes(data[:4], "big") + _MARK_TO_SIZE
        if not 4 < size <= len(data):
            return 0
        count = len(data) // size
        end = count * size
        return count if all(data[at:end:size] == data[at : at + 1] * count for at in range(4)) else 0

    def take(self) -> Iterator[tuple[A, R]]:
        """(arguments, result) for each usual reply in the held chunk; from the first other one on, the core's.

        May be left at any time: the stream stays in order.
        """
        data = self._chunk
        inflight, unpack, head = self.inflight, self.plan.unpack, _HEAD.unpack_from
        takes_rest = self.plan.takes_rest
        pos, size = 0, len(data)
        try:
            while size - pos >= _HEAD_SIZE:
                mark, xid, usual = head(data, pos)
                end = pos + mark + _MARK_TO_SIZE
                if usual != USUAL_REPLY or end > size or end < pos or xid not in inflight:
                    break
                try:
                    result, stop = unpack(data[:end] if takes_rest else data, pos + _HEAD_SIZE)
                except XdrError:
                    break
                if stop != end:
                    break
                self._pos = pos = end
                yield inflight.pop(xid), result
                if self._chunk is not data:
                    return
        finally:
            if self._chunk is data:
                self.release()

    def take_late(self) -> Iterator[tuple[A, R]]:
        """(arguments, result) for each reply that came by `deliver`. Raises the error of the first that has one."""
        while self._late:
            xid, record = self._late.popleft()
            args = self.inflight.pop(xid, None)
            if args is not None:
                yield args, decode_reply(self.plan.procedure, record)
