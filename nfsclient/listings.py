# SPDX-License-Identifier: MIT
"""Whether reading a directory page by page comes to an end: by its cookies, and by a bound."""

from __future__ import annotations

from collections.abc import Hashable

from nfsclient.errors import EndlessListing

MOST_ENTRIES = 1_000_000
"""Entries of one directory, if the caller does not allow more."""


class ListingProgress:
    """Notes each page of one listing. `what` names the listing in errors: "READDIR of /export"."""

    def __init__(self, what: str, most_entries: int = MOST_ENTRIES) -> None:
        self._what = what
        self._most = most_entries
        self._entries = 0
        self._positions: set[Hashable] = set()

    def note(self, entries: int, position: Hashable) -> None:
        """A page had `entries` entries, and the next one is to begin at `position`: its cookie, and its verifier.

        Raises `EndlessListing` for a page without entries, for a position at which a page has begun before, and for
        more entries than are allowed.
        """
        self._entries += entries
        if not entries:
            raise EndlessListing(f"{self._what}: no entries and no end")
        if position in self._positions:
            raise EndlessListing(
                f"{self._what} does not come to an end: after {self._entries} entries a cookie is returned again"
            )
        if self._entries > self._most:
            raise EndlessListing(
                f"{self._what} has not come to an end after {self._entries} entries; "
                "raise most_entries if the directory is that large"
            )
        self._positions.add(position)
