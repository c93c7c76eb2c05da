# SPDX-License-Identifier: MIT
"""The pseudo file system: the directories above the exports, which NFSv4 begins at (RFC 5661 section 7.3)."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Mapping

from nfsserver.fs import SUPERUSER, Clock, FileSystem, FsError, Inode
from nfsserver.fs.rules import require_directory

FSID = 0
"""Its fsid; those of exports begin at 1."""
_REFERRALS: t.Final = b"referrals"
"""The directory of the referral, which is there by the knob `referral`."""
_ABSENT: t.Final = b"absent"
_PRESENT: t.Final = b"present"
"""A directory next to the referral."""


class PseudoFileSystem:
    """Directories that nobody can change, and which of them an export covers.

    What is made of the path of an export is a directory of the pseudo file system; looking it up gives the root of the
    export instead. An export ``/`` covers the root. Looking a referral up gives the root of a file system that has
    nothing else, and of which no filehandle is given (RFC 5661 section 11.2).
    """

    def __init__(self, exports: Mapping[bytes, FileSystem], clock: Clock) -> None:
        self.fs = FileSystem(clock=clock, fsid=FSID)
        self.fs.root.mode = 0o755
        self._exports: dict[int, FileSystem] = {}
        """fileid of a covered directory -> what covers it."""
        self._covered: dict[int, Inode] = {}
        """fsid -> the directory that it covers."""
        self._absent = FileSystem(clock=clock, fsid=len(exports) + 1)
        for path, export in exports.items():
            self._cover([part for part in path.split(b"/") if part], export)
        self.fs.read_only = True

    def _cover(self, path: list[bytes], root_of: FileSystem) -> None:
        directory = self._make(path)
        self._exports[directory.fileid] = root_of
        self._covered[root_of.fsid] = directory

    def _make(self, path: list[bytes]) -> Inode:
        directory = self.fs.root
        for name in path:
            found = require_directory(directory).get(name)
            directory = found or self.fs.mkdir(SUPERUSER, directory, name)
        return directory

    def refer(self, *, is_wanted: bool) -> None:
        """Have the referral, or not."""
        if is_wanted == (self._absent.fsid in self._covered):
            return
        self.fs.read_only = False
        if is_wanted:
            self._make([_REFERRALS, _PRESENT])
            self._cover([_REFERRALS, _ABSENT], self._absent)
        else:
            directory = self._covered.pop(self._absent.fsid)
            del self._exports[directory.fileid]
            above = require_directory(self.fs.root).get(_REFERRALS)
            assert above is not None
            with contextlib.suppress(FsError):  # an export is there as well
                self.fs.rmdir(SUPERUSER, above, _ABSENT)
                self.fs.rmdir(SUPERUSER, above, _PRESENT)
                self.fs.rmdir(SUPERUSER, self.fs.root, _REFERRALS)
        self.fs.read_only = True

    def is_absent(self, inode: Inode) -> bool:
        """Whether an object is in the file system that is absent."""
        return inode.fs is self._absent

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
        """The directory that the root of an export, or of the absent file system, covers; None for other objects."""
        return self._covered.get(inode.fs.fsid) if inode is inode.fs.root else None
