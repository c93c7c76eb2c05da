# SPDX-License-Identifier: MIT
"""The bytes of a regular file: sparse pages, and which of them survive a crash.

There are two versions of a file. READ returns the *volatile* one; a crash leaves the *stable* one. They share every
page that has no uncommitted write; a page that has one keeps its stable version with it as a pre-image.
Rules that must stay true:

- A page that has a pre-image is itself present.
- In either version the bytes of a page beyond that version's size are zero, so that growing a file
  (by SETATTR, or by a WRITE that leaves a hole) shows zeros and never old data.
"""

from __future__ import annotations

import enum
import errno
from collections.abc import Callable

from nfsserver.fs.errors import FsError

PAGE = 4096
_ZEROS = bytes(PAGE)


class Stability(enum.IntEnum):
    """How stable a write is, with the values of stable_how (RFC 1813 section 3.3.7)."""

    UNSTABLE = 0
    DATA_SYNC = 1
    FILE_SYNC = 2


def nothing_survives() -> bool:
    """A crash loses every uncommitted page."""
    return False


class PageBudget:
    """How many pages, pre-images included, all files together may take."""

    def __init__(self, pages: int) -> None:
        self.total = pages
        self._unused = pages
        self._withheld = 0

    @property
    def free(self) -> int:
        """The number of free pages."""
        return max(0, self._unused - self._withheld)

    def leave(self, pages: int | None) -> None:
        """Leave this many free pages, as if others used the rest; None: free those again."""
        self._withheld = 0 if pages is None else max(0, self._unused - pages)

    def take(self) -> bool:
        """One page, if there is one."""
        if self.free <= 0:
            return False
        self._unused -= 1
        return True

    def give(self, pages: int = 1) -> None:
        """Pages that are free again."""
        self._unused += pages


class PagedData:
    """The content of one file. Offsets and sizes are in bytes, of any width."""

    __slots__ = ("_budget", "_pages", "_preimages", "size", "stable_size")

    def __init__(self, budget: PageBudget) -> None:
        self._budget = budget
        self._pages: dict[int, bytearray] = {}
        self._preimages: dict[int, bytearray | None] = {}
        """The stable version of each dirty page; None where that version is a hole."""
        self.size = 0
        self.stable_size = 0

    @property
    def used(self) -> int:
        """Bytes of storage of the volatile version."""
        return len(self._pages) * PAGE

    @property
    def is_dirty(self) -> bool:
        """Whether a crash would lose something."""
        return bool(self._preimages) or self.size != self.stable_size

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes at `offset`: fewer at the end of the file, none beyond it; holes are zero."""
        end = min(offset + count, self.size)
        parts: list[memoryview | bytes] = []
        while offset < end:
            index, start = divmod(offset, PAGE)
            stop = min(PAGE, start + end - offset)
            page = self._pages.get(index)
            parts.append(_ZEROS[start:stop] if page is None else memoryview(page)[start:stop])
            offset += stop - start
        return b"".join(parts)

    def write(self, offset: int, data: bytes | bytearray | memoryview, *, stable: bool) -> int:
        """Write `data` at `offset`, and return how many bytes found room. Raises ENOSPC if none did.

        A stable write reaches both versions; it commits nothing else that shares its pages.
        """
        view = memoryview(data)
        done = 0
        while done < len(view):
            index, start = divmod(offset + done, PAGE)
            piece = view[done : done + PAGE - start]
            if not self._write_page(index, start, piece, stable):
                break
            done += len(piece)
        if view and not done:
            raise FsError(errno.ENOSPC)
        self.size = max(self.size, offset + done)
        if stable:
            self.stable_size = max(self.stable_size, offset + done)
        return done

    def room_for(self, offset: int, count: int, pages: int) -> int:
        """How many of `count` bytes at `offset` can be written with at most this many additional pages."""
        done = 0
        while done < count:
            index, start = divmod(offset + done, PAGE)
            if index not in self._pages:
                if pages <= 0:
                    break
                pages -= 1
            done = min(count, done + PAGE - start)
        return done

    def _write_page(self, index: int, start: int, piece: memoryview, stable: bool) -> bool:
        page = self._pages.get(index)
        was_hole = page is None
        if page is None:
            if not self._budget.take():
                return False
            page = self._pages[index] = bytearray(PAGE)
        if stable:
            self._write_preimage(index, start, piece)
        elif index not in self._preimages and not self._keep_preimage(index, page, was_hole):
            # No room for a pre-image: this page is committed at once, which an unstable write may be.
            self.stable_size = max(self.stable_size, index * PAGE + start + len(piece))
        page[start : start + len(piece)] = piece
        return True

    def _keep_preimage(self, index: int, page: bytearray, was_hole: bool) -> bool:
        if was_hole:
            self._preimages[index] = None
        elif self._budget.take():
            self._preimages[index] = bytearray(page)
        else:
            return False
        return True

    def _write_preimage(self, index: int, start: int, piece: memoryview) -> None:
        """Bring the stable version of a dirty page up to a stable write."""
        if index not in self._preimages:
            return
        preimage = self._preimages[index]
        if preimage is None:
            if not self._budget.take():
                self._commit_page(index)
                return
            preimage = self._preimages[index] = bytearray(PAGE)
        preimage[start : start + len(piece)] = piece

    def _commit_page(self, index: int) -> None:
        """Make the volatile version of one page the stable one; nothing when it is clean."""
        if self._preimages.pop(index, None) is not None:
            self._budget.give()
        self.stable_size = max(self.stable_size, min(self.size, (index + 1) * PAGE))

    def commit(self, offset: int = 0, count: int = 0) -> None:
        """Make [offset, offset + count) stable, to the end when `count` is 0; whole pages, and the size."""
        if offset == 0 and count == 0:
            chosen = list(self._preimages)
        else:
            first = offset // PAGE
            last = (offset + count - 1) // PAGE if count else None
            chosen = [
                index for index in self._preimages if index >= first and (last is None or index <= last)
            ]
        for index in chosen:
            if self._preimages.pop(index) is not None:
                self._budget.give()
        self.stable_size = self.size

    def truncate(self, size: int) -> None:
        """Cut or grow both versions to `size`; what is added reads as zero."""
        for index in [index for index in self._pages if index * PAGE >= size]:
            self._drop(index)
        index, start = divmod(size, PAGE)
        for page in (self._pages.get(index), self._preimages.get(index)):
            if page is not None:
                page[start:] = _ZEROS[start:]
        self.size = self.stable_size = size

    def crash(self, survives: Callable[[], bool] = nothing_survives) -> None:
        """Lose what is not stable, page by page, except for pages that `survives` spares."""
        size = self.stable_size
        for index, preimage in self._preimages.items():
            if survives():
                size = max(size, min(self.size, (index + 1) * PAGE))
                if preimage is not None:
                    self._budget.give()
                continue
            self._budget.give()
            if preimage is None:
                del self._pages[index]
            else:
                self._pages[index] = preimage
        self._preimages.clear()
        self._clear_beyond(size)
        self.size = self.stable_size = size

    def _clear_beyond(self, size: int) -> None:
        """A page that survives may have bytes beyond the size that does."""
        index, start = divmod(size, PAGE)
        page = self._pages.get(index)
        if page is not None:
            page[start:] = _ZEROS[start:]

    def discard(self) -> None:
        """Give every page back; the file is gone."""
        for index in list(self._pages):
            self._drop(index)
        self.size = self.stable_size = 0

    def _drop(self, index: int) -> None:
        del self._pages[index]
        self._budget.give()
        if self._preimages.pop(index, None) is not None:
            self._budget.give()
