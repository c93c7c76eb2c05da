# SPDX-License-Identifier: MIT
"""Two changes in a row, as programs make them, and what must be true afterwards.

Many faults of servers show only in the second of two changes: what was truncated comes back when the file grows, a
file cannot be written after its directory was renamed, a time that was set is replaced by that of an earlier write.
`CHANGES` is the table: for each change the calls, and its effects on the model. `every_pair` makes one of them before
each of them, and after each pair compares what two clients see with the model:

| the client that made the changes | another client, on another connection |
| --- | --- |
| GETATTR and READ by the handle that it has | LOOKUP, GETATTR and READ by the name; LOOKUP of the hard link |
| READ by the handle of a file that is gone | LOOKUP of names that are gone |
| after each second pair: the listing of the directory | after the others: the listing |
| after the others: LOOKUP of names that are gone | |

Each pair has a new file, which both have looked at, so that whatever the server caches of it is in its caches. The
directory is the same for all pairs.

What the model leaves open: handles may become stale when an object or its directory is renamed (they are looked up
again), the handle of a removed file may work or not, times may be coarse (the model compares only with a time of the
past that it set itself), mode, nlink and times count only where the server keeps them when nothing else happens. A
deviation that is no failure does not end the check: a later pair may show one that is. `every_change` makes each change
alone; what is wrong there is left out of the pairs.
"""

from __future__ import annotations

import contextlib
import functools
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fixtures.checks.scratch import Scratch
from nfsjudge import (
    Nonconformance,
    Requirement,
    expect,
    expect_data,
    expect_names,
    expect_that,
    observe,
    show,
    skip,
    unsupported,
)
from suites.common_client import Answer, CommonClient, Entry, Seen

T = t.TypeVar("T")
_PAST: t.Final = 1_000_000_000
"""A time in 2001 that a change sets; further ones are a day apart."""
_DAY: t.Final = 86_400
_SIZE: t.Final = 900
"""Bytes in a new file: few, for servers that read a few at a time."""
_NOENT: t.Final = 2
_INVAL: t.Final = 22
_MOST_PAGES: t.Final = 100


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
    fileid: int | None = None

    def changes_data(self, data: bytes) -> None:
        self.data = data
        if self.mtime is not None:
            self.no_mtime, self.mtime = self.mtime, None


class NotAvailable(Exception):
    """The server does not make this change, and need not."""


