# SPDX-License-Identifier: MIT
"""The next page of a directory is on its way while this one is decoded (RFC 5661 section 18.23).

Of a reply everything but the entries is decoded, and the last entry is looked for from its end. That is what the next
call needs; it is sent, and all entries are checked while the server works (`nfsclient.xdr.outline`). Whatever is
unusual (an error, a lost connection, a reply of another form, another last entry) is left to the ordinary way.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfsclient.clients.nfs4 import CompoundReply, NoFreeSlot, Request, Session
from nfsclient.errors import NfsClientError, RpcError
from nfsclient.files import Position
from nfsclient.files.v4 import entry_of
from nfsclient.highlevel.batches import Batch, DecodedBatch, SkimmedBatch
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.core import Pending
from nfsclient.rpc.raw import RawReply, raw
from nfsclient.xdr import XdrType
from nfsclient.xdr.outline import PageReader, SkimmedPage

if t.TYPE_CHECKING:
    from nfsclient.highlevel.nfs4.live import LiveClient

_RAW: t.Final = raw(p.COMPOUND)
"""COMPOUND with its results left alone."""


def _entries(reply: p.Compound4Res) -> list[p.Entry4] | None:
    last = reply.resarray[-1] if reply.resarray else None
    return None if not isinstance(last, p.Readdir4Res) or last.resok4 is None else last.resok4.reply.entries


_PAGES: t.Final = PageReader(p.Compound4Res, p.Entry4, _entries)


class Taken(t.NamedTuple):
    """A page: its entries, and where the next one begins if this one is not the last."""

    batch: Batch
    eof: bool
    next: Position | None
    """None for a page without entries."""

    @classmethod
    def of(cls, result: p.Readdir4ResOk) -> Taken:
        """A page that was decoded in the ordinary way."""
        entries = result.reply.entries
        following = Position(entries[-1].cookie, result.cookieverf) if entries else None
        return cls(DecodedBatch(entries, entry_of), result.reply.eof, following)


@dataclass(slots=True, eq=False)
class _Page:
    at: Position
    session: Session
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

    def take(self, at: Position) -> Taken | None:
        """The page at this position; None if it must be got in the ordinary way."""
        page, self._next = self._next or self._send(at), None
        if page is None:
            return None
        try:
            raw = self._live.rpc.wait(page.pending).results
        except RpcError:
            # The slot stays in use; the ordinary way reads this page again, which harms nobody.
            return None
        skimmed = _PAGES.skim(raw)
        res = self._decoded(raw) if skimmed is None else skimmed.value
        reply = page.session.state.finish(page.request, res)
        if reply.renews_lease:
            self._live.lease.renewed(page.sent_at)
        if page.at != at or reply.status != p.Nfsstat4.NFS4_OK:
            return None
        result = reply.ok().of(p.READDIR).resok4
        if result is None:
            return None
        taken = Taken.of(result) if skimmed is None else self._rows(skimmed, result)
        return taken or self._whole(raw)

    def _rows(self, skimmed: SkimmedPage[p.Compound4Res, p.Entry4], result: p.Readdir4ResOk) -> Taken | None:
        """The entries of a page that is decoded but for them; the next page is requested before they are looked at."""
        eof, verifier = result.reply.eof, result.cookieverf
        if not eof and (guess := skimmed.last()) is not None:
            self._next = self._send(Position(guess.cookie, verifier))
        rows = skimmed.rows()
        if rows is None:
            return None
        last = Position(skimmed.element(rows.starts[-1]).cookie, verifier) if rows.starts else None
        return Taken(SkimmedBatch.of(skimmed, rows, entry_of), eof, last)

    def _whole(self, raw: bytes) -> Taken | None:
        """The same of a page that turned out to be unusual. Raises `XdrError`."""
        result = CompoundReply(p.Compound4Args(b"", 0, []), self._decoded(raw)).of(p.READDIR).resok4
        return None if result is None else Taken.of(result)

    def _decoded(self, raw: bytes) -> p.Compound4Res:
        res = p.Compound4Res.from_xdr(raw)
        _PAGES.learn(res)
        return res

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
