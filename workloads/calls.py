# SPDX-License-Identifier: MIT
"""What a program of a workload can do: the calls of POSIX that it needs, as data.

A program is a generator that yields calls and gets their results. It knows neither versions of NFS nor caches: a
`Policy` says what a call becomes (`workloads.policies`), and on a mounted directory it is the call of the system
(`workloads.mounted`). Paths are relative to the directory of the run, with slashes.

    def program(name):
        file = yield Create(name)
        yield Write(file, 0, 4096)
        yield Close(file)

What data a write has, and what a read must give, is not the business of a program: `workloads.contents` decides it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Generator
from dataclasses import dataclass

from workloads.contents import FileState


class OpenFile:
    """A file that a program has open. What a policy keeps with it is in `kept`."""

    __slots__ = ("is_written", "kept", "path", "state")

    def __init__(self, path: str, state: FileState, *, is_written: bool) -> None:
        self.path = path
        self.state = state
        self.is_written = is_written
        """Whether it was opened for writing, too."""
        self.kept: t.Any = None


@dataclass(slots=True, eq=False)
class Mkdir:
    """Make a directory."""

    path: str


@dataclass(slots=True, eq=False)
class Rmdir:
    """Remove an empty directory."""

    path: str


@dataclass(slots=True, eq=False)
class Create:
    """Create a file that does not exist, open for reading and writing: an `OpenFile`."""

    path: str


@dataclass(slots=True, eq=False)
class Open:
    """Open a file: an `OpenFile`."""

    path: str
    writes: bool = False
    truncates: bool = False


@dataclass(slots=True, eq=False)
class Close:
    """Close a file: what was written is on the server then."""

    file: OpenFile


@dataclass(slots=True, eq=False)
class Read:
    """Read: how many bytes there were, all of them checked."""

    file: OpenFile
    offset: int
    count: int


@dataclass(slots=True, eq=False)
class Write:
    """Write a new version of a range, whole."""

    file: OpenFile
    offset: int
    count: int


@dataclass(slots=True, eq=False)
class Fsync:
    """What was written is on stable storage."""

    file: OpenFile


@dataclass(slots=True, eq=False)
class Commit:
    """Ask the server to store what was written to a file, whether or not something waits for it."""

    file: OpenFile


@dataclass(slots=True, eq=False)
class Lookup:
    """Look a name up that exists, whatever is kept of it."""

    path: str


@dataclass(slots=True, eq=False)
class Access:
    """What this user may do with an object."""

    path: str


@dataclass(slots=True, eq=False)
class Stat:
    """The attributes of a name: `nfsclient.files.Attributes`."""

    path: str


@dataclass(slots=True, eq=False)
class Absent:
    """Look a name up that must not exist."""

    path: str


@dataclass(slots=True, eq=False)
class Chmod:
    """Set the mode."""

    path: str
    mode: int


@dataclass(slots=True, eq=False)
class Rename:
    """Give an object another name."""

    path: str
    to: str


@dataclass(slots=True, eq=False)
class Link:
    """A further name for a file."""

    path: str
    to: str


@dataclass(slots=True, eq=False)
class Symlink:
    """Make a symbolic link with this text."""

    text: str
    path: str


@dataclass(slots=True, eq=False)
class Readlink:
    """The text of a symbolic link, as str."""

    path: str


@dataclass(slots=True, eq=False)
class Readdir:
    """All names of a directory, without `.` and `..`, in the order of the server.

    `attributes`: the caller will want those of the entries; a policy may request them together with the names.
    """

    path: str
    attributes: bool = False


@dataclass(slots=True, eq=False)
class Chdir:
    """Go into a directory: a path walk, and the right to search it."""

    path: str


@dataclass(slots=True, eq=False)
class Statfs:
    """How full the file system is: `nfsclient.files.Space`."""

    path: str


@dataclass(slots=True, eq=False)
class Remove:
    """Remove the name of a file."""

    path: str


@dataclass(slots=True, eq=False)
class Lock:
    """Lock a range, and wait until it is free."""

    file: OpenFile
    offset: int = 0
    count: int = 0
    """0: to the end, whatever that will be."""
    is_exclusive: bool = True


@dataclass(slots=True, eq=False)
class Unlock:
    """Unlock the range."""

    file: OpenFile
    offset: int = 0
    count: int = 0


@dataclass(slots=True, eq=False)
class DropCaches:
    """Forget all data that was kept: the next reads go to the server."""

    everything: bool = False
    """Names and attributes, too."""


@dataclass(slots=True, eq=False)
class Sync:
    """All that was written is on its way to the server, also what a client keeps beyond the close of a file."""


PAUSE: t.Final = 0.001
"""Seconds after which a program looks again for what it waits for."""


@dataclass(slots=True, eq=False)
class Think:
    """Do nothing for this many seconds."""

    seconds: float


Call: t.TypeAlias = (
    Mkdir | Rmdir | Create | Open | Close | Read | Write | Fsync | Stat | Absent | Chmod | Rename | Link | Symlink
    | Readlink | Readdir | Chdir | Statfs | Remove | Lock | Unlock | DropCaches | Think | Commit | Lookup | Access
    | Sync
)  # fmt: skip
T = t.TypeVar("T")
Program: t.TypeAlias = Generator[Call, t.Any, T]
"""A program, or a part of one, whose result is a `T`."""


def name_of(call: Call) -> str:
    """How tables and rows of policies name a call: `readdir`."""
    return type(call).__name__.lower()


def parent_of(path: str) -> str:
    """The directory of a path; empty for the directory of the run."""
    return path.rpartition("/")[0]
