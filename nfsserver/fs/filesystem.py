# SPDX-License-Identifier: MIT
"""The file system in memory, which all versions of NFS share.

Operations take the caller and live `Inode`s and raise `FsError`; a refused operation has changed nothing.
Names and attributes are stable at once; only file data, sizes and times changed by unstable writes
wait for `commit` and are lost in a `crash`.
"""

from __future__ import annotations

import errno
import typing as t

from nfsserver.fs import permissions
from nfsserver.fs.changes import NOTHING, Changes, ServerTime, Time
from nfsserver.fs.clock import Clock, Stamper, SystemClock
from nfsserver.fs.data import PAGE, PageBudget, PagedData, Stability
from nfsserver.fs.errors import FsError
from nfsserver.fs.inode import Directory, Entry, Inode, Kind
from nfsserver.fs.limits import Limits, Statistics
from nfsserver.fs.names import PARENT, SELF, check_characters, check_new, is_alias
from nfsserver.fs.permissions import SUPERUSER, Access, Caller
from nfsserver.fs.rules import (
    allowed_mode,
    initial_mode,
    is_within,
    refuse_size,
    require_directory,
    require_regular,
    require_superuser,
)

FAST_LINK = 64
"""Symbolic links up to this length live in their inode; longer ones take a page of the budget."""


