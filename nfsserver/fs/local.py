# SPDX-License-Identifier: MIT
"""Changes to files without the protocol, as another program on the same machine would make them."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from contextlib import contextmanager

from nfsserver.fs.inode import Inode
from nfsserver.fs.pages import Stability
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.fs.rules import require_directory

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem

ADDED: t.Final = b"changed without the protocol"


def touch_locally(file_system: FileSystem, path: bytes, *, remove: bool = False) -> None:
    """Let the regular file at `path`, from the root on, grow by `ADDED`, or remove it.

    That an export is read-only binds its clients, not other programs. Raises `FsError` as LOOKUP, WRITE and REMOVE do.
    """
    directory, name = _find(file_system, path)
    with _writable(file_system):
        if remove:
            file_system.remove(SUPERUSER, directory, name)
            return
        inode = file_system.lookup(SUPERUSER, directory, name)
        file_system.write(SUPERUSER, inode, inode.size, ADDED, Stability.FILE_SYNC)


def find_locally(file_system: FileSystem, path: bytes) -> Inode:
    """What is at `path`, from the root on. Raises `FsError` as LOOKUP does."""
    return file_system.lookup(SUPERUSER, *_find(file_system, path))


def _find(file_system: FileSystem, path: bytes) -> tuple[Inode, bytes]:
    *above, name = [part for part in path.split(b"/") if part]
    directory = file_system.root
    for part in above:
        directory = file_system.lookup(SUPERUSER, directory, part)
    return directory, name


def remove_tree_locally(file_system: FileSystem, name: bytes) -> None:
    """Remove a directory of the root with all that is in it; nothing if there is none. Raises `FsError`."""
    inode = require_directory(file_system.root).get(name)
    if inode is None or inode.directory is None:
        return
    with _writable(file_system):
        _empty(file_system, inode)
        file_system.rmdir(SUPERUSER, file_system.root, name)


def _empty(file_system: FileSystem, directory: Inode) -> None:
    entries = require_directory(directory)
    for name in entries.names():
        inode = entries.get(name)
        if inode is not None and inode.directory is not None:
            _empty(file_system, inode)
            file_system.rmdir(SUPERUSER, directory, name)
        else:
            file_system.remove(SUPERUSER, directory, name)


@contextmanager
def _writable(file_system: FileSystem) -> Iterator[None]:
    read_only, file_system.read_only = file_system.read_only, False
    try:
        yield
    finally:
        file_system.read_only = read_only
