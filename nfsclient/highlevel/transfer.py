# SPDX-License-Identifier: MIT
"""Data of a file in bulk: READ, WRITE and the promise of COMMIT (RFC 1813 sections 3.3.6, 3.3.7, 3.3.21)."""

from __future__ import annotations

import typing as t
from collections import deque

from nfsclient.highlevel.errors import NoProgress, ServerViolation
from nfsclient.highlevel.extent import Extent
from nfsclient.highlevel.session import Session
from nfsclient.highlevel.unstable import UnstableData
from nfsclient.paths import shown
from nfsclient.protocol import nfs3 as p
from nfsclient.xdr import Buffer

_PATIENT_REPLIES = 8
"""How many replies in a row may do nothing; one is a freedom of the server, many are a loop."""


class Reader:
    """Reads ranges of one file, many READs at a time; short ones are continued.

    `known` is the size of the file where the caller knows it. Data and ends of file that the size contradicts raise
    `ServerViolation` (see `nfsclient.highlevel.extent`).
    """

    def __init__(self, session: Session, handle: bytes, path: bytes, known: int = 0) -> None:
        self._session = session
        self._handle = handle
        self._path = path
        self._extent = Extent(self._size, shown(path), known)

    def _size(self) -> int:
        return self._session.ok(self._session.nfs.getattr(self._handle), self._path).obj_attributes.size

    def read(self, offset: int, count: int) -> tuple[bytes, bool]:
        """Up to `count` bytes from `offset` on, fewer only at the end of the file; whether it ends there."""

        def run(start: int, size: int) -> tuple[int, bool, bytes]:
            parts: dict[int, Buffer] = {}
            end, eof = self._run(start, size, parts.__setitem__)
            return end, eof, b"".join([parts[at][: end - at] for at in sorted(parts) if at < end])

        _, eof, pieces = self._extent.read(offset, count, run)
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), eof

    def read_into(self, offset: int, into: memoryview) -> int:
        """Fill `into` with bytes from `offset` on; how many, fewer only at the end of the file.

        Data is received in place where the connection can do that, and only then nothing is copied.
        """
        view = into.cast("B")

        def where(args: p.Read3Args) -> memoryview:
            at = args.offset - offset
            return view[at : at + args.count]

        def run(start: int, size: int) -> tuple[int, bool, None]:
            return *self._run(start, size, lambda _at, _data: None, where), None

        return self._extent.read(offset, len(view), run)[0] - offset

    def read_to_end(self, offset: int, expected: int) -> bytes:
        """All bytes from `offset` on. `expected` is how many there seem to be; there may be more or fewer."""
        self._extent.known = offset + expected
        return self._extent.read_to_end(offset, self._session.limits.read, self.read)

    def _run(
        self,
        offset: int,
        count: int,
        place: t.Callable[[int, Buffer], None],
        into: t.Callable[[p.Read3Args], memoryview | None] = lambda _: None,
    ) -> tuple[int, bool]:
        """READ the range and `place` what comes, unless it is received `into` its place.

        Where it ended, and whether the server said that this is the end of the file.
        """
        size = self._session.limits.read
        end = offset + count
        eof = False
        stalled = 0
        queue = deque(p.Read3Args(self._handle, at, min(size, end - at)) for at in range(offset, end, size))

        def take(args: p.Read3Args, reply: p.Read3Res) -> None:
            nonlocal end, eof, stalled
            result = self._session.ok(reply, self._path)
            data = result.data
            got = len(data)
            if got > args.count:
                raise ServerViolation(
                    f"READ of {shown(self._path)}: {args.count} bytes asked for, {got} came"
                )
            if got != result.count:
                raise ServerViolation(
                    f"READ of {shown(self._path)} at {args.offset}: {got} bytes came, and count says {result.count}"
                )
            attributes = result.file_attributes
            if attributes is not None and attributes.size >= args.offset + got:
                self._extent.known = max(self._extent.known, attributes.size)
            if got:
                place(args.offset, data)
                stalled = 0
            if result.eof:
                eof = True
                end = min(end, args.offset + got)
                wanted = [each for each in queue if each.offset < end]
                queue.clear()
                queue.extend(wanted)
            elif got < args.count and args.offset + got < end:
                stalled += not got
                if stalled > _PATIENT_REPLIES:
                    raise NoProgress(
                        f"READ of {shown(self._path)} at {args.offset}: no data and no end of file"
                    )
                if got and args.offset + got >= self._extent.known:
                    # The file ends here, as far as is known: GETATTR decides whether more is requested.
                    end = args.offset + got
                    wanted = [each for each in queue if each.offset < end]
                    queue.clear()
                    queue.extend(wanted)
                    return
                queue.append(p.Read3Args(self._handle, args.offset + got, args.count - got))

        self._session.run(p.READ, queue, take, size=size, path=self._path, into=into)
        return end, eof