@dataclass
class World:
    """A directory with a file, both clients, and what must be true."""

    one: CommonClient
    """Makes the changes."""
    other: CommonClient
    scratch: Scratch[t.Any, t.Any]
    clauses: Clauses
    has_links: bool
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

    def new_file(self) -> None:
        """A new file, which both clients have looked at."""
        name, data = b"f%d" % self.number(), self.pattern(_SIZE)
        handle = self.scratch.file(name, data, directory=self.home.handle)
        self.file = self.entries[name] = File(name, handle, data=data)
        for client in (self.one, self.other):
            client.look(handle, _SIZE)
        self.other.lookup(self.home.handle, name)
        self.other.page(self.home.handle)

    def tidy(self) -> None:
        """Remove the file and its hard links."""
        self.one.remove(self.home.handle, self.file.name)
        del self.entries[self.file.name]
        for name in self.linked:
            self.one.remove(self.scratch.handle, name)
        self.linked.clear()

    def _find_out(self) -> None:
        """Whether mode, mtime and nlink are kept while nothing else happens; other checks judge that."""
        handle = self.file.handle
        kept = [
            self.one.set(handle, mode=0o640).succeeded and self._look(handle).mode,
            self.one.set(handle, mtime=_PAST).succeeded and self._look(handle).mtime,
        ]
        self.keeps_mode = bool(kept[0]) and int(kept[0] or 0) & 0o777 == 0o640
        self.keeps_mtime = kept[1] == _PAST
        if self.has_links:
            before = self._look(handle).nlink
            self.link()
            self.counts_links = (before, self._look(handle).nlink) == (1, 2)
        shown = {"mode": self.keeps_mode, "mtime": self.keeps_mtime, "nlink": self.counts_links}
        observe("not compared", ", ".join(name for name, kept in shown.items() if not kept) or "nothing")

    def _look(self, handle: bytes) -> Seen:
        answer = self.one.getattr(handle)
        if answer.value is None:
            skip(f"the attributes of a new file cannot be read: GETATTR answers {answer.reply.status}")
        return answer.value

    # ------------------------------------------------------------ what changes need

    def number(self) -> int:
        """A number that is used once: names, modes and times differ from all before."""
        self._count += 1
        return self._count

    def pattern(self, size: int) -> bytes:
        """Data without zeros that differs from all before."""
        salt = self.number() * 41
        return bytes(1 + (salt + at * 7) % 255 for at in range(size))

    def link(self) -> None:
        """A hard link, as set-up."""
        name = b"l%d" % self.number()
        self.scratch.link(self.file.handle, name)
        self.linked[name] = self.file
        self.file.links += 1

    def use(self, thing: Thing, client: CommonClient, call: Callable[[bytes], Answer[T]]) -> Answer[T]:
        """A call by the handle of `thing`: by a new one if a rename has made the handle stale."""
        answer = call(thing.handle)
        if not (thing.was_moved and (answer.has_lost_handle or int(answer.reply.status) == _NOENT)):
            return answer
        observe("handles after a rename", "stale")
        if thing is self.home:
            found = client.lookup(self.scratch.handle, thing.name)
        else:
            found = self.use(self.home, client, lambda where: client.lookup(where, thing.name))
        expect(found.reply, because=self.clauses.finds).ok()
        assert found.value is not None
        thing.handle, thing.was_moved = found.value[0], False
        return call(thing.handle)

    def need(self, thing: Thing, client: CommonClient, call: Callable[[bytes], Answer[T]]) -> T | None:
        """The value of a call that must succeed."""
        answer = self.use(thing, client, call)
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
            if _is_failure(found):
                raise
            self.weak = self.weak or found


def _is_failure(found: Nonconformance) -> bool:
    return found.requirement is None or found.requirement.is_binding or found.requirement.harm is not None


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
    world.file.changes_data(world.file.data[:size].ljust(size, b"\0"))


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
    world.need(home, client, lambda where: client.rename(where, file.name, name))
    _has_name(world, name)


def _has_name(world: World, name: bytes) -> None:
    """The file has another name in its directory."""
    file, home = world.file, world.home
    del world.entries[file.name]
    world.absent.append((home.handle, file.name))
    world.entries[name] = file
    file.name, file.was_moved = name, True


def _rename_directory(world: World, client: CommonClient) -> None:
    home, top, name = world.home, world.scratch.handle, b"h%d" % world.number()
    expect(client.rename(top, home.name, name).reply, because=world.clauses.works).ok()
    world.absent.append((top, home.name))
    home.name = name
    home.was_moved = world.file.was_moved = True


def _link_or_unlink(world: World, client: CommonClient) -> None:
    if not world.has_links:
        raise NotAvailable("the server has no hard links")
    top = world.scratch.handle
    if world.linked:
        name, file = world.linked.popitem()
        expect(client.remove(top, name).reply, because=world.clauses.works).ok()
        world.absent.append((top, name))
        _loses_name(world, file)
        return
    name = b"l%d" % world.number()
    world.need(world.file, client, lambda handle: client.link(handle, top, name))
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
    world.need(home, client, lambda where: client.remove(where, old.name))
    _loses_name(world, old)
    handle = world.need(home, client, lambda where: client.create(where, old.name))
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
        (name, one) for name, one in world.entries.items() if name.startswith(b"t") and one is not file
    )
    assert target is not None
    world.need(home, client, lambda where: client.rename(where, file.name, name))
    _has_name(world, name)
    _loses_name(world, target)


