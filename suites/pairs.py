# SPDX-License-Identifier: MIT
"""Two changes in a row, as programs make them, and what must be true afterwards.

Many faults of servers show only in the second of two changes: what was truncated comes back when the file grows, a
file cannot be written after its directory was renamed, a time that was set is replaced by that of an earlier write.
`suites.changes` has the table of changes, and the model that they change. `every_pair` makes one of them before each of
them, and after each pair compares what two clients see with the model:

| the client that made the changes | another client, on another connection |
| --- | --- |
| GETATTR and READ by the handle that it has | LOOKUP, GETATTR and READ by the name; LOOKUP of the hard link |
| READ by the handle of a file that is gone | LOOKUP of names that are gone |
| after each second pair: the listing of the directory | after the others: the listing |
| after the others: LOOKUP of names that are gone | |

Each pair has a new file, which both have looked at, so that whatever the server caches of it is in its caches. The
directory is the same for all pairs. On our own server each change comes second after a third of the others (`seconds`).

What the model leaves open: handles may become stale when an object or its directory is renamed (they are looked up
again), the handle of a removed file may work or not, times may be coarse (the model compares only with a time of the
past that it set itself), mode, nlink and times count only where the server keeps them when nothing else happens. A
deviation that is no failure does not end the check: a later pair may show one that is. Nor does SYSTEM_ERR, which
ends it as VOID after the last pair. `every_change` makes each change alone; what is wrong there is left out of the
pairs.
"""

from __future__ import annotations

import contextlib
import functools
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass, field

from nfsclient.errors import SystemErr
from nfsjudge import (
    Nonconformance,
    expect,
    expect_data,
    expect_names,
    expect_that,
    observe,
    show,
    skip,
    unsupported,
)
from nfsjudge.outcome import NotJudged, as_spoken
from suites.changes import CHANGES, File, NotAvailable, NotSetUp, Thing, World, is_failure
from suites.common_client import CommonClient, Entry, Seen

_MOST_PAGES: t.Final = 100
_SHOWS_MOST: t.Final = "extend"
"""The change that always comes second: the size, the data and the times show whether it was made."""

# ---------------------------------------------------------------- what must be true


def _judge_attributes(world: World, seen: Seen, file: File, by: str, last: str = "") -> None:
    """Attributes of a file, as one client sees them after a pair that ends with the change `last`."""
    clauses = world.clauses
    expect(seen.is_file, f"regular file by {by}", because=clauses.attributes).is_true()
    expect(seen.size, f"size by {by}", field="size", because=clauses.attributes).equals(len(file.data))
    if file.mode is not None and seen.mode is not None:
        expect(seen.mode & 0o777, f"permission bits by {by}", field="mode", because=clauses.sets).equals(
            file.mode
        )
    with world.weakly():
        if file.mtime is not None and seen.mtime is not None:
            because = clauses.sets if last == "mtime" else clauses.mtime_stays
            expect(seen.mtime, f"mtime by {by}", because=because).equals(file.mtime)
        if file.no_mtime is not None:
            because = clauses.size_moves_mtime if file.is_resized_only else clauses.mtime_moves
            expect(seen.mtime, f"mtime by {by}", because=because).differs_from(file.no_mtime)
    with world.weakly():
        if world.counts_links and seen.nlink is not None:
            expect(seen.nlink, f"nlink by {by}", field="nlink|numlinks", because=clauses.counts_links).equals(
                file.links
            )
    with world.weakly():
        if file.fileid is None:
            file.fileid = seen.fileid
        elif seen.fileid is not None:
            expect(seen.fileid, f"fileid by {by}", field="fileid", because=clauses.fileid_stays).equals(
                file.fileid
            )


def _judge_file(world: World, client: CommonClient, thing: Thing, by: str, last: str) -> None:
    """Attributes and data of the file, as one client sees them by a handle."""
    most = len(world.file.data) + 1000
    found = world.need(thing, client, lambda handle: client.look(handle, most))
    assert found is not None
    seen, data, at_end = found
    _judge_attributes(world, seen, world.file, f"GETATTR of {by}", last)
    while not at_end and len(data) < most:
        at = len(data)
        reading = functools.partial(client.read, offset=at, count=most - at)
        answer = world.use(thing, client, reading)
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
        answer = world.maker.read(old.handle, 0, len(old.data) + 10)
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
    expect_names(
        [entry.name for entry in listed], world.entries, f"names by {by}", because=world.clauses.lists
    )
    for name, seen in listed:
        file = world.entries.get(name)
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
            outcome=found.outcome,
        ) from None


def _look(world: World, last: str) -> None:
    """Compare all that both clients see with the model. What both see the same way, they look at by turns."""
    first, other = "the client that made the changes", "another client"
    _judge_file(world, world.maker, world.file, first, last)
    _look_by_name(world, last)
    if world.pair % 2:
        _look_at_list(world, world.maker, first)
    else:
        _look_at_list(world, world.other, other)
    _look_for_gone(world, [world.other] if world.pair % 2 else [world.maker, world.other])


