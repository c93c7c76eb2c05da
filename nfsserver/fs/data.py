# SPDX-License-Identifier: MIT
"""Operations on the data of regular files: READ, WRITE and COMMIT. They are methods of `FileSystem`."""

from __future__ import annotations

import errno
import typing as t

from nfsserver.fs import permissions
from nfsserver.fs.attributes import check_writable, drop_privileges
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Inode
from nfsserver.fs.pages import PAGE, PagedData, Stability
from nfsserver.fs.permissions import Caller
from nfsserver.fs.rules import require_regular

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem


def read(fs: FileSystem, caller: Caller, inode: Inode, offset: int, count: int) -> bytes:
    """At most `count` bytes; none at or beyond the end. EISDIR, EINVAL: no regular file; EACCES."""
    data = require_regular(inode)
    if not permissions.may_read_data(caller, inode):
        raise FsError(errno.EACCES)
    taken = data.read(offset, count)
    if taken:
        inode.accessed(fs.stamp())
    return taken


def write(
    fs: FileSystem, caller: Caller, inode: Inode, offset: int, data: bytes | memoryview, stability: Stability
) -> int:
    """Write, and say how many bytes found room (at least one, or ENOSPC; EDQUOT: the owner has used up his).

    EISDIR, EINVAL: no regular file; EACCES; EFBIG: the end lies above the maximum file size. Writing
    nothing changes nothing, times included, unless the limits say so.
    """
    content = require_regular(inode)
    check_writable(fs, inode)
    if not permissions.may_write_data(caller, inode):
        raise FsError(errno.EACCES)
    if not len(data):
        if fs.limits.empty_write_moves_times:
            inode.touch(fs.stamp(), modified=True)
        return 0
    if not fs.limits.allows("max_file_size", offset + len(data)):
        raise FsError(errno.EFBIG)
    data = data[: _within_quota(fs, inode, content, offset, len(data))]
    _make_room(fs, len(data))
    written = content.write(offset, data, stable=stability is not Stability.UNSTABLE)
    before = inode.stable_times or (inode.mtime, inode.ctime)
    drop_privileges(caller, inode)
    inode.touch(fs.stamp(), modified=True)
    if stability is not Stability.FILE_SYNC:
        inode.stable_times = before
    return written


def _within_quota(fs: FileSystem, inode: Inode, content: PagedData, offset: int, count: int) -> int:
    if fs.limits.quota is None:
        return count
    allowed = content.room_for(offset, count, (fs.limits.quota - fs.used_by(inode.uid)) // PAGE)
    if not allowed:
        raise FsError(errno.EDQUOT)
    return allowed


def _make_room(fs: FileSystem, count: int) -> None:
    """Commit everything if pre-images might take the room of new data. A server may always commit."""
    if fs.objects.budget.free < 2 * (count // PAGE + 2):
        fs.commit_all()


def commit(_fs: FileSystem, inode: Inode, offset: int = 0, count: int = 0) -> None:
    """Make a range (to the end when `count` is 0) and metadata stable. EISDIR, EINVAL: no file."""
    require_regular(inode)
    inode.commit(offset, count)
