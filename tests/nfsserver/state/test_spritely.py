# SPDX-License-Identifier: MIT
"""The state table of Spritely NFS by itself: callbacks are over as soon as they are planned."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from nfsserver.state.spritely import SpritelyState, Stable, TableFull, Terms
from nfsserver.state.transitions import TABLE, Callback, State, When, Who, find, may_cache

CLIENTS: t.Final = ("a", "b", "c")


@dataclass(eq=False)
class File:
    version: int = 0
    nlink: int = 1


@dataclass
class Clock:
    time: float = 0.0


@dataclass
class Ground:
    """A table with one file, and what was called for."""

    terms: Terms = field(default_factory=Terms)
    stable: Stable = field(default_factory=Stable)
    clock: Clock = field(default_factory=Clock)
    file: File = field(default_factory=File)

    def __post_init__(self) -> None:
        self.table = self._table(restarted=False)

    def _table(self, *, restarted: bool) -> SpritelyState:
        return SpritelyState(self.stable, lambda: self.clock.time, lambda: self.terms, restarted=restarted)

    def open(self, key: str, *, writes: bool = False, file: File | None = None) -> dict[t.Any, Callback]:
        entry = self.table.make(file or self.file)
        planned = self.table.plan_open(entry, key, writes=writes)
        for other, asks in planned.items():
            entry.calls[other] = object()
            entry.waiting.add(key)
            self.table.end_call(entry, other, asks)
        self.table.informs(entry, key)
        self.table.open(entry, key, 0, writes=writes)
        return planned

    def close(self, key: str, *, writes: bool = False) -> bool:
        entry = self.table.entry(self.file)
        return entry is not None and self.table.close(entry, key, writes=writes)

    def recovers(self) -> bool:
        return self.table.is_recovering

    def now(self) -> State:
        return self.state

    @property
    def state(self) -> State:
        entry = self.table.entry(self.file)
        return State.CLOSED if entry is None else entry.state

    def crash(self) -> None:
        self.table = self._table(restarted=True)


@pytest.fixture
def ground() -> Ground:
    return Ground()


def test_the_table_has_one_row_for_each_case() -> None:
    assert len({row[:3] for row in TABLE}) == len(TABLE) == 22
    for row in TABLE:
        who = Who.OTHER if row.who is Who.ANY else row.who
        assert find(TABLE, row.before, row.when, who) is row
        assert not row.callback or row.when in (When.OPEN_FOR_READ, When.OPEN_FOR_WRITE)


def test_who_reads_what_another_writes_may_not_cache() -> None:
    assert [state.name for state in State if not may_cache(state)] == ["WRITE_SHARED"]


def test_files_without_a_name_leave_the_table_when_it_is_full(ground: Ground) -> None:
    """Section 4.2.5: nothing of them is written back, and who has them open may never come again."""
    ground.terms = Terms(entries=2)
    removed = File()
    ground.open("a", writes=True, file=removed)
    ground.open("a", writes=True)
    removed.nlink = 0
    assert ground.open("b", file=File()) == {}
    assert removed not in ground.table.entries
    assert ground.now() is State.ONE_WRITER


def test_a_full_table_names_a_file_to_reclaim_and_none_if_all_are_open(ground: Ground) -> None:
    ground.terms.entries = 2
    ground.open("a", writes=True)
    ground.close("a", writes=True)
    ground.open("a", file=File())
    with pytest.raises(TableFull) as full:
        ground.open("b", file=File())
    assert full.value.oldest is not None
    assert full.value.oldest.file is ground.file
    ground.open("a")
    with pytest.raises(TableFull) as full:
        ground.open("b", file=File())
    assert full.value.oldest is None


@pytest.mark.parametrize("step", [1, 7])
def test_versions_of_the_counter_never_come_again(step: int) -> None:
    ground = Ground(Terms(by_counter=True, step=step))
    seen: list[int] = []
    for _ in range(20):
        ground.open("a", writes=True)
        entry = ground.table.entry(ground.file)
        assert entry is not None
        seen.append(ground.table.version(entry.file))
        ground.close("a", writes=True)
        ground.open("b")
        ground.close("b")
        assert ground.state is State.CLOSED
        if len(seen) % 3 == 0:
            ground.crash()
    assert seen == sorted(set(seen))


def test_a_client_that_was_given_up_begins_with_a_new_handle(ground: Ground) -> None:
    ground.open("a", writes=True)
    entry = ground.table.entry(ground.file)
    assert entry is not None
    version = ground.table.version(ground.file)
    entry.calls["a"] = object()
    entry.waiting.add("open of b")
    ground.table.give_up(entry, "a", lost=True)
    assert ground.table.informs(entry, "open of b")
    assert ground.table.version(ground.file) >= version + 2
    assert ground.table.is_dead("a", ground.file)
    ground.table.obtained("a", ground.file)
    assert not ground.table.is_dead("a", ground.file)


def test_a_loss_is_said_until_an_open_is_answered_with_it(ground: Ground) -> None:
    """The open that waited may be of a client that has gone."""
    ground.open("a", writes=True)
    entry = ground.table.make(ground.file)
    entry.calls["a"] = object()
    entry.waiting.add("open of b")
    ground.table.give_up(entry, "a", lost=True)
    assert ground.table.informs(entry, "open of b")
    ground.crash()
    entry = ground.table.make(ground.file)
    assert ground.table.informs(entry, "open of c")
    ground.table.loss_is_known(ground.file)
    assert not ground.table.informs(entry, "open of d")


def test_recovery_ends_when_all_are_back_or_the_time_is_over(ground: Ground) -> None:
    ground.open("a")
    ground.open("b")
    ground.crash()
    assert ground.recovers()
    ground.table.recovered("a")
    assert ground.recovers()
    ground.table.recovered("b")
    assert not ground.recovers()
    ground.crash()
    assert not ground.recovers()  # nobody had anything
    ground.open("a")
    ground.crash()
    ground.clock.time += ground.terms.grace
    assert not ground.recovers()


def test_an_access_by_another_version_is_an_open_for_a_while(ground: Ground) -> None:
    ground.open("a")
    entry = ground.table.entry(ground.file)
    assert entry is not None
    ground.table.nfs_open(entry, writes=False)
    assert ground.now() is State.MULT_READERS
    ground.clock.time += ground.terms.nfs_interval
    assert ground.now() is State.ONE_READER


def test_a_file_that_another_version_has_written_is_shared_from_its_first_open(ground: Ground) -> None:
    ground.table.nfs_seen(ground.file, writes=True)
    assert ground.open("a") == {}
    assert ground.state is State.WRITE_SHARED


class Opens(RuleBasedStateMachine):
    """Any opens and closes: the state is what the counts of opens say, and caches are never in contradiction."""

    def __init__(self) -> None:
        super().__init__()
        self.ground = Ground()
        self.opens: dict[tuple[str, bool], int] = {}
        self.caches: dict[t.Hashable, str] = {}
        """Client -> what it may have cached: "reads" or "writes"."""
        self.version = 0

    @rule(key=st.sampled_from(CLIENTS), writes=st.booleans())
    def open(self, key: str, writes: bool) -> None:
        planned = self.ground.open(key, writes=writes)
        for other, asks in planned.items():
            if Callback.INVALIDATE in asks:
                self.caches.pop(other, None)
            elif self.caches.get(other) == "writes":
                self.caches[other] = "reads"
        self.opens[key, writes] = self.opens.get((key, writes), 0) + 1
        version = self.ground.table.version(self.ground.file)
        assert version > self.version if writes else version >= self.version
        self.version = version
        if not may_cache(self.ground.state):
            self.caches.pop(key, None)
        elif writes or self.caches.get(key) == "writes":
            self.caches[key] = "writes"
        else:
            self.caches[key] = "reads"

    @rule(key=st.sampled_from(CLIENTS), writes=st.booleans())
    def close(self, key: str, writes: bool) -> None:
        has_it = self.opens.get((key, writes), 0) > 0
        assert self.ground.close(key, writes=writes) == has_it
        if has_it:
            self.opens[key, writes] -= 1

    @rule()
    def restart(self) -> None:
        """All clients reopen what they have, and may have cached."""
        self.ground.crash()
        for key in CLIENTS:
            readers, writers = (self.opens.get((key, writes), 0) for writes in (False, True))
            dirty = self.caches.get(key) == "writes"
            if readers or writers or dirty:
                entry = self.ground.table.make(self.ground.file)
                planned = self.ground.table.plan_open(entry, key, writes=writers > 0)
                if not readers + writers:
                    planned = {}
                for other, asks in planned.items():
                    entry.calls[other] = object()
                    self.ground.table.end_call(entry, other, asks)
                    self.caches.pop(other, None)
                self.ground.table.reopen(
                    entry, key, 0, readers=readers, writers=writers, dirty=dirty, version=self.version
                )
                if not may_cache(entry.state):
                    self.caches.pop(key, None)
            self.ground.table.recovered(key)
        assert not self.ground.table.is_recovering

    @invariant()
    def a_writer_caches_alone(self) -> None:
        """What one client may have written and not sent, no other client may have cached."""
        open_now = {key for (key, _), count in self.opens.items() if count}
        writers = [key for key, what in self.caches.items() if what == "writes"]
        assert len(writers) <= 1
        for writer in writers:
            others = {key for key in self.caches if key != writer and key in open_now}
            assert not others

    @invariant()
    def the_state_is_what_is_open(self) -> None:
        users = {key for (key, _), count in self.opens.items() if count}
        writers = {key for (key, writes), count in self.opens.items() if count and writes}
        state = self.ground.state
        if not users:
            assert state in (State.CLOSED, State.CLOSED_DIRTY)
        elif len(users) > 1 and writers:
            assert state is State.WRITE_SHARED
        elif state is not State.WRITE_SHARED:
            single = {State.ONE_WRITER} if writers else {State.ONE_READER, State.ONE_RDRDIRTY}
            assert state in (single if len(users) == 1 else {State.MULT_READERS})


TestOpens = Opens.TestCase
