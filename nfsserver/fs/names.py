# SPDX-License-Identifier: MIT
"""Operations on names: LOOKUP, READDIR, creation, LINK, REMOVE and RENAME. They are methods of `FileSystem`."""

from __future__ import annotations

import errno
import typing as t

from nfsserver.fs import permissions
from nfsserver.fs.attributes import check_writable
from nfsserver.fs.changes import NOTHING, Changes
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Directory, Entry, Inode, Kind
from nfsserver.fs.named_attributes import check_kind, check_stays, entered, left
from nfsserver.fs.objects import FAST_LINK
from nfsserver.fs.permissions import Caller
from nfsserver.fs.rules import (
    PARENT,
    SELF,
    check_characters,
    check_new,
    is_alias,
    is_within,
    refuse_size,
    require_directory,
    require_superuser,
)

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem


def lookup(fs: FileSystem, caller: Caller, directory: Inode, name: bytes) -> Inode:
    """The object of this name; ``..`` of the root is the root. ENOTDIR, EACCES, ENAMETOOLONG, ENOENT."""
    entries = _search(caller, directory)
    check_characters(name, fs.limits)
    if name == SELF:
        return directory
    if name == PARENT:
        return entries.parent or directory
    found = entries.get(_spelling(fs, entries, name))
    if found is None:
        raise FsError(errno.ENOENT)
    return found


def _spelling(fs: FileSystem, entries: Directory, name: bytes) -> bytes:
    """The name of the entry that a caller means."""
    return entries.spelling(name) if fs.limits.case_insensitive else name


def readlink(_fs: FileSystem, inode: Inode) -> bytes:
    """The data of a symbolic link; EINVAL for anything else. Its mode bits mean nothing."""
    if inode.kind is not Kind.SYMLINK:
        raise FsError(errno.EINVAL)
    return inode.target


def readdir(fs: FileSystem, caller: Caller, directory: Inode, cookie: int = 0) -> t.Iterator[Entry]:
    """The entries after `cookie` (0: from the start), ``.`` and ``..`` first. ENOTDIR, EACCES.

    Draw from the iterator before anything changes the directory.
    """
    entries = require_directory(directory)
    if not permissions.may(caller, directory, permissions.READ):
        raise FsError(errno.EACCES)
    directory.accessed(fs.stamp())
    if not fs.limits.list_dots:
        return entries.after(cookie)
    return _listing(directory, entries, cookie)


def _listing(directory: Inode, entries: Directory, cookie: int) -> t.Iterator[Entry]:
    if cookie < Directory.SELF_COOKIE:
        yield Entry(SELF, Directory.SELF_COOKIE, directory)
    if cookie < Directory.PARENT_COOKIE:
        yield Entry(PARENT, Directory.PARENT_COOKIE, entries.parent or directory)
    yield from entries.after(cookie)


def _search(caller: Caller, directory: Inode) -> Directory:
    entries = require_directory(directory)
    if not permissions.may(caller, directory, permissions.EXECUTE):
        raise FsError(errno.EACCES)
    return entries


def _writable_directory(fs: FileSystem, caller: Caller, directory: Inode) -> Directory:
    entries = _search(caller, directory)
    check_writable(fs)
    if not permissions.may(caller, directory, permissions.WRITE):
        raise FsError(errno.EACCES)
    return entries


# ---------------------------------------------------------------- creation


def create(
    fs: FileSystem, caller: Caller, directory: Inode, name: bytes, changes: Changes = NOTHING
) -> Inode:
    """A new regular file. EEXIST when the name is taken, and what `_prepare` raises."""
    _prepare(fs, caller, directory, name, changes)
    if changes.size is not None and not fs.limits.allows("max_file_size", changes.size):
        raise FsError(errno.EFBIG)
    inode = _enter(fs, caller, directory, name, Kind.REGULAR, changes)
    if changes.size and inode.data is not None:
        inode.data.truncate(changes.size)
    return inode


def create_exclusive(fs: FileSystem, caller: Caller, directory: Inode, name: bytes, verifier: bytes) -> Inode:
    """A new regular file, or the one that the same verifier made before. EEXIST: somebody else's."""
    entries = _search(caller, directory)
    existing = entries.get(_spelling(fs, entries, name))
    if existing is not None and existing.kind is Kind.REGULAR and existing.create_verifier == verifier:
        return existing
    inode = create(fs, caller, directory, name)
    inode.create_verifier = verifier
    return inode


def mkdir(fs: FileSystem, caller: Caller, directory: Inode, name: bytes, changes: Changes = NOTHING) -> Inode:
    """A new directory. EEXIST, EMLINK: the parent has all the subdirectories it can have."""
    _prepare(fs, caller, directory, name, changes)
    refuse_size(changes)
    if directory.nlink >= fs.limits.link_max:
        raise FsError(errno.EMLINK)
    inode = _enter(fs, caller, directory, name, Kind.DIRECTORY, changes)
    inode.nlink = 2
    directory.nlink += 1
    return inode


