# SPDX-License-Identifier: MIT
"""The changes that programs make, and a model of a file and its directory that says what they do to it.

`CHANGES` is the table: for each change the calls, and its effects on the model. `suites.pairs` makes them in pairs, and
compares what two clients see with the model.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fixtures.checks.scratch import Scratch
from nfsjudge import Nonconformance, Requirement, expect, observe, skip
from suites.common_client import Answer, CommonClient, Seen

T = t.TypeVar("T")
_PAST: t.Final = 1_000_000_000
"""A time in 2001 that a change sets; further ones are a day apart."""
_DAY: t.Final = 86_400
FEW: t.Final = 900
"""Bytes in a new file: few, for servers that read a few at a time."""
PAIRS: t.Final = 3
"""About how many changes come second after each one on our own server (`budget`)."""
WHOLE: t.Final = 10_000
"""Bytes in a new file where each change is made once: more than the pages of most servers."""
_NOENT: t.Final = 2
_TWICE: t.Final = frozenset({_NOENT, 17})
"""NOENT and EXIST: what a change of names gets that was made before."""
_FHEXPIRED: t.Final = 10014
_MOST_EXPIRIES: t.Final = 3
"""How often a handle may expire before one call reaches its object."""
_INVAL: t.Final = 22


@dataclass(frozen=True)
class Clauses:
    """What each kind of deviation breaks in one version of NFS."""

    data: Requirement
    zeros: Requirement
    """Bytes of an extension or a gap are not zero."""
    attributes: Requirement
    """Type and size."""
    sets: Requirement
    """SETATTR has no effect."""
    mtime_moves: Requirement
    size_moves_mtime: Requirement
    """SETATTR of the size leaves mtime as it was."""
    mtime_stays: Requirement
    fileid_stays: Requirement
    counts_links: Requirement
    finds: Requirement
    """LOOKUP of a name that exists."""
    misses: Requirement
    """LOOKUP of a name that does not exist."""
    lists: Requirement
    one_file: Requirement
    """The handle of a removed file reaches another one."""
    works: Requirement
    """A change that must succeed is refused."""


@dataclass
class Thing:
    """An object with a handle that a client uses for a long time."""

    name: bytes
    handle: bytes
    was_moved: bool = False
    """It or its directory was renamed since its handle was found: the handle may be stale."""


@dataclass
class File(Thing):
    """What a regular file must be now."""

    data: bytes = b""
    links: int = 1
    mode: int | None = None
    mtime: int | None = None
    """What SETATTR has set, unless the data changed since then."""
    no_mtime: int | None = None
    """What mtime must not be: the data has changed since SETATTR set it."""
    is_resized_only: bool = False
    """Whether only the size has changed since then."""
    fileid: int | None = None

    def changes_data(self, data: bytes, *, is_resize: bool = False) -> None:
        """The data is this now. `is_resize`: by SETATTR of the size."""
        self.data = data
        if self.mtime is not None:
            self.no_mtime, self.mtime, self.is_resized_only = self.mtime, None, is_resize
        self.is_resized_only &= is_resize


class NotAvailable(Exception):
    """The server does not make this change, and need not."""


class NotSetUp(Exception):
    """Nothing is known of the changes: their file is not made, or a call may have been executed twice."""


@dataclass
class World:
    """A directory with a file, both clients, and what must be true."""

    maker: CommonClient
    """Makes the changes."""
    other: CommonClient
    scratch: Scratch[t.Any, t.Any]
    clauses: Clauses
    has_links: bool
    size: int = FEW
    """Bytes in a new file."""
    handles_may_expire: bool = False
    """Handles are volatile (fh_expire_type): calls may answer FHEXPIRED at any time (RFC 5661 section 4.2.3)."""
    home: Thing = field(init=False)
    file: File = field(init=False)
    entries: dict[bytes, File | None] = field(default_factory=dict)
    """The names in `home`; None for directories."""
    linked: dict[bytes, File] = field(default_factory=dict)
    """The names in the directory above, besides that of `home`."""
    absent: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Names that the changes of this pair took away: directory and name."""
    gone: list[File] = field(default_factory=list)
    """Files whose last name the changes of this pair took away."""
    keeps_mode: bool = False
    keeps_mtime: bool = False
    counts_links: bool = False
    pair: int = 0
    """Which one: odd and even ones differ in details."""
    weak: Nonconformance | None = None
    """The first deviation of this pair that is no failure."""
    _count: int = 0
    _copies: int = 0
    """What the clients had sent again before this pair."""

    def __post_init__(self) -> None:
        self.begin()
        self.new_file()
        self._find_out()
        self.tidy()

    def begin(self) -> None:
        """A new directory, with nothing in it."""
        name = b"h%d" % self.number()
        self.home = Thing(name, self.scratch.directory(name))
        for known in (self.entries, self.linked, self.absent, self.gone):
            known.clear()

    def connect_again(self) -> None:
        """After SYSTEM_ERR: new connections for both clients."""
        self.maker.connect_again()
        self.other.connect_again()

    def new_file(self) -> None:
        """A new file, which both clients have looked at."""
        self._copies, self.weak = self._copies_sent(), None
        name, data = b"f%d" % self.number(), self.pattern(self.size)
        handle = self.scratch.file(name, data, directory=self.home.handle)
        self.file = self.entries[name] = File(name, handle, data=data)
        self.maker.getattr(handle)
        self.other.look(handle, self.size)
        self.other.lookup(self.home.handle, name)
        self.other.page(self.home.handle)

    def tidy(self) -> None:
        """Remove the file and its hard links, or go on in another directory if that is refused."""
        removed = [self.maker.remove(self.home.handle, self.file.name)]
        removed += [self.maker.remove(self.scratch.handle, name) for name in self.linked]
        if not all(answer.succeeded for answer in removed):
            self.begin()
            return
        del self.entries[self.file.name]
        self.linked.clear()

    def _find_out(self) -> None:
        """Whether mode, mtime and nlink are kept while nothing else happens; other checks judge that."""
        kept = [
            self._sets(mode=0o640) and self._look().mode,
            self._sets(mtime=_PAST) and self._look().mtime,
        ]
        self.keeps_mode = bool(kept[0]) and int(kept[0] or 0) & 0o777 == 0o640
        self.keeps_mtime = kept[1] == _PAST
        if self.has_links:
            before = self._look().nlink
            self.link()
            self.counts_links = (before, self._look().nlink) == (1, 2)
        shown = {"mode": self.keeps_mode, "mtime": self.keeps_mtime, "nlink": self.counts_links}
        observe("not compared", ", ".join(name for name, kept in shown.items() if not kept) or "nothing")

    def _sets(self, *, mode: int | None = None, mtime: int | None = None) -> bool:
        answer = self.use(
            self.file, self.maker, lambda handle: self.maker.set(handle, mode=mode, mtime=mtime)
        )
        return answer.succeeded

    def _look(self) -> Seen:
        answer = self.use(self.file, self.maker, self.maker.getattr)
        if answer.value is None:
            skip(f"the attributes of a new file cannot be read: GETATTR answers {answer.reply.status}")
        return answer.value

    # ------------------------------------------------------------ calls that were sent again

    def _copies_sent(self) -> int:
        return self.maker.copies_sent() + self.other.copies_sent()

    @property
    def is_unclear(self) -> bool:
        """Whether a call of this pair was sent again: the copy may have been executed late, after other calls."""
        return self._copies_sent() != self._copies

    # ------------------------------------------------------------ what changes need

    def number(self) -> int:
        """A number that is used once: names, modes and times differ from all before."""
        self._count += 1
        return self._count

    def pattern(self, size: int) -> bytes:
        """Data without zeros that differs from all before."""
        salt = self.number() * 41
        period = bytes(1 + (salt + at * 7) % 255 for at in range(255))
        return (period * (size // 255 + 1))[:size]

    def link(self) -> None:
        """A hard link, as set-up."""
        name = b"l%d" % self.number()
        if self.handles_may_expire:
            self.use(self.file, self.maker, self.maker.getattr)
        self.scratch.link(self.file.handle, name)
        self.linked[name] = self.file
        self.file.links += 1

    def use(self, thing: Thing, client: CommonClient, call: Callable[[bytes], Answer[T]]) -> Answer[T]:
        """A call by the handle of `thing`: by a new one if a rename has made the handle stale, or if it has expired."""
        answer = call(thing.handle)
        for _ in range(_MOST_EXPIRIES):
            # The directory of the check has no name here: it cannot be found again.
            is_expired = (
                self.handles_may_expire and thing.name != b"" and int(answer.reply.status) == _FHEXPIRED
            )
            is_lost = thing.was_moved and (answer.has_lost_handle or int(answer.reply.status) == _NOENT)
            if not is_expired and not is_lost:
                break
            observe("handles", "expired" if is_expired else "stale after a rename")
            self._find_again(thing, client)
            answer = call(thing.handle)
        return answer

    def _find_again(self, thing: Thing, client: CommonClient) -> None:
        """Another handle for the object, by its name."""
        if thing is self.home:
            found = client.lookup(self.scratch.handle, thing.name)
        else:
            found = self.use(self.home, client, lambda where: client.lookup(where, thing.name))
        expect(found.reply, because=self.clauses.finds).ok()
        assert found.value is not None
        thing.handle, thing.was_moved = found.value[0], False

    def need(self, thing: Thing, client: CommonClient, call: Callable[[bytes], Answer[T]]) -> T | None:
        """The value of a call that must succeed."""
        answer = self.use(thing, client, call)
        expect(answer.reply, because=self.clauses.works).ok()
        return answer.value

    def need_names(self, thing: Thing, client: CommonClient, call: Callable[[bytes], Answer[T]]) -> T | None:
        """The value of a change of names that must succeed. Raises `NotSetUp` if it may have been made twice.

        Over UDP a call may have been sent again, and JUKEBOX says that the server has begun: a server need not remember
        what it has done (RFC 1831 section 4).
        """
        repeated = client.calls_repeated()
        answer = self.use(thing, client, call)
        if int(answer.reply.status) in _TWICE and client.calls_repeated() != repeated:
            raise NotSetUp(
                f"a call was made again, and answers {answer.reply.status}: it may have been executed twice"
            )
        expect(answer.reply, because=self.clauses.works).ok()
        return answer.value

    def write(self, client: CommonClient, offset: int, data: bytes) -> None:
        """Write all of `data`, in as many calls as the server wants."""
        at = 0
        while at < len(data):
            begins = at

            def call(handle: bytes, begins: int = begins) -> Answer[int]:
                return client.write(handle, offset + begins, data[begins:])

            answer = self.use(self.file, client, call)
            if int(answer.reply.status) == _INVAL and offset > len(self.file.data):
                raise NotAvailable("the server makes no gaps in files")
            expect(answer.reply, because=self.clauses.works).ok()
            if not answer.value:
                skip("WRITE takes no data: it answers OK with count 0")
            at += answer.value

    @contextlib.contextmanager
    def weakly(self) -> Iterator[None]:
        """Put off a deviation that is no failure."""
        try:
            yield
        except Nonconformance as found:
            if is_failure(found):
                raise
            self.weak = self.weak or found


def is_failure(found: Nonconformance) -> bool:
    return found.requirement is None or found.requirement.is_red(found.outcome)


# ---------------------------------------------------------------- the table of changes


@dataclass(frozen=True)
class Change:
    """One change: `make` makes it and says what it does to the model. `arrange` is called before a pair."""

    make: Callable[[World, CommonClient], None]
    arrange: Callable[[World], None] = lambda _world: None


def _write(world: World, client: CommonClient) -> None:
    """Over the last bytes and beyond the end."""
    more, data = world.pattern(300), world.file.data[:-50]
    world.write(client, len(data), more)
    world.file.changes_data(data + more)


def _write_beyond(world: World, client: CommonClient) -> None:
    more, at = world.pattern(40), len(world.file.data) + 150
    world.write(client, at, more)
    world.file.changes_data(world.file.data.ljust(at, b"\0") + more)


def _resize(world: World, client: CommonClient, size: int) -> None:
    world.need(world.file, client, lambda handle: client.set(handle, size=size))
    world.file.changes_data(world.file.data[:size].ljust(size, b"\0"), is_resize=True)


def _shorten(world: World, client: CommonClient) -> None:
    _resize(world, client, len(world.file.data) * 2 // 3)


def _extend(world: World, client: CommonClient) -> None:
    _resize(world, client, len(world.file.data) + 250)


def _set_mode(world: World, client: CommonClient) -> None:
    if not world.keeps_mode:
        raise NotAvailable("the server does not keep modes")
    mode = (0o600, 0o640, 0o644, 0o660)[world.number() % 4]
    world.need(world.file, client, lambda handle: client.set(handle, mode=mode))
    world.file.mode = mode


def _set_mtime(world: World, client: CommonClient) -> None:
    if not world.keeps_mtime:
        raise NotAvailable("the server does not set mtime")
    time = _PAST + _DAY * world.number()
    world.need(world.file, client, lambda handle: client.set(handle, mtime=time))
    world.file.mtime, world.file.no_mtime = time, None


def _rename(world: World, client: CommonClient) -> None:
    file, home, name = world.file, world.home, b"r%d" % world.number()
    world.need_names(home, client, lambda where: client.rename(where, file.name, name))
    _has_name(world, name)


def _has_name(world: World, name: bytes) -> None:
    """The file has another name in its directory."""
    file, home = world.file, world.home
    del world.entries[file.name]
    world.absent.append((home.handle, file.name))
    world.entries[name] = file
    file.name, file.was_moved = name, True


def _rename_directory(world: World, client: CommonClient) -> None:
    home, name = world.home, b"h%d" % world.number()
    top = Thing(b"", world.scratch.handle)
    world.need_names(top, client, lambda where: client.rename(where, home.name, name))
    world.absent.append((top.handle, home.name))
    home.name = name
    home.was_moved = world.file.was_moved = True


def _link_or_unlink(world: World, client: CommonClient) -> None:
    if not world.has_links:
        raise NotAvailable("the server has no hard links")
    top = world.scratch.handle
    if world.linked:
        name, file = world.linked.popitem()
        world.need_names(Thing(b"", top), client, lambda where: client.remove(where, name))
        world.absent.append((top, name))
        _loses_name(world, file)
        return
    name = b"l%d" % world.number()
    world.need_names(world.file, client, lambda handle: client.link(handle, top, name))
    world.linked[name] = world.file
    world.file.links += 1


def _arrange_link(world: World) -> None:
    """In every other pair."""
    if world.has_links and world.pair % 2 and not world.linked:
        world.link()


def _loses_name(world: World, file: File) -> None:
    file.links -= 1
    if not file.links:
        world.gone.append(file)


def _recreate(world: World, client: CommonClient) -> None:
    old, home = world.file, world.home
    world.need_names(home, client, lambda where: client.remove(where, old.name))
    _loses_name(world, old)
    handle = world.need_names(home, client, lambda where: client.create(where, old.name))
    if not handle:  # it may be withheld
        found = world.need(home, client, lambda where: client.lookup(where, old.name))
        assert found is not None
        handle = found[0]
    world.file = world.entries[old.name] = File(old.name, handle)


def _arrange_target(world: World) -> None:
    name, data = b"t%d" % world.number(), world.pattern(60)
    handle = world.scratch.file(name, data, directory=world.home.handle)
    world.entries[name] = File(name, handle, data=data)


def _replace(world: World, client: CommonClient) -> None:
    file, home = world.file, world.home
    name, target = next(
        (name, node) for name, node in world.entries.items() if name.startswith(b"t") and node is not file
    )
    assert target is not None
    world.need_names(home, client, lambda where: client.rename(where, file.name, name))
    _has_name(world, name)
    _loses_name(world, target)


def _make_or_remove_directory(world: World, client: CommonClient) -> None:
    home = world.home
    name = next((name for name, file in world.entries.items() if file is None), b"")
    if name:
        world.need_names(home, client, lambda where: client.rmdir(where, name))
        del world.entries[name]
        world.absent.append((home.handle, name))
        return
    world.need_names(home, client, lambda where: client.mkdir(where, b"d"))
    world.entries[b"d"] = None
    world.absent = [entry for entry in world.absent if entry[1] != b"d"]


CHANGES: t.Final[dict[str, Change]] = {
    "write": Change(_write),
    "write-beyond": Change(_write_beyond),
    "shorten": Change(_shorten),
    "extend": Change(_extend),
    "mode": Change(_set_mode),
    "mtime": Change(_set_mtime),
    "rename": Change(_rename),
    "rename-directory": Change(_rename_directory),
    "hard-link": Change(_link_or_unlink, _arrange_link),
    "recreate": Change(_recreate),
    "replace": Change(_replace, _arrange_target),
    "directory": Change(_make_or_remove_directory),
}
"""The table: what programs do most. Those of hard links and directories make one, or remove the one that is there."""