def _make(world: World, *changes: str) -> None:
    """Make changes of a new file, and look. Raises `Nonconformance`, `NotAvailable`, `NotSetUp`, `SystemErr`."""
    try:
        _arrange(world, *changes)
        for name in changes:
            CHANGES[name].make(world, world.maker)
        _look(world, changes[-1])
    except NotJudged as refused:  # for now, as by JUKEBOX: other pairs may be judged
        raise NotSetUp(str(refused)) from refused
    except Nonconformance as found:
        if world.is_unclear:
            raise NotSetUp("a call was sent again, and may have been executed late") from found
        raise
    world.tidy()
    if world.weak is not None:
        if world.is_unclear:
            raise NotSetUp("a call was sent again, and may have been executed late")
        raise world.weak


def _arrange(world: World, *changes: str) -> None:
    """Make the file, and what the changes need besides it."""
    try:
        world.new_file()
        for name in changes:
            CHANGES[name].arrange(world)
    except SystemErr as error:
        raise NotSetUp(error.seen) from error


def _explains(world: World, name: str, found: Nonconformance) -> bool:
    """Whether a change alone is refused or wrong, and as bad as what a pair with it shows.

    A change that alone breaks a SHOULD explains no failure: the failure is of the pair.
    """
    alone = _alone(world, name)
    if isinstance(alone, Nonconformance):
        return is_failure(alone) or not is_failure(found)
    return isinstance(alone, NotAvailable | SystemErr)


def _alone(world: World, name: str) -> Exception | None:
    """How a change ends that is made alone; None if all is well."""
    world.begin()
    try:
        _make(world, name)
    except (NotSetUp, SystemErr) as error:
        world.connect_again()
        return error
    except (NotAvailable, Nonconformance) as error:
        return error
    finally:
        world.begin()
    return None


@dataclass
class _Outcome:
    """What the changes of a check have shown that does not end it at once."""

    left_out: list[str] = field(default_factory=list)
    weak: Nonconformance | None = None
    """A deviation that is no failure."""
    fault: SystemErr | None = None
    """The server failed inside, of a pair whose changes it makes alone."""
    made: int = 0
    not_set_up: str = ""
    """Why a change or a pair could not be set up."""

    def leave_unmade(self, world: World, name: str, why: NotSetUp) -> None:
        """Go on with the others, in another directory."""
        self.left_out.append(name)
        self.not_set_up = self.not_set_up or str(why)
        world.connect_again()
        world.begin()

    def finish(self) -> None:
        """End the check unless all was well that the server has made. SKIP if that is nothing."""
        if self.left_out:
            observe("left out", ", ".join(self.left_out))
        if self.fault is not None:
            raise self.fault
        if self.weak is not None:
            raise self.weak
        if self.not_set_up and not self.made:
            skip(f"nothing could be set up: {self.not_set_up}")


def every_change(world: World) -> None:
    """Make each change alone, and look. A change that is refused, or cannot be set up, is left out."""
    outcome = _Outcome()
    for name in CHANGES:
        try:
            with _of(name):
                _make(world, name)
            outcome.made += 1
        except NotAvailable:
            outcome.left_out.append(name)
            world.begin()
        except NotSetUp as why:
            outcome.leave_unmade(world, name, why)
        except SystemErr as error:
            outcome.fault = outcome.fault or error
            world.connect_again()
            world.begin()
        except Nonconformance as found:
            if found.requirement == as_spoken(world.clauses.works):
                outcome.left_out.append(name)  # the checks of the operation judge whether it is refused
                world.begin()
            elif is_failure(found):
                raise
            else:
                outcome.weak = outcome.weak or found
    outcome.finish()


def seconds(first: str, most: int) -> list[str]:
    """The changes that come second after this one: all, or about `most`, evenly spread in the table, and `extend`.

    Each change then comes second after the same share of the others.
    """
    names = [*CHANGES]
    apart = max(1, len(names) // most)
    return [
        name
        for index, name in enumerate(names)
        if (index - names.index(first)) % apart == 0 or name == _SHOWS_MOST
    ]


def every_pair(world: World, first: str, most: int = len(CHANGES)) -> None:
    """Make the change `first` before each of the changes, or before about `most` of them, and look after each pair.

    What one of the two changes does wrong alone is the failure of the check that makes it alone, or of its operation.
    The same goes for SYSTEM_ERR: the other pairs are judged. A pair that cannot be set up is left out.
    """
    outcome, names = _Outcome(), [*CHANGES]
    for second in seconds(first, most):
        world.pair = names.index(first) + names.index(second)
        try:
            with _of(f"{first}, then {second}"):
                _make(world, first, second)
            outcome.made += 1
        except NotSetUp as why:
            outcome.leave_unmade(world, second, why)
        except NotAvailable as reason:
            if isinstance(_alone(world, first), NotAvailable):
                unsupported(f"{first}: {reason}")
            outcome.left_out.append(second)
        except SystemErr as error:
            world.connect_again()
            if isinstance(_alone(world, first), SystemErr):
                skip(f"{first} alone is answered with SYSTEM_ERR")
            if isinstance(_alone(world, second), SystemErr):
                outcome.left_out.append(second)
            else:
                outcome.fault = outcome.fault or error
        except Nonconformance as found:
            if _explains(world, first, found):
                skip(f"{first} alone is refused or wrong, which other checks judge")
            if _explains(world, second, found):
                outcome.left_out.append(second)
            elif is_failure(found):
                raise
            else:
                outcome.weak = outcome.weak or found
    outcome.finish()
