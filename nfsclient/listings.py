# SPDX-License-Identifier: MIT
"""Whether reading a directory page by page comes to an end: by its cookies, and by bounds."""

from __future__ import annotations

import contextlib
import time
import typing as t
from collections.abc import Callable, Hashable, Iterator

from nfsclient.errors import EndlessListing, ServerViolation
from nfsclient.paths import shown

MOST_ENTRIES: t.Final = 1_000_000
"""Entries of one directory, if the caller does not allow more."""


_DEEPEST: t.Final = 1000


def require_shallow(path: str) -> None:
    """Whether a directory is no deeper than any tree of real life. Raises `EndlessListing`: it may hold itself."""
    if path.count("/") > _DEEPEST:
        raise EndlessListing(f"the tree has more than {_DEEPEST} levels: {shown(path[:64].encode())}...")


def require_names(names: t.Sequence[bytes], what: str) -> None:
    """Whether each can be a name in a directory. Raises `ServerViolation`: a path with another one leads elsewhere.

    An empty name, a slash and a NUL are in no directory; POSIX clients, the Linux kernel among them, refuse these too.
    "." and ".." are names of READDIR (RFC 1813 section 3.3.16).
    """
    if all(names):
        # All at once, since nearly always all are: the only NULs are those between the names.
        joined = b"\0".join(names)
        if b"/" not in joined and joined.count(b"\0") == max(0, len(names) - 1):
            return
    for name in names:
        if not name or b"/" in name or b"\0" in name:
            raise ServerViolation(f"{what}: expected the name of an entry, saw {name[:64]!r}")


class ListingBounds(t.NamedTuple):
    """What one listing may have; a server can invent names and cookies for ever."""

    entries: int = MOST_ENTRIES
    bytes: int = 64 << 20
    """Bytes of names."""
    seconds: float = 300.0
    """Time of waiting for pages; what the caller does between them does not count."""


USUAL_BOUNDS: t.Final = ListingBounds()


class ListingProgress:
    """Notes each page of one listing. `what` names the listing in errors: "READDIR of /export"."""

    def __init__(
        self,
        what: str,
        bounds: ListingBounds | int = USUAL_BOUNDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._bounds = bounds if isinstance(bounds, ListingBounds) else ListingBounds(bounds)
        self._clock = clock
        self.entries = 0
        self.pages = 0
        self.bytes = 0
        """Bytes of the names so far."""
        self.seconds = 0.0
        """Time of waiting for pages so far."""
        self._last = b""
        self._positions: set[Hashable] = set()

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Inside, a page is awaited."""
        began = self._clock()
        try:
            yield
        finally:
            self.seconds += self._clock() - began

    def note(self, entries: int, position: Hashable, names: t.Sequence[bytes] = ()) -> None:
        """A page had `entries` entries, and the next one is to begin at `position`: its cookie, and its verifier.

        Raises `EndlessListing` for a page without entries, for a position at which a page has begun before, and for
        more entries, bytes of `names`, or time than are allowed.
        """
        self.entries += entries
        self.pages += 1
        self.bytes += sum(map(len, names))
        self._last = names[-1] if names else self._last
        if not entries:
            raise self._endless("no entries and no end")
        if position in self._positions:
            raise self._endless(
                f"does not come to an end: after {self.entries} entries a cookie is returned again"
            )
        for value, most, name in (
            (self.entries, self._bounds.entries, "listing_bounds.entries"),
            (self.bytes, self._bounds.bytes, "listing_bounds.bytes"),
            (self.seconds, self._bounds.seconds, "listing_bounds.seconds"),
        ):
            if value > most:
                raise self._endless(
                    f"has not come to an end after {self.entries} entries{self._seen()}; "
                    f"raise {name} if the directory is that large"
                )
        self._positions.add(position)

    def _seen(self) -> str:
        last = f", the last one {self._last[:64]!r}" if self._last else ""
        return f" in {self.pages} pages, {self.bytes} bytes of names and {self.seconds:.1f} s{last}"

    def _endless(self, text: str) -> EndlessListing:
        separator = ": " if text.startswith("no ") else " "
        return EndlessListing(
            f"{self._what}{separator}{text}", self.entries, self.pages, self.bytes, self.seconds
        )
