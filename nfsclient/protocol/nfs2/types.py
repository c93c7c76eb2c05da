# SPDX-License-Identifier: MIT
"""The types of NFSv2 (RFC 1094 section 2.3, sizes in section 3.5) and those of its arguments and results.

Names are those of the RFC. A reply is a union over its status; besides the name that the RFC gives its success arm it
has `resok`, as replies of NFSv3 do. Everything is 32 bits wide.
"""

from __future__ import annotations

import typing as t

from nfsclient.xdr import (
    Buffer,
    Bulk,
    Case,
    FixedOpaque,
    LinkedList,
    String,
    Struct,
    Union,
    Void,
    XdrEnum,
    u32,
)

MAXDATA = 8192
"""Most bytes of data in one READ or WRITE."""
MAXPATHLEN = 1024
"""Longest text of a symbolic link, in bytes."""
MAXNAMLEN = 255
"""Longest name, in bytes."""
COOKIESIZE = 4
"""Size of a cookie of READDIR, in bytes."""
FHSIZE = 32
"""Size of a file handle, in bytes."""

IGNORED: t.Final = 0xFFFF_FFFF
"""-1: a field of `Sattr` that is left alone (section 2.3.6)."""

Fhandle = t.Annotated[bytes, FixedOpaque(FHSIZE)]
"""A file handle: always 32 bytes that only the server can read (section 2.3.3)."""
Filename = t.Annotated[bytes, String(MAXNAMLEN)]
"""One component of a path: bytes (section 2.3.7)."""
Path = t.Annotated[bytes, String(MAXPATHLEN)]
"""The text of a symbolic link: bytes without structure to the server (section 2.3.8)."""
Nfsdata = t.Annotated[Buffer, Bulk(MAXDATA)]
"""The data of READ and WRITE (sections 2.2.7 and 2.2.9)."""
Nfscookie = t.Annotated[bytes, FixedOpaque(COOKIESIZE)]
"""A position in a directory: opaque; four zero bytes are the start (section 2.2.17)."""


class Nfsstat2(XdrEnum):
    """stat: how a call ended (section 2.3.1).

    The values are error numbers of UNIX, and no sentence says that there are no others.
    """

    NFS_OK = 0
    NFSERR_PERM = 1
    NFSERR_NOENT = 2
    NFSERR_IO = 5
    NFSERR_NXIO = 6
    NFSERR_ACCES = 13
    NFSERR_EXIST = 17
    NFSERR_NODEV = 19
    NFSERR_NOTDIR = 20
    NFSERR_ISDIR = 21
    NFSERR_FBIG = 27
    NFSERR_NOSPC = 28
    NFSERR_ROFS = 30
    NFSERR_NAMETOOLONG = 63
    NFSERR_NOTEMPTY = 66
    NFSERR_DQUOT = 69
    NFSERR_STALE = 70
    NFSERR_WFLUSH = 99


class Ftype(XdrEnum):
    """ftype: what kind of object a file is (section 2.3.2). Sockets are NFNON; FIFOs are not mentioned."""

    NFNON = 0
    NFREG = 1
    NFDIR = 2
    NFBLK = 3
    NFCHR = 4
    NFLNK = 5


class Timeval(Struct):
    """timeval: a time since 1970-01-01 00:00 GMT (section 2.3.4)."""

    seconds: u32
    useconds: u32 = 0
    """Microseconds, 0 to 999,999, though the wire allows more."""


IGNORED_TIME: t.Final = Timeval(IGNORED, IGNORED)
"""A time of `Sattr` that is left alone."""


class Fattr(Struct):
    """fattr: the attributes of an object (section 2.3.5)."""

    type: Ftype
    mode: u32
    """Permission bits and, once more, the type, as stat(2) of UNIX has them."""
    nlink: u32
    uid: u32
    gid: u32
    size: u32
    """In bytes."""
    blocksize: u32
    """Bytes in a block."""
    rdev: u32
    """The device, in the server's own notation."""
    blocks: u32
    """Blocks on disk; of which size is not said."""
    fsid: u32
    fileid: u32
    """Unique within the file system."""
    atime: Timeval
    """Last access to the data."""
    mtime: Timeval
    """Last change of the data."""
    ctime: Timeval
    """Last change of the status; a write that keeps the size need not move it."""


class Sattr(Struct):
    """sattr: the attributes to set (section 2.3.6). A field that is `IGNORED` (-1) is left alone."""

    mode: u32 = IGNORED
    uid: u32 = IGNORED
    gid: u32 = IGNORED
    size: u32 = IGNORED
    """0 truncates."""
    atime: Timeval = IGNORED_TIME
    mtime: Timeval = IGNORED_TIME


