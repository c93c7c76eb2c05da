# SPDX-License-Identifier: MIT
"""Operations on files by NFSv2 (RFC 1094 section 2.2). Everything is 32 bits wide, and all data is stable."""

from __future__ import annotations

import stat
import typing as t

from nfsclient.errors import NfsStatusError, NotInVersion
from nfsclient.files import operations
from nfsclient.files.neutral import (
    NOTHING_SET,
    Attributes,
    Create,
    Data,
    Entry,
    FileType,
    Found,
    Info,
    NewAttributes,
    Page,
    Position,
    SetTo,
    Space,
    Stable,
    Time,
    Written,
)
from nfsclient.files.operations import PAGE, START, file_type
from nfsclient.files.steps import Call, Steps
from nfsclient.protocol import nfs2 as p
from nfsclient.replies import status_error
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, XdrType

_MOST: t.Final = 0xFFFF_FFFE
"""Largest number to set: the one above it leaves an attribute alone (section 2.3.6)."""
_MODE_OF_LINKS: t.Final = NewAttributes(mode=0o777)
_BY_MODE: t.Final = {stat.S_IFSOCK: FileType.SOCKET, stat.S_IFIFO: FileType.FIFO}
"""Types that ftype does not have, by the type bits of `mode`."""


class Files(operations.Files):
    """Calls of NFSv2: `Call` for each. Handles are 32 bytes."""

    name = "NFSv2"
    success = p.Nfsstat2.NFS_OK
    is_directory = p.Nfsstat2.NFSERR_ISDIR
    no_name = p.Nfsstat2.NFSERR_NOENT

    def _ok(
        self, procedure: Procedure[t.Any, t.Any], args: XdrType, into: memoryview | None = None
    ) -> Steps[t.Any]:
        """The result of one call that succeeds. Raises `NfsStatusError`."""
        reply = yield Call(self._procedure(procedure), args, into)
        if reply.resok is None:
            raise status_error(reply.status, procedure.name, reply=reply)
        return reply.resok

    def _procedure(self, procedure: Procedure[t.Any, t.Any]) -> Procedure[t.Any, t.Any]:
        """The procedure of the program that is spoken: there are others with those of NFSv2."""
        return procedure

    def getattr(self, handle: bytes) -> Steps[Attributes]:
        """GETATTR."""
        return attributes_of((yield from self._ok(p.GETATTR, p.FhandleArgs(handle))))

    def setattr(self, handle: bytes, attributes: NewAttributes) -> Steps[None]:
        """SETATTR."""
        yield from self._ok(p.SETATTR, p.Sattrargs(handle, sattr(attributes)))

    def readlink(self, handle: bytes) -> Steps[bytes]:
        """READLINK."""
        return bytes((yield from self._ok(p.READLINK, p.FhandleArgs(handle))))

    def read(self, handle: bytes, offset: int, count: int, *, into: memoryview | None = None) -> Steps[Data]:
        """READ, of 8192 bytes at most. The end of the file is where the size that came along says."""
        wanted = min(count, p.MAXDATA)
        _require_32_bits("offset", offset + wanted)
        result = yield from self._ok(p.READ, p.Readargs(handle, offset, wanted), into)
        self._require_read(offset, wanted, result.data)
        size = result.attributes.size
        return Data(result.data, offset + len(result.data) >= size, size)

    def write(
        self,
        handle: bytes,
        offset: int,
        data: Buffer,
        stable: Stable = Stable.FILE_SYNC,  # noqa: ARG002
    ) -> Steps[Written]:
        """WRITE, of the first 8192 bytes at most: all of them, and stable (section 2.2.9)."""
        first = data if len(data) <= p.MAXDATA else memoryview(data)[: p.MAXDATA]
        _require_32_bits("offset", offset + len(first))
        yield from self._ok(p.WRITE, p.Writeargs(handle, 0, offset, 0, first))
        return Written(len(first), Stable.FILE_SYNC)

    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Steps[bytes | None]:  # noqa: ARG002
        """Nothing: data is stable when WRITE is answered."""
        yield from ()
        return None

    def lookup(self, directory: bytes, name: bytes, *, attributes: bool = True) -> Steps[Found]:  # noqa: ARG002
        """LOOKUP."""
        return _found((yield from self._ok(p.LOOKUP, p.Diropargs(directory, name))))

    def create(
        self,
        directory: bytes,
        name: bytes,
        how: Create = Create.UNCHECKED,
        attributes: NewAttributes = NOTHING_SET,
        *,
        verifier: bytes = b"",
    ) -> Steps[Found]:
        """CREATE, of GUARDED after a LOOKUP that found nothing: the procedure says nothing of names that are there."""
        if how is Create.EXCLUSIVE or verifier:
            raise NotInVersion(self.name, "exclusive CREATE")
        if how is Create.GUARDED:
            yield from self._require_free(directory, name)
        args = p.Createargs(p.Diropargs(directory, name), sattr(attributes))
        return _found((yield from self._ok(p.CREATE, args)))

    def _require_free(self, directory: bytes, name: bytes) -> Steps[None]:
        try:
            yield from self.lookup(directory, name)
        except NfsStatusError as error:
            if error.status == p.Nfsstat2.NFSERR_NOENT:
                return
            raise
        raise status_error(p.Nfsstat2.NFSERR_EXIST, "CREATE")

    def mkdir(self, directory: bytes, name: bytes, attributes: NewAttributes = NOTHING_SET) -> Steps[Found]:
        """MKDIR."""
        args = p.Createargs(p.Diropargs(directory, name), sattr(attributes))
        return _found((yield from self._ok(p.MKDIR, args)))

    def symlink(
        self, directory: bytes, name: bytes, text: bytes, attributes: NewAttributes = _MODE_OF_LINKS
    ) -> Steps[Found]:
        """SYMLINK, and LOOKUP, since its reply has no handle (section 2.2.14)."""
        args = p.Symlinkargs(p.Diropargs(directory, name), text, sattr(attributes))
        yield from self._ok(p.SYMLINK, args)
        return (yield from self.lookup(directory, name))

    def link(self, handle: bytes, directory: bytes, name: bytes) -> Steps[None]:
        """LINK."""
        yield from self._ok(p.LINK, p.Linkargs(handle, p.Diropargs(directory, name)))

    def remove(self, directory: bytes, name: bytes) -> Steps[None]:
        """REMOVE."""
        yield from self._ok(p.REMOVE, p.Diropargs(directory, name))

    def rmdir(self, directory: bytes, name: bytes) -> Steps[None]:
        """RMDIR."""
        yield from self._ok(p.RMDIR, p.Diropargs(directory, name))

    def rename(self, directory: bytes, name: bytes, to_directory: bytes, to_name: bytes) -> Steps[None]:
        """RENAME."""
        args = p.Renameargs(p.Diropargs(directory, name), p.Diropargs(to_directory, to_name))
        yield from self._ok(p.RENAME, args)

    def readdir(
        self,
        directory: bytes,
        at: Position = START,
        size: int = PAGE,
        *,
        attributes: bool = False,  # noqa: ARG002
    ) -> Steps[Page]:
        """READDIR. Neither attributes nor handles come along."""
        cookie = at.cookie.to_bytes(p.COOKIESIZE)
        result = yield from self._ok(p.READDIR, p.Readdirargs(directory, cookie, min(size, p.MAXDATA)))
        entries = [Entry(each.name, None, each) for each in result.entries]
        following = int.from_bytes(result.entries[-1].cookie) if entries else at.cookie
        return Page(entries, result.eof, Position(following))

    def fsinfo(self, handle: bytes) -> Steps[Info]:
        """STATFS: `tsize` is what the server would like."""
        info = yield from self._ok(p.STATFS, p.FhandleArgs(handle))
        liked = min(info.tsize or p.MAXDATA, p.MAXDATA)
        return Info(rtmax=p.MAXDATA, rtpref=liked, wtmax=p.MAXDATA, wtpref=liked, dtpref=p.MAXDATA)

    def statfs(self, handle: bytes) -> Steps[Space]:
        """STATFS."""
        info = yield from self._ok(p.STATFS, p.FhandleArgs(handle))
        return Space(*(info.bsize * blocks for blocks in (info.blocks, info.bfree, info.bavail)))


