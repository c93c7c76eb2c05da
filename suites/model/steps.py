# SPDX-License-Identifier: MIT
"""Programs of two clients: as data, in plain words, and drawn at random.

A program works in a separate, empty directory. A step that is not possible where a program comes to it is left out, so
any part of a program is a program: that is how one that breaks is made shorter.
"""

from __future__ import annotations

import random
import typing as t
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from suites.model.things import Kind, Thing, World
from suites.nfs3.contents import pattern

Verb: t.TypeAlias = t.Literal[
    "CREATE",
    "MKDIR",
    "SYMLINK",
    "FIFO",
    "LINK",
    "REMOVE",
    "RMDIR",
    "RENAME",
    "WRITE",
    "SETATTR",
    "COMMIT",
    "READ",
    "LIST",
    "ACCESS",
]
How: t.TypeAlias = t.Literal["GUARDED", "UNCHECKED", "EXCLUSIVE", ""]
NAMES: t.Final = ("a", "b", "c", "d")
"""In each directory. They differ without regard to case, too."""
SHORTEST: t.Final = 20
LONGEST: t.Final = 60
"""Steps in a program."""
OFFSETS: t.Final = (0, 0, 1, 100, 511, 4095, 4096, 5000, 8191, 65_535, 65_537, 131_072)
SIZES: t.Final = (0, 1, 3, 100, 4095, 4096, 4097, 8000, 8193)
LARGE: t.Final = (65_536, 70_001, 131_073, 262_144, 1 << 20)
FILE_SIZES: t.Final = (0, 1, 3, 100, 4095, 4096, 4097, 10_000, 70_000)
MODES: t.Final = (0o600, 0o640, 0o644, 0o666, 0o755, 0o777)
"""All of them let the owner read and write a file."""
_DIRECTORY_MODES: t.Final = (0o700, 0o750, 0o755, 0o777)
"""All of them let the owner search a directory: others would end the program at the next call below it."""
OWNERS: t.Final = ((4242, 4343), (4244, 4345))
OLD_TIMES: t.Final = (946_684_800, 1_000_000_000, 1_100_000_000)
"""Seconds: of 2000, 2001 and 2004. No clock of a server shows them by chance."""
TEXTS: t.Final = (b"t", b"where/to", b"x" * 60, b"../" * 30 + b"end")
VERBS: t.Final[tuple[Verb, ...]] = (
    *("CREATE",) * 5,
    *("MKDIR",) * 3,
    *("SYMLINK", "FIFO"),
    *("LINK",) * 3,
    *("REMOVE",) * 3,
    *("RMDIR",),
    *("RENAME",) * 6,
    *("WRITE",) * 11,
    *("SETATTR",) * 8,
    *("COMMIT", "COMMIT", "READ", "READ", "LIST", "LIST", "LIST", "ACCESS"),
)
"""By how often they are drawn."""
MAKING: t.Final = {
    "CREATE": "file",
    "MKDIR": "directory",
    "SYMLINK": "symbolic link",
    "FIFO": "FIFO",
}
"""Verbs that make an object, and its kind."""
OF_FILES: t.Final = frozenset({"WRITE", "COMMIT", "READ"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call, in a few calls where a server takes data in pieces, and what is looked at after it."""

    client: int
    """From 1. The others look at what has changed."""
    verb: Verb
    path: str
    other: str = ""
    """The new path of LINK and RENAME."""
    how: How = ""
    offset: int = 0
    size: int | None = None
    """Bytes of READ and WRITE; the size that CREATE or SETATTR sets."""
    salt: int = 0
    """Which bytes WRITE sends, which verifier CREATE has."""
    level: int = 2
    """stable_how of WRITE: UNSTABLE, DATA_SYNC, FILE_SYNC."""
    mode: int | None = None
    owner: tuple[int, int] | None = None
    mtime: int | None = None
    """In seconds; -1: the time of the server."""
    text: bytes = b""
    witness: int = 0
    """Which other object is looked at after it."""

    @property
    def data(self) -> bytes:
        """What WRITE sends."""
        return pattern(self.size or 0, self.salt)

    def words(self) -> str:
        """For people: ``client 2: WRITE 100 bytes at 4096 of a/b, UNSTABLE``."""
        return f"client {self.client}: {self.verb} {self._what()}"

    def _what(self) -> str:
        match self.verb:
            case "RENAME":
                return f"{self.path} to {self.other}"
            case "LINK":
                return f"{self.other} to {self.path}"
            case "WRITE":
                level = ("UNSTABLE", "DATA_SYNC", "FILE_SYNC")[self.level]
                return f"{self.size} bytes at {self.offset} of {self.path}, {level}"
            case "READ":
                return f"{self.size} bytes at {self.offset} of {self.path}"
            case "CREATE" | "MKDIR":
                return " ".join(part for part in (self.path, self.how, self._attributes()) if part)
            case "SETATTR":
                return f"{self._attributes()} of {self.path}"
            case _:
                return self.path or "the directory"

    def _attributes(self) -> str:
        parts = []
        if self.size is not None:
            parts.append(f"size {self.size}")
        if self.mode is not None:
            parts.append(f"mode 0{self.mode:o}")
        if self.owner is not None:
            parts.append("uid {} gid {}".format(*self.owner))
        if self.mtime is not None:
            parts.append("mtime now" if self.mtime < 0 else f"mtime {self.mtime}")
        return ", ".join(parts)


Deck: t.TypeAlias = "list[Callable[[Drawing, str], Iterator[Step]]]"
"""Phrases: functions that make steps from a path."""
Program: t.TypeAlias = tuple[Step, ...]


def possible(world: World, step: Step) -> bool:
    """Whether a server has no reason to refuse it, or must refuse it, in this state."""
    there, verb = world.find(step.path), step.verb
    if verb in MAKING:
        if there is None:
            return world.has_room(step.path)
        return verb == "CREATE" and there.kind == "file"
    if there is None:
        return False
    if verb == "SETATTR":
        return bool(step.path) and there.kind in (("file", "directory") if step.size is None else ("file",))
    if verb == "RENAME":
        return world.renames(step.path, step.other)
    if verb == "WRITE" and not step.size:  # a separate check asks whether WRITE of nothing extends a file
        return there.kind == "file" and step.offset <= len(there.data)
    is_free = world.find(step.other) is None and world.has_room(step.other)
    return {
        "LINK": there.kind == "file" and is_free,
        "REMOVE": there.kind != "directory",
        "RMDIR": bool(step.path) and there.kind == "directory" and not there.entries,
        "LIST": there.kind == "directory",
        "ACCESS": True,
    }.get(verb, there.kind == "file")


# ---------------------------------------------------------------- at random


class Drawing:
    """Draws a program: a model of the names goes along, so that most steps are possible."""

    def __init__(
        self,
        seed: str,
        deck: Deck | None = None,
        *,
        is_root: bool = False,
        limit: int = LONGEST,
        clients: int = 2,
    ) -> None:
        """`deck`: phrases that come next, shared by programs. `is_root`: owners may be set."""
        self._clients = clients
        self._random = random.Random(seed)
        self._is_root = is_root
        self._world = World()
        self._limit = limit
        self._deck: Deck = [] if deck is None else deck

    def program(self) -> Program:
        """From `SHORTEST` to `LONGEST` steps, or to the limit."""
        rng, steps = self._random, list[Step]()
        length = min(rng.randint(SHORTEST, LONGEST), self._limit)
        while len(steps) < length:
            for step in self._phrase() if rng.random() < 0.5 else self._some():
                if possible(self._world, step):
                    imitate(self._world, step)
                    steps.append(step)
        return tuple(steps)

    def _step(self, verb: Verb, path: str, other: str = "", **values: t.Any) -> Step:
        rng = self._random
        return Step(
            client=rng.randint(1, self._clients),
            verb=verb,
            path=path,
            other=other,
            salt=rng.randint(1, 240),
            witness=rng.randrange(1000),
            **values,
        )

    def _pick(self, kinds: Sequence[str]) -> str | None:
        found = [path for path, thing in self._world.walk() if thing.kind in kinds]
        return self._random.choice(found) if found else None

    def _free(self) -> str:
        """A path without an object, as often as there is one."""
        rng = self._random
        places = ["", *(path for path, thing in self._world.walk() if thing.kind == "directory")]
        free = [path for place in places for path in _inside(place) if self._world.find(path) is None]
        free = [path for path in free if self._world.has_room(path)]
        return rng.choice(free) if free else "a"

    def _some(self) -> list[Step]:
        """One step of any verb."""
        rng = self._random
        verb = rng.choice(VERBS)
        if verb in MAKING:
            return [self._making(verb)]
        kinds = ["file"] if verb in OF_FILES or verb == "LINK" else ["directory"]
        if verb in {"REMOVE", "RENAME", "ACCESS"}:
            kinds = ["file", "symbolic link", "FIFO", *(["directory"] if verb != "REMOVE" else [])]
        if verb == "SETATTR":
            kinds = ["file", "file", "directory"][rng.randrange(3) :]
        path = self._pick(kinds)
        if verb == "LIST" and (path is None or rng.random() < 0.5):
            return [self._step("LIST", "")]
        if path is None:
            return [self._making("CREATE")]
        if verb in {"LINK", "RENAME"}:
            return [self._step(verb, path, self._target(verb))]
        if verb in {"WRITE", "READ", "COMMIT"}:
            return [self._transfer(verb, path)]
        return [self._setting(path)] if verb == "SETATTR" else [self._step(verb, path)]

    def _target(self, verb: str) -> str:
        there = self._pick(("file", "symbolic link", "directory"))
        return (
            there if verb == "RENAME" and there is not None and self._random.random() < 0.5 else self._free()
        )

    def _making(self, verb: Verb) -> Step:
        rng, path = self._random, self._free()
        if verb == "SYMLINK":
            return self._step(verb, path, text=rng.choice(TEXTS))
        if verb == "MKDIR":
            return self._step(verb, path, mode=rng.choice((0o755, 0o777, 0o700)))
        if verb != "CREATE":
            return self._step(verb, path)
        there = self._pick(["file"])
        if there is not None and rng.random() < 0.25:
            path = there
        how: How = rng.choice(("GUARDED", "GUARDED", "UNCHECKED", "EXCLUSIVE"))
        size = 0 if how == "UNCHECKED" and rng.random() < 0.5 else None
        return self._step(verb, path, how=how, size=size, mode=rng.choice(MODES))

    def _transfer(self, verb: Verb, path: str) -> Step:
        rng = self._random
        if verb == "COMMIT":
            return self._step(verb, path)
        size = rng.choice(SIZES)
        thing = self._world.find(path)
        end = len(thing.data) if thing is not None else 0
        offset = rng.choice((*OFFSETS, end, end, max(0, end - 3), end + rng.choice((1, 5000))))
        return self._step(verb, path, offset=offset, size=size, level=rng.choice((0, 0, 1, 2, 2)))

    def _setting(self, path: str) -> Step:
        rng, thing = self._random, self._world.find(path)
        values: dict[str, t.Any] = {}
        modes = _DIRECTORY_MODES if thing is not None and thing.kind == "directory" else MODES
        names = ["mode", "mode", "mtime", "mtime", "owner"]
        if thing is not None and thing.kind == "file":
            names += ["size", "size", "size"]
        for name in rng.sample(names, rng.choice((1, 1, 2, 3))):
            if name == "owner" and not self._is_root:
                continue
            made = {"mode": modes, "mtime": (*OLD_TIMES, -1), "owner": OWNERS, "size": FILE_SIZES}[name]
            values[name] = rng.choice(t.cast("Sequence[t.Any]", made))
        return self._step("SETATTR", path, **(values or {"mode": rng.choice(modes)}))

    def _phrase(self) -> Iterator[Step]:
        """Steps in a row that programs often make, and that single steps drawn at random rarely are.

        They come from a shuffled deck, so that a few programs have all of them.
        """
        path = self._pick(["file"])
        if path is None:
            yield self._making("CREATE")
            return
        if not self._deck:
            self._deck += PHRASES
            self._random.shuffle(self._deck)
        yield from self._deck.pop()(self, path)

    def second_unstable_write(self, path: str) -> Iterator[Step]:
        """After a time that shows whether it moves."""
        rng = self._random
        yield self._step("WRITE", path, offset=rng.choice(OFFSETS), size=100, level=0)
        yield self._step("SETATTR", path, mtime=rng.choice(OLD_TIMES))
        yield self._step("WRITE", path, offset=rng.choice(OFFSETS), size=99, level=0)
        yield self._step("COMMIT", path)

    def replaced_link(self, path: str) -> Iterator[Step]:
        """RENAME over one of two names of a file."""
        new = self._free()
        yield self._step("LINK", path, new)
        yield self._step("CREATE", self._free(), how="GUARDED", mode=0o644)
        others = [other for other, thing in self._world.walk() if thing.kind == "file"]
        another = [other for other in others if self._world.find(other) is not self._world.find(new)]
        yield self._step("RENAME", another[-1] if another else path, new)

    def attributes_together(self, path: str) -> Iterator[Step]:
        """Two attributes at once, and the times of old files when their size changes."""
        rng = self._random
        old, sizes = rng.choice(OLD_TIMES), rng.sample(FILE_SIZES, 3)
        yield self._step("COMMIT", path)
        yield self._step("SETATTR", path, size=sizes[0], mode=rng.choice((0o604, 0o606)))
        yield self._step("SETATTR", path, size=sizes[1], mtime=old)
        yield self._step("SETATTR", path, size=sizes[2])
        yield self._step("SETATTR", path, mode=rng.choice((0o602, 0o622)), mtime=rng.choice(OLD_TIMES))
        yield self._step("LINK", path, self._free())

    def change_between_listings(self, path: str) -> Iterator[Step]:
        """A listing, a change by the other client, and a listing."""
        rng, where = self._random, path.rpartition("/")[0]
        # An odd witness lists with attributes.
        first = replace(self._step("LIST", where), witness=1)
        other = first.client % self._clients + 1
        yield first
        yield replace(self._step("WRITE", path, offset=rng.choice(OFFSETS), size=4097, level=2), client=other)
        yield replace(first, witness=3)

    def second_name_goes(self, path: str) -> Iterator[Step]:
        """One of two names goes, and a new file comes."""
        yield self._step("LINK", path, self._free())
        yield self._step("REMOVE", path)
        yield self._step("CREATE", path, how="GUARDED", mode=0o644)

    def there_and_back(self, path: str) -> Iterator[Step]:
        """Names in one directory change, and change back."""
        new = self._free()
        yield self._step("RENAME", path, new)
        yield self._step("RENAME", new, path)
        yield self._step("LIST", "")

    def large_write(self, path: str) -> Iterator[Step]:
        """More than 64 KiB at an offset that is no multiple of anything; 1 MiB at times."""
        rng = self._random
        size = LARGE[-1] if rng.random() < 0.2 else rng.choice(LARGE[:-1]) + rng.randrange(3)
        offset = rng.choice((1, 3, 511, 4095, 65_537, 131_073))
        yield self._step("WRITE", path, offset=offset, size=size, level=rng.choice((0, 2)))
        yield self._step("WRITE", path, offset=rng.choice(OFFSETS), size=rng.choice(SIZES), level=2)

    def size_below_and_above(self, path: str) -> Iterator[Step]:
        """Data that a smaller size cuts off must not come back with a larger one, nor with a WRITE beyond the end."""
        rng = self._random
        yield self._step(
            "WRITE", path, offset=0, size=rng.choice((100, 4097, 8000)), level=rng.choice((0, 2))
        )
        yield self._step("SETATTR", path, size=rng.choice((1, 3, 50)))
        yield self._step("SETATTR", path, size=rng.choice((100, 4096, 10_000)))
        yield self._step("SETATTR", path, size=rng.choice((0, 1, 3)))
        yield self._step(
            "WRITE", path, offset=rng.choice((100, 5000, 8191)), size=100, level=rng.choice((0, 2))
        )

    def created_again(self, path: str) -> Iterator[Step]:
        """CREATE of a file that exists, in each mode."""
        rng = self._random
        mode = rng.choice(MODES)
        yield self._step("CREATE", self._free(), how="EXCLUSIVE", mode=mode)
        yield self._step("WRITE", path, offset=0, size=100, level=2)
        yield self._step("CREATE", path, how="GUARDED", mode=mode)
        yield self._step("CREATE", path, how="EXCLUSIVE", mode=mode)
        yield self._step("CREATE", path, how="UNCHECKED", mode=mode, size=rng.choice((None, 0)))
        yield self._step("CREATE", path, how="UNCHECKED", mode=mode, size=0)

    def linked_directory(self, path: str) -> Iterator[Step]:
        """A symbolic link, and a directory that moves with what is in it."""
        place, free = self._free(), self._free()
        yield self._step("SYMLINK", free, text=self._random.choice(TEXTS))
        yield self._step("MKDIR", place, mode=0o755)
        if self._world.has_room(f"{place}/a"):
            yield self._step("RENAME", path, f"{place}/a")
            yield self._step("RENAME", place, self._free())


PHRASES: t.Final = (
    Drawing.second_unstable_write,
    Drawing.replaced_link,
    Drawing.attributes_together,
    Drawing.change_between_listings,
    Drawing.second_name_goes,
    Drawing.there_and_back,
    Drawing.large_write,
    Drawing.size_below_and_above,
    Drawing.created_again,
    Drawing.linked_directory,
)


def _inside(directory: str) -> list[str]:
    return [f"{directory}/{name}" if directory else name for name in NAMES]


def imitate(world: World, step: Step) -> None:
    """What a server makes of a step that it neither refuses nor shortens."""
    there = world.find(step.path)
    if step.verb in MAKING and there is None:
        world.add(step.path, Thing(t.cast("Kind", MAKING[step.verb])))
        return
    assert there is not None, step.path
    match step.verb:
        case "CREATE":
            if step.how == "UNCHECKED" and step.size == 0:
                there.resize(0)
        case "LINK":
            world.add(step.other, there)
        case "REMOVE" | "RMDIR":
            world.remove(step.path)
        case "RENAME":
            world.rename(step.path, step.other)
        case "WRITE":
            there.write(step.offset, step.data)
        case "SETATTR":
            if step.size is not None:
                there.resize(step.size)
