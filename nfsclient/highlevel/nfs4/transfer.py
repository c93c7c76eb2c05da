# SPDX-License-Identifier: MIT
"""Data of an open file in bulk: READ, WRITE and the promise of COMMIT (RFC 5661 sections 18.3, 18.22 and 18.32)."""

from __future__ import annotations

import typing as t
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import NoProgress, ServerViolation
from nfsclient.highlevel.extent import Extent
from nfsclient.highlevel.nfs4.live import Job, LiveClient
from nfsclient.highlevel.unstable import UnstableData
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.state import Open
from nfsclient.xdr import Buffer, XdrType

_PATIENT_REPLIES: t.Final = 8
"""How many replies in a row may do nothing; one is a freedom of the server, many are a loop."""
_IN_FLIGHT: t.Final = 8 << 20
_MOST_OUTSTANDING: t.Final = 16
_FALLBACK: t.Final = 32 << 10
_LARGEST: t.Final = 1 << 20
_OVERHEAD: t.Final = 512
"""Bytes of a message around the data of one READ or WRITE: RPC header, SEQUENCE, PUTFH."""


@dataclass(frozen=True, slots=True)
class Limits4:
    """Sizes in bytes for one READ, one WRITE and one page of a listing."""

    read: int = _FALLBACK
    write: int = _FALLBACK
    page: int = 64 << 10

    @classmethod
    def of(
        cls,
        fore: p.ChannelAttrs4,
        attributes: p.Fattr4,
        *,
        rsize: int | None = None,
        wsize: int | None = None,
    ) -> Limits4:
        """What session and file system allow (sections 5.8.2.20, 5.8.2.21, 18.36.3), or the caller if that is less."""
        reply = max(1024, fore.ca_maxresponsesize - _OVERHEAD)
        call = max(1024, fore.ca_maxrequestsize - _OVERHEAD)
        return cls(
            read=max(1, min(attributes.maxread or _FALLBACK, reply, rsize or _LARGEST, _LARGEST)),
            write=max(1, min(attributes.maxwrite or _FALLBACK, call, wsize or _LARGEST, _LARGEST)),
            page=min(64 << 10, reply),
        )


@dataclass(frozen=True, slots=True)
class _Range:
    offset: int
    count: int


