# SPDX-License-Identifier: MIT
"""One selector loop for all that a caller waits for: its connections, and servers in the same process.

A turn (`run_once`) costs what its events cost, however many members are idle. So the loop does not ask members what
they want; it remembers what they last answered, and asks again only those that may want something else by now:

- Before each wait it asks the members in `_changed`, and nobody else. A member gets there after each of its `on_...`
  methods, which the loop sees to, and by `changed`, which is the duty of whoever changes a wish at another time:
  a call that is submitted, bytes that are queued from outside, a deadline that another member sets.
- The wishes to read and write are then exactly those that the selector knows (`_Entry.watched`). The selector
  gets only the differences.
- Deadlines are in a heap. A member may come to want a later one, or none, without a word: its place in the heap
  (`_Entry.heaped`) is never later than what it wants (`_Entry.due`), and at that time the loop asks it. An earlier one
  has to be said. So a connection that makes one call after another, each with its own timeout, leaves its place alone.

    place in the heap        what moves it
    none (heaped is inf)     the member says that it has a deadline: pushed
    at heaped <= due         the member wants an earlier one: pushed again; the old place is stale
    stale                    dropped when it comes to the top, or by `_rebuild` when there are many of them
    at the top               heaped < due: moved to due; heaped = due: this is how long the loop may wait

What must stay true, and is checked before each wait where `is_checked` is set (as in the tests of this project):

- watched == what the member would answer now, and heaped <= its deadline, for each member that is not in `_changed`.
- Nothing but `add`, `remove`, `_ask`, `_next_due` and `_rebuild` changes an entry.
- `on_deadline` is called only for a member that says itself that its deadline has passed, once a turn, after all that
  has arrived was served (`catch_up`); earlier deadlines first.
- No member is called after `remove`, also within the turn that removed it.
"""

from __future__ import annotations

import heapq
import itertools
import math
import select
import selectors
import time
import typing as t
from collections.abc import Callable

from nfsclient.errors import LoopEnded

Clock: t.TypeAlias = Callable[[], float]

_MOST_ROUNDS = 100
"""Of catching up: each takes what one receive takes, from every peer."""
_MOST_STALE = 64
"""Places in the heap, beyond one for each member, above which those without use are dropped."""


_SPIN = 0.0001
"""Seconds before the time of `run_precisely` from which on it looks again and again instead of sleeping: a sleep ends
late by about half of that."""
_MOST_SELECTED = 1024
"""Descriptors from this one on `select` refuses."""


class Member(t.Protocol):
    """What a loop serves: a socket with what to do when it is ready or late. No method may raise or block.

    The loop asks for wishes and deadline when the member is added and after each of its `on_...` methods. Whoever
    changes them at another time calls `Loop.changed`; only a deadline that becomes later needs no call.
    """

    def fileno(self) -> int:
        """The descriptor to watch; must stay the same while the member is in the loop."""
        ...

    def wants_to_write(self) -> bool:
        """Whether output waits for room."""
        ...

    def wants_to_read(self) -> bool:
        """Whether input is welcome."""
        ...

    def on_readable(self) -> None:
        """Input is there, or the peer closed."""
        ...

    def on_writable(self) -> None:
        """There is room for output."""
        ...

    def next_deadline(self) -> float | None:
        """When `on_deadline` wants to be called, on the loop's clock."""
        ...

    def on_deadline(self, now: float) -> None:
        """The deadline has passed."""
        ...


class _Entry:
    """What the loop knows of a member."""

    __slots__ = ("due", "heaped", "member", "watched")

    def __init__(self, member: Member) -> None:
        self.member = member
        self.watched = 0
        """What the selector watches for it."""
        self.due = math.inf
        """The deadline that it gave last."""
        self.heaped = math.inf
        """Its place in the heap."""


