# SPDX-License-Identifier: MIT
"""MOUNT, versions 1 (RFC 1094 appendix A), 2 (the same again) and 3 (RFC 1813 section 5): handles for paths."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol import mount as protocol
from nfsclient.protocol.mount import (
    MOUNT1,
    MOUNT2,
    MOUNT3,
    DirpathArgs,
    Exportnode,
    Exports,
    Mnt1Res,
    Mnt3Res,
    Mountbody,
    Mountlist,
    Mountres3Ok,
    MountStat1,
    MountStat3,
)
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void
from nfsserver.fs import FsError
from nfsserver.handlers import Handlers, ServerApi, answers
from nfsserver.service import Service, register

AUTH_SYS = 1
"""The flavor number of AUTH_SYS, the only one with which NFS accepts handles here."""

_STATUS3: t.Final = {
    errno.EPERM: MountStat3.MNT3ERR_PERM,
    errno.ENOENT: MountStat3.MNT3ERR_NOENT,
    errno.EACCES: MountStat3.MNT3ERR_ACCES,
    errno.ENOTDIR: MountStat3.MNT3ERR_NOTDIR,
    errno.EINVAL: MountStat3.MNT3ERR_INVAL,
    errno.ENAMETOOLONG: MountStat3.MNT3ERR_NAMETOOLONG,
}


def mnt1(server: ServerApi, context: CallContext, args: DirpathArgs) -> Mnt1Res:
    """MNT of versions 1 and 2; refusals are error numbers of UNIX."""
    try:
        inode = server.mounts.find(server.backend.caller(context), args.dirpath)
    except FsError as refusal:
        return Mnt1Res(MountStat1(refusal.errno))
    server.mounts.record(context, args.dirpath)
    return Mnt1Res(MountStat1.OK, server.backend.handle_of(inode))


def mnt3(server: ServerApi, context: CallContext, args: DirpathArgs) -> Mnt3Res:
    """MNT of version 3."""
    try:
        inode = server.mounts.find(server.backend.caller(context), args.dirpath)
    except FsError as refusal:
        return Mnt3Res(_STATUS3.get(refusal.errno, MountStat3.MNT3ERR_SERVERFAULT))
    server.mounts.record(context, args.dirpath)
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(server.backend.handle_of(inode), [AUTH_SYS]))


def dump(server: ServerApi, _context: CallContext, _args: Void) -> Mountlist:
    """DUMP of any version. The list is advice only, so a server may keep none."""
    entries = server.mounts.entries() if server.knobs.now.mount_list else []
    return Mountlist([Mountbody(host, path) for host, path in entries])


def umnt(server: ServerApi, context: CallContext, args: DirpathArgs) -> Void:
    """UMNT of any version; handles stay valid."""
    server.mounts.forget(context, args.dirpath)
    return Void()


def umntall(server: ServerApi, context: CallContext, _args: Void) -> Void:
    """UMNTALL of any version."""
    server.mounts.forget_all(context)
    return Void()


def export(server: ServerApi, _context: CallContext, _args: Void) -> Exports:
    """EXPORT of any version; no groups: everybody may mount."""
    return Exports([Exportnode(path, []) for path in server.backend.exports])


def null(_server: ServerApi, _context: CallContext, _args: Void) -> Void:
    """NULL of any version."""
    return Void()


HANDLERS1: t.Final[Handlers] = dict(
    [
        answers(protocol.NULL1, null),
        answers(protocol.MNT1, mnt1),
        answers(protocol.DUMP1, dump),
        answers(protocol.UMNT1, umnt),
        answers(protocol.UMNTALL1, umntall),
        answers(protocol.EXPORT1, export),
        answers(protocol.EXPORTALL1, export),
    ]
)
HANDLERS2: t.Final[Handlers] = dict(
    [
        answers(protocol.NULL2, null),
        answers(protocol.MNT2, mnt1),
        answers(protocol.DUMP2, dump),
        answers(protocol.UMNT2, umnt),
        answers(protocol.UMNTALL2, umntall),
        answers(protocol.EXPORT2, export),
        answers(protocol.EXPORTALL2, export),
    ]
)
HANDLERS3: t.Final[Handlers] = dict(
    [
        answers(protocol.NULL3, null),
        answers(protocol.MNT3, mnt3),
        answers(protocol.DUMP3, dump),
        answers(protocol.UMNT3, umnt),
        answers(protocol.UMNTALL3, umntall),
        answers(protocol.EXPORT3, export),
    ]
)

AUTHENTICATED3: t.Final[frozenset[AnyOperation]] = frozenset(
    {protocol.MNT3, protocol.UMNT3, protocol.UMNTALL3}
)
"""What version 3 asks AUTH_SYS for (RFC 1813 sections 5.2.1, 5.2.3, 5.2.4); version 1 takes AUTH_NONE."""

register(Service(MOUNT1, HANDLERS1), Service(MOUNT2, HANDLERS2), Service(MOUNT3, HANDLERS3, AUTHENTICATED3))

__all__ = ["AUTHENTICATED3", "HANDLERS1", "HANDLERS2", "HANDLERS3", "MOUNT1", "MOUNT2", "MOUNT3"]
