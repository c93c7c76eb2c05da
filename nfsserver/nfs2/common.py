# SPDX-License-Identifier: MIT
"""What the NFSv2 handlers share: statuses, attributes in 32 bits, times (RFC 1094 section 2.3)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol.nfs2 import IGNORED, Fattr, Ftype, Nfsstat2, Sattr, Timeval
from nfsserver.fs import NOW, PAGE, Changes, FsError, Inode, Kind, Time

LARGEST = 0xFFFF_FFFF
"""Largest number in NFSv2; the size of a larger file is reported as this."""

_STATUS: t.Final = {
    errno.EPERM: Nfsstat2.NFSERR_PERM,
    errno.ENOENT: Nfsstat2.NFSERR_NOENT,
    errno.ENXIO: Nfsstat2.NFSERR_NXIO,
    errno.EACCES: Nfsstat2.NFSERR_ACCES,
    errno.EEXIST: Nfsstat2.NFSERR_EXIST,
    errno.ENODEV: Nfsstat2.NFSERR_NODEV,
    errno.ENOTDIR: Nfsstat2.NFSERR_NOTDIR,
    errno.EISDIR: Nfsstat2.NFSERR_ISDIR,
    errno.EFBIG: Nfsstat2.NFSERR_FBIG,
    errno.ENOSPC: Nfsstat2.NFSERR_NOSPC,
    errno.EROFS: Nfsstat2.NFSERR_ROFS,
    errno.ENAMETOOLONG: Nfsstat2.NFSERR_NAMETOOLONG,
    errno.ENOTEMPTY: Nfsstat2.NFSERR_NOTEMPTY,
    errno.EDQUOT: Nfsstat2.NFSERR_DQUOT,
    errno.ESTALE: Nfsstat2.NFSERR_STALE,
    # Version 2 has no status for the following: use the nearest one.
    errno.EBADF: Nfsstat2.NFSERR_STALE,
    errno.EINVAL: Nfsstat2.NFSERR_ACCES,
    errno.EXDEV: Nfsstat2.NFSERR_ACCES,
    errno.EMLINK: Nfsstat2.NFSERR_NOSPC,
    errno.EOPNOTSUPP: Nfsstat2.NFSERR_PERM,
}

_TYPES: t.Final = {
    Kind.REGULAR: (Ftype.NFREG, 0o100000),
    Kind.DIRECTORY: (Ftype.NFDIR, 0o040000),
    Kind.BLOCK: (Ftype.NFBLK, 0o060000),
    Kind.CHARACTER: (Ftype.NFCHR, 0o020000),
    Kind.SYMLINK: (Ftype.NFLNK, 0o120000),
    Kind.SOCKET: (Ftype.NFNON, 0o140000),
    Kind.FIFO: (Ftype.NFNON, 0o010000),
}
"""Kind -> ftype, type bits of the mode (section 2.3.5). The RFC has no word for FIFOs: they are no files here."""

_MICROSECOND = 1_000
"""In nanoseconds."""
_MILLION = 1_000_000


def status_of(refusal: FsError, instead: t.Mapping[int, Nfsstat2] | None = None) -> Nfsstat2:
    """The status for a refusal; `instead` holds the errnos that one procedure answers in its own way."""
    if instead is not None and refusal.errno in instead:
        return instead[refusal.errno]
    return _STATUS.get(refusal.errno, Nfsstat2.NFSERR_IO)


def timeval(nanoseconds: int) -> Timeval:
    """A time as the wire has it, to the microsecond."""
    seconds, rest = divmod(nanoseconds // _MICROSECOND, _MILLION)
    return Timeval(seconds & LARGEST, rest)


def fattr(inode: Inode) -> Fattr:
    """All attributes of an object, cut to 32 bits."""
    ftype, type_bits = _TYPES[inode.kind]
    nlink, size, used, mtime, ctime = inode.reported()
    major, minor = inode.rdev
    return Fattr(
        type=ftype,
        mode=type_bits | inode.mode,
        nlink=nlink,
        uid=inode.uid,
        gid=inode.gid,
        size=min(size, LARGEST),
        blocksize=PAGE,
        rdev=(major << 8 | minor) & LARGEST,
        blocks=min(-(-used // PAGE), LARGEST),
        fsid=inode.fs.fsid & LARGEST,
        fileid=inode.fileid & LARGEST,
        atime=timeval(inode.atime),
        mtime=timeval(mtime),
        ctime=timeval(ctime),
    )


def _given(value: int) -> int | None:
    return None if value == IGNORED else value


def _time(asked: Timeval) -> Time | None:
    """A million microseconds ask for the server's clock: a habit of clients that the RFC does not mention."""
    if IGNORED in (asked.seconds, asked.useconds):
        return None
    if asked.useconds == _MILLION:
        return NOW
    if asked.useconds > _MILLION:
        raise FsError(errno.EINVAL, "useconds are no part of a second")
    return (asked.seconds * _MILLION + asked.useconds) * _MICROSECOND


def changes_of(attributes: Sattr) -> Changes:
    """The changes in a sattr; type bits of the mode are ignored. EINVAL: an invalid time."""
    return Changes(
        mode=_given(attributes.mode),
        uid=_given(attributes.uid),
        gid=_given(attributes.gid),
        size=_given(attributes.size),
        atime=_time(attributes.atime),
        mtime=_time(attributes.mtime),
    )
