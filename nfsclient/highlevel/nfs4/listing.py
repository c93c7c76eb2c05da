# SPDX-License-Identifier: MIT
"""Listing a directory page by page (RFC 5661 section 18.23)."""

from __future__ import annotations

import typing as t
from functools import partial

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.nfs4 import operations as op
from nfsclient.highlevel.nfs4.ahead import PagesAhead, Position4
from nfsclient.highlevel.nfs4.live import LiveClient
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, ListingProgress, require_names
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType

_MOST_RESTARTS: t.Final = 4
_LARGEST_PAGE: t.Final = 1 << 20
_DOTS: t.Final = frozenset({b".", b".."})
_EXPIRED: t.Final = frozenset({p.Nfsstat4.NFS4ERR_BAD_COOKIE, p.Nfsstat4.NFS4ERR_NOT_SAME})
"""The position is no longer valid, because the directory was changed."""


class Lister4:
    """Lists one directory, without "." and ".."; a name that a restart brings again is given once."""

    def __init__(
        self,
        live: LiveClient,
        handle: bytes,
        path: bytes,
        *,
        page: int,
        bounds: ListingBounds = USUAL_BOUNDS,
    ) -> None:
        self._live = live
        self._handle = handle
        self._path = path
        self._page = page
        self._bounds = bounds

    def entries(self, attributes: t.Sequence[str]) -> t.Iterator[list[p.Entry4]]:
        """The entries, page by page, with these attributes and `rdattr_error`.

        Raises `NfsStatusError`, `RetriesExhausted`, `EndlessListing`, `ServerViolation` for names that cannot be any.
        """
        seen = set(_DOTS)
        for restarts in range(_MOST_RESTARTS + 1):
            try:
                for page in self._pages(attributes):
                    known = seen if restarts else _DOTS
                    fresh = [entry for entry in page if entry.name not in known]
                    seen.update([entry.name for entry in fresh])
                    yield fresh
            except CompoundError as error:
                if error.status not in _EXPIRED or restarts == _MOST_RESTARTS:
                    raise
            else:
                return

    def _pages(self, attributes: t.Sequence[str]) -> t.Iterator[list[p.Entry4]]:
        at = Position4()
        clock = self._live.patience.clock
        what = f"READDIR of {shown(self._path)}"
        progress = ListingProgress(what, self._bounds, clock)
        ahead = PagesAhead(self._live, lambda at: self._operations(at, self._page, attributes))
        try:
            while True:
                with progress.waiting():
                    result = ahead.take(at) or self._ask(at, attributes)
                entries = result.reply.entries
                names = [entry.name for entry in entries]
                require_names(names, what)
                yield entries
                if result.reply.eof:
                    return
                if entries:
                    at = Position4(entries[-1].cookie, result.cookieverf)
                progress.note(len(entries), at, names)
        finally:
            ahead.close()

    def _operations(self, at: Position4, page: int, attributes: t.Sequence[str]) -> list[XdrType]:
        wanted = (*attributes, "rdattr_error")
        return [
            op.putfh(self._handle),
            op.readdir(at.cookie, at.verf, maxcount=page, dircount=page, attributes=wanted),
        ]

    def _ask(self, at: Position4, attributes: t.Sequence[str]) -> p.Readdir4ResOk:
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
