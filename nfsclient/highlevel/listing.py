# SPDX-License-Identifier: MIT
"""What listings of directories have in common in all versions: bounds, and a restart that gives no name twice."""

from __future__ import annotations

import abc
import contextlib
import typing as t

from nfsclient.errors import NfsStatusError
from nfsclient.files import Entry
from nfsclient.highlevel.batches import Batch
from nfsclient.highlevel.session import Calls
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, ListingProgress
from nfsclient.paths import shown

_MOST_RESTARTS = 4
_DOTS = frozenset({b".", b".."})


class Lists(abc.ABC):
    """Lists one directory, without "." and ".."; a name that a restart brings again is given once.

    All of its methods raise `EndlessListing` for pages that do not get on, and beyond `bounds`; `ServerViolation` for
    names that cannot be any.
    """

    def __init__(
        self, calls: Calls, handle: bytes, path: bytes, *, bounds: ListingBounds = USUAL_BOUNDS
    ) -> None:
        self._calls = calls
        self._bounds = bounds
        self._handle = handle
        self._path = path
        self.is_caller_ours = False
        """Whether what is done with the entries between two pages is part of the listing, and takes its time."""

    @abc.abstractmethod
    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page. Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`."""

    @abc.abstractmethod
    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page, with attributes and handles where the server gives them. Raises like `names`."""

    def _progress(self, name: str) -> ListingProgress:
        return ListingProgress(f"{name} of {shown(self._path)}", self._bounds, self._calls.patience.clock)

    def _between(self, progress: ListingProgress) -> t.ContextManager[None]:
        """What the caller does with a page."""
        return progress.waiting() if self.is_caller_ours else contextlib.nullcontext()

    def _without_repeats(
        self, start: t.Callable[[], t.Iterator[Batch]], expired: t.Collection[int]
    ) -> t.Iterator[Batch]:
        """The pages of `start`; restarted if a position is no longer valid because the directory was changed.

        `expired` are the statuses that say so.
        """
        seen: list[list[bytes]] = []
        for restarts in range(_MOST_RESTARTS + 1):
            # Hardly any listing is restarted, and a set of its names takes a tenth of its time.
            known = set(_DOTS.union(*seen))
            try:
                for page in start():
                    fresh = page if known.isdisjoint(page.names) else page.without(known)
                    seen.append(fresh.names)
                    if restarts:
                        known.update(fresh.names)
                    yield fresh
            except NfsStatusError as error:
                if error.status not in expired or restarts == _MOST_RESTARTS:
                    raise
            else:
                return
