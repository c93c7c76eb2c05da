# SPDX-License-Identifier: MIT
"""Operations on attributes: ACCESS and SETATTR; who may change a file. They are methods of `FileSystem`."""

from __future__ import annotations

import errno
import typing as t

from nfsserver.fs import permissions
from nfsserver.fs.changes import Changes
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Inode
from nfsserver.fs.permissions import Access, Caller
from nfsserver.fs.rules import allowed_mode, require_regular, require_superuser

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem


def check_writable(fs: FileSystem, inode: Inode | None = None) -> None:
    """EROFS; EACCES: `inode` is a file that nobody may change."""
    if fs.read_only:
        raise FsError(errno.EROFS)
    if inode is not None and _is_read_only(fs, inode):
        raise FsError(errno.EACCES, "the file is read-only")


def _is_read_only(fs: FileSystem, inode: Inode) -> bool:
    return inode.place is not None and fs.limits.matches("read_only_names", inode.place[1])


def access(fs: FileSystem, caller: Caller, inode: Inode) -> Access:
    """What the caller may do with the object."""
    rights = permissions.access_rights(caller, inode)
    if fs.read_only or (inode.directory is None and _is_read_only(fs, inode)):
        rights &= ~(Access.MODIFY | Access.EXTEND | Access.DELETE)
    return rights


def set_attributes(fs: FileSystem, caller: Caller, inode: Inode, changes: Changes) -> None:
    """Set attributes, all or none.

    EPERM: not the owner, or owner or group changed by anybody but the superuser; EACCES: no permission
    to write; EISDIR, EINVAL: a size for what is no regular file; EFBIG: too large a size.
    """
    if changes.is_empty:
        return
    check_writable(fs, inode if inode.directory is None else None)
    _check_setattr(fs, caller, inode, changes)
    now = fs.stamp()
    resized = changes.size is not None and changes.size != inode.size
    if inode.data is not None and changes.size is not None:
        inode.data.truncate(changes.size)
        drop_privileges(caller, inode)
    if changes.mode is not None:
        inode.mode = allowed_mode(caller, inode, changes.mode & 0o7777)
        inode.acl = None
    inode.uid = inode.uid if changes.uid is None else changes.uid
    inode.gid = inode.gid if changes.gid is None else changes.gid
    inode.born = inode.born if changes.born is None else changes.born
    inode.touch(now, modified=resized)
    inode.stable_atime = None
    inode.atime = inode.atime if changes.atime is None else fs.time_of(changes.atime, now)
    inode.mtime = inode.mtime if changes.mtime is None else fs.time_of(changes.mtime, now)
    inode.mark(changes.marks)


def _check_setattr(fs: FileSystem, caller: Caller, inode: Inode, changes: Changes) -> None:
    is_owner = caller.is_superuser or caller.uid == inode.uid
    if changes.are_the_owners and not is_owner:
        raise FsError(errno.EPERM)
    if changes.touch and not is_owner and not permissions.may(caller, inode, permissions.WRITE):
        raise FsError(errno.EACCES)
    if changes.uid not in (None, inode.uid) or changes.gid not in (None, inode.gid):
        require_superuser(caller)
    if changes.size is not None:
        require_regular(inode)
        if not permissions.may_write_data(caller, inode):
            raise FsError(errno.EACCES)
        if not fs.limits.allows("max_file_size", changes.size):
            raise FsError(errno.EFBIG)


def drop_privileges(caller: Caller, inode: Inode) -> None:
    """Clear set-id bits when somebody else may have written the file."""
    if not caller.is_superuser:
        inode.mode &= ~0o4000 & ~(0o2000 if inode.mode & 0o010 else 0)