def symlink(
    fs: FileSystem, caller: Caller, directory: Inode, name: bytes, target: bytes, changes: Changes = NOTHING
) -> Inode:
    """A new symbolic link. `target` is opaque. EEXIST; ENAMETOOLONG: longer than `Limits.path_max`; EOPNOTSUPP."""
    if not fs.limits.symlinks:
        raise FsError(errno.EOPNOTSUPP)
    _prepare(fs, caller, directory, name, changes)
    refuse_size(changes)
    if not fs.limits.allows("path_max", len(target)):
        raise FsError(errno.ENAMETOOLONG)
    if len(target) > FAST_LINK and not fs.objects.budget.take():
        raise FsError(errno.ENOSPC)
    inode = _enter(fs, caller, directory, name, Kind.SYMLINK, changes)
    inode.target = bytes(target)
    return inode


def mknod(
    fs: FileSystem,
    caller: Caller,
    directory: Inode,
    name: bytes,
    kind: Kind,
    rdev: tuple[int, int] = (0, 0),
    changes: Changes = NOTHING,
) -> Inode:
    """A new device, socket or FIFO. EEXIST; EPERM: a device of a common user; EINVAL: another kind."""
    if kind not in (Kind.BLOCK, Kind.CHARACTER, Kind.SOCKET, Kind.FIFO):
        raise FsError(errno.EINVAL)
    _prepare(fs, caller, directory, name, changes)
    refuse_size(changes)
    if kind in (Kind.BLOCK, Kind.CHARACTER):
        require_superuser(caller)
    inode = _enter(fs, caller, directory, name, kind, changes)
    if kind in (Kind.BLOCK, Kind.CHARACTER):
        inode.rdev = rdev
    return inode


def _prepare(fs: FileSystem, caller: Caller, directory: Inode, name: bytes, changes: Changes) -> None:
    """Everything that can refuse a new object of any kind.

    ENOTDIR, EACCES, EROFS, ENAMETOOLONG, EEXIST, ENOSPC; EPERM: somebody else's uid or gid.
    """
    entries = _search(caller, directory)
    if entries.get(_spelling(fs, entries, name)) is not None:
        raise FsError(errno.EEXIST)
    check_new(name, fs.limits)
    _writable_directory(fs, caller, directory)
    if not fs.objects.free_files or fs.objects.entries >= fs.limits.max_entries:
        raise FsError(errno.ENOSPC)
    if changes.uid not in (None, caller.uid) or not (changes.gid is None or caller.in_group(changes.gid)):
        require_superuser(caller)


def _enter(
    fs: FileSystem, caller: Caller, directory: Inode, name: bytes, kind: Kind, changes: Changes
) -> Inode:
    check_kind(directory, kind)
    inode = fs.objects.add(kind, caller, directory, changes)
    _add_entry(fs, directory, name, inode, inode.ctime)
    return inode


def _add_entry(fs: FileSystem, directory: Inode, name: bytes, inode: Inode, now: int) -> None:
    require_directory(directory).add(name, inode)
    inode.place = directory, name
    fs.objects.entries += 1
    directory.touch(now, modified=True)
    entered(directory, inode, now)


def _remove_entry(fs: FileSystem, directory: Inode, name: bytes, now: int) -> None:
    entries = require_directory(directory)
    entries.remove(_spelling(fs, entries, name))
    fs.objects.entries -= 1
    directory.touch(now, modified=True)
    left(directory, now)


def link(fs: FileSystem, caller: Caller, inode: Inode, directory: Inode, name: bytes) -> None:
    """One more name for a non-directory. EXDEV, EISDIR, EEXIST, EMLINK, and what any creation raises.

    EOPNOTSUPP; ESTALE: it has no name any more.
    """
    if not fs.limits.hard_links:
        raise FsError(errno.EOPNOTSUPP)
    if not inode.nlink:
        raise FsError(errno.ESTALE)
    if directory.fs is not fs or inode.fs is not fs:
        raise FsError(errno.EXDEV)
    check_stays(inode, None, directory)
    entries = _search(caller, directory)
    if entries.get(_spelling(fs, entries, name)) is not None:
        raise FsError(errno.EEXIST)
    check_new(name, fs.limits)
    if inode.directory is not None:
        raise FsError(errno.EISDIR)
    _writable_directory(fs, caller, directory)
    if inode.nlink >= fs.limits.link_max:
        raise FsError(errno.EMLINK)
    if fs.objects.entries >= fs.limits.max_entries:
        raise FsError(errno.ENOSPC)
    now = fs.stamp()
    _add_entry(fs, directory, name, inode, now)
    inode.nlink += 1
    inode.touch(now)


