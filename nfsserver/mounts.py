# SPDX-License-Identifier: MIT
"""What MOUNT knows: the exports by path, and which clients mounted them."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.rpc.service import CallContext
from nfsserver.bounds import MOST
from nfsserver.fs import Caller, FileSystem, FsError, Inode


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
        self._size = 0
        """Bytes of the paths in the list."""

    def find(self, caller: Caller, path: bytes) -> Inode:
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
            inode = file_system.lookup(caller, inode, name)
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
        if pair in self._list:
            return
        self._list[pair] = None
        self._size += len(pair[1])
        # The list is advice only (RFC 1094 A.1).
        while len(self._list) > MOST.mounts or self._size > MOST.mount_bytes:
            self._drop(next(iter(self._list)))

    def _drop(self, pair: tuple[bytes, bytes]) -> None:
        del self._list[pair]
        self._size -= len(pair[1])

    def forget(self, context: CallContext, path: bytes) -> None:
        """Drop one entry of this client, if there is one."""
        pair = self._pair(context, path)
        if pair in self._list:
            self._drop(pair)

    def forget_all(self, context: CallContext) -> None:
        """Drop every entry of this client."""
        host = context.peer[0].encode("ascii", "replace")
        for pair in [pair for pair in self._list if pair[0] == host]:
            self._drop(pair)

    def entries(self) -> list[tuple[bytes, bytes]]:
        """All (client, directory) pairs, the oldest first."""
        return list(self._list)