class Diropargs(Struct):
    """diropargs: a name in a directory (section 2.3.10)."""

    dir: Fhandle
    name: Filename


class FhandleArgs(Struct):
    """A bare `fhandle`: the argument of GETATTR, READLINK and STATFS."""

    file: Fhandle


class Attrstat(Union):
    """attrstat: the attributes after the call (section 2.3.9); result of GETATTR, SETATTR and WRITE."""

    status: Nfsstat2
    attributes: t.Annotated[Fattr | None, Case(Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> Fattr | None:
        """`attributes`."""
        return self.attributes


class Diropok(Struct):
    """The object of a name, and its attributes (section 2.3.11)."""

    file: Fhandle
    attributes: Fattr


class Diropres(Union):
    """diropres: result of LOOKUP, CREATE and MKDIR (section 2.3.11)."""

    status: Nfsstat2
    diropok: t.Annotated[Diropok | None, Case(Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> Diropok | None:
        """`diropok`."""
        return self.diropok


class StatRes(Struct):
    """A bare `stat`: result of REMOVE, RENAME, LINK, SYMLINK and RMDIR."""

    status: Nfsstat2

    @property
    def resok(self) -> Void | None:
        """Nothing, but there on success."""
        return Void() if self.status is Nfsstat2.NFS_OK else None


class Sattrargs(Struct):
    """sattrargs, of SETATTR (section 2.2.3)."""

    file: Fhandle
    attributes: Sattr


class Readlinkres(Union):
    """readlinkres (section 2.2.6)."""

    status: Nfsstat2
    data: t.Annotated[Path | None, Case(Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> bytes | None:
        """`data`."""
        return self.data


class Readargs(Struct):
    """readargs (section 2.2.7)."""

    file: Fhandle
    offset: u32
    count: u32
    totalcount: u32 = 0
    """Unused."""


class Readok(Struct):
    """What READ gives (section 2.2.7); that it ends at the end of the file is not said."""

    attributes: Fattr
    data: Nfsdata


class Readres(Union):
    """readres (section 2.2.7)."""

    status: Nfsstat2
    readok: t.Annotated[Readok | None, Case(Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> Readok | None:
        """`readok`."""
        return self.readok


class Writeargs(Struct):
    """writeargs (section 2.2.9)."""

    file: Fhandle
    beginoffset: u32
    """Ignored."""
    offset: u32
    totalcount: u32
    """Ignored."""
    data: Nfsdata


class Createargs(Struct):
    """createargs, of CREATE and MKDIR (sections 2.2.10 and 2.2.15)."""

    where: Diropargs
    attributes: Sattr


class Renameargs(Struct):
    """renameargs (section 2.2.12). `from` is a word of Python's."""

    from_: Diropargs
    to: Diropargs


class Linkargs(Struct):
    """linkargs (section 2.2.13)."""

    from_: Fhandle
    to: Diropargs


class Symlinkargs(Struct):
    """symlinkargs (section 2.2.14)."""

    from_: Diropargs
    to: Path
    attributes: Sattr


class Readdirargs(Struct):
    """readdirargs (section 2.2.17)."""

    dir: Fhandle
    cookie: Nfscookie
    count: u32
    """Most bytes of the result."""


class Entry(Struct):
    """entry: one name in a directory (section 2.2.17)."""

    fileid: u32
    name: Filename
    cookie: Nfscookie
    """Where the listing goes on after this entry."""


class Readdirok(Struct):
    """What READDIR gives (section 2.2.17)."""

    entries: t.Annotated[list[Entry], LinkedList()]
    eof: bool
    """Whether the directory has no more entries."""


class Readdirres(Union):
    """readdirres (section 2.2.17)."""

    status: Nfsstat2
    readdirok: t.Annotated[Readdirok | None, Case(Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> Readdirok | None:
        """`readdirok`."""
        return self.readdirok


class Statfsinfo(Struct):
    """What STATFS gives (section 2.2.18)."""

    tsize: u32
    """Bytes that the server would like in one READ or WRITE."""
    bsize: u32
    """Bytes in a block."""
    blocks: u32
    bfree: u32
    bavail: u32
    """Free blocks for non-privileged users."""


class Statfsres(Union):
    """statfsres (section 2.2.18)."""

    status: Nfsstat2
    info: t.Annotated[Statfsinfo | None, Case(Nfsstat2.NFS_OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> Statfsinfo | None:
        """`info`."""
        return self.info