def attributes_of(given: p.Fattr) -> Attributes:
    """The neutral form of an fattr. Sockets and FIFOs are known by `mode` only: ftype does not have them."""
    kind = _BY_MODE.get(stat.S_IFMT(given.mode & 0xFFFF))
    if kind is None and given.type != p.Ftype.NFNON:
        kind = file_type(given.type)
    return Attributes(
        type=kind,
        mode=given.mode & 0o7777,
        nlink=given.nlink,
        uid=given.uid,
        gid=given.gid,
        size=given.size,
        fsid=(given.fsid, 0),
        fileid=given.fileid,
        atime=_time(given.atime),
        mtime=_time(given.mtime),
        ctime=_time(given.ctime),
    )


def _time(given: p.Timeval) -> Time:
    return Time(given.seconds, given.useconds * 1000)


def _found(given: p.Diropok) -> Found:
    return Found(given.file, given.attributes, attributes_of)


def sattr(given: NewAttributes) -> p.Sattr:
    """The sattr of attributes to set. Raises `NotInVersion` for what it cannot express."""
    if given.owner is not None or given.group is not None:
        raise NotInVersion("NFSv2", "owners by name: give uid and gid")
    numbers = {name: getattr(given, name) for name in ("mode", "uid", "gid", "size")}
    for name, value in numbers.items():
        if value is not None:
            _require_32_bits(name, value)
    times = {"atime": given.atime, "mtime": given.mtime}
    wanted: dict[str, t.Any] = {name: value for name, value in numbers.items() if value is not None}
    wanted |= {name: _timeval(value) for name, value in times.items() if value is not None}
    return p.Sattr(**wanted)


def _timeval(given: Time | SetTo) -> p.Timeval:
    if isinstance(given, SetTo):
        raise NotInVersion("NFSv2", "way to set a time to the server's clock: give the time")
    _require_32_bits("time", given.seconds)
    return p.Timeval(given.seconds, given.nseconds // 1000)


def _require_32_bits(name: str, value: int) -> None:
    if not 0 <= value <= _MOST:
        raise NotInVersion("NFSv2", f"{name} of {value}: its numbers have 32 bits")
