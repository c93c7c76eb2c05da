# SPDX-License-Identifier: MIT
"""What happens to files without the protocol: another program on the same machine changes or removes them."""

from __future__ import annotations

import typing as t

from nfsserver.fs.data import Stability
from nfsserver.fs.permissions import SUPERUSER

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem

ADDED: t.Final = b"changed behind the protocol"


def touch_behind(file_system: FileSystem, path: bytes, *, remove: bool = False) -> None:
    """Let the regular file at `path`, from the root on, grow by `ADDED`, or remove it.

    That an export is read-only binds its clients, not other programs. Raises `FsError` as LOOKUP, WRITE and REMOVE do.
    """
    *above, name = [part for part in path.split(b"/") if part]
    directory = file_system.root
    for part in above:
        directory = file_system.lookup(SUPERUSER, directory, part)
    read_only, file_system.read_only = file_system.read_only, False
    try:
        if remove:
            file_system.remove(SUPERUSER, directory, name)
            return
        inode = file_system.lookup(SUPERUSER, directory, name)
        file_system.write(SUPERUSER, inode, inode.size, ADDED, Stability.FILE_SYNC)
    finally:
        file_system.read_only = read_only
