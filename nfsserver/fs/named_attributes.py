# SPDX-License-Identifier: MIT
"""Named attributes: a directory of files that belongs to an object (RFC 5661 section 5.3).

The files and their directory are objects like others. `Inode.attribute_of` tells them apart: of the directory it is the
object that it belongs to, of a file the directory.
"""

from __future__ import annotations

import errno
import typing as t

from nfsserver.fs import permissions
from nfsserver.fs.attributes import check_writable
from nfsserver.fs.changes import Changes
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Inode, Kind
from nfsserver.fs.permissions import SUPERUSER, Caller

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem


def attribute_directory(fs: FileSystem, caller: Caller, inode: Inode, *, create: bool) -> Inode:
    """The directory of the named attributes of an object, made if need be.

    Who may read the object may read the directory, who may write it may change the directory. EACCES; ENOENT: there is
    none; EINVAL: the object is a named attribute or such a directory; EROFS, ENOSPC.
    """
    if inode.attribute_of is not None:
        raise FsError(errno.EINVAL)
    if not permissions.may(caller, inode, permissions.READ):
        raise FsError(errno.EACCES)
    directory = inode.attributes
    if directory is None:
        if not create:
            raise FsError(errno.ENOENT)
        check_writable(fs)
        if not permissions.may(caller, inode, permissions.WRITE):
            raise FsError(errno.EACCES)
        if not fs.objects.free_files:
            raise FsError(errno.ENOSPC)
        directory = fs.objects.add(Kind.DIRECTORY, SUPERUSER, inode, Changes())
        directory.nlink = 2
        directory.attribute_of = inode
        inode.attributes = directory
    directory.uid, directory.gid, directory.mode = inode.uid, inode.gid, _mode(inode.mode)
    return directory


def _mode(mode: int) -> int:
    """The mode of the directory: who may read may search."""
    reads = mode & 0o444
    return mode & 0o666 | reads >> 2


def check_kind(directory: Inode, kind: Kind) -> None:
    """EACCES for anything but a regular file in a directory of named attributes."""
    if directory.attribute_of is not None and kind is not Kind.REGULAR:
        raise FsError(errno.EACCES)


def check_stays(inode: Inode, source: Inode | None, target: Inode) -> None:
    """EXDEV for a name of `inode` that leaves or enters a directory of named attributes; `source` None: a further name.

    RFC 5661 sections 18.9.3 and 18.26.3.
    """
    here = inode.attribute_of if source is None else source
    if (inode.attribute_of is not None or target.attribute_of is not None) and here is not target:
        raise FsError(errno.EXDEV)


def entered(directory: Inode, inode: Inode, now: int) -> None:
    """An entry was added. The first named attribute changes `named_attr` of the object."""
    if directory.attribute_of is not None:
        inode.attribute_of = directory
        if len(directory.directory or ()) == 1:
            directory.attribute_of.touch(now)


def left(directory: Inode, now: int) -> None:
    """An entry was removed; with the last one `named_attr` of the object changes."""
    if directory.attribute_of is not None and not len(directory.directory or ()):
        directory.attribute_of.touch(now)
