# SPDX-License-Identifier: MIT
"""The next page of a directory is on its way while this one is decoded (RFC 5661 section 18.23).

A reply is first only skimmed for what the next call needs: the last cookie, and the verifier. The attributes of an
entry are an opaque, so that they can be skipped. Then that call is sent, and the page is decoded strictly while the
server works. Whatever is unusual (an error, a lost connection, a reply of another form) is left to the ordinary way.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfsclient.clients.nfs4 import NoFreeSlot, Request, Session4
from nfsclient.errors import NfsClientError, RpcError
from nfsclient.files import Position
from nfsclient.highlevel.listing import RawReply
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsclient.highlevel.nfs4.live import LiveClient

_RAW: t.Final = Procedure(p.PROGRAM, p.VERSION, p.COMPOUND.number, "COMPOUND", p.Compound4Args, RawReply)
"""COMPOUND with its results left alone."""
_SEQUENCE = struct.Struct(">IIIII36x")
"""Status, length of an empty tag, results; number and status of SEQUENCE, and its body."""
_OTHERS = struct.Struct(">IIII8s")
"""Number and status of PUTFH and of READDIR, and the cookie verifier."""
_ENTRIES: t.Final = _SEQUENCE.size + _OTHERS.size
_word = struct.Struct(">I").unpack_from
_head_of_entry = struct.Struct(">IQI").unpack_from
"""Whether an entry follows, its cookie, and the length of its name."""


def skim(results: bytes) -> Position | None:
    """Where the results of SEQUENCE, PUTFH, READDIR say to go on; None at the end, for errors, and for other bytes."""
    padded = results + bytes(16)
    try:
        first = _SEQUENCE.unpack_from(padded)
        putfh, status, readdir, ended, verf = _OTHERS.unpack_from(padded, _SEQUENCE.size)
        if first != (0, 0, 3, p.SEQUENCE.number, 0) or (status, ended) != (0, 0):
            return None
        if (putfh, readdir) != (p.PUTFH.number, p.READDIR.number):
            return None
        pos, last = _ENTRIES, -1
        follows, cookie, length = _head_of_entry(padded, pos)
        while follows:
            last = cookie
            pos += 16 + (length + 3 & ~3)
            pos += 4 + 4 * _word(padded, pos)[0]
            pos += 4 + (_word(padded, pos)[0] + 3 & ~3)
            follows, cookie, length = _head_of_entry(padded, pos)
        is_end = _word(padded, pos + 4)[0]
    except struct.error:
        return None
    return None if last < 0 or is_end or pos + 8 != len(results) else Position(last, verf)


@dataclass(slots=True, eq=False)
class _Page:
    at: Position
    session: Session4
    request: Request
    pending: Pending[RawReply]
    sent_at: float


class PagesAhead:
    """One READDIR that is under way before its page is wanted.

    Nothing is read ahead while exchanges are recorded: a recorder is to see what it knows.
    """

    def __init__(self, live: LiveClient, operations: Callable[[Position], Sequence[XdrType]]) -> None:
        self._live = live
        self._operations = operations
        self._next: _Page | None = None

    def take(self, at: Position) -> p.Readdir4ResOk | None:
        """The page at this position; None if it must be got in the ordinary way."""
        page, self._next = self._next or self._send(at), None
        if page is None:
            return None
        try:
            raw = self._live.rpc.wait(page.pending)
        except RpcError:
            # The slot stays in use; the ordinary way reads this page again, which harms nobody.
            return None
        following = skim(raw.results)
        if following is not None:
            self._next = self._send(following)
        reply = page.session.state.finish(page.request, p.Compound4Res.from_xdr(raw.results))
        if reply.sequence is not None and reply.sequence.sr_status == p.Nfsstat4.NFS4_OK:
            self._live.lease.renewed(page.sent_at)
        if page.at != at or reply.status != p.Nfsstat4.NFS4_OK:
            return None
        return reply.ok().of(p.READDIR).resok4

    def _send(self, at: Position) -> _Page | None:
        rpc, session = self._live.rpc, self._live.session
        if rpc.on_exchange is not None or not rpc.is_open:
            return None
        try:
            request = session.state.begin(self._operations(at))
        except NoFreeSlot:
            return None
        return _Page(at, session, request, rpc.submit(_RAW, request.args), rpc.loop.clock())

    def close(self) -> None:
        """Forget the page that is under way: its slot is free when the reply comes, or lost with the connection."""
        page, self._next = self._next, None
        if page is None:
            return
        try:
            raw = self._live.rpc.wait(page.pending)
            page.session.state.finish(page.request, p.Compound4Res.from_xdr(raw.results))
        except NfsClientError:
            return
