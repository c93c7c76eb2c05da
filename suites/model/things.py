# SPDX-License-Identifier: MIT
"""The model: the objects below the directory of a program, as the answered calls have made them.

It has what the RFCs bind. What they leave open (times of a coarse clock, sizes of directories, a mode that a server may
have masked) is None here until it is seen, or is not kept at all.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass, field

from suites.model.seen import Seen

Kind: t.TypeAlias = t.Literal["file", "directory", "symbolic link", "FIFO"]
DEEPEST: t.Final = 2
"""Names in a path."""
WRITTEN, GAP, EXTENSION, UNKNOWN = 1, 2, 3, 4
"""Where a byte of a file comes from: WRITE, the gap before one, SETATTR; or nobody knows."""


@dataclass(eq=False, slots=True)
class Thing:
    """An object. A file may have several names."""

    kind: Kind
    data: bytearray = field(default_factory=bytearray)
    origin: bytearray = field(default_factory=bytearray)
    """Of each byte of `data`."""
    text: bytes = b""
    entries: dict[str, Thing] = field(default_factory=dict)
    mode: int | None = None
    """The permission bits that SETATTR set; None if a server may have chosen others."""
    owner: tuple[int, int] | None = None
    mtime: int | None = None
    """In nanoseconds: what SETATTR set, until the data changes."""
    left: tuple[int, bool] | None = None
    """An mtime that was seen before the data changed, and must not be seen again; whether a WRITE changed it."""
    is_dirty: bool = False
    """There may be data that is not committed: its times move by themselves (RFC 1813 section 2.5)."""
    epoch: int = 0
    """How often the object has changed for certain. `change` must have another value each time."""
    changes: dict[int, int] = field(default_factory=dict)
    """Each value of `change` that was seen, and the last epoch in which it was."""
    last: dict[str, Seen] = field(default_factory=dict)
    """By version of NFS: the attributes that were seen last."""
    identified: dict[str, int] = field(default_factory=dict)
    """By version of NFS: `World.moves` when the file id was seen last."""
    fresh: set[str] = field(default_factory=set)
    """The versions in which nothing can have changed the times since then."""
    ctimes: set[str] = field(default_factory=set)
    """The versions in which ctime was seen since the last READ: it may move with the time of an access."""
    steady: set[str] = field(default_factory=set)
    """The versions in which later times must not be before the last ones."""
    names: int = 0
    salt: int = 0
    """Of the verifier that it was created with, by CREATE EXCLUSIVE."""

    # ------------------------------------------------------------ data

    def write(self, offset: int, data: bytes) -> bool:
        """What WRITE has done; whether it made a difference."""
        if not data:
            return False
        end = offset + len(data)
        was = bytes(self.data[offset:end])
        self._grow(max(end, len(self.data)), GAP)
        self.data[offset:end] = data
        self.origin[offset:end] = bytes([WRITTEN]) * len(data)
        return was != data

    def resize(self, size: int) -> bool:
        """What SETATTR of the size has done; whether it made a difference."""
        if size == len(self.data):
            return False
        del self.data[size:], self.origin[size:]
        self._grow(size, EXTENSION)
        return True

    def _grow(self, size: int, origin: int) -> None:
        more = size - len(self.data)
        if more > 0:
            self.data += bytes(more)
            self.origin += bytes([origin]) * more

    def forget(self, offset: int, size: int) -> None:
        """Nobody knows what a refused WRITE has left here."""
        end = min(offset + size, len(self.data))
        if end > offset:
            self.origin[offset:end] = bytes([UNKNOWN]) * (end - offset)

    # ------------------------------------------------------------ attributes

    def changed(self) -> None:
        """Something of the object is different for certain."""
        self.epoch += 1
        self.fresh.clear()

    def touched(self) -> None:
        """Something of the object may be different."""
        self.fresh.clear()

    def was_read(self) -> None:
        """The time of the last access may have moved, and `change` and ctime with it; mtime stays."""
        self.fresh.discard("v4")
        self.ctimes.clear()

    def data_changed(self, *, by_write: bool) -> None:
        """Its data is different: mtime moves from a value that was set and seen."""
        old = self.mtime
        if old is not None and any(seen.mtime == old for seen in self.last.values()):
            self.left = (old, by_write)
        self.mtime = None
        self.changed()

    def times_set(self) -> None:
        """Its times have been set: they may be before those that were seen."""
        self.left = None
        self.steady.clear()

    def nothing_known(self) -> None:
        """A call that was refused may have set a part of its attributes (RFC 1813 section 3.3.2)."""
        self.mode = self.owner = self.mtime = None
        self.times_set()
        self.touched()


class World:
    """The directory of a program. Paths are names with ``/`` between them; the directory itself is the empty path."""

    def __init__(self) -> None:
        self.root = Thing("directory", names=1)
        self.moves = 0
        """How often RENAME was made."""

    def find(self, path: str) -> Thing | None:
        """The object of a path."""
        thing: Thing | None = self.root
        for name in path.split("/") if path else ():
            thing = thing.entries.get(name) if thing is not None else None
        return thing

    def parent(self, path: str) -> Thing:
        """The directory that a path is in."""
        found = self.find(path.rpartition("/")[0])
        assert found is not None, path
        return found

    def walk(self, thing: Thing | None = None, path: str = "") -> Iterator[tuple[str, Thing]]:
        """Each path with its object, without the directory of the program."""
        for name, child in (thing or self.root).entries.items():
            inside = f"{path}/{name}" if path else name
            yield inside, child
            if child.kind == "directory":
                yield from self.walk(child, inside)

    def path_of(self, thing: Thing) -> str | None:
        """One of its paths; None if it has none any more."""
        if thing is self.root:
            return ""
        return next((path for path, found in self.walk() if found is thing), None)

    def has_room(self, path: str) -> bool:
        """Whether its directory exists, and is not too deep for the programs."""
        place = self.find(path.rpartition("/")[0])
        return place is not None and place.kind == "directory" and path.count("/") < DEEPEST

    def renames(self, path: str, new: str) -> bool:
        """Whether RENAME must succeed. Not between two names of one file, where versions and servers differ."""
        moved, there = self.find(path), self.find(new)
        if not path or not new or moved is None or new == path or new.startswith(f"{path}/"):
            return False
        if not self.has_room(new) or (moved.kind == "directory" and moved.entries and new.count("/")):
            return False
        if there is None:
            return True
        if there is moved:
            return False
        if moved.kind == "directory":
            return there.kind == "directory" and not there.entries
        return there.kind != "directory"

    # ------------------------------------------------------------ what calls do

    def add(self, path: str, thing: Thing) -> None:
        """A new name."""
        parent = self.parent(path)
        parent.entries[path.rpartition("/")[2]] = thing
        thing.names += 1
        parent.changed()
        if thing.names > 1:
            thing.changed()

    def remove(self, path: str) -> Thing:
        """A name goes."""
        parent = self.parent(path)
        thing = parent.entries.pop(path.rpartition("/")[2])
        thing.names -= 1
        parent.changed()
        thing.changed()
        return thing

    def rename(self, path: str, new: str) -> None:
        """A name becomes another one; what had that is replaced."""
        self.moves += 1
        source, target = self.parent(path), self.parent(new)
        thing = source.entries.pop(path.rpartition("/")[2])
        name = new.rpartition("/")[2]
        replaced = target.entries.get(name)
        if replaced is not None:
            replaced.names -= 1
            replaced.changed()
        target.entries[name] = thing
        for each in {source, target}:
            each.changed()
        thing.touched()
