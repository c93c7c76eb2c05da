# SPDX-License-Identifier: MIT
"""Objects of the file system and the directories that name them."""

from __future__ import annotations

import enum
import typing as t
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nfsserver.fs.pages import PagedData, nothing_survives

if t.TYPE_CHECKING:
    from nfsserver.fs.filesystem import FileSystem

ENTRY_OVERHEAD = 24
"""Bytes that one entry adds to the size of its directory, in addition to its name."""


class Kind(enum.IntEnum):
    """The type of an object, with the values of ftype3 (RFC 1813 section 2.5); NFSv4 shares them."""

    REGULAR = 1
    DIRECTORY = 2
    BLOCK = 3
    CHARACTER = 4
    SYMLINK = 5
    SOCKET = 6
    FIFO = 7


@dataclass(slots=True)
class Entry:
    """One name in a directory. The cookie names the entry for its whole life and no other one ever."""

    name: bytes
    cookie: int
    inode: Inode


class Directory:
    """The entries of one directory.

    Cookies come from a counter of the directory, so that the order of creation is the order of cookies, and
    a listing can go on after any cookie, whatever was added or removed meanwhile.
    """

    __slots__ = ("_by_cookie", "_cookies", "_entries", "_next_cookie", "_spellings", "parent", "size")

    SELF_COOKIE = 1
    PARENT_COOKIE = 2

    def __init__(self, parent: Inode | None) -> None:
        self._entries: dict[bytes, Entry] = {}
        self._by_cookie: dict[int, Entry] = {}
        self._spellings: dict[bytes, bytes] = {}
        """Name in lower case -> the name that was added last of those that differ in case only."""
        self._cookies: list[int] = []
        self._next_cookie = self.PARENT_COOKIE + 1
        self.parent = parent
        """The directory that holds this one; None for the root."""
        self.size = 2 * ENTRY_OVERHEAD + 3

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: bytes) -> Inode | None:
        """The object of this name."""
        entry = self._entries.get(name)
        return None if entry is None else entry.inode

    def spelling(self, name: bytes) -> bytes:
        """The name of the entry that is meant where case does not count; `name` itself if there is none."""
        return name if name in self._entries else self._spellings.get(name.lower(), name)

    def names(self) -> list[bytes]:
        """Every name, ``.`` and ``..`` excepted."""
        return list(self._entries)

    def add(self, name: bytes, inode: Inode) -> None:
        """A new entry; the name must be free."""
        assert name not in self._entries
        entry = Entry(name, self._next_cookie, inode)
        self._next_cookie += 1
        self._entries[name] = entry
        self._spellings[name.lower()] = name
        self._by_cookie[entry.cookie] = entry
        self._cookies.append(entry.cookie)
        self.size += len(name) + ENTRY_OVERHEAD

    def remove(self, name: bytes) -> None:
        """Take an existing entry away."""
        entry = self._entries.pop(name)
        if self._spellings.get(name.lower()) == name:
            del self._spellings[name.lower()]
        del self._by_cookie[entry.cookie]
        del self._cookies[bisect_right(self._cookies, entry.cookie) - 1]
        self.size -= len(name) + ENTRY_OVERHEAD

    def replace(self, name: bytes, inode: Inode) -> None:
        """Let an existing name stand for another object; the entry and its cookie stay."""
        self._entries[name].inode = inode

    def after(self, cookie: int) -> t.Iterator[Entry]:
        """The entries whose cookies are greater, in order; the directory must not change meanwhile."""
        for index in range(bisect_right(self._cookies, cookie), len(self._cookies)):
            yield self._by_cookie[self._cookies[index]]

    def has_issued(self, cookie: int) -> bool:
        """Whether an entry has, or had, this cookie."""
        return 0 < cookie < self._next_cookie


class Reported(t.NamedTuple):
    """Attributes of an object that need not be those that the file system has (RFC 1813 section 1.6)."""

    nlink: int
    size: int
    used: int
    mtime: int
    ctime: int


