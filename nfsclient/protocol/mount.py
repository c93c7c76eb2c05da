# SPDX-License-Identifier: MIT
"""The MOUNT protocol: version 1 (RFC 1094 appendix A) and version 3 (RFC 1813 section 5).

Constants of procedures end in the version: `MNT1`, `MNT3`. Version 2 stands in no RFC; servers of NFSv2 have it
besides version 1, with the same procedures in the same form (PATHCONF, which XNFS adds to it, is not declared here).
"""

from __future__ import annotations

import typing as t

from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import (
    Array,
    Case,
    FixedOpaque,
    Identity,
    LinkedList,
    Opaque,
    String,
    Struct,
    Union,
    Void,
    XdrEnum,
    XdrType,
    i32,
)

PROGRAM = 100005
"""The RPC program number of MOUNT (RFC 1094 A.5, RFC 1813 section 5.1.2)."""
MNTPATHLEN = 1024
"""Longest path, in bytes (RFC 1094 A.3, RFC 1813 section 5.1.4)."""
MNTNAMLEN = 255
"""Longest name of a host or group, in bytes."""
FHSIZE = 32
"""Size of a file handle of NFSv2, in bytes."""
FHSIZE3 = 64
"""Largest file handle of NFSv3, in bytes."""

Fhandle = t.Annotated[bytes, FixedOpaque(FHSIZE)]
"""A file handle for NFSv2: always 32 bytes (RFC 1094 A.4.1)."""
Fhandle3 = t.Annotated[bytes, Opaque(FHSIZE3)]
"""A file handle for NFSv3: 0 to 64 bytes (RFC 1813 section 5.1.5)."""
Dirpath = t.Annotated[bytes, String(MNTPATHLEN)]
"""Path of a directory on the server."""
Name = t.Annotated[bytes, String(MNTNAMLEN), Identity("host")]
"""Name of a host or group."""
ServerPath = t.Annotated[bytes, String(MNTPATHLEN), Identity("path")]
"""A directory that a server lists by itself."""


class MountStat3(XdrEnum):
    """mountstat3 (RFC 1813 section 5.1.5)."""

    MNT3_OK = 0
    MNT3ERR_PERM = 1
    MNT3ERR_NOENT = 2
    MNT3ERR_IO = 5
    MNT3ERR_ACCES = 13
    MNT3ERR_NOTDIR = 20
    MNT3ERR_INVAL = 22
    MNT3ERR_NAMETOOLONG = 63
    MNT3ERR_NOTSUPP = 10004
    MNT3ERR_SERVERFAULT = 10006


class MountStat1(XdrEnum):
    """The status of version 1: 0, or any error number of UNIX; only 0 has a name (RFC 1094 A.4.2)."""

    OK = 0


MNT3_LISTED: t.Final = frozenset(
    {
        MountStat3.MNT3ERR_NOENT,
        MountStat3.MNT3ERR_IO,
        MountStat3.MNT3ERR_ACCES,
        MountStat3.MNT3ERR_NOTDIR,
        MountStat3.MNT3ERR_NAMETOOLONG,
    }
)
"""The errors listed for MNT (RFC 1813 section 5.2.1): a guide; all of `MountStat3` is legal."""


class DirpathArgs(Struct):
    """A bare `dirpath`: the argument of MNT and UMNT in both versions."""

    dirpath: Dirpath


class Mnt1Res(Union):
    """fhstatus (RFC 1094 A.4.2).

    The discriminant is unsigned there; error numbers are small, so an enum serves.
    """

    status: MountStat1
    directory: t.Annotated[Fhandle | None, Case(MountStat1.OK)] = None
    __void_default__ = True

    @property
    def resok(self) -> bytes | None:
        """`directory`."""
        return self.directory


class Mountres3Ok(Struct):
    """mountres3_ok (RFC 1813 section 5.2.1)."""

    fhandle: Fhandle3
    auth_flavors: t.Annotated[list[i32], Array()]
    """The RPC flavors that the server takes with this handle; order and completeness are its own affair."""