class Loop:
    """Serves its members while somebody waits, without threads. Time is that of `clock`, in seconds."""

    is_checked: t.ClassVar[bool] = False
    """Whether each wait is preceded by `require_known`: for tests, since it asks every member."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self._selector = selectors.DefaultSelector()
        self._members: dict[Member, _Entry] = {}
        self._changed: set[Member] = set()
        self._heap: list[tuple[float, int, _Entry]] = []
        self._pushes = itertools.count()
        """What is due at the same time is served in the order in which it was noted."""
        self.sole: Member | None = None
        """The member that is alone here: it may wait on its own socket, by itself."""
        self._ends_at = math.inf

    def add(self, member: Member) -> None:
        """Serve `member` from now on."""
        if self.sole is not None:
            self._changed.add(self.sole)  # it had nobody to speak to
        entry = self._members[member] = _Entry(member)
        self._find_sole()
        self._ask(entry)

    def remove(self, member: Member) -> None:
        """Stop serving `member`; to be called before its descriptor is closed."""
        entry = self._members.pop(member, None)
        if entry is not None:
            if entry.watched:
                self._selector.unregister(member)
            entry.watched, entry.due = 0, math.inf
            self._changed.discard(member)
        self._find_sole()

    def _find_sole(self) -> None:
        is_sole = len(self._members) == 1 and self._ends_at == math.inf
        self.sole = next(iter(self._members)) if is_sole else None

    def changed(self, member: Member) -> None:
        """The wishes or the deadline of `member` may be different from now on. Costs next to nothing."""
        self._changed.add(member)

    def end_at(self, when: float) -> None:
        """From this time on, by the clock, nobody waits here: who does gets `LoopEnded`. May be called by a signal."""
        self._ends_at = min(when, self._ends_at)
        if self.sole is not None:
            self._changed.add(self.sole)
        self.sole = None

    def time_left(self, seconds: float) -> float:
        """As many of these seconds as there are before that time. Raises `LoopEnded` if there are none."""
        if self._ends_at == math.inf:
            return seconds
        left = min(seconds, self._ends_at - self.clock())
        if left <= 0:
            raise LoopEnded
        return left

    # ------------------------------------------------------------ what members want

    def _ask_changed(self) -> None:
        """Ask the members that may want something else by now."""
        while self._changed:
            entry = self._members.get(self._changed.pop())
            if entry is not None:
                self._ask(entry)
        if self.is_checked:
            self.require_known()

    def _ask(self, entry: _Entry) -> None:
        member = entry.member
        wanted = _wishes_of(member)
        if wanted != entry.watched:
            if not entry.watched:
                self._selector.register(member, wanted, entry)
            elif not wanted:
                self._selector.unregister(member)
            else:
                self._selector.modify(member, wanted, entry)
            entry.watched = wanted
        due = member.next_deadline()
        entry.due = math.inf if due is None else due
        if entry.due < entry.heaped:
            entry.heaped = entry.due
            heapq.heappush(self._heap, (entry.due, next(self._pushes), entry))
            if len(self._heap) > len(self._members) + _MOST_STALE:
                self._rebuild()

    def _next_due(self) -> float:
        """The first deadline of all members. Asks nobody."""
        heap = self._heap
        while heap:
            at, _, entry = heap[0]
            if at != entry.heaped:  # stale: another place of the same member is earlier
                heapq.heappop(heap)
            elif entry.due > at:
                self._move_top(entry)
            else:
                return at
        return math.inf

    def _move_top(self, entry: _Entry) -> None:
        """Give the entry at the top the place of its deadline, or none."""
        entry.heaped = entry.due
        if entry.due < math.inf:
            heapq.heapreplace(self._heap, (entry.due, next(self._pushes), entry))
        else:
            heapq.heappop(self._heap)

    def _rebuild(self) -> None:
        """Drop all stale places: a member that is used often may leave many."""
        for entry in self._members.values():
            entry.heaped = entry.due
        timed = (entry for entry in self._members.values() if entry.due < math.inf)
        self._heap = [(entry.due, next(self._pushes), entry) for entry in timed]
        heapq.heapify(self._heap)

    def _take_due(self, now: float) -> list[_Entry]:
        """The members that are due; each has its place in the heap again when the loop asks it."""
        found = []
        while self._next_due() <= now:
            entry = self._heap[0][2]
            found.append(entry)
            entry.due = math.inf
            self._move_top(entry)
            self._changed.add(entry.member)
        return found

    def require_known(self) -> None:
        """Raise `AssertionError` unless the loop knows of each member what it would answer, or will ask it."""
        for member, entry in self._members.items():
            if member in self._changed:
                continue
            wanted, due = _wishes_of(member), member.next_deadline()
            if wanted != entry.watched:
                raise AssertionError(
                    f"{member!r} wants {wanted} and is watched for {entry.watched}: nobody called changed()"
                )
            if due is not None and due < entry.heaped:
                raise AssertionError(
                    f"{member!r} is due at {due} and noted for {entry.heaped}: nobody called changed()"
                )

    # ------------------------------------------------------------ turns

    def run_once(self, deadline: float) -> None:
        """Wait until something happens, but not past `deadline`, and serve it. Raises `LoopEnded`."""
        if self._ends_at < math.inf:
            deadline = min(deadline, self.clock() + self.time_left(math.inf))
        self._ask_changed()
        due = self._next_due()
        self._serve(max(0.0, min(deadline, due) - self.clock()))
        if due == math.inf:
            return
        now = self.clock()
        if due <= now:
            self.catch_up()
            self._ask_changed()
            for entry in self._take_due(now):
                member = entry.member
                if self._members.get(member) is not entry:
                    continue
                at = member.next_deadline()
                if at is not None and at <= now:
                    member.on_deadline(now)

    def run_precisely(self, deadline: float) -> None:
        """As `run_once`, but it returns at `deadline`, late by no more than some 50 µs on an idle machine.

        `run_once` is late by up to a millisecond, the unit in which epoll waits. Near the deadline this uses the
        processor all the time. Returns as soon as something has happened. Raises `LoopEnded`.
        """
        if self._ends_at < math.inf:
            deadline = min(deadline, self.clock() + self.time_left(math.inf))
        self._ask_changed()
        until = min(deadline, self._next_due())
        ahead = until - self.clock()
        fileno = getattr(self._selector, "fileno", None)
        if ahead > _SPIN and fileno is not None and fileno() < _MOST_SELECTED:
            select.select([fileno()], [], [], ahead - _SPIN)
        elif ahead > _SPIN:
            self._serve(math.floor((ahead - _SPIN) * 1000) / 1000)
        while not self._serve(0.0):
            if self.clock() >= until:
                break
        if self._next_due() <= self.clock():
            self.run_once(self.clock())

    def catch_up(self) -> bool:
        """Serve what has arrived, without waiting. To be called before something is given up as late.

        This process may have been held up for longer than any deadline: what has arrived by then arrived in time, and a
        server in the same process has not even had that time. Bounded, for a peer that never stops sending. Returns
        whether anything had arrived.
        """
        for rounds in range(_MOST_ROUNDS):
            self._ask_changed()
            if not self._serve(0.0):
                return rounds > 0
        return True

    def _serve(self, wait: float) -> bool:
        """Wait up to `wait` seconds until something happens, and serve it. Whether something did."""
        events = self._selector.select(wait)
        for key, ready in events:
            entry: _Entry = key.data
            member = entry.member
            self._changed.add(member)
            if ready & selectors.EVENT_WRITE and self._members.get(member) is entry:
                member.on_writable()
            if ready & selectors.EVENT_READ and self._members.get(member) is entry:
                member.on_readable()
        return bool(events)

    def run_until(self, predicate: Callable[[], bool], deadline: float) -> bool:
        """Serve until `predicate` holds (True) or the clock reaches `deadline` (what it says then)."""
        while not predicate():
            if self.clock() >= deadline:
                self.catch_up()
                return predicate()
            self.run_once(deadline)
        return True

    def close(self) -> None:
        """Forget all members; they close their own sockets."""
        self._members.clear()
        self._changed.clear()
        self._heap.clear()
        self.sole = None
        self._selector.close()


def _wishes_of(member: Member) -> int:
    wanted = selectors.EVENT_READ if member.wants_to_read() else 0
    return wanted | selectors.EVENT_WRITE if member.wants_to_write() else wanted