def _make_or_remove_directory(world: World, client: CommonClient) -> None:
    home = world.home
    name = next((name for name, file in world.entries.items() if file is None), b"")
    if name:
        world.need(home, client, lambda where: client.rmdir(where, name))
        del world.entries[name]
        world.absent.append((home.handle, name))
        return
    world.need(home, client, lambda where: client.mkdir(where, b"d"))
    world.entries[b"d"] = None
    world.absent = [one for one in world.absent if one[1] != b"d"]


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


# ---------------------------------------------------------------- what must be true


def _judge_attributes(world: World, seen: Seen, file: File, by: str, last: str = "") -> None:
    """Attributes of a file, as one client sees them after a pair that ends with the change `last`."""
    clauses = world.clauses
    expect(seen.is_file, f"regular file by {by}", because=clauses.attributes).is_true()
    expect(seen.size, f"size by {by}", because=clauses.attributes).equals(len(file.data))
    if file.mode is not None and seen.mode is not None:
        expect(seen.mode & 0o777, f"permission bits by {by}", because=clauses.sets).equals(file.mode)
    with world.weakly():
        if file.mtime is not None and seen.mtime is not None:
            because = clauses.sets if last == "mtime" else clauses.mtime_stays
            expect(seen.mtime, f"mtime by {by}", because=because).equals(file.mtime)
        if file.no_mtime is not None:
            expect(seen.mtime, f"mtime by {by}", because=clauses.mtime_moves).differs_from(file.no_mtime)
    with world.weakly():
        if world.counts_links and seen.nlink is not None:
            expect(seen.nlink, f"nlink by {by}", because=clauses.counts_links).equals(file.links)
    with world.weakly():
        if file.fileid is None:
            file.fileid = seen.fileid
        elif seen.fileid is not None:
            expect(seen.fileid, f"fileid by {by}", because=clauses.fileid_stays).equals(file.fileid)


def _judge_file(world: World, client: CommonClient, thing: Thing, by: str, last: str) -> None:
    """Attributes and data of the file, as one client sees them by a handle."""
    most = len(world.file.data) + 1000
    found = world.need(thing, client, lambda handle: client.look(handle, most))
    assert found is not None
    seen, data, at_end = found
    _judge_attributes(world, seen, world.file, f"GETATTR of {by}", last)
    while not at_end and len(data) < most:
        answer = client.read(thing.handle, len(data), most - len(data))
        expect(answer.reply, because=world.clauses.data).ok()
        piece, at_end = answer.value or (b"", True)
        data += piece
        at_end = at_end or not piece
    _judge_data(world, data, f"READ of {by}")


def _judge_data(world: World, data: bytes, by: str) -> None:
    wanted, clauses = world.file.data, world.clauses
    differs = next((at for at, (a, b) in enumerate(zip(data, wanted, strict=False)) if a != b), None)
    is_gap = differs is not None and not wanted[differs]
    expect_data(data, wanted, f"data by {by}", because=clauses.zeros if is_gap else clauses.data)


def _look_by_name(world: World, last: str) -> None:
    """What another client sees, by the names."""
    client, home, file, by = world.other, world.home, world.file, "another client"
    found = world.need(home, client, lambda where: client.lookup(where, file.name))
    assert found is not None
    handle, seen = found
    if seen is not None:
        _judge_attributes(world, seen, file, f"LOOKUP of {by}", last)
    _judge_file(world, client, Thing(file.name, handle), by, last)
    if world.linked:
        name, linked = next(reversed(world.linked.items()))
        answer = client.lookup(world.scratch.handle, name)
        expect(answer.reply, because=world.clauses.finds).ok()
        if answer.value is not None and answer.value[1] is not None:
            _judge_attributes(world, answer.value[1], linked, f"LOOKUP of its hard link by {by}", last)


def _look_for_gone(world: World, clients: list[CommonClient]) -> None:
    """Names that are gone are not found, and handles of files that are gone reach no other file."""
    for client in clients:
        for where, name in world.absent:
            here = where if where == world.scratch.handle else world.home.handle
            if client.lookup(here, name).succeeded:
                what = f"LOOKUP of {show(name)}, which is gone"
                expect_that(False, "no such name", "a handle", what, because=world.clauses.misses)
    for old in world.gone:
        answer = world.one.read(old.handle, 0, len(old.data) + 10)
        if answer.value is not None:
            data, wanted = answer.value[0], old.data[: len(answer.value[0])]
            expect_data(
                data, wanted, "data by the handle of the removed file", because=world.clauses.one_file
            )
    world.absent.clear()
    world.gone.clear()


