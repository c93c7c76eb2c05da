# SPDX-License-Identifier: MIT
"""An open file in the manner of Python's `io`, over a client."""

from __future__ import annotations

import io
import os
import typing as t

from nfsclient.files import Files, NewAttributes
from nfsclient.highlevel.session import Calls
from nfsclient.highlevel.transfer import Reader, Writer, size_of

if t.TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_MOST_UNSTABLE = 32 << 20
"""Bytes written but not committed that are kept; beyond, they are committed without being asked to."""


class ReadsRanges(t.Protocol):
    """Reads ranges of one file."""

    def read_into(self, offset: int, into: memoryview) -> int:
        """Fill `into` from `offset` on; how many bytes, fewer only at the end of the file."""
        ...

    def read_to_end(self, offset: int, expected: int) -> bytes:
        """All bytes from `offset` on."""
        ...


class NfsFile(io.RawIOBase):
    """An unbuffered binary file; wrap it in `io.BufferedReader` or `io.BufferedWriter` for many small pieces.

    Data written is stable after `flush` or `close`, which raise what went wrong with it. NFSv2 and NFSv3 know no open
    files: another client may remove it meanwhile (STALE).
    """

    def __init__(
        self,
        calls: Calls,
        handle: bytes,
        path: bytes,
        *,
        readable: bool,
        writable: bool,
        append: bool = False,
        known: int = 0,
        files: Files | None = None,
    ) -> None:
        """`known` is the size of the file where the caller knows it; `files` as of `Reader`."""
        super().__init__()
        self.name = path
        self.handle = handle
        self._calls = calls
        self._files = files or calls.files
        self._readable = readable
        self._writable = writable
        self._append = append
        self._reader: ReadsRanges = Reader(calls, handle, path, known, files)
        self._writer = Writer(calls, handle, path, files)
        self._position = 0

    def size(self) -> int:
        """The size of the file now, by GETATTR."""
        return size_of(self._calls, self.handle, self.name)

    def _set_size(self, size: int) -> None:
        self._calls.do(self._files.setattr(self.handle, NewAttributes(size=size)), self.name)

    def readable(self) -> bool:
        """Whether it was opened for reading."""
        return self._readable

    def writable(self) -> bool:
        """Whether it was opened for writing."""
        return self._writable

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position of the next `read` or `write`."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move the position; beyond the end is allowed."""
        base = {os.SEEK_SET: lambda: 0, os.SEEK_CUR: self.tell, os.SEEK_END: self.size}[whence]()
        if base + offset < 0:
            raise ValueError(f"expected a position of 0 or more, saw {base + offset}")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill `buffer`; how many bytes, fewer than it holds only at the end of the file."""
        self._require(self._readable, "reading")
        got = self._reader.read_into(self._position, memoryview(buffer))
        self._position += got
        return got

    def readall(self) -> bytes:
        """All bytes from the position on."""
        self._require(self._readable, "reading")
        data = self._reader.read_to_end(self._position, max(0, self.size() - self._position))
        self._position += len(data)
        return data

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of `data`, at the end of the file if it was opened to append."""
        self._require(self._writable, "writing")
        if self._append:
            self._position = self.size()
        own = bytes(data)  # kept until it is committed, while the caller may change its buffer
        self._writer.write(self._position, own)
        self._position += len(own)
        if self._writer.unstable > _MOST_UNSTABLE:
            self._writer.commit()
        return len(own)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut the file, or extend it by zeros, to `size` (the position, if not given)."""
        self._require(self._writable, "writing")
        self._writer.commit()
        wanted = self._position if size is None else size
        self._set_size(wanted)
        return wanted

    def flush(self) -> None:
        """Make everything written stable."""
        super().flush()
        if self._writable:
            self._writer.commit()

    def _require(self, mode: bool, purpose: str) -> None:
        if self.closed:
            raise ValueError("the file is closed")
        if not mode:
            raise io.UnsupportedOperation(f"the file was not opened for {purpose}")