class Writer:
    """Writes ranges of one file, many WRITEs at a time, and keeps unstable data until it is committed.

    The data given to `write` is not copied: it must stay unchanged until `commit` has returned.
    """

    def __init__(self, session: Session, handle: bytes, path: bytes) -> None:
        self._session = session
        self._handle = handle
        self._path = path
        self._kept = UnstableData()
        self._dirty = False
        self._stalled = 0

    @property
    def unstable(self) -> int:
        """Bytes that are kept until `commit`."""
        return self._kept.size

    def write(self, offset: int, data: Buffer, stable: p.StableHow = p.StableHow.UNSTABLE) -> None:
        """Write all of `data` at `offset`; the rest of a short WRITE is sent again.

        Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`, `ServerViolation`.
        """
        view = memoryview(data).cast("B")
        size = self._session.limits.write
        self._send(
            deque(self._call(offset + at, view[at : at + size], stable) for at in range(0, len(view), size))
        )

    def commit(self) -> None:
        """Make everything written stable; data that the server may have lost meanwhile is written again.

        Nothing is sent if all of it is stable already. Raises like `write`; then what is not known to be
        stable is still kept, and another `commit` may be tried.
        """
        stable = p.StableHow.UNSTABLE
        while self._dirty:
            result = self._session.ok(self._session.nfs.commit(self._handle), self._path)
            lost = self._kept.committed(result.verf)
            if not lost:
                self._dirty = False
                return
            self._send(deque(self._call(piece.offset, piece.data, stable) for piece in lost))
            # A server that changes its verifier over and over is requested stable data the next time,
            # so this ends.
            stable = p.StableHow.FILE_SYNC
            self._dirty = bool(self._kept.size)

    def _call(self, offset: int, data: memoryview, stable: p.StableHow) -> p.Write3Args:
        return p.Write3Args(self._handle, offset, len(data), stable, data)

    def _send(self, queue: deque[p.Write3Args]) -> None:
        def take(args: p.Write3Args, reply: p.Write3Res) -> None:
            result = self._session.ok(reply, self._path)
            self._check(args, result)
            data = memoryview(args.data)
            is_unstable = result.committed == p.StableHow.UNSTABLE
            self._kept.note(args.offset, data[: result.count], result.verf if is_unstable else None)
            # DATA_SYNC leaves metadata to a COMMIT, though the data itself can no longer be lost (section 3.3.7).
            self._dirty = self._dirty or result.committed != p.StableHow.FILE_SYNC
            if result.count < args.count:
                queue.append(self._call(args.offset + result.count, data[result.count :], args.stable))

        self._session.run(p.WRITE, queue, take, size=self._session.limits.write, path=self._path)

    def _check(self, args: p.Write3Args, result: p.Write3ResOk) -> None:
        where = f"WRITE of {shown(self._path)} at {args.offset}"
        if result.count > args.count:
            raise ServerViolation(f"{where}: {args.count} bytes sent, {result.count} written")
        if not result.committed.is_known:
            raise ServerViolation(f"{where}: expected a stable_how in committed, saw {result.committed}")
        if result.committed < args.stable:
            raise ServerViolation(f"{where}: {args.stable} asked for, only {result.committed} done")
        self._stalled = self._stalled + 1 if result.count < min(1, args.count) else 0
        if self._stalled > _PATIENT_REPLIES:
            raise NoProgress(f"{where}: nothing of {args.count} bytes is written")