# ---------------------------------------------------------------- removal


def _removable(fs: FileSystem, caller: Caller, directory: Inode, name: bytes) -> Inode:
    entries = _search(caller, directory)
    check_characters(name, fs.limits)
    found = entries.get(_spelling(fs, entries, name))
    if found is None:
        raise FsError(errno.ENOENT)
    _writable_directory(fs, caller, directory)
    if not permissions.may_remove(caller, directory, found):
        raise FsError(errno.EACCES)
    return found


def remove(fs: FileSystem, caller: Caller, directory: Inode, name: bytes) -> None:
    """Take away one name of a non-directory. ENOENT, EACCES, EISDIR; EINVAL for ``.`` and ``..``."""
    _search(caller, directory)
    if is_alias(name):
        raise FsError(errno.EINVAL)
    inode = _removable(fs, caller, directory, name)
    if inode.directory is not None:
        raise FsError(errno.EISDIR)
    now = fs.stamp()
    _remove_entry(fs, directory, name, now)
    fs.objects.unlink(inode, now)


def rmdir(fs: FileSystem, caller: Caller, directory: Inode, name: bytes) -> None:
    """Take away an empty directory. ENOENT, EACCES, ENOTDIR, ENOTEMPTY; ``.``: EINVAL, ``..``: EEXIST."""
    _search(caller, directory)
    if is_alias(name):
        raise FsError(errno.EINVAL if name == SELF else errno.EEXIST)
    inode = _removable(fs, caller, directory, name)
    if len(require_directory(inode)):
        raise FsError(errno.ENOTEMPTY)
    now = fs.stamp()
    _remove_entry(fs, directory, name, now)
    directory.nlink -= 1
    fs.objects.unlink(inode, now)


def rename(
    fs: FileSystem,
    caller: Caller,
    from_directory: Inode,
    from_name: bytes,
    to_directory: Inode,
    to_name: bytes,
) -> None:
    """Give an object another name, in one step, in place of what had that name.

    Nothing happens when both names are the same object's. EINVAL: ``.``, ``..``, or a directory moved
    below itself; EEXIST: the target is of the other sort, or a directory with entries; EXDEV; EMLINK.
    """
    if from_directory.fs is not fs or to_directory.fs is not fs:
        raise FsError(errno.EXDEV)
    _search(caller, from_directory)
    target_entries = _search(caller, to_directory)
    for name in (from_name, to_name):
        check_characters(name, fs.limits)
        if is_alias(name):
            raise FsError(errno.EINVAL)
    source = _removable(fs, caller, from_directory, from_name)
    check_stays(source, from_directory, to_directory)
    _writable_directory(fs, caller, to_directory)
    to_name = _spelling(fs, target_entries, to_name)
    target = target_entries.get(to_name)
    if target is source:
        return
    _check_move(fs, caller, source, from_directory, to_directory, target)
    _move(fs, source, from_directory, from_name, to_directory, to_name, target)


def _check_move(
    fs: FileSystem,
    caller: Caller,
    source: Inode,
    from_directory: Inode,
    to_directory: Inode,
    target: Inode | None,
) -> None:
    if source.directory is not None and is_within(to_directory, source):
        raise FsError(errno.EINVAL)
    if target is not None:
        if not permissions.may_remove(caller, to_directory, target):
            raise FsError(errno.EACCES)
        if (source.directory is None) != (target.directory is None):
            raise FsError(errno.EEXIST)
        if target.directory is not None and len(target.directory):
            raise FsError(errno.EEXIST)
    gains_subdirectory = (
        source.directory is not None and target is None and from_directory is not to_directory
    )
    if gains_subdirectory and to_directory.nlink >= fs.limits.link_max:
        raise FsError(errno.EMLINK)


def _move(
    fs: FileSystem,
    source: Inode,
    from_directory: Inode,
    from_name: bytes,
    to_directory: Inode,
    to_name: bytes,
    target: Inode | None,
) -> None:
    now = fs.stamp()
    source.generation += fs.limits.stale_on_rename
    _remove_entry(fs, from_directory, from_name, now)
    if target is None:
        _add_entry(fs, to_directory, to_name, source, now)
    else:
        require_directory(to_directory).replace(to_name, source)
        source.place = to_directory, to_name
        to_directory.touch(now, modified=True)
        to_directory.nlink -= target.directory is not None
        fs.objects.unlink(target, now)
    if source.directory is not None:
        source.directory.parent = to_directory
        from_directory.nlink -= 1
        to_directory.nlink += 1
    source.touch(now)