class Mnt3Res(Union):
    """mountres3 (RFC 1813 section 5.2.1). `status` and `resok` name its parts as NFS replies do."""

    fhs_status: MountStat3
    mountinfo: t.Annotated[Mountres3Ok | None, Case(MountStat3.MNT3_OK)] = None
    __void_default__ = True

    @property
    def status(self) -> MountStat3:
        """`fhs_status`."""
        return self.fhs_status

    @property
    def resok(self) -> Mountres3Ok | None:
        """`mountinfo`."""
        return self.mountinfo


class Mountbody(Struct):
    """mountbody: a client and what it mounted; advisory, often stale (RFC 1094 A.5.3, RFC 1813 5.2.2)."""

    ml_hostname: Name
    ml_directory: ServerPath


class Mountlist(Struct):
    """mountlist, the result of DUMP."""

    entries: t.Annotated[list[Mountbody], LinkedList()]


class Groupnode(Struct):
    """groupnode: who may mount; the text is the server's own notation (RFC 1813 section 5.2.5)."""

    gr_name: Name


class Exportnode(Struct):
    """exportnode: an exported directory (RFC 1094 A.5.6, RFC 1813 section 5.2.5)."""

    ex_dir: ServerPath
    ex_groups: t.Annotated[list[Groupnode], LinkedList()]
    """No groups does not have to mean everybody."""


class Exports(Struct):
    """exports, the result of EXPORT."""

    entries: t.Annotated[list[Exportnode], LinkedList()]


A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


def _procedure(version: int, number: int, name: str, args: type[A], res: type[R]) -> Procedure[A, R]:
    return Procedure(PROGRAM, version, number, name, args, res)


NULL1 = _procedure(1, 0, "NULL", Void, Void)
MNT1 = _procedure(1, 1, "MNT", DirpathArgs, Mnt1Res)
DUMP1 = _procedure(1, 2, "DUMP", Void, Mountlist)
UMNT1 = _procedure(1, 3, "UMNT", DirpathArgs, Void)
UMNTALL1 = _procedure(1, 4, "UMNTALL", Void, Void)
EXPORT1 = _procedure(1, 5, "EXPORT", Void, Exports)

EXPORTALL1 = _procedure(1, 6, "EXPORTALL", Void, Exports)
"""In XNFS and old servers, not in RFC 1094: the same as EXPORT."""

MOUNT1 = Program(PROGRAM, 1, "MOUNT", (NULL1, MNT1, DUMP1, UMNT1, UMNTALL1, EXPORT1, EXPORTALL1))
"""Version 1, which gives handles for NFSv2 (RFC 1094 appendix A)."""

NULL2 = _procedure(2, 0, "NULL", Void, Void)
MNT2 = _procedure(2, 1, "MNT", DirpathArgs, Mnt1Res)
DUMP2 = _procedure(2, 2, "DUMP", Void, Mountlist)
UMNT2 = _procedure(2, 3, "UMNT", DirpathArgs, Void)
UMNTALL2 = _procedure(2, 4, "UMNTALL", Void, Void)
EXPORT2 = _procedure(2, 5, "EXPORT", Void, Exports)

EXPORTALL2 = _procedure(2, 6, "EXPORTALL", Void, Exports)

MOUNT2 = Program(PROGRAM, 2, "MOUNT", (NULL2, MNT2, DUMP2, UMNT2, UMNTALL2, EXPORT2, EXPORTALL2))
"""Version 2: the procedures of version 1 under another number."""

NULL3 = _procedure(3, 0, "NULL", Void, Void)
MNT3 = _procedure(3, 1, "MNT", DirpathArgs, Mnt3Res)
DUMP3 = _procedure(3, 2, "DUMP", Void, Mountlist)
UMNT3 = _procedure(3, 3, "UMNT", DirpathArgs, Void)
UMNTALL3 = _procedure(3, 4, "UMNTALL", Void, Void)
EXPORT3 = _procedure(3, 5, "EXPORT", Void, Exports)

MOUNT3 = Program(PROGRAM, 3, "MOUNT", (NULL3, MNT3, DUMP3, UMNT3, UMNTALL3, EXPORT3))
"""Version 3, which gives handles for NFSv3 (RFC 1813 section 5)."""
