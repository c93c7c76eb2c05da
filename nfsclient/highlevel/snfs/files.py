# SPDX-License-Identifier: MIT
"""An open file of Spritely NFS in the manner of Python's `io`, read and written in the memory of the client."""

from __future__ import annotations

import typing as t

from nfsclient.files import Attributes, Stable
from nfsclient.highlevel import files
from nfsclient.highlevel.snfs.caching import Caching, Opened, require_32_bits
from nfsclient.highlevel.transfer import Reader, Writer
from nfsclient.xdr import Buffer

_AT_ONCE: t.Final = 1 << 20
"""Bytes that are taken from memory at a time."""


class CachingReader:
    """Reads a file from memory while caching is enabled, and exactly what is requested from the server otherwise."""

    def __init__(self, caching: Caching, opened: Opened, direct: Reader) -> None:
        self._caching = caching
        self._opened = opened
        self._direct = direct

    def _cached(self, offset: int, count: int) -> bytes | None:
        with self._caching.using(self._opened):
            self._caching.raise_failure(self._opened.file)
            data = self._caching.read(self._opened.file, offset, min(count, _AT_ONCE))
        self._opened.require()
        return data

    def read_into(self, offset: int, into: memoryview) -> int:
        """Fill `into`; how many bytes, fewer only at the end of the file."""
        view = into.cast("B")
        done = 0
        while done < len(view):
            data = self._cached(offset + done, len(view) - done)
            if data is None:
                with self._caching.using(self._opened):
                    return done + self._direct.read_into(offset + done, view[done:])
            view[done : done + len(data)] = data
            done += len(data)
            if not data:
                break
        return done

    def read_to_end(self, offset: int, expected: int) -> bytes:
        """All bytes from `offset` on."""
        parts: list[bytes] = []
        while True:
            data = self._cached(offset, _AT_ONCE)
            if data is None:
                with self._caching.using(self._opened):
                    parts.append(self._direct.read_to_end(offset, max(0, expected)))
                return b"".join(parts)
            if not data:
                return parts[0] if len(parts) == 1 else b"".join(parts)
            parts.append(data)
            offset += len(data)
            expected -= len(data)


class CachingWriter(Writer):
    """Writes into memory while caching is enabled, and to the server otherwise."""

    def __init__(self, caching: Caching, opened: Opened) -> None:
        super().__init__(caching.calls, opened.file.handle, opened.file.path)
        self._caching = caching
        self._opened = opened

    def write(self, offset: int, data: Buffer, stable: Stable = Stable.FILE_SYNC) -> None:
        """Write all of `data` at `offset`. What stays in memory is copied."""
        view = memoryview(data).cast("B")
        require_32_bits(offset + len(view))
        done = 0
        with self._caching.using(self._opened):
            while done < len(view):
                self._opened.require()
                put = self._caching.write(self._opened.file, offset + done, view[done:])
                if not put:
                    self._opened.require()
                    super().write(offset + done, view[done:], stable)
                    return
                done += put

    def commit(self) -> None:
        """Write all that waits of the file. Raises why data could not be written, now or before."""
        self._opened.require()
        self._caching.write_back(self._opened.file)
        self._caching.raise_failure(self._opened.file)


class NfsFile(files.NfsFile):
    """A file that is open on the server until `close`, unbuffered: the client's memory is the buffer.

    Data written waits in the client, for 30 s at most if the program goes on to use the client, also after `close`.
    `flush` writes it back, and then it is stable. If another client opens the file, the server gets the data first.
    """

    def __init__(
        self,
        caching: Caching,
        opened: Opened,
        path: bytes,
        *,
        readable: bool,
        writable: bool,
        append: bool = False,
    ) -> None:
        file = opened.file
        super().__init__(
            caching.calls,
            file.handle,
            path,
            readable=readable,
            writable=writable,
            append=append,
            known=file.size,
        )
        direct = Reader(caching.calls, file.handle, path, file.size)
        self._reader = CachingReader(caching, opened, direct)
        self._writer: Writer = CachingWriter(caching, opened)
        self._caching = caching
        self._opened = opened
        self._is_closing = False

    @property
    def is_cached(self) -> bool:
        """Whether the server permits caching now: not while the file is write-shared."""
        return self._opened.file.is_cached

    def attributes(self) -> Attributes:
        """The attributes, kept ones while caching is enabled. Times are the server's, and leave out data that waits."""
        with self._caching.using(self._opened):
            return self._caching.attributes(self._opened)

    def size(self) -> int:
        """The size of the file now."""
        with self._caching.using(self._opened):
            return self._caching.size(self._opened)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut the file, or extend it by zeros, to `size` (the position, if not given). Not delayed."""
        self._require(self._writable, "writing")
        wanted = self._position if size is None else size
        with self._caching.using(self._opened):
            self._caching.cut(self._opened, wanted)
        return wanted

    def flush(self) -> None:
        """Write back all that waits of the file: it is stable then."""
        if not self._is_closing:
            super().flush()

    def close(self) -> None:
        """CLOSE. What waits to be written goes on waiting. Raises why data was lost, if that has happened."""
        if self.closed:
            return
        self._is_closing = True
        try:
            super().close()
        finally:
            self._caching.close(self._opened)
        self._caching.raise_failure(self._opened.file)
