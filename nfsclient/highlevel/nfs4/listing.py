# SPDX-License-Identifier: MIT
"""Listing a directory page by page (RFC 5661 section 18.23)."""

from __future__ import annotations

import typing as t
from functools import partial

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.nfs4 import operations as op
from nfsclient.files import Entry, Position
from nfsclient.highlevel.batches import Batch
from nfsclient.highlevel.listing import Lists
from nfsclient.highlevel.nfs4.ahead import PagesAhead, Taken
from nfsclient.highlevel.nfs4.calls import LiveCalls
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, require_names
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType

_LARGEST_PAGE: t.Final = 1 << 20
_EXPIRED: t.Final = frozenset({p.Nfsstat4.NFS4ERR_BAD_COOKIE, p.Nfsstat4.NFS4ERR_NOT_SAME})
"""The position is no longer valid, because the directory was changed."""


class Lister(Lists):
    """Lists by NFSv4: the next page is on its way. `wanted` are the attributes of the entries."""

    def __init__(
        self,
        calls: LiveCalls,
        handle: bytes,
        path: bytes,
        *,
        bounds: ListingBounds = USUAL_BOUNDS,
        wanted: t.Sequence[str] = (),
    ) -> None:
        super().__init__(calls, handle, path, bounds=bounds)
        self._live = calls.live
        self._page = calls.limits.page
        self._wanted = wanted

    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page. Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`."""
        for batch in self._without_repeats(lambda: self._pages(()), _EXPIRED):
            yield batch.names

    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page, with the wanted attributes and `rdattr_error`. Raises like `names`."""
        for batch in self._without_repeats(lambda: self._pages(self._wanted), _EXPIRED):
            yield batch.entries()

    def _pages(self, attributes: t.Sequence[str]) -> t.Iterator[Batch]:
        at, progress = Position(), self._progress("READDIR")
        ahead = PagesAhead(self._live, lambda at: self._operations(at, self._page, attributes))
        try:
            while True:
                with progress.waiting():
                    page = ahead.take(at) or Taken.of(self._ask(at, attributes))
                names = page.batch.names
                require_names(names, f"READDIR of {shown(self._path)}")
                yield page.batch
                if page.eof:
                    return
                at = page.next or at
                progress.note(len(names), at, names)
        finally:
            ahead.close()

    def _operations(self, at: Position, page: int, attributes: t.Sequence[str]) -> list[XdrType]:
        wanted = (*attributes, "rdattr_error")
        return [
            op.putfh(self._handle),
            op.readdir(at.cookie, at.verifier, maxcount=page, dircount=page, attributes=wanted),
        ]

    def _ask(self, at: Position, attributes: t.Sequence[str]) -> p.Readdir4ResOk:
        while True:
            page = self._page
            try:
                reply = self._live.run(partial(self._operations, at, page, attributes), self._path)
            except CompoundError as error:
                # Not one entry fits: some are larger than the page (18.23.3).
                if error.status != p.Nfsstat4.NFS4ERR_TOOSMALL or page >= _LARGEST_PAGE:
                    raise
                self._page = page * 2
                continue
            result = reply.of(p.READDIR).resok4
            assert result is not None
            return result
