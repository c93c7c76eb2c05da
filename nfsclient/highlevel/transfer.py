# SPDX-License-Identifier: MIT
"""Data of a file in bulk, in every version of NFS: READ, WRITE and the promise of COMMIT.

RFC 1813 sections 3.3.6, 3.3.7, 3.3.21; RFC 5661 sections 18.3, 18.22, 18.32. In NFSv2 all data is stable.
"""

from __future__ import annotations

import typing as t
from collections import deque

from nfsclient.files import Data, Files, Stable, Written
from nfsclient.highlevel.errors import NoProgress, ServerViolation
from nfsclient.highlevel.extent import Extent
from nfsclient.highlevel.session import Calls, Job
from nfsclient.highlevel.unstable import UnstableData
from nfsclient.paths import shown
from nfsclient.xdr import Buffer

_PATIENT_REPLIES = 8
"""How many replies in a row may do nothing; one is a freedom of the server, many are a loop."""


class Reader:
    """Reads ranges of one file, many READs at a time; short ones are continued.

    `known` is the size of the file where the caller knows it. Data and ends of file that the size contradicts raise
    `ServerViolation` (see `nfsclient.highlevel.extent`). `files` are other operations than those of `calls`: those of
    NFSv4 with the stateids of an open.
    """

    def __init__(
        self, calls: Calls, handle: bytes, path: bytes, known: int = 0, files: Files | None = None
    ) -> None:
        self._calls = calls
        self._handle = handle
        self._path = path
        self._files = files or calls.files
        self.extent = Extent(lambda: size_of(calls, handle, path), shown(path), known)

    def read(self, offset: int, count: int) -> tuple[bytes, bool]:
        """Up to `count` bytes from `offset` on, fewer only at the end of the file; whether it ends there."""

        def run(start: int, size: int) -> tuple[int, bool, bytes]:
            parts: dict[int, Buffer] = {}
            end, eof = self._run(start, size, parts.__setitem__)
            return end, eof, b"".join([parts[at][: end - at] for at in sorted(parts) if at < end])

        _, eof, pieces = self.extent.read(offset, count, run)
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), eof

    def read_into(self, offset: int, into: memoryview) -> int:
        """Fill `into` with bytes from `offset` on; how many, fewer only at the end of the file.

        Data is received in place where the connection can do that, and only then nothing is copied.
        """
        view = into.cast("B")

        def place(at: int, data: Buffer) -> None:
            where = view[at - offset : at - offset + len(data)]
            if not _is_same_memory(where, data):
                where[:] = data

        def run(start: int, size: int) -> tuple[int, bool, None]:
            at = start - offset
            return *self._run(start, size, place, view[at : at + size]), None

        return self.extent.read(offset, len(view), run)[0] - offset

    def read_to_end(self, offset: int, expected: int) -> bytes:
        """All bytes from `offset` on. `expected` is how many there seem to be; there may be more or fewer."""
        self.extent.known = offset + expected
        return self.extent.read_to_end(offset, self._calls.limits.read, self.read)

    def _job(self, offset: int, count: int, start: int, view: memoryview | None) -> Job[Data]:
        into = None if view is None else view[offset - start : offset - start + count]
        return Job(self._files.read(self._handle, offset, count, into=into), offset, count)

    def _run(
        self,
        offset: int,
        count: int,
        place: t.Callable[[int, Buffer], None],
        view: memoryview | None = None,
    ) -> tuple[int, bool]:
        """READ the range, into `view` if that is given, and `place` what comes.

        Where it ended, and whether the server said that this is the end of the file.
        """
        size, end, eof, stalled = self._calls.limits.read, offset + count, False, 0
        queue = deque(self._job(at, min(size, end - at), offset, view) for at in range(offset, end, size))

        def end_at(position: int) -> None:
            nonlocal end
            end = min(end, position)
            wanted = [each for each in queue if each.offset < end]
            queue.clear()
            queue.extend(wanted)

        def take(job: Job[Data], result: Data) -> None:
            nonlocal eof, stalled
            got = len(result.data)
            last = job.offset + got
            if result.size is not None and result.size >= last:
                self.extent.known = max(self.extent.known, result.size)
            if got:
                place(job.offset, result.data)
                stalled = 0
            if result.eof:
                eof = True
                end_at(last)
            elif got < job.count and last < end:
                stalled += not got
                if stalled > _PATIENT_REPLIES:
                    raise NoProgress(
                        f"READ of {shown(self._path)} at {job.offset}: no data and no end of file"
                    )
                if got and last >= self.extent.known:
                    # The file ends here, as far as is known: GETATTR decides whether more is requested.
                    end_at(last)
                else:
                    queue.append(self._job(last, job.count - got, offset, view))

        self._calls.run(queue, take, size=size, path=self._path)
        return end, eof