class Transfer:
    """What reading and writing share: the file, its open, and many compounds at a time."""

    def __init__(self, live: LiveClient, opened: Open, path: bytes, limits: Limits4) -> None:
        self._live = live
        self._open = opened
        self._path = path
        self._limits = limits

    def _run(self, jobs: deque[Job], take: Callable[[Job, CompoundReply], None], size: int) -> None:
        outstanding = max(1, min(_MOST_OUTSTANDING, _IN_FLIGHT // max(1, size)))
        self._live.run_many(jobs, take, outstanding=outstanding, path=self._path)

    def _lock_or_open(self, delegation_too: bool) -> p.Stateid4:
        """The stateid for I/O: a delegation's, else a lock's, else the open's (section 8.2.5)."""
        self._live.require(self._open)
        held = self._live.held
        if (
            delegation_too
            and (one := held.delegations.get(self._open.handle)) is not None
            and not one.recalled
        ):
            return one.stateid
        for locks in held.locks.values():
            if locks.opened is self._open and locks.ranges:
                return locks.stateid
        return self._open.stateid


class Reader4(Transfer):
    """Reads ranges of one open file, many READs at a time; short ones are continued.

    `known` is the size of the file where the caller knows it. Data and ends of file that the size contradicts raise
    `ServerViolation` (see `nfsclient.highlevel.extent`).
    """

    def __init__(self, live: LiveClient, opened: Open, path: bytes, limits: Limits4, known: int = 0) -> None:
        super().__init__(live, opened, path, limits)
        self.extent = Extent(lambda: size_of(live, opened.handle, path), shown(path), known)

    def read(self, offset: int, count: int) -> tuple[bytes, bool]:
        """Up to `count` bytes from `offset` on, fewer only at the end of the file; whether it ends there."""

        def run(start: int, size: int) -> tuple[int, bool, bytes]:
            parts: dict[int, Buffer] = {}
            end, eof = self._read(start, size, parts.__setitem__)
            return end, eof, b"".join([parts[at][: end - at] for at in sorted(parts) if at < end])

        _, eof, pieces = self.extent.read(offset, count, run)
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), eof

    def read_into(self, offset: int, into: memoryview) -> int:
        """Fill `into` with bytes from `offset` on; how many, fewer only at the end of the file."""
        view = into.cast("B")

        def place(at: int, data: Buffer) -> None:
            where = view[at - offset : at - offset + len(data)]
            if not _is_same_memory(where, data):
                where[:] = data

        def run(start: int, size: int) -> tuple[int, bool, None]:
            at = start - offset
            return *self._read(start, size, place, view[at : at + size]), None

        return self.extent.read(offset, len(view), run)[0] - offset

    def read_to_end(self, offset: int, expected: int) -> bytes:
        """All bytes from `offset` on. `expected` is how many there seem to be; there may be more or fewer."""
        self.extent.known = offset + expected
        return self.extent.read_to_end(offset, self._limits.read, self.read)

    def _job(self, offset: int, count: int, start: int, view: memoryview | None) -> Job:
        def build() -> Sequence[XdrType]:
            return [op.putfh(self._open.handle), op.read(self._lock_or_open(True), offset, count)]

        into = None if view is None else view[offset - start : offset - start + count]
        return Job(build, into, _Range(offset, count))

    def _read(
        self,
        offset: int,
        count: int,
        place: Callable[[int, Buffer], None],
        view: memoryview | None = None,
    ) -> tuple[int, bool]:
        size, end, eof, stalled = self._limits.read, offset + count, False, 0
        jobs = deque(self._job(at, min(size, end - at), offset, view) for at in range(offset, end, size))

        def take(job: Job, reply: CompoundReply) -> None:
            nonlocal end, eof, stalled
            asked: _Range = job.about
            result = reply.of(p.READ).resok4
            assert result is not None
            got = len(result.data)
            if got > asked.count:
                raise ServerViolation(
                    f"READ of {shown(self._path)}: {asked.count} bytes requested, {got} came"
                )
            if got:
                place(asked.offset, result.data)
                stalled = 0
            if result.eof:
                eof = True
                end = min(end, asked.offset + got)
                wanted = [one for one in jobs if one.about.offset < end]
                jobs.clear()
                jobs.extend(wanted)
            elif got < asked.count and asked.offset + got < end:
                stalled += not got
                if stalled > _PATIENT_REPLIES:
                    raise NoProgress(
                        f"READ of {shown(self._path)} at {asked.offset}: no data and no end of file"
                    )
                if got and asked.offset + got >= self.extent.known:
                    # The file ends here, as far as is known: GETATTR decides whether more is requested.
                    end = asked.offset + got
                    wanted = [one for one in jobs if one.about.offset < end]
                    jobs.clear()
                    jobs.extend(wanted)
                    return
                jobs.append(self._job(asked.offset + got, asked.count - got, offset, view))

        self._run(jobs, take, size)
        return end, eof


class Writer4(Transfer):
    """Writes ranges of one open file, many WRITEs at a time, and keeps unstable data until it is committed.

    The data given to `write` is not copied: it must stay unchanged until `commit` has returned.
    """

    def __init__(self, live: LiveClient, opened: Open, path: bytes, limits: Limits4) -> None:
        super().__init__(live, opened, path, limits)
        self._kept = UnstableData()
        self._dirty = False
        self._stalled = 0

    @property
    def unstable(self) -> int:
        """Bytes that are kept until `commit`."""
        return self._kept.size

    def write(self, offset: int, data: Buffer, stable: p.StableHow4 = p.StableHow4.UNSTABLE4) -> None:
        """Write all of `data` at `offset`; the rest of a short WRITE is sent again."""
        view = memoryview(data).cast("B")
        size = self._limits.write
        self._send(
            deque(self._job(offset + at, view[at : at + size], stable) for at in range(0, len(view), size))
        )

    def commit(self) -> None:
        """Make everything written stable; data that the server may have lost meanwhile is written again."""
        stable = p.StableHow4.UNSTABLE4
        while self._dirty:
            reply = self._live.run(
                lambda: [op.putfh(self._open.handle), op.commit()], self._path, repeatable=True
            )
            result = reply.of(p.COMMIT).resok4
            assert result is not None
            lost = self._kept.committed(result.writeverf)
            if not lost:
                self._dirty = False
                return
            self._send(deque(self._job(piece.offset, piece.data, stable) for piece in lost))
            # A server that changes its verifier over and over is sent FILE_SYNC4 the next time, so this ends.
            stable = p.StableHow4.FILE_SYNC4
            self._dirty = bool(self._kept.size)

    def _job(self, offset: int, data: memoryview, stable: p.StableHow4) -> Job:
        def build() -> Sequence[XdrType]:
            return [
                op.putfh(self._open.handle),
                op.write(self._lock_or_open(False), offset, data, stable),
            ]

        return Job(build, None, (offset, data, stable))

    def _send(self, jobs: deque[Job]) -> None:
        def take(job: Job, reply: CompoundReply) -> None:
            offset, data, stable = job.about
            result = reply.of(p.WRITE).resok4
            assert result is not None
            self._check(offset, len(data), stable, result)
            is_unstable = result.committed == p.StableHow4.UNSTABLE4
            self._kept.note(offset, data[: result.count], result.writeverf if is_unstable else None)
            self._dirty = self._dirty or result.committed != p.StableHow4.FILE_SYNC4
            if result.count < len(data):
                jobs.append(self._job(offset + result.count, data[result.count :], stable))

        self._run(jobs, take, self._limits.write)

    def _check(self, offset: int, sent: int, stable: p.StableHow4, result: p.Write4ResOk) -> None:
        where = f"WRITE of {shown(self._path)} at {offset}"
        if result.count > sent:
            raise ServerViolation(f"{where}: {sent} bytes sent, {result.count} written")
        if not result.committed.is_known:
            raise ServerViolation(f"{where}: expected a stable_how4 in committed, saw {result.committed}")
        if result.committed < stable:
            raise ServerViolation(f"{where}: {stable} requested, only {result.committed} done")
        self._stalled = self._stalled + 1 if result.count < min(1, sent) else 0
        if self._stalled > _PATIENT_REPLIES:
            raise NoProgress(f"{where}: nothing of {sent} bytes is written")


def size_of(live: LiveClient, handle: bytes, path: bytes) -> int:
    """The size of a file now, by GETATTR. Raises `ServerViolation` if the server leaves this REQUIRED attribute out."""
    size = live.run(lambda: [op.putfh(handle), op.getattr("size")], path).attributes.size
    if size is None:
        raise ServerViolation(f"GETATTR of {shown(path)}: the REQUIRED attribute size is missing")
    return size


def _is_same_memory(where: memoryview, data: Buffer) -> bool:
    """Whether data was received in its place already."""
    return isinstance(data, memoryview) and data.obj is where.obj
