# SPDX-License-Identifier: MIT
"""Evidence that a crash loses something: a crash that loses nothing does not show what is on stable storage.

Files of a server in user space are in the page cache of its host, and SIGKILL keeps them: a server that never calls
fsync passes every check of a crash. So `Losses.leave` leaves something that the server may lose, just before the
crash. A check that would pass ends as SKIP if that has survived.

- For data: the bytes of a WRITE with UNSTABLE (RFC 1813 section 3.3.7).
- For names and attributes: the atime of a directory, which READDIR moves. If it does not move, the mtime that this
  WRITE moves. No clause makes either of them stable.

A server may cache data itself and leave names to its host, so lost data says nothing about names. A server that commits
all data at once has nothing to lose, and keeps its PASS. What it loses after all, the check sees.
"""

from __future__ import annotations

import typing as t
from abc import ABC, abstractmethod

from fixtures.checks.across import AT_ONCE, DATA, METADATA
from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs2
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import Sattr3, StableHow
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4, StableHow4
from nfsjudge import observe, skip
from nfsjudge.reason import Lack, because, within
from suites.nfs3.contents import pattern, read_range
from suites.nfs3.times import LONG_AGO, at_client_time
from suites.recovery.v4 import range_of

SIZE: t.Final = 8192
LOSES_NOTHING: t.Final = because(
    Lack.KEPT,
    "this crash loses nothing, as kill -9; only a reset of the machine shows what is on stable storage",
)


Client = t.TypeVar("Client")
Time: t.TypeAlias = tuple[int, int]
"""Seconds, and a fraction of a second."""


class Times(t.NamedTuple):
    """Times of an object that no clause makes stable."""

    atime: Time
    mtime: Time


class Written(t.NamedTuple):
    """What WRITE says of the data that the server may lose."""

    size: int
    committed: int
    """A value of `StableHow`, which NFSv3 and NFSv4 have in common."""


class Losses(ABC):
    """A crash of the target, and what it loses. Made before the check begins, for one check."""

    def __init__(self, target: TargetView, directory: bytes, file: bytes | None = None) -> None:
        """`file` has `pattern(SIZE)`; None: the version has no UNSTABLE."""
        self.target = target
        self._directory = directory
        self._file = file
        self._written: Written | None = None
        self._moved: dict[tuple[bytes, str], tuple[Time, Time]] = {}
        """Handle and field -> a time, as it was and as it was moved just before the crash."""

    @abstractmethod
    def _times(self, handle: bytes) -> Times | None:
        """Those that GETATTR returns; None if it fails."""

    @abstractmethod
    def _leave(self) -> None:
        """Make the calls whose effects the server may lose."""

    def _read(self, file: bytes, count: int) -> bytes:
        """The first bytes of the file that may be lost."""
        return read_range(self.target.client(Nfs3), file, 0, count)

    # ------------------------------------------------------------ the crash

    def crash(self, kind: type[Client]) -> Client:
        """Leave something to lose, crash the target, and return a client of it. SKIP where that cannot be done."""
        self.leave()
        self.target.crash()
        return self.target.client(kind)

    def leave(self) -> None:
        """Leave something that the server may lose in the crash that follows."""
        handles = [self._directory] if self._file is None else [self._directory, self._file]
        before = {handle: self._times(handle) for handle in handles}
        self._leave()
        for handle in handles:
            old, new = before[handle], self._times(handle)
            if old is not None and new is not None:
                self._moved[handle, "atime"] = old.atime, new.atime
                self._moved[handle, "mtime"] = old.mtime, new.mtime

    # ------------------------------------------------------------ the evidence

    def need_data(self) -> None:
        """SKIP the check, unless the crash loses data or the server commits all data at once."""
        if self._written is None or self._file is None:
            self.need_metadata()
            return
        if self._written.committed != StableHow.UNSTABLE:
            observe(DATA, AT_ONCE)
            return
        is_kept = self._read(self._file, self._written.size) == pattern(SIZE, salt=1)[: self._written.size]
        observe(DATA, "kept" if is_kept else "lost")
        if is_kept:
            skip(within(f"{LOSES_NOTHING} (data that WRITE did not commit is still there)", LOSES_NOTHING))

    def need_metadata(self) -> None:
        """SKIP the check, unless the crash loses metadata or the server commits everything at once."""
        if self._written is not None and self._written.committed == StableHow.FILE_SYNC:
            observe(METADATA, AT_ONCE)
            return
        is_kept, what = self._keeps(self._directory, "atime"), "the atime that READDIR moved"
        if is_kept is None and self._file is not None:
            is_kept, what = self._keeps(self._file, "mtime"), "the mtime that an uncommitted WRITE moved"
        if is_kept is None:
            skip("nothing shows whether this crash loses metadata: no time moved that the server may lose")
        observe(METADATA, "kept" if is_kept else "lost")
        if is_kept:
            skip(within(f"{LOSES_NOTHING} ({what} is still there)", LOSES_NOTHING))

    def _keeps(self, handle: bytes, field: str) -> bool | None:
        """Whether a time that moved just before the crash is still there, or a later one; None if it did not move."""
        moved, now = self._moved.get((handle, field)), self._times(handle)
        if moved is None or moved[0] == moved[1] or now is None:
            return None
        return bool(getattr(now, field) >= moved[1])