@dataclass(slots=True, eq=False)
class Inode:
    """One object. Times are nanoseconds since 1970; `mode` has no type bits."""

    fs: FileSystem
    kind: Kind
    fileid: int
    generation: int
    mode: int
    uid: int
    gid: int
    atime: int
    mtime: int
    ctime: int
    change: int = 1
    """Moves on whenever data, names or attributes of the object change, and never back (RFC 5661 section 5.8.1.4).

    Times cannot do that: they may be coarse, and a crash sets them back. Like ctime it stays when READ or READDIR
    moves atime.
    """
    version: int = 0
    """A number that a protocol keeps with the object on stable storage; 0: it has given none."""
    born: int = 0
    """When it was made, or what somebody has set instead."""
    nlink: int = 1
    rdev: tuple[int, int] = (0, 0)
    """Major and minor number of a device."""
    data: PagedData | None = None
    """Of a regular file."""
    directory: Directory | None = None
    """Of a directory."""
    target: bytes = b""
    """Of a symbolic link."""
    place: tuple[Inode, bytes] | None = None
    """The directory and the name of the last name given to it, even if that was removed since."""
    create_verifier: bytes | None = None
    """What an exclusive CREATE brought; kept on stable storage for as long as the file lives."""
    stable_times: tuple[int, int] | None = None
    """mtime and ctime as a crash would leave them; None when the present ones are stable."""
    stable_atime: int | None = None
    """atime as a crash would leave it; None when the present one is stable."""
    acl: t.Any = None
    """What NFSv4 set as the ACL; None: it is that of the mode."""
    xattrs: dict[bytes, bytes] = field(default_factory=dict)
    """Extended attributes by name (RFC 8276)."""
    marks: dict[str, object] = field(default_factory=dict)
    """Attributes by name that mean nothing here, and `archived at`: the mtime when `archive` was set."""
    attributes: Inode | None = None
    """The directory of its named attributes (RFC 5661 section 5.3)."""
    attribute_of: Inode | None = None
    """What a directory of named attributes belongs to; of a named attribute, that directory."""
    times_before: tuple[int, int, int] | None = None
    """Of a directory whose times lag: mtime and ctime that are still reported, and until when."""

    @property
    def size(self) -> int:
        """The size attribute: bytes of data, of a link's data, or of a directory's entries."""
        if self.data is not None:
            return self.data.size
        if self.directory is not None:
            return self.directory.size
        return len(self.target)

    @property
    def used(self) -> int:
        """Bytes of storage."""
        return self.size if self.data is None else self.data.used

    @property
    def has_unstable(self) -> bool:
        """Whether a crash would change this object."""
        return self.stable_times is not None or (self.data is not None and self.data.is_dirty)

    def reported(self) -> Reported:
        """The attributes that a server may simulate, as clients see them."""
        limits = self.fs.limits
        nlink, size, used, mtime, ctime = self.nlink, self.size, self.used, self.mtime, self.ctime
        if not limits.holes:
            used = max(used, size)
        if self.directory is not None:
            if self.times_before is not None:
                mtime, ctime = self._lagging_times(self.times_before)
            if limits.plain_directories:
                nlink, size, used = 1, 0, 0
        return Reported(nlink, size, used, mtime, mtime if limits.ctime_is_mtime else ctime)

    def _lagging_times(self, before: tuple[int, int, int]) -> tuple[int, int]:
        mtime, ctime, until = before
        if self.fs.now() < until:
            return mtime, ctime
        self.times_before = None
        return self.mtime, self.ctime

    def touch(self, now: int, *, modified: bool = False) -> None:
        """Move `change`, ctime, and mtime where the content changed; synchronously, so a crash keeps all times.

        Every change of an object calls this.
        """
        self.change += 1
        lag = self.fs.limits.directory_times_lag
        if not (lag and modified and self.directory is not None):
            self.times_before = None
        elif self.times_before is None:
            self.times_before = self.mtime, self.ctime, self.fs.now() + lag
        self.ctime = now
        if modified:
            self.mtime = now
        self.stable_times = None

    def mark(self, marks: Mapping[str, object] | None) -> None:
        """Set some of the marks, or none."""
        if marks is not None:
            self.marks.update(marks)
            if "archive" in marks:
                self.marks["archived at"] = self.mtime

    def accessed(self, now: int) -> None:
        """Move atime; a crash loses that, until SETATTR or `commit` makes all attributes stable."""
        if self.stable_atime is None:
            self.stable_atime = self.atime
        self.atime = now

    def commit(self, offset: int = 0, count: int = 0) -> None:
        """Make metadata and a range of data stable, see `PagedData.commit`."""
        self.stable_times = self.stable_atime = None
        if self.data is not None:
            self.data.commit(offset, count)

    def crash(self, survives: Callable[[], bool] = nothing_survives) -> None:
        """Go back to the stable version, except for the pages of data that `survives` spares.

        `change` and `version` get new values: a client may have cached what is lost.
        """
        if self.has_unstable:
            self.change += 1
            self.version += bool(self.version)
        if self.stable_times is not None:
            self.mtime, self.ctime = self.stable_times
        if self.stable_atime is not None:
            self.atime = self.stable_atime
        self.stable_times = self.stable_atime = None
        if self.data is not None:
            self.data.crash(survives)
