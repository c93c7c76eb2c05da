# SPDX-License-Identifier: MIT
"""One client by the calls that NFSv2, NFSv3 and NFSv4 all have, for checks that are the same in each version.

Each version has its own class: `nfs2/common.py`, `nfs3/common.py`, `nfs4/common.py`. No method judges anything: each
returns an `Answer` with the reply, for `expect`, and with its value where it succeeded.
"""

from __future__ import annotations

import enum
import typing as t
from abc import ABC, abstractmethod

T = t.TypeVar("T")
_LOST: t.Final = frozenset({70, 10001, 10014})
"""STALE, BADHANDLE and FHEXPIRED, as far as a version has them."""


class Seen(t.NamedTuple):
    """Attributes of an object. None for one that the server does not report."""

    is_file: bool
    size: int
    mode: int | None
    nlink: int | None
    fileid: int | None
    mtime: int | None
    """In seconds."""


class Answer(t.NamedTuple, t.Generic[T]):
    """The reply to one call."""

    reply: t.Any
    """What `expect` judges."""
    value: T | None = None
    """None if the call failed."""

    @property
    def succeeded(self) -> bool:
        return int(self.reply.status) == 0

    @property
    def has_lost_handle(self) -> bool:
        """Whether the server does not know the handle (any more)."""
        return int(self.reply.status) in _LOST


class Entry(t.NamedTuple):
    """A name in a directory."""

    name: bytes
    seen: Seen | None
    """The attributes that the listing has with it, where the version has such listings."""


class Page(t.NamedTuple):
    """A part of a listing, without ``.`` and ``..``."""

    entries: list[Entry]
    next: t.Any
    """Where the next page begins; None after the last one."""


class CommonClient(ABC):
    """One client on one connection."""

    def copies_sent(self) -> int:
        """How many calls this client has sent again: as `suites.replies.copies_sent`."""
        return 0

    def calls_repeated(self) -> int:
        """The same, with the calls that JUKEBOX has put off: the server may have begun them before it said so."""
        return self.copies_sent()

    def connect_again(self) -> None:  # noqa: B027  (most need nothing)
        """Go on with a new connection where that is possible: a server may close one after SYSTEM_ERR."""

    @abstractmethod
    def getattr(self, handle: bytes) -> Answer[Seen]: ...

    @abstractmethod
    def lookup(self, where: bytes, name: bytes) -> Answer[tuple[bytes, Seen | None]]:
        """The handle of a name, with attributes unless the server withholds them."""

    @abstractmethod
    def read(self, handle: bytes, offset: int, count: int) -> Answer[tuple[bytes, bool]]:
        """Some data, and whether it reaches the end of the file."""

    def look(self, handle: bytes, count: int) -> Answer[tuple[Seen, bytes, bool]]:
        """GETATTR, and READ from the start as `read` does."""
        attributes = self.getattr(handle)
        if attributes.value is None:
            return Answer(attributes.reply)
        data = self.read(handle, 0, count)
        return Answer(data.reply, None if data.value is None else (attributes.value, *data.value))

    @abstractmethod
    def write(self, handle: bytes, offset: int, data: bytes) -> Answer[int]:
        """Write to stable storage; how many bytes the server took."""

    @abstractmethod
    def set(
        self, handle: bytes, *, size: int | None = None, mode: int | None = None, mtime: int | None = None
    ) -> Answer[None]:
        """SETATTR; `mtime` in seconds."""

    @abstractmethod
    def create(self, where: bytes, name: bytes) -> Answer[bytes]:
        """A new empty file; its handle, or b"" where the server withholds it."""

    @abstractmethod
    def mkdir(self, where: bytes, name: bytes) -> Answer[None]: ...

    @abstractmethod
    def remove(self, where: bytes, name: bytes) -> Answer[None]: ...

    @abstractmethod
    def rmdir(self, where: bytes, name: bytes) -> Answer[None]: ...

    @abstractmethod
    def rename(self, where: bytes, name: bytes, to_name: bytes) -> Answer[None]:
        """A new name in the same directory."""

    @abstractmethod
    def move(self, where: bytes, name: bytes, to: bytes, to_name: bytes) -> Answer[None]:
        """RENAME into another directory."""

    @abstractmethod
    def take(self, where: bytes, name: bytes, *, size: int | None = None) -> Answer[None]:
        """Create a file, or take the one that has this name already; with a size of 0 it may lose its data."""

    @abstractmethod
    def set_group(self, handle: bytes) -> Answer[None]:
        """SETATTR of the group that the file has already."""

    @abstractmethod
    def link(self, handle: bytes, where: bytes, name: bytes) -> Answer[None]: ...

    @abstractmethod
    def page(self, where: bytes, at: t.Any = None) -> Answer[Page]:
        """A part of the listing of a directory, from the start by default."""


class TreeClient(CommonClient):
    """The same with the calls of symbolic links, and of directories that move."""

    @abstractmethod
    def symlink(self, where: bytes, name: bytes, text: bytes) -> Answer[None]: ...

    @abstractmethod
    def readlink(self, handle: bytes) -> Answer[bytes]: ...

    @abstractmethod
    def parent(self, directory: bytes) -> Answer[bytes]:
        """The handle of the directory that a directory is in."""

    @abstractmethod
    def create_empty(self, where: bytes, name: bytes, how: str) -> Answer[None]:
        """An attempt to create an empty file, by one of `CREATIONS`, where an object may have the name."""


CREATIONS: t.Final = ("unchecked", "guarded", "exclusive")
"""How NFSv3 and NFSv4 create files. NFSv2 knows one way, which is called unchecked here."""


class Sync(enum.IntEnum):
    """What a WRITE asks for, with the values of stable_how (RFC 1813 section 3.3.7)."""

    UNSTABLE = 0
    DATA_SYNC = 1
    FILE_SYNC = 2


class Put(t.NamedTuple):
    """What a WRITE did."""

    taken: int
    """Bytes."""
    is_committed: bool
    """Whether the server says that the data is on stable storage."""
    verifier: bytes


class CommittingClient(CommonClient):
    """One client of a version with uncommitted data."""

    @abstractmethod
    def put(self, handle: bytes, offset: int, data: bytes, how: Sync) -> Answer[Put]: ...

    @abstractmethod
    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Answer[bytes]:
        """The verifier; a count of 0 is up to the end of the file."""

    def write(self, handle: bytes, offset: int, data: bytes) -> Answer[int]:
        reply, put = self.put(handle, offset, data, Sync.FILE_SYNC)
        return Answer(reply, None if put is None else put.taken)
