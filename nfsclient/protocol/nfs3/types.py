# SPDX-License-Identifier: MIT
"""The basic types of NFSv3 (RFC 1813 sections 2.4 to 2.6), which its procedures share.

Names are those of the RFC, in snake case for fields. `post_op_attr`, `pre_op_attr`, `post_op_fh3`,
`set_mode3`, `set_uid3`, `set_gid3`, `set_size3` and `sattrguard3` are unions over a boolean with one arm; on
the wire that is the same as optional data, so they are written ``X | None`` here.
"""

from __future__ import annotations

import typing as t

from nfsclient.xdr import Case, FixedOpaque, Lazy, Opaque, String, Struct, Union, XdrEnum, u32, u64

NFS3_FHSIZE = 64
"""Largest file handle, in bytes (section 2.4)."""
NFS3_COOKIEVERFSIZE = 8
"""Size of the cookie verifier of READDIR and READDIRPLUS, in bytes."""
NFS3_CREATEVERFSIZE = 8
"""Size of the verifier of an exclusive CREATE, in bytes."""
NFS3_WRITEVERFSIZE = 8
"""Size of the verifier that WRITE and COMMIT return, in bytes."""

NfsFh3 = t.Annotated[bytes, Opaque(NFS3_FHSIZE)]
"""A file handle: up to 64 bytes that only the server can read.

Equal handles are the same file; unequal ones prove nothing (section 2.5).
"""
Filename3 = t.Annotated[bytes, String()]
"""One component of a path: bytes without a limit in the type; the server's limit is PATHCONF's `name_max`."""
Nfspath3 = t.Annotated[bytes, String()]
"""The text of a symbolic link: bytes that the server does not interpret (section 3.3.5)."""
Fileid3: t.TypeAlias = u64
"""The number of a file within its file system (`fsid`); an inode number on UNIX."""
Cookie3: t.TypeAlias = u64
"""A position in a directory: opaque, neither dense nor increasing; 0 is the start."""
Cookieverf3 = t.Annotated[bytes, FixedOpaque(NFS3_COOKIEVERFSIZE)]
"""Goes with a cookie: both must come from the same kind of reply. Eight zero bytes at the start."""
Createverf3 = t.Annotated[bytes, FixedOpaque(NFS3_CREATEVERFSIZE)]
"""What marks a repeated exclusive CREATE as the same one."""
Writeverf3 = t.Annotated[bytes, FixedOpaque(NFS3_WRITEVERFSIZE)]
"""Changes whenever the server may have lost data that it had not committed (section 3.3.7)."""
Uid3: t.TypeAlias = u32
"""The number of a user."""
Gid3: t.TypeAlias = u32
"""The number of a group."""
Size3: t.TypeAlias = u64
"""A size in bytes."""
Offset3: t.TypeAlias = u64
"""A position in a file, in bytes."""
Mode3: t.TypeAlias = u32
"""Permission bits as in UNIX: 07777 has them all (section 2.5, fattr3)."""
Count3: t.TypeAlias = u32
"""A number of bytes in one call."""


class Nfsstat3(XdrEnum):
    """nfsstat3: how a call ended (section 2.6). A server may return no other value (section 2.5)."""

    NFS3_OK = 0
    NFS3ERR_PERM = 1
    NFS3ERR_NOENT = 2
    NFS3ERR_IO = 5
    NFS3ERR_NXIO = 6
    NFS3ERR_ACCES = 13
    NFS3ERR_EXIST = 17
    NFS3ERR_XDEV = 18
    NFS3ERR_NODEV = 19
    NFS3ERR_NOTDIR = 20
    NFS3ERR_ISDIR = 21
    NFS3ERR_INVAL = 22
    NFS3ERR_FBIG = 27
    NFS3ERR_NOSPC = 28
    NFS3ERR_ROFS = 30
    NFS3ERR_MLINK = 31
    NFS3ERR_NAMETOOLONG = 63
    NFS3ERR_NOTEMPTY = 66
    NFS3ERR_DQUOT = 69
    NFS3ERR_STALE = 70
    NFS3ERR_REMOTE = 71
    NFS3ERR_BADHANDLE = 10001
    NFS3ERR_NOT_SYNC = 10002
    NFS3ERR_BAD_COOKIE = 10003
    NFS3ERR_NOTSUPP = 10004
    NFS3ERR_TOOSMALL = 10005
    NFS3ERR_SERVERFAULT = 10006
    NFS3ERR_BADTYPE = 10007
    NFS3ERR_JUKEBOX = 10008


