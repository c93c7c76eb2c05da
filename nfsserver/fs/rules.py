# SPDX-License-Identifier: MIT
"""Small rules of the file system that need nothing of its state."""

from __future__ import annotations

import errno

from nfsserver.fs.changes import Changes
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Directory, Inode, Kind
from nfsserver.fs.limits import Limits
from nfsserver.fs.pages import PagedData
from nfsserver.fs.permissions import Caller

SELF = b"."
PARENT = b".."
_NOT_IN_NAMES = frozenset('\\:*?"<>|')
"""Other characters that file systems restrict."""


def check_characters(name: bytes, limits: Limits) -> None:
    """Refuse names that no object can have here, except for aliases.

    The empty name and illegal characters give EACCES (RFC 1813 section 3.2 items 1 and 5), names longer than
    the limit ENAMETOOLONG (item 4, no_trunc being TRUE).
    """
    if not name or b"/" in name or b"\0" in name:
        raise FsError(errno.EACCES, f"{name!r} is no name")
    if limits.restricted_names and not is_plain_text(name):
        raise FsError(errno.EACCES, f"{name!r} has characters that names cannot have here")
    if not limits.allows("name_max", len(name)):
        raise FsError(errno.ENAMETOOLONG)


def is_plain_text(name: bytes) -> bool:
    """Whether a name has nothing that restricted names cannot have."""
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and _NOT_IN_NAMES.isdisjoint(text)


def is_alias(name: bytes) -> bool:
    """Whether `name` stands for a directory that has another name (RFC 1813 section 3.2 items 2 and 3)."""
    return name in (SELF, PARENT)


def check_new(name: bytes, limits: Limits) -> None:
    """Refuse what cannot name a new object; the aliases always exist already."""
    check_characters(name, limits)
    if is_alias(name):
        raise FsError(errno.EEXIST)


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
