# SPDX-License-Identifier: MIT
"""What the NFSv3 handlers share: statuses, attributes, times, and weak cache consistency data."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol.nfs3 import (
    Fattr3,
    Ftype3,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    SetTime,
    Specdata3,
    TimeHow,
    WccAttr,
    WccData,
)
from nfsserver.fs import NOW, Changes, FsError, Inode, Kind, Time
from nfsserver.handlers import ServerApi

SECOND = 1_000_000_000
"""In nanoseconds."""

_STATUS: t.Final = {
    errno.EPERM: Nfsstat3.NFS3ERR_PERM,
    errno.ENOENT: Nfsstat3.NFS3ERR_NOENT,
    errno.EACCES: Nfsstat3.NFS3ERR_ACCES,
    errno.EEXIST: Nfsstat3.NFS3ERR_EXIST,
    errno.EXDEV: Nfsstat3.NFS3ERR_XDEV,
    errno.ENOTDIR: Nfsstat3.NFS3ERR_NOTDIR,
    errno.EISDIR: Nfsstat3.NFS3ERR_ISDIR,
    errno.EINVAL: Nfsstat3.NFS3ERR_INVAL,
    errno.EFBIG: Nfsstat3.NFS3ERR_FBIG,
    errno.ENOSPC: Nfsstat3.NFS3ERR_NOSPC,
    errno.EROFS: Nfsstat3.NFS3ERR_ROFS,
    errno.EMLINK: Nfsstat3.NFS3ERR_MLINK,
    errno.ENAMETOOLONG: Nfsstat3.NFS3ERR_NAMETOOLONG,
    errno.ENOTEMPTY: Nfsstat3.NFS3ERR_NOTEMPTY,
    errno.ESTALE: Nfsstat3.NFS3ERR_STALE,
    errno.EBADF: Nfsstat3.NFS3ERR_BADHANDLE,
    errno.EDQUOT: Nfsstat3.NFS3ERR_DQUOT,
    errno.EOPNOTSUPP: Nfsstat3.NFS3ERR_NOTSUPP,
}


class Nfs3Error(Exception):
    """A refusal that only NFSv3 knows: no errno says it."""

    def __init__(self, status: Nfsstat3) -> None:
        super().__init__(status.name)
        self.status = status


REFUSALS: t.Final = (FsError, Nfs3Error)
"""Exceptions that handlers catch and translate with `status_of`."""


def status_of(refusal: FsError | Nfs3Error, instead: t.Mapping[int, Nfsstat3] | None = None) -> Nfsstat3:
    """The status for a refusal; `instead` holds the errnos that one procedure answers in its own way."""
    if isinstance(refusal, Nfs3Error):
        return refusal.status
    if instead is not None and refusal.errno in instead:
        return instead[refusal.errno]
    return _STATUS.get(refusal.errno, Nfsstat3.NFS3ERR_SERVERFAULT)


def nfstime3(nanoseconds: int) -> Nfstime3:
    """A time as the wire has it, to the nanosecond."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return Nfstime3(seconds & 0xFFFF_FFFF, rest)


_TYPES: t.Final = {kind: Ftype3(kind) for kind in Kind}


def fattr3(inode: Inode) -> Fattr3:
    """All attributes of an object."""
    nlink, size, used, mtime, ctime = inode.reported()
    return Fattr3(
        type=_TYPES[inode.kind],
        mode=inode.mode,
        nlink=nlink,
        uid=inode.uid,
        gid=inode.gid,
        size=size,
        used=used,
        rdev=Specdata3(*inode.rdev),
        fsid=inode.fs.fsid,
        fileid=inode.fileid,
        atime=nfstime3(inode.atime),
        mtime=nfstime3(mtime),
        ctime=nfstime3(ctime),
    )


def _time(asked: SetTime) -> Time | None:
    if asked.set_it == TimeHow.SET_TO_SERVER_TIME:
        return NOW
    if asked.time is None:
        return None
    if asked.time.nseconds >= SECOND:
        raise FsError(errno.EINVAL, "nseconds are no part of a second")
    return asked.time.seconds * SECOND + asked.time.nseconds


def changes_of(attributes: Sattr3) -> Changes:
    """The changes in a sattr3. EINVAL: an invalid time."""
    return Changes(
        mode=attributes.mode,
        uid=attributes.uid,
        gid=attributes.gid,
        size=attributes.size,
        atime=_time(attributes.atime),
        mtime=_time(attributes.mtime),
    )


class Watched:
    """The object of a handle in the arguments, remembered as it was before the operation.

    A handle that cannot be resolved is no error yet: `inode` raises, and a reply that is built
    meanwhile simply has no attributes. Nothing else runs while a call is answered, so `before` and `after`
    enclose this operation alone (RFC 1813 section 2.5, wcc_data).
    """

    def __init__(self, server: ServerApi, handle: bytes) -> None:
        self._inode: Inode | None = None
        self._refusal: FsError | None = None
        self._before = (0, 0, 0)
        try:
            self._inode = server.backend.resolve(handle)
        except FsError as refusal:
            self._refusal = refusal
        else:
            now = self._inode.reported()
            self._before = (now.size, now.mtime, now.ctime)

    @property
    def before(self) -> WccAttr | None:
        """pre_op_attr: the attributes before."""
        if self._inode is None:
            return None
        size, mtime, ctime = self._before
        return WccAttr(size, nfstime3(mtime), nfstime3(ctime))

    @property
    def inode(self) -> Inode:
        """The live object. Raises `FsError`: EBADF or ESTALE."""
        if self._inode is None:
            assert self._refusal is not None
            raise self._refusal
        return self._inode

    def attributes(self) -> Fattr3 | None:
        """post_op_attr: the attributes now."""
        return None if self._inode is None else fattr3(self._inode)

    def wcc(self) -> WccData:
        """wcc_data: before and now."""
        return WccData(self.before, self.attributes())
