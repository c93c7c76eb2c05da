# SPDX-License-Identifier: MIT
"""Listing a directory page after page (RFC 1094 section 2.2.17)."""

from __future__ import annotations

import typing as t

from nfsclient.files import Entry, Position
from nfsclient.highlevel.batches import Batch, DecodedBatch
from nfsclient.highlevel.listing import Lists
from nfsclient.listings import require_names
from nfsclient.paths import shown


class Lister(Lists):
    """Lists by NFSv2: names only."""

    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page. Raises `NfsStatusError`, `NoProgress`."""
        for batch in self._without_repeats(self._pages, ()):
            yield batch.names

    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page. Raises like `names`."""
        for batch in self._without_repeats(self._pages, ()):
            yield batch.entries()

    def _pages(self) -> t.Iterator[Batch]:
        at, progress = Position(), self._progress("READDIR")
        while True:
            with progress.waiting():
                reading = self._calls.files.readdir(self._handle, at, self._calls.limits.page)
                page = self._calls.do(reading, self._path)
            batch = DecodedBatch(page.entries, lambda entry: entry)
            names = batch.names
            require_names(names, f"READDIR of {shown(self._path)}")
            with self._between(progress):
                yield batch
            if page.eof:
                return
            at = page.next
            progress.note(len(names), at, names)
