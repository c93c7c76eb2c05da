# SPDX-License-Identifier: MIT
"""Listing a directory fast: the next page is on its way while this one is decoded (RFC 1813 3.3.16, 3.3.17).

Of a page everything but its entries is decoded, and the last entry is looked for from its end. That is what the next
call needs; it is sent, and all entries are checked while the server works (`nfsclient.xdr.outline`). If the last entry
was another one, the call is made again. What is unusual is left to the decoder, so that the error is the decoder's.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.errors import NfsStatusError
from nfsclient.files import Entry, Position
from nfsclient.files.v3 import entry_of
from nfsclient.highlevel.batches import Batch, DecodedBatch, SkimmedBatch
from nfsclient.highlevel.errors import NoProgress
from nfsclient.highlevel.listing import Lists
from nfsclient.highlevel.session import StatelessCalls
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, require_names
from nfsclient.paths import shown
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.raw import RawReply, raw
from nfsclient.xdr.outline import PageReader, SkimmedPage

Res = t.TypeVar("Res", p.Readdir3Res, p.Readdirplus3Res)
_EXPIRED: t.Final = frozenset({p.Nfsstat3.NFS3ERR_BAD_COOKIE})


@dataclass(frozen=True)
class _Kind(t.Generic[Res]):
    """What READDIR and READDIRPLUS do differently."""

    procedure: Procedure[t.Any, Res]
    raw: Procedure[t.Any, RawReply]
    args: t.Callable[[bytes, Position, int], t.Any]
    pages: PageReader[Res, t.Any]


def _entries(reply: t.Any) -> list[t.Any] | None:
    return None if reply.resok is None else reply.resok.entries


_PLAIN: t.Final = _Kind(
    p.READDIR,
    raw(p.READDIR),
    lambda handle, at, size: p.Readdir3Args(handle, at.cookie, at.verifier, size),
    PageReader(p.Readdir3Res, p.Entry3, _entries),
)
_PLUS: t.Final = _Kind(
    p.READDIRPLUS,
    raw(p.READDIRPLUS),
    lambda handle, at, size: p.Readdirplus3Args(handle, at.cookie, at.verifier, size, size),
    PageReader(p.Readdirplus3Res, p.Entryplus3, _entries),
)


class Lister(Lists):
    """Lists by NFSv3: the next page is on its way."""

    def __init__(
        self, session: StatelessCalls, handle: bytes, path: bytes, *, bounds: ListingBounds = USUAL_BOUNDS
    ) -> None:
        super().__init__(session, handle, path, bounds=bounds)
        self._session = session

    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page, by READDIR. Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`."""
        for batch in self._without_repeats(lambda: self._pages(_PLAIN), _EXPIRED):
            yield batch.names

    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page, by READDIRPLUS, with attributes and handles where the server gives them.

        By READDIR, and so without them, where the server has no READDIRPLUS. Raises like `names`.
        """
        for batch in self._without_repeats(self._plus_or_plain, _EXPIRED):
            yield batch.entries()

    def _plus_or_plain(self) -> t.Iterator[Batch]:
        pages = self._pages(_PLUS)
        try:
            first = next(pages)
        except StopIteration:
            return
        except NfsStatusError as error:
            if error.status != p.Nfsstat3.NFS3ERR_NOTSUPP:
                raise
            yield from self._pages(_PLAIN)
            return
        yield first
        yield from pages

    def _pages(self, kind: _Kind[t.Any]) -> t.Iterator[Batch]:
        at = Position()
        pending = self._ask(kind, at)
        following: tuple[Position, Pending[t.Any]] | None = None
        what = f"{kind.procedure.name} of {shown(self._path)}"
        progress = self._progress(kind.procedure.name)
        try:
            while True:
                with progress.waiting():
                    reply = self._session.caller.wait(pending)
                page = kind.pages.skim(reply.results) if isinstance(reply, RawReply) else None
                if page is not None and not page.value.resok.eof and (last := page.last()) is not None:
                    ahead = Position(last.cookie, page.value.resok.cookieverf)
                    following = ahead, self._ask(kind, ahead)
                with progress.waiting():
                    result, batch, last = self._taken(kind, reply, page, at)
                names = batch.names
                require_names(names, what)
                with self._between(progress):
                    yield batch
                if result.eof:
                    return
                at = at if last is None else Position(last.cookie, result.cookieverf)
                progress.note(len(names), at, names)
                pending, following = self._following(kind, at, following), None
        finally:
            for each in (pending, following and following[1]):
                self._give_up(each)

    def _following(
        self, kind: _Kind[t.Any], at: Position, sent: tuple[Position, Pending[t.Any]] | None
    ) -> Pending[t.Any]:
        """The call for the page at this position, if it is the one that was sent ahead; else another one."""
        if sent is not None and sent[0] == at:
            return sent[1]
        self._give_up(sent and sent[1])
        return self._ask(kind, at)

    def _give_up(self, pending: Pending[t.Any] | None) -> None:
        if pending is not None and not pending.done:
            self._session.rpc.core.cancel(pending, NoProgress("the listing was given up"))

    def _taken(
        self, kind: _Kind[t.Any], reply: t.Any, page: SkimmedPage[t.Any, t.Any] | None, at: Position
    ) -> tuple[t.Any, Batch, t.Any]:
        """The result of a page, its entries, and the last of these; None for none."""
        rows = None if page is None else page.rows()
        if page is not None and rows is not None:
            last = page.element(rows.starts[-1]) if rows.starts else None
            return page.value.resok, SkimmedBatch.of(page, rows, entry_of), last
        if isinstance(reply, RawReply):
            reply = kind.procedure.res.from_xdr(reply.results)
            kind.pages.learn(reply)
        result = self._result(kind, reply, at)
        return result, DecodedBatch(result.entries, entry_of), result.entries[-1] if result.entries else None

    def _ask(self, kind: _Kind[t.Any], at: Position) -> Pending[t.Any]:
        # A recorder is to see what it knows: then pages are decoded where they arrive, and nothing overlaps.
        procedure = kind.raw if self._session.rpc.on_exchange is None else kind.procedure
        return self._session.caller.submit(procedure, kind.args(self._handle, at, self._session.limits.page))

    def _result(self, kind: _Kind[t.Any], reply: t.Any, at: Position) -> t.Any:
        """The result of a page; after JUKEBOX it is requested again."""
        if is_jukebox(reply):
            args = kind.args(self._handle, at, self._session.limits.page)
            reply = self._session.patience.retry(
                lambda: self._session.caller.call(kind.procedure, args), is_jukebox, reply
            )
        return self._session.ok(reply, self._path)