class Writer:
    """Writes ranges of one file, many WRITEs at a time, and keeps unstable data until it is committed.

    The data given to `write` is not copied: it must stay unchanged until `commit` has returned.
    """

    def __init__(self, calls: Calls, handle: bytes, path: bytes, files: Files | None = None) -> None:
        self._calls = calls
        self._handle = handle
        self._path = path
        self._files = files or calls.files
        self._kept = UnstableData()
        self._dirty = False
        self._stalled = 0

    @property
    def unstable(self) -> int:
        """Bytes that are kept until `commit`."""
        return self._kept.size

    def write(self, offset: int, data: Buffer, stable: Stable = Stable.UNSTABLE) -> None:
        """Write all of `data` at `offset`; the rest of a short WRITE is sent again.

        Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`, `ServerViolation`.
        """
        view = memoryview(data).cast("B")
        size = self._calls.limits.write
        parts = range(0, len(view), size)
        self._send(deque(self._job(offset + at, view[at : at + size], stable) for at in parts), stable)

    def commit(self) -> None:
        """Make everything written stable; data that the server may have lost meanwhile is written again.

        Nothing is sent if all of it is stable already. Raises like `write`; then what is not known to be
        stable is still kept, and another `commit` may be tried.
        """
        stable = Stable.UNSTABLE
        while self._dirty:
            verifier = self._calls.do(self._files.commit(self._handle), self._path)
            lost = self._kept.committed(verifier or b"")
            if not lost:
                self._dirty = False
                return
            self._send(deque(self._job(piece.offset, piece.data, stable) for piece in lost), stable)
            # A server that changes its verifier over and over is requested stable data the next time,
            # so this ends.
            stable = Stable.FILE_SYNC
            self._dirty = bool(self._kept.size)

    def _job(self, offset: int, data: memoryview, stable: Stable) -> Job[Written]:
        return Job(self._files.write(self._handle, offset, data, stable), offset, len(data), data)

    def _send(self, queue: deque[Job[Written]], stable: Stable) -> None:
        def take(job: Job[Written], result: Written) -> None:
            assert job.data is not None
            self._require_progress(job, result)
            verifier = result.verifier if result.committed is Stable.UNSTABLE else None
            self._kept.note(job.offset, job.data[: result.count], verifier)
            # DATA_SYNC leaves metadata to a COMMIT, though the data itself can no longer be lost (section 3.3.7).
            self._dirty = self._dirty or result.committed is not Stable.FILE_SYNC
            if result.count < job.count:
                queue.append(self._job(job.offset + result.count, job.data[result.count :], stable))

        self._calls.run(queue, take, size=self._calls.limits.write, path=self._path)

    def _require_progress(self, job: Job[Written], result: Written) -> None:
        self._stalled = self._stalled + 1 if result.count < min(1, job.count) else 0
        if self._stalled > _PATIENT_REPLIES:
            raise NoProgress(
                f"WRITE of {shown(self._path)} at {job.offset}: nothing of {job.count} bytes is written"
            )


def size_of(calls: Calls, handle: bytes, path: bytes) -> int:
    """The size of a file now, by GETATTR. Raises `ServerViolation` if the server leaves it out."""
    size = calls.do(calls.files.getattr(handle), path).size
    if size is None:
        raise ServerViolation(f"GETATTR of {shown(path)}: the REQUIRED attribute size is missing")
    return size


def _is_same_memory(where: memoryview, data: Buffer) -> bool:
    """Whether data was received in its place already."""
    return isinstance(data, memoryview) and data.obj is where.obj
