# SPDX-License-Identifier: MIT
"""What operations on files take and give, whatever the version of NFS: attributes, data, pages of directories.

What a version does not have, or a server withholds, is None. Sizes are in bytes.
"""

from __future__ import annotations

import enum
import typing as t
from dataclasses import dataclass, field

from nfsclient.xdr import Buffer


class FileType(enum.IntEnum):
    """What kind of object a file is: the numbers of `nfs_ftype4`, which begin with those of `ftype3`."""

    REGULAR = 1
    DIRECTORY = 2
    BLOCK = 3
    CHARACTER = 4
    LINK = 5
    SOCKET = 6
    FIFO = 7
    ATTRIBUTE_DIRECTORY = 8
    """Of named attributes; NFSv4 only, as the next one."""
    NAMED_ATTRIBUTE = 9


class Time(t.NamedTuple):
    """A time since 1970-01-01 00:00 UTC."""

    seconds: int
    """Negative before 1970, which only NFSv4 has."""
    nseconds: int = 0
    """0 to 999,999,999 from servers that keep to the RFC; multiples of 1000 in NFSv2."""

    @property
    def ns(self) -> int:
        """In nanoseconds, as of `os.stat_result.st_mtime_ns`."""
        return self.seconds * 10**9 + self.nseconds

    @classmethod
    def of_ns(cls, ns: int) -> t.Self:
        """From nanoseconds."""
        return cls(*divmod(ns, 10**9))


class SetTo(enum.Enum):
    """A time to set that is no value of the client's."""

    SERVER_TIME = "the server's clock"


SERVER_TIME: t.Final = SetTo.SERVER_TIME
"""Sets a time to the server's clock; NFSv2 cannot do that."""


LATE: t.Final = ("rdev", "atime", "mtime", "ctime")
"""The attributes that may be converted when one of them is first read."""


@dataclass(slots=True)  # frozen, it would take four times as long to make, once for each LOOKUP
class Attributes:
    """The attributes of an object (RFC 1094 section 2.3.5, RFC 1813 section 2.5, RFC 5661 section 5)."""

    type: FileType | None = None
    mode: int | None = None
    """Permission bits, 07777 at most."""
    nlink: int | None = None
    uid: int | None = None
    """None, too, where NFSv4 gives an owner that is no number: see `owner`."""
    gid: int | None = None
    owner: bytes | None = None
    """The owner as NFSv4 gives it: `name@domain`, or digits."""
    group: bytes | None = None
    size: int | None = None
    used: int | None = None
    """Bytes of storage in use; None in NFSv2, which counts blocks of an unknown size."""
    rdev: tuple[int, int] | None = None
    """Major and minor number of a device; None in NFSv2, which has the server's own notation."""
    fsid: tuple[int, int] | None = None
    """The file system; the second number is 0 before NFSv4."""
    fileid: int | None = None
    atime: Time | None = None
    """Last access to the data."""
    mtime: Time | None = None
    """Last change of the data."""
    ctime: Time | None = None
    """Last change of attributes or data."""
    change: int | None = None
    """Another value whenever data or attributes change; NFSv4 only."""
    late: t.Any = field(default=None, init=False, repr=False, compare=False)
    """What gives `LATE` when one of them is read, where they are not set: a function, and what it is given."""

    if not t.TYPE_CHECKING:

        def __getattr__(self, name: str) -> t.Any:
            """The device and the times of attributes that came from a server: most callers look at none of them."""
            if name not in LATE:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            give, given = self.late
            self.rdev, self.atime, self.mtime, self.ctime = give(given)
            return getattr(self, name)

    @property
    def is_directory(self) -> bool:
        return self.type is FileType.DIRECTORY

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.type is FileType.LINK


@dataclass(frozen=True, slots=True)
class NewAttributes:
    """Attributes to set; None leaves one alone."""

    mode: int | None = None
    uid: int | None = None
    gid: int | None = None
    owner: bytes | None = None
    """Instead of `uid`, NFSv4 only: `name@domain`."""
    group: bytes | None = None
    size: int | None = None
    atime: Time | SetTo | None = None
    mtime: Time | SetTo | None = None


NOTHING_SET: t.Final = NewAttributes()


class Create(enum.IntEnum):
    """What creating a file does if the name exists: the numbers of `createmode3`."""

    UNCHECKED = 0
    """The file that is there is taken."""
    GUARDED = 1
    """EXIST."""
    EXCLUSIVE = 2
    """EXIST, unless it was created with the same verifier."""


