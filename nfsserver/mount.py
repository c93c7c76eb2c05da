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
from nfsserver.fs import FileSystem, FsError, Inode
from nfsserver.handlers import Handlers, answers

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AUTH_SYS = 1
"""The flavor number of AUTH_SYS, the only one with which NFS accepts handles here."""

MAX_MOUNTS = 1024
"""Entries in the mount list; the oldest goes first. The list is advice only (RFC 1094 A.1)."""

_STATUS3: t.Final = {
    errno.EPERM: MountStat3.MNT3ERR_PERM,
    errno.ENOENT: MountStat3.MNT3ERR_NOENT,
    errno.EACCES: MountStat3.MNT3ERR_ACCES,
    errno.ENOTDIR: MountStat3.MNT3ERR_NOTDIR,
    errno.EINVAL: MountStat3.MNT3ERR_INVAL,
    errno.ENAMETOOLONG: MountStat3.MNT3ERR_NAMETOOLONG,
}


def components(path: bytes) -> tuple[bytes, ...]:
    """The names in a path; extra slashes are ignored. EACCES: ``.`` or ``..``, which could leave the export."""
    names = tuple(name for name in path.split(b"/") if name)
    if b"." in names or b".." in names:
        raise FsError(errno.EACCES)
    return names


class Mounts:
    """The exports by path, and the list of mounts: pairs of client and directory, each once."""

    def __init__(self, exports: t.Mapping[bytes, FileSystem]) -> None:
        self._exports = {components(path): file_system for path, file_system in exports.items()}
        self._list: dict[tuple[bytes, bytes], None] = {}

    def find(self, server: Server, context: CallContext, path: bytes) -> Inode:
        """The directory of this path: an export, or below one. ENOENT: in no export; ENOTDIR; EACCES."""
        names = components(path)
        for length in range(len(names), -1, -1):
            file_system = self._exports.get(names[:length])
            if file_system is not None:
                break
        else:
            raise FsError(errno.ENOENT)
        inode = file_system.root
        for name in names[length:]:
            inode = file_system.lookup(server.caller(context), inode, name)
        if inode.directory is None:
            raise FsError(errno.ENOTDIR)
        return inode

    @staticmethod
    def _pair(context: CallContext, path: bytes) -> tuple[bytes, bytes]:
        names = tuple(name for name in path.split(b"/") if name)
        return context.peer[0].encode("ascii", "replace"), b"/" + b"/".join(names)

    def record(self, context: CallContext, path: bytes) -> None:
        """Remember that this client mounted this directory."""
        pair = self._pair(context, path)
        self._list.setdefault(pair)
        if len(self._list) > MAX_MOUNTS:
            del self._list[next(iter(self._list))]

    def forget(self, context: CallContext, path: bytes) -> None:
        """Drop one entry of this client, if there is one."""
        self._list.pop(self._pair(context, path), None)

    def forget_all(self, context: CallContext) -> None:
        """Drop every entry of this client."""
        host = context.peer[0].encode("ascii", "replace")
        self._list = {pair: None for pair in self._list if pair[0] != host}

    def entries(self) -> list[tuple[bytes, bytes]]:
        """All (client, directory) pairs, the oldest first."""
        return list(self._list)


def mnt1(server: Server, context: CallContext, args: DirpathArgs) -> Mnt1Res:
    """MNT of versions 1 and 2; refusals are error numbers of UNIX."""
    try:
        inode = server.mounts.find(server, context, args.dirpath)
    except FsError as refusal:
        return Mnt1Res(MountStat1(refusal.errno))
    server.mounts.record(context, args.dirpath)
    return Mnt1Res(MountStat1.OK, server.handle_of(inode))


def mnt3(server: Server, context: CallContext, args: DirpathArgs) -> Mnt3Res:
    """MNT of version 3."""
    try:
        inode = server.mounts.find(server, context, args.dirpath)
    except FsError as refusal:
        return Mnt3Res(_STATUS3.get(refusal.errno, MountStat3.MNT3ERR_SERVERFAULT))
    server.mounts.record(context, args.dirpath)
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(server.handle_of(inode), [AUTH_SYS]))


def dump(server: Server, _context: CallContext, _args: Void) -> Mountlist:
    """DUMP of any version."""
    return Mountlist([Mountbody(host, path) for host, path in server.mounts.entries()])


def umnt(server: Server, context: CallContext, args: DirpathArgs) -> Void:
    """UMNT of any version; handles stay valid."""
    server.mounts.forget(context, args.dirpath)
    return Void()


def umntall(server: Server, context: CallContext, _args: Void) -> Void:
    """UMNTALL of any version."""
    server.mounts.forget_all(context)
    return Void()


def export(server: Server, _context: CallContext, _args: Void) -> Exports:
    """EXPORT of any version; no groups: everybody may mount."""
    return Exports([Exportnode(path, []) for path in server.exports])


def null(_server: Server, _context: CallContext, _args: Void) -> Void:
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

__all__ = ["AUTHENTICATED3", "HANDLERS1", "HANDLERS2", "HANDLERS3", "MOUNT1", "MOUNT2", "MOUNT3", "Mounts"]