class Ftype3(XdrEnum):
    """ftype3: what kind of object a file is (section 2.5)."""

    NF3REG = 1
    NF3DIR = 2
    NF3BLK = 3
    NF3CHR = 4
    NF3LNK = 5
    NF3SOCK = 6
    NF3FIFO = 7


class TimeHow(XdrEnum):
    """time_how: SETATTR leaves a time, takes the server's clock, or the client's value (section 2.5)."""

    DONT_CHANGE = 0
    SET_TO_SERVER_TIME = 1
    SET_TO_CLIENT_TIME = 2


class StableHow(XdrEnum):
    """stable_how: how firmly WRITE stores data before it answers; larger is firmer (section 3.3.7)."""

    UNSTABLE = 0
    DATA_SYNC = 1
    FILE_SYNC = 2


class CreateMode3(XdrEnum):
    """createmode3: what CREATE does when the name exists (section 3.3.8)."""

    UNCHECKED = 0
    GUARDED = 1
    EXCLUSIVE = 2


class Specdata3(Struct):
    """specdata3: major and minor number of a device; both 0 for other objects (section 2.5)."""

    specdata1: u32 = 0
    specdata2: u32 = 0


class Nfstime3(Struct):
    """nfstime3: a time since 1970-01-01 00:00 UTC (section 2.5)."""

    seconds: u32
    nseconds: u32 = 0
    """0 to 999,999,999, though the wire allows more."""


class Fattr3(Struct):
    """fattr3: the attributes of an object (section 2.5)."""

    type: Ftype3
    mode: Mode3
    nlink: u32
    """How many names the object has; unspecified for directories."""
    uid: Uid3
    gid: Gid3
    size: Size3
    used: Size3
    """Bytes of storage in use, which may be less than `size` (holes) or more."""
    rdev: t.Annotated[Specdata3, Lazy()]
    fsid: u64
    """The file system; `fileid` is unique within it."""
    fileid: Fileid3
    atime: t.Annotated[Nfstime3, Lazy()]
    """Last access to the data."""
    mtime: t.Annotated[Nfstime3, Lazy()]
    """Last change of the data."""
    ctime: t.Annotated[Nfstime3, Lazy()]
    """Last change of attributes or data."""


class WccAttr(Struct):
    """wcc_attr: the attributes by which a client notices that its cache is out of date (section 2.5)."""

    size: Size3
    mtime: Nfstime3
    ctime: Nfstime3


class WccData(Struct):
    """wcc_data: attributes before and after a modifying call; a server may withhold either (section 2.5)."""

    before: t.Annotated[WccAttr | None, Lazy()] = None
    after: t.Annotated[Fattr3 | None, Lazy()] = None


class SetTime(Union):
    """set_atime and set_mtime: what to do with a time (section 2.5). `time` only with SET_TO_CLIENT_TIME."""

    set_it: TimeHow
    time: t.Annotated[Nfstime3 | None, Case(TimeHow.SET_TO_CLIENT_TIME)] = None
    __void_default__ = True


DONT_CHANGE_TIME = SetTime(TimeHow.DONT_CHANGE)
"""Leaves a time as it is."""
SERVER_TIME = SetTime(TimeHow.SET_TO_SERVER_TIME)
"""Sets a time to the server's clock."""


def client_time(seconds: int, nseconds: int = 0) -> SetTime:
    """Sets a time to a value of the client's, kept to the accuracy of FSINFO's `time_delta`."""
    return SetTime(TimeHow.SET_TO_CLIENT_TIME, Nfstime3(seconds, nseconds))


class Sattr3(Struct):
    """sattr3: the attributes to set; None, and a time not to be changed, leave one alone (section 2.5)."""

    mode: Mode3 | None = None
    uid: Uid3 | None = None
    gid: Gid3 | None = None
    size: Size3 | None = None
    atime: SetTime = DONT_CHANGE_TIME
    mtime: SetTime = DONT_CHANGE_TIME


class Diropargs3(Struct):
    """diropargs3: a name in a directory (section 2.5; rules for names in section 3.2)."""

    dir: NfsFh3
    name: Filename3
