# SPDX-License-Identifier: MIT
"""Operations on files by NFSv3 (RFC 1813 section 3.3)."""

from __future__ import annotations

import typing as t

from nfsclient.errors import NotInVersion
from nfsclient.files import operations
from nfsclient.files.neutral import (
    ALL_ACCESS,
    NOTHING_SET,
    Access,
    Attributes,
    Create,
    Data,
    Entry,
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
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, XdrType

_MODE_OF_LINKS: t.Final = NewAttributes(mode=0o777)
"""As other clients request; some servers make nothing without a mode."""


class Files(operations.Files):
    """Calls of NFSv3: `Call` for each."""

    name = "NFSv3"
    success = p.Nfsstat3.NFS3_OK
    is_directory = p.Nfsstat3.NFS3ERR_ISDIR
    no_name = p.Nfsstat3.NFS3ERR_INVAL

    def getattr(self, handle: bytes) -> Steps[Attributes]:
        """GETATTR."""
        found = yield from ok(p.GETATTR, p.Getattr3Args(handle))
        return attributes_of(found.obj_attributes)

    def setattr(self, handle: bytes, attributes: NewAttributes) -> Steps[None]:
        """SETATTR, without a guard."""
        yield from ok(p.SETATTR, p.Setattr3Args(handle, sattr3(attributes), None))

    def access(self, handle: bytes, wanted: Access = ALL_ACCESS) -> Steps[Access]:
        """ACCESS."""
        granted = yield from ok(p.ACCESS, p.Access3Args(handle, wanted))
        return Access(granted.access & wanted)

    def readlink(self, handle: bytes) -> Steps[bytes]:
        """READLINK."""
        return bytes((yield from ok(p.READLINK, p.Readlink3Args(handle))).data)

    def read(self, handle: bytes, offset: int, count: int, *, into: memoryview | None = None) -> Steps[Data]:
        """READ."""
        result = yield from ok(p.READ, p.Read3Args(handle, offset, count), into)
        self._require_read(offset, count, result.data, result.count)
        known = result.file_attributes
        return Data(result.data, result.eof, None if known is None else known.size)

    def write(
        self, handle: bytes, offset: int, data: Buffer, stable: Stable = Stable.FILE_SYNC
    ) -> Steps[Written]:
        """WRITE."""
        sent = len(data)
        done = yield from ok(p.WRITE, p.Write3Args(handle, offset, sent, p.StableHow(stable), data))
        return self._written(offset, sent, stable, done.count, done.committed, done.verf)

    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Steps[bytes | None]:
        """COMMIT."""
        done = yield from ok(p.COMMIT, p.Commit3Args(handle, offset, count))
        return bytes(done.verf)

    def lookup(self, directory: bytes, name: bytes, *, attributes: bool = True) -> Steps[Found]:  # noqa: ARG002
        """LOOKUP."""
        # Without `ok`, which is one more generator: a path is nothing but these.
        reply = yield Call(p.LOOKUP, p.Lookup3Args(p.Diropargs3(directory, name)))
        found = reply.resok
        if found is None:
            raise status_error(reply.status, p.LOOKUP.name, reply=reply)
        return Found(found.object, found.obj_attributes, _given)

    def create(
        self,
        directory: bytes,
        name: bytes,
        how: Create = Create.UNCHECKED,
        attributes: NewAttributes = NOTHING_SET,
        *,
        verifier: bytes = b"",
    ) -> Steps[Found]:
        """CREATE. After EXCLUSIVE the SETATTR that section 3.3.8 wants: the verifier may be kept in the times."""
        mode = p.CreateMode3(how)
        if how is not Create.EXCLUSIVE:
            obj = p.Createhow3(mode, obj_attributes=sattr3(attributes))
            made = yield from ok(p.CREATE, p.Create3Args(p.Diropargs3(directory, name), obj))
            return (yield from self._made(directory, name, made))
        obj = p.Createhow3(mode, verf=verifier)
        made = yield from ok(p.CREATE, p.Create3Args(p.Diropargs3(directory, name), obj))
        found: Found = yield from self._made(directory, name, made)
        times = NewAttributes(
            attributes.mode, attributes.uid, attributes.gid, size=attributes.size, **_times(attributes)
        )
        yield from self.setattr(found.handle, times)
        return Found(found.handle)

    def mkdir(self, directory: bytes, name: bytes, attributes: NewAttributes = NOTHING_SET) -> Steps[Found]:
        """MKDIR."""
        args = p.Mkdir3Args(p.Diropargs3(directory, name), sattr3(attributes))
        return (yield from self._made(directory, name, (yield from ok(p.MKDIR, args))))

    def symlink(
        self, directory: bytes, name: bytes, text: bytes, attributes: NewAttributes = _MODE_OF_LINKS
    ) -> Steps[Found]:
        """SYMLINK."""
        link = p.Symlinkdata3(sattr3(attributes), text)
        made = yield from ok(p.SYMLINK, p.Symlink3Args(p.Diropargs3(directory, name), link))
        return (yield from self._made(directory, name, made))

    def _made(self, directory: bytes, name: bytes, made: t.Any) -> Steps[Found]:
        """What was created; by LOOKUP where the server withheld the handle (section 2.5, post_op_fh3)."""
        if made.obj is None:
            return (yield from self.lookup(directory, name))
        return Found(made.obj, made.obj_attributes, _given)

    def link(self, handle: bytes, directory: bytes, name: bytes) -> Steps[None]:
        """LINK."""
        yield from ok(p.LINK, p.Link3Args(handle, p.Diropargs3(directory, name)))

    def remove(self, directory: bytes, name: bytes) -> Steps[None]:
        """REMOVE."""
        yield from ok(p.REMOVE, p.Remove3Args(p.Diropargs3(directory, name)))

    def rmdir(self, directory: bytes, name: bytes) -> Steps[None]:
        """RMDIR."""
        yield from ok(p.RMDIR, p.Rmdir3Args(p.Diropargs3(directory, name)))

    def rename(self, directory: bytes, name: bytes, to_directory: bytes, to_name: bytes) -> Steps[None]:
        """RENAME."""
        args = p.Rename3Args(p.Diropargs3(directory, name), p.Diropargs3(to_directory, to_name))
        yield from ok(p.RENAME, args)

    def readdir(
        self, directory: bytes, at: Position = START, size: int = PAGE, *, attributes: bool = False
    ) -> Steps[Page]:
        """READDIR, with `attributes` READDIRPLUS."""
        result: p.Readdir3ResOk | p.Readdirplus3ResOk
        if attributes:
            plus = p.Readdirplus3Args(directory, at.cookie, at.verifier, size, size)
            result = yield from ok(p.READDIRPLUS, plus)
        else:
            result = yield from ok(p.READDIR, p.Readdir3Args(directory, at.cookie, at.verifier, size))
        entries = [entry_of(each) for each in result.entries]
        last = result.entries[-1].cookie if entries else at.cookie
        verifier = bytes(result.cookieverf) if entries else at.verifier
        return Page(entries, result.eof, Position(last, verifier))

    def fsinfo(self, handle: bytes) -> Steps[Info]:
        """FSINFO."""
        info = yield from ok(p.FSINFO, p.Fsinfo3Args(handle))
        return Info(
            *(info.rtmax, info.rtpref, info.rtmult),
            *(info.wtmax, info.wtpref, info.wtmult),
            info.dtpref,
            info.maxfilesize,
        )

    def statfs(self, handle: bytes) -> Steps[Space]:
        """FSSTAT."""
        room = yield from ok(p.FSSTAT, p.Fsstat3Args(handle))
        return Space(room.tbytes, room.fbytes, room.abytes, room.tfiles, room.ffiles, room.afiles)


def ok(procedure: Procedure[t.Any, t.Any], args: XdrType, into: memoryview | None = None) -> Steps[t.Any]:
    """The `resok` of one call. Raises `NfsStatusError`."""
    reply = yield Call(procedure, args, into)
    if reply.resok is None:
        raise status_error(reply.status, procedure.name, reply=reply)
    return reply.resok


def attributes_of(given: p.Fattr3) -> Attributes:
    """The neutral form of an fattr3. Raises `ImpossibleResult` for an unknown type."""
    # Not by `__init__`: it has seventeen arguments, and this is done for each LOOKUP.
    found = _new(Attributes)
    found.type = file_type(given.type)
    found.mode = given.mode & 0o7777
    found.nlink = given.nlink
    found.uid = given.uid
    found.gid = given.gid
    found.owner = found.group = found.change = None
    found.size = given.size
    found.used = given.used
    found.fsid = (given.fsid, 0)
    found.fileid = given.fileid
    found.late = (_device_and_times, given)
    return found


_new: t.Final = object.__new__


def _device_and_times(given: p.Fattr3) -> tuple[tuple[int, int], Time, Time, Time]:
    rdev, atime, mtime, ctime = given.rdev, given.atime, given.mtime, given.ctime
    return (
        (rdev.specdata1, rdev.specdata2),
        Time(atime.seconds, atime.nseconds),
        Time(mtime.seconds, mtime.nseconds),
        Time(ctime.seconds, ctime.nseconds),
    )


def _given(attributes: p.Fattr3 | None) -> Attributes | None:
    return None if attributes is None else attributes_of(attributes)


def entry_of(raw: p.Entry3 | p.Entryplus3) -> Entry:
    """The neutral form of an entry of READDIR or READDIRPLUS."""
    return Entry(raw.name, getattr(raw, "name_handle", None), raw, _attributes_of_entry)


def _attributes_of_entry(raw: p.Entry3 | p.Entryplus3) -> Attributes | None:
    return _given(getattr(raw, "name_attributes", None))


def sattr3(given: NewAttributes) -> p.Sattr3:
    """The sattr3 of attributes to set. Raises `NotInVersion` for owners by name."""
    if given.owner is not None or given.group is not None:
        raise NotInVersion("NFSv3", "owners by name: give uid and gid")
    return p.Sattr3(
        given.mode, given.uid, given.gid, given.size, _set_time(given.atime), _set_time(given.mtime)
    )


def _set_time(given: Time | SetTo | None) -> p.SetTime:
    if given is None:
        return p.DONT_CHANGE_TIME
    return p.SERVER_TIME if isinstance(given, SetTo) else p.client_time(*given)


def _times(given: NewAttributes) -> dict[str, t.Any]:
    """The times that were given, and the server's clock for those that were not."""
    return {"atime": given.atime or SetTo.SERVER_TIME, "mtime": given.mtime or SetTo.SERVER_TIME}
