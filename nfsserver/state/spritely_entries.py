# SPDX-License-Identifier: MIT
"""The lines of the state table of Spritely NFS, and what survives a crash; `spritely` counts by them."""

from __future__ import annotations

import typing as t
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from nfsserver.state.transitions import Callback, State, Who

Key: t.TypeAlias = Hashable
"""A client: the address that it calls from."""
NFS: t.Final = "NFS"
"""The key of all callers of other versions together: a client without a cache (section 6.1)."""


class File(t.Protocol):
    """What an entry is about."""

    version: int
    """On stable storage with the file; 0: it never had one."""
    nlink: int
    """0: it has no name any more, and can be used by its handle for a while (knob `stale_on_remove`)."""


@dataclass(slots=True)
class Terms:
    """What knobs say."""

    entries: int = 4096
    by_counter: bool = False
    step: int = 64
    grace: float = 10.0
    nfs_interval: float = 60.0
    growth: int = 1
    calls_opener: bool = False


@dataclass(slots=True)
class Stable:
    """What survives a crash."""

    clients: set[Key] = field(default_factory=set)
    """Those that have something."""
    ceiling: int = 0
    """No version from the counter is above it."""
    has_versions: bool = False
    """Whether any file has got a version."""
    dead: OrderedDict[tuple[Key, File], bool] = field(default_factory=OrderedDict)
    """Client and file -> whether the client has obtained a new handle since it was given up."""
    lost: OrderedDict[File, None] = field(default_factory=OrderedDict)
    """Files of which dirty blocks may be lost, and nobody who opens them knows."""


@dataclass(slots=True, eq=False)
class Block:
    """What one client has of a file (section 4.3.2)."""

    key: Key
    mdev: int = 0
    readers: int = 0
    writers: int = 0
    is_dirty: bool = False
    """Whether it is the last writer, or writes: it may have dirty blocks."""
    settled: Callback = Callback.NONE
    """What it was called for since its last open."""
    wrote: bool = False
    """Whether it has written since it was called last."""
    caches: bool = True
    """Whether it may cache at all: not who cannot be called (other versions, UDP)."""
    seen_at: float = 0.0
    """Of `NFS`: when the file was last accessed."""

    @property
    def is_open(self) -> bool:
        """Whether it has the file open."""
        return self.readers + self.writers > 0


@dataclass(slots=True, eq=False)
class Entry:
    """One line of the state table (section 4.3.2)."""

    file: t.Any
    state: State = State.CLOSED
    blocks: dict[Key, Block] = field(default_factory=dict)
    calls: dict[Key, t.Any] = field(default_factory=dict)
    """The callbacks under way, by client: while there are any, the entry is locked."""
    waiting: set[t.Any] = field(default_factory=set)
    """The opens that wait for them."""
    uninformed: set[t.Any] = field(default_factory=set)
    """The opens that are to learn that the file may be inconsistent."""

    @property
    def is_locked(self) -> bool:
        """Whether opens and closes have to wait."""
        return bool(self.calls)

    @property
    def users(self) -> list[Block]:
        """The clients that have the file open."""
        return [block for block in self.blocks.values() if block.is_open]

    @property
    def last_writer(self) -> Block | None:
        """The client that may have dirty blocks of a file that it does not write now."""
        return next((block for block in self.blocks.values() if block.is_dirty), None)

    def who(self, key: Key) -> Who:
        """Whether a client is the one that the file is open by, or was written by last."""
        users = self.users
        block = users[0] if len(users) == 1 else self.last_writer if not users else None
        return Who.SAME if block is not None and block.key == key else Who.OTHER


class TableFull(Exception):
    """There is no room for a further entry; `oldest` can be reclaimed or is reclaimed just now, if there is one."""

    def __init__(self, oldest: Entry | None) -> None:
        super().__init__("the state table is full")
        self.oldest = oldest