class Nfs3Losses(Losses):
    """Evidence by NFSv3."""

    def __init__(self, target: TargetView, scratch: Nfs3Scratch) -> None:
        directory = scratch.directory("may-be-lost")
        file = scratch.file("may-be-lost", pattern(SIZE), directory=directory)
        super().__init__(target, directory, file)
        old = at_client_time(LONG_AGO)
        for handle in (directory, file):  # so that a later time shows, even if the clock is coarse
            target.client(Nfs3).setattr(handle, Sattr3(atime=old, mtime=old))

    def _times(self, handle: bytes) -> Times | None:
        reply = self.target.client(Nfs3).getattr(handle)
        if reply.resok is None:
            return None
        seen = reply.resok.obj_attributes
        return Times((seen.atime.seconds, seen.atime.nseconds), (seen.mtime.seconds, seen.mtime.nseconds))

    def _leave(self) -> None:
        client = self.target.client(Nfs3)
        assert self._file is not None
        result = client.write(self._file, 0, pattern(SIZE, salt=1), StableHow.UNSTABLE).resok
        self._written = None if result is None else Written(result.count, result.committed)
        client.readdir(self._directory)


class Nfs2Losses(Losses):
    """Evidence by NFSv2, in which all calls are synchronous, for a target that does not serve NFSv3."""

    def __init__(self, target: TargetView, scratch: Nfs2Scratch) -> None:
        directory = scratch.directory("may-be-lost")
        super().__init__(target, directory)
        old = nfs2.Timeval(LONG_AGO.seconds)
        target.client(Nfs2).setattr(directory, nfs2.Sattr(atime=old, mtime=old))

    def _times(self, handle: bytes) -> Times | None:
        reply = self.target.client(Nfs2).getattr(handle)
        if reply.resok is None:
            return None
        seen = reply.resok
        return Times((seen.atime.seconds, seen.atime.useconds), (seen.mtime.seconds, seen.mtime.useconds))

    def _leave(self) -> None:
        self.target.client(Nfs2).readdir(self._directory)


class Nfs4Losses(Losses):
    """Evidence by NFSv4, for a target that serves no other version.

    What it leaves is left by a client that ends before the crash: the server would have a grace period for it.
    """

    def __init__(self, target: TargetView, v4: Nfs4Dialect) -> None:
        self._v4 = v4
        directory = v4.scratch.directory("may-be-lost")
        file = v4.scratch.file("may-be-lost", pattern(SIZE), directory=directory)
        super().__init__(target, directory, file)
        old = p.Settime4(p.TimeHow4.SET_TO_CLIENT_TIME4, p.Nfstime4(LONG_AGO.seconds, 0))
        for handle in (directory, file):
            wanted = Fattr4(time_access_set=old, time_modify_set=old)
            v4.scratch.run(op.putfh(handle), op.setattr(wanted))

    def _times(self, handle: bytes) -> Times | None:
        reply = self._v4.compounds.compound(op.putfh(handle), op.getattr("time_access", "time_modify"))
        if reply.status != Nfsstat4.NFS4_OK:
            return None
        atime, mtime = reply.attributes.time_access, reply.attributes.time_modify
        if atime is None or mtime is None:
            return None
        return Times((atime.seconds, atime.nseconds), (mtime.seconds, mtime.nseconds))

    def leave(self) -> None:
        super().leave()
        self._v4.end_sessions()

    def _leave(self) -> None:
        assert self._file is not None
        writing = op.write(op.ANONYMOUS, 0, pattern(SIZE, salt=1), StableHow4.UNSTABLE4)
        reply = self._v4.compounds.compound(op.putfh(self._file), writing)
        if reply.status == Nfsstat4.NFS4_OK:
            result = reply.of(p.WRITE).resok4
            assert result is not None
            self._written = Written(result.count, result.committed)
        self._v4.compounds.compound(op.putfh(self._directory), op.readdir())

    def _read(self, file: bytes, count: int) -> bytes:
        return range_of(self._v4, file, 0, count)
