# SPDX-License-Identifier: MIT
"""The file system in memory, which all versions of NFS share.

Operations take the caller and live `Inode`s and raise `FsError`; a refused operation has changed nothing.
Names and attributes are stable at once; only file data, sizes and times changed by unstable writes, and atime,
wait for `commit` and are lost in a `crash`.
"""

from __future__ import annotations

from collections.abc import Callable

from nfsserver.fs import attributes, data, names
from nfsserver.fs.changes import Changes, ServerTime, Time
from nfsserver.fs.clock import Clock, Stamper, SystemClock
from nfsserver.fs.inode import Inode, Kind
from nfsserver.fs.limits import Limits, Statistics
from nfsserver.fs.named_attributes import attribute_directory
from nfsserver.fs.objects import Objects
from nfsserver.fs.pages import nothing_survives
from nfsserver.fs.permissions import SUPERUSER


class FileSystem:
    """One file system with a root directory that everybody may use (mode 0777).

    The operations are functions of `names`, `data` and `attributes`, whose first argument is the file system.
    """

    lookup = names.lookup
    readlink = names.readlink
    readdir = names.readdir
    create = names.create
    create_exclusive = names.create_exclusive
    mkdir = names.mkdir
    symlink = names.symlink
    mknod = names.mknod
    link = names.link
    remove = names.remove
    rmdir = names.rmdir
    rename = names.rename
    attribute_directory = attribute_directory

    read = data.read
    write = data.write
    commit = data.commit

    access = attributes.access
    setattr = attributes.set_attributes

    def __init__(self, *, clock: Clock | None = None, limits: Limits | None = None, fsid: int = 1) -> None:
        self.limits = limits or Limits()
        self.fsid = fsid
        self.read_only = False
        self._stamper = Stamper(clock or SystemClock())
        self._stamper.granularity = self.limits.time_granularity
        self.objects = Objects(self)
        self.root = self.objects.add(Kind.DIRECTORY, SUPERUSER, None, Changes(mode=0o777))
        self.root.nlink = 2

    # ------------------------------------------------------------ objects

    def inode(self, fileid: int, generation: int) -> Inode:
        """The live object of this identity. ESTALE: it was removed, even if its number was used again."""
        return self.objects.find(fileid, generation)

    def inodes(self) -> list[Inode]:
        """Every live object, the root first."""
        return list(self.objects)

    # ------------------------------------------------------------ room and limits

    def configure(self, limits: Limits) -> None:
        """Change the limits; existing objects that exceed them stay."""
        self.limits = limits
        self._stamper.granularity = limits.time_granularity
        if limits.stale_on_remove:
            self.objects.forget_nameless()

    def leave_free(self, size: int | None, files: int | None) -> None:
        """Leave only `size` bytes and `files` objects free, as if others used the rest; None: free those again."""
        if size is not None:
            self.commit_all()  # later there is no room to keep both versions of a page
        self.objects.leave_free(size, files)

    def statistics(self) -> Statistics:
        """How much room there is."""
        return self.objects.statistics()

    def used_by(self, uid: int) -> int:
        """Bytes of storage of all regular files of an owner, which a quota counts."""
        return sum(each.used for each in self.objects if each.data is not None and each.uid == uid)

    # ------------------------------------------------------------ times

    def stamp(self) -> int:
        """The time of a change: nanoseconds, later than every stamp before unless times are coarse."""
        return self._stamper.stamp()

    def now(self) -> int:
        """The time of the clock, in nanoseconds."""
        return self._stamper.now()

    def time_of(self, time: Time | None, now: int) -> int:
        """The time that a caller asks for, as it can be kept; `now` if he asks for none or for the server's."""
        return now if time is None or isinstance(time, ServerTime) else self._stamper.coarse(time)

    # ------------------------------------------------------------ stable storage

    def commit_all(self) -> None:
        """Make everything stable."""
        for inode in self.objects:
            inode.commit()

    def lose_uncommitted(self) -> bool:
        """Lose all data that is not stable, as if it could not be written; whether there was any."""
        dirty = [inode for inode in self.objects if inode.data is not None and inode.data.is_dirty]
        for inode in dirty:
            if inode.data is not None:
                inode.data.crash()
            inode.touch(self.stamp(), modified=True)
        return bool(dirty)

    def crash(self, survives: Callable[[], bool] = nothing_survives) -> None:
        """Lose everything that is not stable, including files that only handles have kept, and nothing else.

        `survives` is called for each uncommitted page of data: whether it is kept all the same.
        """
        self.objects.forget_nameless()
        for inode in self.objects:
            inode.crash(survives)