class Stable(enum.IntEnum):
    """How firmly data is stored before the reply; larger is firmer: the numbers of `stable_how`."""

    UNSTABLE = 0
    DATA_SYNC = 1
    FILE_SYNC = 2


class Access(enum.IntFlag):
    """What a caller may do with an object: the bits of ACCESS."""

    READ = 0x01
    LOOKUP = 0x02
    MODIFY = 0x04
    EXTEND = 0x08
    DELETE = 0x10
    EXECUTE = 0x20


ALL_ACCESS: t.Final = Access(0x3F)


AttributesOf: t.TypeAlias = t.Callable[[t.Any], Attributes | None]
"""Makes the neutral form of attributes as the protocol has them."""


def nothing_given(_raw: object) -> None:
    """Of what came without attributes."""


class Found:
    """An object that was found or created. Attributes are decoded when they are read."""

    __slots__ = ("_attributes_of", "_raw", "handle")

    def __init__(self, handle: bytes, raw: t.Any = None, attributes_of: AttributesOf = nothing_given) -> None:
        self.handle = handle
        self._raw = raw
        self._attributes_of = attributes_of

    @property
    def attributes(self) -> Attributes | None:
        """Those that came along. Raises `ServerViolation` for a type that there is not."""
        return self._attributes_of(self._raw)


class Data(t.NamedTuple):
    """What one READ gave: fewer bytes than requested are no end of file unless `eof` says so."""

    data: Buffer
    eof: bool
    """Whether the data ends at the end of the file; in NFSv2 by the size that came with it."""
    size: int | None = None
    """The size of the file, if it came along."""


@dataclass(frozen=True, slots=True)
class Written:
    """What one WRITE did: `count` may be less than was sent."""

    count: int
    committed: Stable
    verifier: bytes | None = None
    """Of the instance of the server that has the data; None in NFSv2, where all is stable."""


class Position(t.NamedTuple):
    """Where a listing goes on; the default is the start."""

    cookie: int = 0
    """In NFSv2 the four bytes of the cookie as a number."""
    verifier: bytes = bytes(8)


class Entry:
    """One name in a directory. Attributes are decoded when they are first read."""

    __slots__ = ("_attributes_of", "handle", "name", "raw")

    def __init__(
        self,
        name: bytes,
        handle: bytes | None,
        raw: t.Any,
        attributes_of: AttributesOf = nothing_given,
    ) -> None:
        self.name = name
        self.handle = handle
        """None where it did not come along."""
        self.raw = raw
        """The entry as the protocol has it: `Entry`, `Entry3`, `Entryplus3`, `Entry4`."""
        self._attributes_of = attributes_of

    @property
    def attributes(self) -> Attributes | None:
        """Those that came along; None if there were none. Raises `ServerViolation` for a type that there is not."""
        return self._attributes_of(self.raw)

    @property
    def fileid(self) -> int | None:
        """The number of the file; in NFSv4 only if it was requested."""
        value: int | None = self.raw.attrs.fileid if hasattr(self.raw, "attrs") else self.raw.fileid
        return value

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.attributes!r})"


class Page(t.NamedTuple):
    """One page of a directory. It may have "." and "..", and names that can be none: `nfsclient.listings` judges."""

    entries: list[Entry]
    eof: bool
    next: Position
    """Where the next page begins; of a page without entries, where this one did."""


@dataclass(frozen=True, slots=True)
class Info:
    """Limits and preferences of a file system; None where nothing is said (FSINFO of RFC 1813 section 3.3.19)."""

    rtmax: int | None = None
    """Largest READ."""
    rtpref: int | None = None
    rtmult: int | None = None
    wtmax: int | None = None
    """Largest WRITE."""
    wtpref: int | None = None
    wtmult: int | None = None
    dtpref: int | None = None
    """Preferred size of a page of a directory."""
    maxfilesize: int | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """How full a file system is, by the names of FSSTAT (RFC 1813 section 3.3.18)."""

    tbytes: int | None = None
    """Size of the file system."""
    fbytes: int | None = None
    """Free bytes."""
    abytes: int | None = None
    """Free bytes that this caller may use."""
    tfiles: int | None = None
    """File slots in all; None in NFSv2, as the next two."""
    ffiles: int | None = None
    afiles: int | None = None