def _look_at_list(world: World, client: CommonClient, by: str) -> None:
    listed: list[Entry] = []
    at: t.Any = None
    for _ in range(_MOST_PAGES):
        page = world.need(world.home, client, functools.partial(client.page, at=at))
        assert page is not None
        listed += page.entries
        at = page.next
        if at is None:
            break
    expect_names([one.name for one in listed], world.entries, f"names by {by}", because=world.clauses.lists)
    for name, seen in listed:
        file = world.entries[name]
        if seen is not None and file is not None:
            _judge_attributes(world, seen, file, f"the entry of {show(name)} in a listing by {by}")


# ---------------------------------------------------------------- pairs


@contextlib.contextmanager
def _of(changes: str) -> Iterator[None]:
    """Failures inside say which changes they are about."""
    try:
        yield
    except Nonconformance as found:
        raise Nonconformance(
            what=f"{found.what} after {changes}",
            expected=found.expected,
            observed=found.observed,
            requirement=found.requirement,
            subject=found.subject,
            field=found.field,
            claim=found.claim,
        ) from None


def _look(world: World, last: str) -> None:
    """Compare all that both clients see with the model. What both see the same way, they look at by turns."""
    one, other = "the client that made the changes", "another client"
    _judge_file(world, world.one, world.file, one, last)
    _look_by_name(world, last)
    if world.pair % 2:
        _look_at_list(world, world.one, one)
    else:
        _look_at_list(world, world.other, other)
    _look_for_gone(world, [world.other] if world.pair % 2 else [world.one, world.other])


def _make(world: World, *changes: str) -> None:
    """Make changes of a new file, and look. Raises `Nonconformance`, `NotAvailable`."""
    world.new_file()
    for name in changes:
        CHANGES[name].arrange(world)
    for name in changes:
        CHANGES[name].make(world, world.one)
    _look(world, changes[-1])
    world.tidy()
    if world.weak is not None:
        found, world.weak = world.weak, None
        raise found


def _is_wrong_alone(world: World, name: str) -> bool:
    world.begin()
    try:
        _make(world, name)
    except (Nonconformance, NotAvailable):
        return True
    finally:
        world.begin()
    return False


def every_change(world: World) -> None:
    """Make each change alone, and look."""
    left_out: list[str] = []
    weak: Nonconformance | None = None
    for name in CHANGES:
        try:
            with _of(name):
                _make(world, name)
        except NotAvailable:
            left_out.append(name)
            world.begin()
        except Nonconformance as found:
            if _is_failure(found):
                raise
            weak = weak or found
    _finish(left_out, weak)


def every_pair(world: World, first: str) -> None:
    """Make the change `first` before each of the changes, and look after each pair.

    What one of the two changes does wrong alone is the failure of the check that makes it alone.
    """
    left_out: list[str] = []
    weak: Nonconformance | None = None
    for world.pair, second in enumerate(CHANGES, [*CHANGES].index(first)):
        try:
            with _of(f"{first}, then {second}"):
                _make(world, first, second)
        except NotAvailable as reason:
            if _is_wrong_alone(world, first):
                unsupported(f"{first}: {reason}")
            left_out.append(second)
        except Nonconformance as found:
            if _is_wrong_alone(world, first):
                skip(f"{first} alone is wrong, which the check single judges")
            if _is_wrong_alone(world, second):
                left_out.append(second)
            elif _is_failure(found):
                raise
            else:
                weak = weak or found
    _finish(left_out, weak)


def _finish(left_out: list[str], weak: Nonconformance | None) -> None:
    if left_out:
        observe("left out", ", ".join(left_out))
    if weak is not None:
        raise weak
