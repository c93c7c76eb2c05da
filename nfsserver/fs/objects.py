# SPDX-License-Identifier: MIT
"""The objects of a file system: their identities, from creation until the last name is gone, and their room."""

from __future__ import annotations

import errno
import typing as t
from collections.abc import Callable, Iterator

from nfsserver.fs.changes import Changes
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Directory, Inode, Kind
from nfsserver.fs.limits import Statistics
from nfsserver.fs.pages import PAGE, PageBudget, PagedData
from nfsserver.fs.permissions import Caller
from nfsserver.fs.rules import initial_mode

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem

FAST_LINK = 64
"""Symbolic links up to this length live in their inode; longer ones take a page of the budget."""


def size_of(xattrs: dict[bytes, bytes]) -> int:
    """Bytes of extended attributes, names included."""
    return sum(len(name) + len(value) for name, value in xattrs.items())


class Objects:
    """The live objects of a file system by file id, the root first."""

    def __init__(self, fs: FileSystem) -> None:
        self._fs = fs
        self._inodes: dict[int, Inode] = {}
        self._retired: list[tuple[int, int]] = []
        """File ids that are free again, with the generation that each had last."""
        self._withheld = 0
        self.budget = PageBudget(fs.limits.capacity // PAGE)
        self.entries = 0
        """Directory entries in all directories together."""
        self.xattrs = 0
        """Bytes of the extended attributes of all objects."""
        self.is_open: Callable[[Inode], bool] = lambda _inode: False
        """Whether somebody has a file open: then it outlives its last name."""
        self.on_forget: Callable[[Inode], None] = lambda _inode: None
        """Called when an object ceases to exist."""

    def __iter__(self) -> Iterator[Inode]:
        return iter(self._inodes.values())

    def find(self, fileid: int, generation: int) -> Inode:
        """The live object of this identity. ESTALE: it was removed, even if its number was used again."""
        inode = self._inodes.get(fileid)
        if inode is None or inode.generation != generation:
            raise FsError(errno.ESTALE)
        return inode

    def add(self, kind: Kind, caller: Caller, parent: Inode | None, changes: Changes) -> Inode:
        """An object without a name yet. The file id freed last is used first, in a new generation."""
        fileid, generation = self._retired.pop() if self._retired else (len(self._inodes) + 2, 0)
        now = self._fs.stamp()
        inherits = parent is not None and bool(parent.mode & 0o2000)
        inode = Inode(
            fs=self._fs,
            kind=kind,
            fileid=fileid,
            generation=generation + 1,
            mode=initial_mode(kind, changes.mode, inherits),
            uid=caller.uid if changes.uid is None else changes.uid,
            gid=changes.gid if changes.gid is not None else parent.gid if parent and inherits else caller.gid,
            atime=self._fs.time_of(changes.atime, now),
            mtime=self._fs.time_of(changes.mtime, now),
            ctime=now,
            born=now if changes.born is None else changes.born,
        )
        if kind is Kind.REGULAR:
            inode.data = PagedData(self.budget)
        elif kind is Kind.DIRECTORY:
            inode.directory = Directory(parent)
        inode.mark(changes.marks)
        self._inodes[fileid] = inode
        return inode

    def unlink(self, inode: Inode, now: int) -> None:
        """One name of a non-directory, or the only one of an empty directory, is gone."""
        inode.nlink = 0 if inode.directory is not None else inode.nlink - 1
        inode.touch(now)
        if not inode.nlink and (inode.directory is not None or self._goes_with_its_name(inode)):
            self._forget(inode)

    def _goes_with_its_name(self, inode: Inode) -> bool:
        return self._fs.limits.stale_on_remove and not self.is_open(inode)

    def last_close(self, inode: Inode) -> None:
        """Nobody has a file open any more: without a name it goes."""
        if not inode.nlink and self._inodes.get(inode.fileid) is inode and self._goes_with_its_name(inode):
            self._forget(inode)

    def forget_nameless(self) -> None:
        """Remove files without a name, which only handles have kept."""
        while nameless := [
            each for each in self if not each.nlink
        ]:  # what is removed leaves named attributes
            for inode in nameless:
                self._forget(inode)

    def _forget(self, inode: Inode) -> None:
        if inode.attributes is not None:
            self._forget_attributes(inode.attributes)
        if inode.data is not None:
            inode.data.discard()
        if len(inode.target) > FAST_LINK:
            self.budget.give()
        self.xattrs -= size_of(inode.xattrs)
        del self._inodes[inode.fileid]
        self.on_forget(inode)
        self._retired.append((inode.fileid, inode.generation))

    def _forget_attributes(self, directory: Inode) -> None:
        """The object of named attributes is gone: so are they, those that are open with their last CLOSE."""
        now = self._fs.stamp()
        entries = directory.directory
        assert entries is not None
        for name in entries.names():
            inode = entries.get(name)
            assert inode is not None
            entries.remove(name)
            self.entries -= 1
            self.unlink(inode, now)
        self._forget(directory)

    # ------------------------------------------------------------ room

    def leave_free(self, size: int | None, files: int | None) -> None:
        """Leave only `size` bytes and `files` objects free, as if others used the rest; None: free those again."""
        self.budget.leave(None if size is None else size // PAGE)
        unused = self._fs.limits.max_files - len(self._inodes)
        self._withheld = 0 if files is None else max(0, unused - files)

    @property
    def free_files(self) -> int:
        """The number of objects that can still be made."""
        return max(0, self._fs.limits.max_files - self._withheld - len(self._inodes))

    def statistics(self) -> Statistics:
        """How much room there is."""
        return Statistics(
            total_bytes=self.budget.total * PAGE,
            free_bytes=self.budget.free * PAGE,
            total_files=self._fs.limits.max_files,
            free_files=self.free_files,
        )
