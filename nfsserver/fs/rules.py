# SPDX-License-Identifier: MIT
"""Small rules of the file system that need nothing of its state."""

from __future__ import annotations

import errno

from nfsserver.fs.changes import Changes
from nfsserver.fs.data import PagedData
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Directory, Inode, Kind
from nfsserver.fs.permissions import Caller


def initial_mode(kind: Kind, mode: int | None, inherits_group: bool) -> int:
    """The mode of a new object; a directory inherits set-group-id."""
    if mode is None:
        mode = {Kind.DIRECTORY: 0o755, Kind.SYMLINK: 0o777}.get(kind, 0o644)
    return mode & 0o7777 | (0o2000 if inherits_group and kind is Kind.DIRECTORY else 0)


def allowed_mode(caller: Caller, inode: Inode, mode: int) -> int:
    """Set-group-id is not for an owner who is outside the group."""
    if not caller.is_superuser and not caller.in_group(inode.gid):
        return mode & ~0o2000
    return mode


def is_within(directory: Inode, ancestor: Inode) -> bool:
    """Whether `directory` is `ancestor` or below it."""
    current: Inode | None = directory
    while current is not None:
        if current is ancestor:
            return True
        current = current.directory.parent if current.directory is not None else None
    return False


def require_directory(inode: Inode) -> Directory:
    """The entries of a directory. ENOTDIR: it is not one."""
    if inode.directory is None:
        raise FsError(errno.ENOTDIR)
    return inode.directory


def require_regular(inode: Inode) -> PagedData:
    """The data of a regular file. EISDIR, EINVAL: it is not one."""
    if inode.data is None:
        raise FsError(errno.EISDIR if inode.directory is not None else errno.EINVAL)
    return inode.data


def require_superuser(caller: Caller) -> None:
    """EPERM for a common user."""
    if not caller.is_superuser:
        raise FsError(errno.EPERM)


def refuse_size(changes: Changes) -> None:
    """Only regular files are made with a size."""
    if changes.size is not None:
        raise FsError(errno.EINVAL)
