# SPDX-License-Identifier: MIT
"""The pseudo file system: the directories above the exports, which NFSv4 begins at (RFC 5661 section 7.3)."""

from __future__ import annotations

from collections.abc import Mapping

from nfsserver.fs import SUPERUSER, Clock, FileSystem, Inode
from nfsserver.fs.rules import require_directory

FSID = 0
"""Its fsid; those of exports begin at 1."""


class PseudoFileSystem:
    """Directories that nobody can change, and which of them an export covers.

    What is made of the path of an export is a directory of the pseudo file system; looking it up gives the root of the
    export instead. An export ``/`` covers the root.
    """

    def __init__(self, exports: Mapping[bytes, FileSystem], clock: Clock) -> None:
        self.fs = FileSystem(clock=clock, fsid=FSID)
        self.fs.root.mode = 0o755
        self._exports: dict[int, FileSystem] = {}
        """fileid of a covered directory -> what covers it."""
        self._covered: dict[int, Inode] = {}
        """fsid -> the directory that it covers."""
        for path, export in exports.items():
            directory = self._make([part for part in path.split(b"/") if part])
            self._exports[directory.fileid] = export
            self._covered[export.fsid] = directory
        self.fs.read_only = True

    def _make(self, path: list[bytes]) -> Inode:
        directory = self.fs.root
        for name in path:
            found = require_directory(directory).get(name)
            directory = found or self.fs.mkdir(SUPERUSER, directory, name)
        return directory

    @property
    def root(self) -> Inode:
        """What PUTROOTFH gives."""
        return self.cross(self.fs.root)

    def cross(self, inode: Inode) -> Inode:
        """The root of the export that covers a directory; else the object itself."""
        if inode.fs is not self.fs or inode.fileid not in self._exports:
            return inode
        return self._exports[inode.fileid].root

    def path_of(self, fs: FileSystem) -> list[bytes]:
        """The names on the way from the root to a file system."""
        path, directory = [], self._covered.get(fs.fsid)
        while directory is not None and directory.place is not None:
            directory, name = directory.place
            path.append(name)
        return path[::-1]

    def covered(self, inode: Inode) -> Inode | None:
        """The directory that the root of an export covers; None for other objects."""
        return self._covered.get(inode.fs.fsid) if inode is inode.fs.root else None