class FileSystem:
    """One file system with a root directory that everybody may use (mode 0777)."""

    def __init__(self, *, clock: Clock | None = None, limits: Limits | None = None, fsid: int = 1) -> None:
        self.limits = limits or Limits()
        self.fsid = fsid
        self.read_only = False
        self._stamper = Stamper(clock or SystemClock())
        self._stamper.granularity = self.limits.time_granularity
        self._budget = PageBudget(self.limits.capacity // PAGE)
        self._inodes: dict[int, Inode] = {}
        self._retired: list[tuple[int, int]] = []
        """File ids that are free again, with the generation that each had last."""
        self._entries = 0
        self._files_withheld = 0
        self.root = self._new_inode(Kind.DIRECTORY, SUPERUSER, None, Changes(mode=0o777))
        self.root.nlink = 2

    # ------------------------------------------------------------ what bounds it

    def configure(self, limits: Limits) -> None:
        """Change the limits; existing objects that exceed them stay."""
        self.limits = limits
        self._stamper.granularity = limits.time_granularity
        if limits.stale_on_remove:
            self._forget_nameless()

    def leave_free(self, size: int | None, files: int | None) -> None:
        """Leave only `size` bytes and `files` objects free, as if others used the rest; None: free those again."""
        if size is not None:
            self.commit_all()  # later there is no room to keep both versions of a page
        self._budget.leave(None if size is None else size // PAGE)
        unused = self.limits.max_files - len(self._inodes)
        self._files_withheld = 0 if files is None else max(0, unused - files)

    # ------------------------------------------------------------ objects

    def inode(self, fileid: int, generation: int) -> Inode:
        """The live object of this identity. ESTALE: it was removed, even if its number was used again."""
        inode = self._inodes.get(fileid)
        if inode is None or inode.generation != generation:
            raise FsError(errno.ESTALE)
        return inode

    def inodes(self) -> list[Inode]:
        """Every live object, the root first."""
        return list(self._inodes.values())

    def statistics(self) -> Statistics:
        """How much room there is."""
        return Statistics(
            total_bytes=self._budget.total * PAGE,
            free_bytes=self._budget.free * PAGE,
            total_files=self.limits.max_files,
            free_files=self._free_files,
        )

    @property
    def _free_files(self) -> int:
        return max(0, self.limits.max_files - self._files_withheld - len(self._inodes))

    def stamp(self) -> int:
        """The time of a change: nanoseconds, later than every stamp before unless times are coarse."""
        return self._stamper.stamp()

    def _new_inode(self, kind: Kind, caller: Caller, parent: Inode | None, changes: Changes) -> Inode:
        """An object without a name yet. The file id freed last is used first, in a new generation."""
        fileid, generation = self._retired.pop() if self._retired else (len(self._inodes) + 2, 0)
        now = self.stamp()
        inherits = parent is not None and bool(parent.mode & 0o2000)
        inode = Inode(
            fs=self,
            kind=kind,
            fileid=fileid,
            generation=generation + 1,
            mode=initial_mode(kind, changes.mode, inherits),
            uid=caller.uid if changes.uid is None else changes.uid,
            gid=changes.gid if changes.gid is not None else parent.gid if parent and inherits else caller.gid,
            atime=self._resolve(changes.atime, now),
            mtime=self._resolve(changes.mtime, now),
            ctime=now,
        )
        if kind is Kind.REGULAR:
            inode.data = PagedData(self._budget)
        elif kind is Kind.DIRECTORY:
            inode.directory = Directory(parent)
        self._inodes[fileid] = inode
        return inode

    def _unlink_inode(self, inode: Inode, now: int) -> None:
        """One name of a non-directory, or the only one of an empty directory, is gone."""
        inode.nlink = 0 if inode.directory is not None else inode.nlink - 1
        self._touch(inode, now)
        if not inode.nlink and (self.limits.stale_on_remove or inode.directory is not None):
            self._forget(inode)

    def _forget_nameless(self) -> None:
        """Remove files without a name, which only handles have kept."""
        for inode in [each for each in self._inodes.values() if not each.nlink]:
            self._forget(inode)

    def _forget(self, inode: Inode) -> None:
        if inode.data is not None:
            inode.data.discard()
        if len(inode.target) > FAST_LINK:
            self._budget.give()
        del self._inodes[inode.fileid]
        self._retired.append((inode.fileid, inode.generation))

    @staticmethod
    def _touch(inode: Inode, now: int, *, modified: bool = False) -> None:
        """Move ctime, and mtime where the content changed; synchronously, so a crash keeps all times."""
        inode.ctime = now
        if modified:
            inode.mtime = now
        inode.stable_times = None

    def _resolve(self, time: Time | None, now: int) -> int:
        return now if time is None or isinstance(time, ServerTime) else self._stamper.coarse(time)

    def _check_writable(self, inode: Inode | None = None) -> None:
        """EROFS; EACCES: `inode` is a file that nobody may change."""
        if self.read_only:
            raise FsError(errno.EROFS)
        if inode is not None and self._is_read_only(inode):
            raise FsError(errno.EACCES, "the file is read-only")

    def _is_read_only(self, inode: Inode) -> bool:
        return inode.place is not None and self.limits.matches("read_only_names", inode.place[1])

    # ------------------------------------------------------------ attributes

    def access(self, caller: Caller, inode: Inode) -> Access:
        """What the caller may do with the object."""
        rights = permissions.access_rights(caller, inode)
        if self.read_only or (inode.directory is None and self._is_read_only(inode)):
            rights &= ~(Access.MODIFY | Access.EXTEND | Access.DELETE)
        return rights

    def setattr(self, caller: Caller, inode: Inode, changes: Changes) -> None:
        """Set attributes, all or none.

        EPERM: not the owner, or owner or group changed by anybody but the superuser; EACCES: no permission
        to write; EISDIR, EINVAL: a size for what is no regular file; EFBIG: too large a size.
        """
        if changes.is_empty:
            return
        self._check_writable(inode if inode.directory is None else None)
        self._check_setattr(caller, inode, changes)
        now = self.stamp()
        resized = changes.size is not None and changes.size != inode.size
        if inode.data is not None and changes.size is not None:
            inode.data.truncate(changes.size)
            self._drop_privileges(caller, inode)
        if changes.mode is not None:
            inode.mode = allowed_mode(caller, inode, changes.mode & 0o7777)
        inode.uid = inode.uid if changes.uid is None else changes.uid
        inode.gid = inode.gid if changes.gid is None else changes.gid
        self._touch(inode, now, modified=resized)
        inode.atime = inode.atime if changes.atime is None else self._resolve(changes.atime, now)
        inode.mtime = inode.mtime if changes.mtime is None else self._resolve(changes.mtime, now)

    def _check_setattr(self, caller: Caller, inode: Inode, changes: Changes) -> None:
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
            if not self.limits.allows("max_file_size", changes.size):
                raise FsError(errno.EFBIG)

    @staticmethod
    def _drop_privileges(caller: Caller, inode: Inode) -> None:
        """Clear set-id bits when somebody else may have written the file."""
        if not caller.is_superuser:
            inode.mode &= ~0o4000 & ~(0o2000 if inode.mode & 0o010 else 0)

    # ------------------------------------------------------------ data

    def read(self, caller: Caller, inode: Inode, offset: int, count: int) -> bytes:
        """At most `count` bytes; none at or beyond the end. EISDIR, EINVAL: no regular file; EACCES."""
        data = require_regular(inode)
        if not permissions.may_read_data(caller, inode):
            raise FsError(errno.EACCES)
        taken = data.read(offset, count)
        if taken:
            inode.atime = self.stamp()
        return taken

    def write(
        self, caller: Caller, inode: Inode, offset: int, data: bytes | memoryview, stability: Stability
    ) -> int:
        """Write, and say how many bytes found room (at least one, or ENOSPC; EDQUOT: the owner has used up his).

        EISDIR, EINVAL: no regular file; EACCES; EFBIG: the end lies above the maximum file size. Writing
        nothing changes nothing, times included.
        """
        content = require_regular(inode)
        self._check_writable(inode)
        if not permissions.may_write_data(caller, inode):
            raise FsError(errno.EACCES)
        if not len(data):
            return 0
        if not self.limits.allows("max_file_size", offset + len(data)):
            raise FsError(errno.EFBIG)
        data = data[: self._within_quota(inode, content, offset, len(data))]
        self._make_room(len(data))
        written = content.write(offset, data, stable=stability is not Stability.UNSTABLE)
        before = inode.stable_times or (inode.mtime, inode.ctime)
        self._drop_privileges(caller, inode)
        self._touch(inode, self.stamp(), modified=True)
        if stability is not Stability.FILE_SYNC:
            inode.stable_times = before
        return written

    def _within_quota(self, inode: Inode, content: PagedData, offset: int, count: int) -> int:
        if self.limits.quota is None:
            return count
        used = sum(
            each.used for each in self._inodes.values() if each.data is not None and each.uid == inode.uid
        )
        allowed = content.room_for(offset, count, (self.limits.quota - used) // PAGE)
        if not allowed:
            raise FsError(errno.EDQUOT)
        return allowed

    def _make_room(self, count: int) -> None:
        """Commit everything if pre-images might take the room of new data. A server may always commit."""
        if self._budget.free < 2 * (count // PAGE + 2):
            self.commit_all()

    def commit(self, inode: Inode, offset: int = 0, count: int = 0) -> None:
        """Make a range (to the end when `count` is 0) and metadata stable. EISDIR, EINVAL: no file."""
        require_regular(inode)
        inode.commit(offset, count)

    def commit_all(self) -> None:
        """Make everything stable."""
        for inode in self._inodes.values():
            inode.commit()

    def crash(self) -> None:
        """Lose everything that is not stable, including files that only handles have kept, and nothing else."""
        self._forget_nameless()
        for inode in self._inodes.values():
            inode.crash()

    # ------------------------------------------------------------ names

    def lookup(self, caller: Caller, directory: Inode, name: bytes) -> Inode:
        """The object of this name; ``..`` of the root is the root. ENOTDIR, EACCES, ENAMETOOLONG, ENOENT."""
        entries = self._search(caller, directory)
        check_characters(name, self.limits)
        if name == SELF:
            return directory
        if name == PARENT:
            return entries.parent or directory
        found = entries.get(self._spelling(entries, name))
        if found is None:
            raise FsError(errno.ENOENT)
        return found

    def _spelling(self, entries: Directory, name: bytes) -> bytes:
        """The name of the entry that a caller means."""
        return entries.spelling(name) if self.limits.case_insensitive else name

    def readlink(self, inode: Inode) -> bytes:
        """The data of a symbolic link; EINVAL for anything else. Its mode bits mean nothing."""
        if inode.kind is not Kind.SYMLINK:
            raise FsError(errno.EINVAL)
        return inode.target

    def readdir(self, caller: Caller, directory: Inode, cookie: int = 0) -> t.Iterator[Entry]:
        """The entries after `cookie` (0: from the start), ``.`` and ``..`` first. ENOTDIR, EACCES.

        Draw from the iterator before anything changes the directory.
        """
        entries = require_directory(directory)
        if not permissions.may(caller, directory, permissions.READ):
            raise FsError(errno.EACCES)
        directory.atime = self.stamp()
        return self._listing(directory, entries, cookie)

    @staticmethod
    def _listing(directory: Inode, entries: Directory, cookie: int) -> t.Iterator[Entry]:
        if cookie < Directory.SELF_COOKIE:
            yield Entry(SELF, Directory.SELF_COOKIE, directory)
        if cookie < Directory.PARENT_COOKIE:
            yield Entry(PARENT, Directory.PARENT_COOKIE, entries.parent or directory)
        yield from entries.after(cookie)

    def _search(self, caller: Caller, directory: Inode) -> Directory:
        entries = require_directory(directory)
        if not permissions.may(caller, directory, permissions.EXECUTE):
            raise FsError(errno.EACCES)
        return entries

    def _writable_directory(self, caller: Caller, directory: Inode) -> Directory:
        entries = self._search(caller, directory)
        self._check_writable()
        if not permissions.may(caller, directory, permissions.WRITE):
            raise FsError(errno.EACCES)
        return entries

    # ------------------------------------------------------------ creation

    def create(self, caller: Caller, directory: Inode, name: bytes, changes: Changes = NOTHING) -> Inode:
        """A new regular file. EEXIST when the name is taken, and what `_prepare` raises."""
        self._prepare(caller, directory, name, changes)
        if changes.size is not None and not self.limits.allows("max_file_size", changes.size):
            raise FsError(errno.EFBIG)
        inode = self._enter(caller, directory, name, Kind.REGULAR, changes)
        if changes.size and inode.data is not None:
            inode.data.truncate(changes.size)
        return inode

    def create_exclusive(self, caller: Caller, directory: Inode, name: bytes, verifier: bytes) -> Inode:
        """A new regular file, or the one that the same verifier made before. EEXIST: somebody else's."""
        entries = self._search(caller, directory)
        existing = entries.get(self._spelling(entries, name))
        if existing is not None and existing.kind is Kind.REGULAR and existing.create_verifier == verifier:
            return existing
        inode = self.create(caller, directory, name)
        inode.create_verifier = verifier
        return inode

    def mkdir(self, caller: Caller, directory: Inode, name: bytes, changes: Changes = NOTHING) -> Inode:
        """A new directory. EEXIST, EMLINK: the parent has all the subdirectories it can have."""
        self._prepare(caller, directory, name, changes)
        refuse_size(changes)
        if directory.nlink >= self.limits.link_max:
            raise FsError(errno.EMLINK)
        inode = self._enter(caller, directory, name, Kind.DIRECTORY, changes)
        inode.nlink = 2
        directory.nlink += 1
        return inode

    def symlink(
        self, caller: Caller, directory: Inode, name: bytes, target: bytes, changes: Changes = NOTHING
    ) -> Inode:
        """A new symbolic link. `target` is opaque. EEXIST; ENAMETOOLONG: longer than `Limits.path_max`; EOPNOTSUPP."""
        if not self.limits.symlinks:
            raise FsError(errno.EOPNOTSUPP)
        self._prepare(caller, directory, name, changes)
        refuse_size(changes)
        if not self.limits.allows("path_max", len(target)):
            raise FsError(errno.ENAMETOOLONG)
        if len(target) > FAST_LINK and not self._budget.take():
            raise FsError(errno.ENOSPC)
        inode = self._enter(caller, directory, name, Kind.SYMLINK, changes)
        inode.target = bytes(target)
        return inode

    def mknod(
        self,
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
        self._prepare(caller, directory, name, changes)
        refuse_size(changes)
        if kind in (Kind.BLOCK, Kind.CHARACTER):
            require_superuser(caller)
        inode = self._enter(caller, directory, name, kind, changes)
        if kind in (Kind.BLOCK, Kind.CHARACTER):
            inode.rdev = rdev
        return inode

    def _prepare(self, caller: Caller, directory: Inode, name: bytes, changes: Changes) -> None:
        """Everything that can refuse a new object of any kind.

        ENOTDIR, EACCES, EROFS, ENAMETOOLONG, EEXIST, ENOSPC; EPERM: somebody else's uid or gid.
        """
        entries = self._search(caller, directory)
        if entries.get(self._spelling(entries, name)) is not None:
            raise FsError(errno.EEXIST)
        check_new(name, self.limits)
        self._writable_directory(caller, directory)
        if not self._free_files or self._entries >= self.limits.max_entries:
            raise FsError(errno.ENOSPC)
        if changes.uid not in (None, caller.uid) or not (changes.gid is None or caller.in_group(changes.gid)):
            require_superuser(caller)

    def _enter(self, caller: Caller, directory: Inode, name: bytes, kind: Kind, changes: Changes) -> Inode:
        inode = self._new_inode(kind, caller, directory, changes)
        self._add_entry(directory, name, inode, inode.ctime)
        return inode

    def _add_entry(self, directory: Inode, name: bytes, inode: Inode, now: int) -> None:
        require_directory(directory).add(name, inode)
        inode.place = directory, name
        self._entries += 1
        self._touch(directory, now, modified=True)

    def _remove_entry(self, directory: Inode, name: bytes, now: int) -> None:
        entries = require_directory(directory)
        entries.remove(self._spelling(entries, name))
        self._entries -= 1
        self._touch(directory, now, modified=True)

    def link(self, caller: Caller, inode: Inode, directory: Inode, name: bytes) -> None:
        """One more name for a non-directory. EXDEV, EISDIR, EEXIST, EMLINK, and what any creation raises.

        EOPNOTSUPP; ESTALE: it has no name any more.
        """
        if not self.limits.hard_links:
            raise FsError(errno.EOPNOTSUPP)
        if not inode.nlink:
            raise FsError(errno.ESTALE)
        if directory.fs is not self or inode.fs is not self:
            raise FsError(errno.EXDEV)
        entries = self._search(caller, directory)
        if entries.get(self._spelling(entries, name)) is not None:
            raise FsError(errno.EEXIST)
        check_new(name, self.limits)
        if inode.directory is not None:
            raise FsError(errno.EISDIR)
        self._writable_directory(caller, directory)
        if inode.nlink >= self.limits.link_max:
            raise FsError(errno.EMLINK)
        if self._entries >= self.limits.max_entries:
            raise FsError(errno.ENOSPC)
        now = self.stamp()
        self._add_entry(directory, name, inode, now)
        inode.nlink += 1
        self._touch(inode, now)

    # ------------------------------------------------------------ removal

    def _removable(self, caller: Caller, directory: Inode, name: bytes) -> Inode:
        entries = self._search(caller, directory)
        check_characters(name, self.limits)
        found = entries.get(self._spelling(entries, name))
        if found is None:
            raise FsError(errno.ENOENT)
        self._writable_directory(caller, directory)
        if not permissions.may_remove(caller, directory, found):
            raise FsError(errno.EACCES)
        return found

    def remove(self, caller: Caller, directory: Inode, name: bytes) -> None:
        """Take away one name of a non-directory. ENOENT, EACCES, EISDIR; EINVAL for ``.`` and ``..``."""
        self._search(caller, directory)
        if is_alias(name):
            raise FsError(errno.EINVAL)
        inode = self._removable(caller, directory, name)
        if inode.directory is not None:
            raise FsError(errno.EISDIR)
        now = self.stamp()
        self._remove_entry(directory, name, now)
        self._unlink_inode(inode, now)

    def rmdir(self, caller: Caller, directory: Inode, name: bytes) -> None:
        """Take away an empty directory. ENOENT, EACCES, ENOTDIR, ENOTEMPTY; ``.``: EINVAL, ``..``: EEXIST."""
        self._search(caller, directory)
        if is_alias(name):
            raise FsError(errno.EINVAL if name == SELF else errno.EEXIST)
        inode = self._removable(caller, directory, name)
        if len(require_directory(inode)):
            raise FsError(errno.ENOTEMPTY)
        now = self.stamp()
        self._remove_entry(directory, name, now)
        directory.nlink -= 1
        self._unlink_inode(inode, now)

    def rename(
        self, caller: Caller, from_directory: Inode, from_name: bytes, to_directory: Inode, to_name: bytes
    ) -> None:
        """Give an object another name, in one step, in place of what had that name.

        Nothing happens when both names are the same object's. EINVAL: ``.``, ``..``, or a directory moved
        below itself; EEXIST: the target is of the other sort, or a directory with entries; EXDEV; EMLINK.
        """
        if from_directory.fs is not self or to_directory.fs is not self:
            raise FsError(errno.EXDEV)
        self._search(caller, from_directory)
        target_entries = self._search(caller, to_directory)
        for name in (from_name, to_name):
            check_characters(name, self.limits)
            if is_alias(name):
                raise FsError(errno.EINVAL)
        source = self._removable(caller, from_directory, from_name)
        self._writable_directory(caller, to_directory)
        to_name = self._spelling(target_entries, to_name)
        target = target_entries.get(to_name)
        if target is source:
            return
        self._check_move(caller, source, from_directory, to_directory, target)
        self._move(source, from_directory, from_name, to_directory, to_name, target)

    def _check_move(
        self, caller: Caller, source: Inode, from_directory: Inode, to_directory: Inode, target: Inode | None
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
        if gains_subdirectory and to_directory.nlink >= self.limits.link_max:
            raise FsError(errno.EMLINK)

    def _move(
        self,
        source: Inode,
        from_directory: Inode,
        from_name: bytes,
        to_directory: Inode,
        to_name: bytes,
        target: Inode | None,
    ) -> None:
        now = self.stamp()
        self._remove_entry(from_directory, from_name, now)
        if target is None:
            self._add_entry(to_directory, to_name, source, now)
        else:
            require_directory(to_directory).replace(to_name, source)
            source.place = to_directory, to_name
            self._touch(to_directory, now, modified=True)
            to_directory.nlink -= target.directory is not None
            self._unlink_inode(target, now)
        if source.directory is not None:
            source.directory.parent = to_directory
            from_directory.nlink -= 1
            to_directory.nlink += 1
        self._touch(source, now)
