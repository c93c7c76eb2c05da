# SPDX-License-Identifier: MIT
"""One selector loop for all that a caller waits for: its connections, and servers in the same process."""

from __future__ import annotations

import math
import selectors
import time
import typing as t
from collections.abc import Callable

from nfsclient.errors import LoopEnded

Clock: t.TypeAlias = Callable[[], float]

_MOST_ROUNDS = 100
"""Of catching up: each takes what one receive takes, from every peer."""


class Member(t.Protocol):
    """What a loop serves: a socket with what to do when it is ready or late. No method may raise or block."""

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


class Loop:
    """Serves its members while somebody waits, without threads. Time is that of `clock`, in seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self._selector = selectors.DefaultSelector()
        self._members: dict[Member, int] = {}
        self.sole: Member | None = None
        """The member that is alone here: it may wait on its own socket, by itself."""
        self._ends_at = math.inf

    def add(self, member: Member) -> None:
        """Serve `member` from now on."""
        self._members[member] = 0
        self._find_sole()
        self._watch(member)

    def remove(self, member: Member) -> None:
        """Stop serving `member`; to be called before its descriptor is closed."""
        if self._members.pop(member, 0):
            self._selector.unregister(member)
        self._find_sole()

    def _find_sole(self) -> None:
        is_sole = len(self._members) == 1 and self._ends_at == math.inf
        self.sole = next(iter(self._members)) if is_sole else None

    def end_at(self, when: float) -> None:
        """From this time on, by the clock, nobody waits here: who does gets `LoopEnded`. May be called by a signal."""
        self._ends_at = min(when, self._ends_at)
        self.sole = None

    def time_left(self, seconds: float) -> float:
        """As many of these seconds as there are before that time. Raises `LoopEnded` if there are none."""
        if self._ends_at == math.inf:
            return seconds
        left = min(seconds, self._ends_at - self.clock())
        if left <= 0:
            raise LoopEnded
        return left

    def _watch(self, member: Member) -> None:
        wanted = selectors.EVENT_READ if member.wants_to_read() else 0
        if member.wants_to_write():
            wanted |= selectors.EVENT_WRITE
        watched = self._members[member]
        if wanted == watched:
            return
        if not watched:
            self._selector.register(member, wanted)
        elif not wanted:
            self._selector.unregister(member)
        else:
            self._selector.modify(member, wanted)
        self._members[member] = wanted

    def run_once(self, deadline: float) -> None:
        """Wait until something happens, but not past `deadline`, and serve it. Raises `LoopEnded`."""
        if self._ends_at < math.inf:
            deadline = min(deadline, self.clock() + self.time_left(math.inf))
        times = []
        for member in self._members:
            self._watch(member)
            due = member.next_deadline()
            if due is not None:
                times.append(due)
        self._serve(max(0.0, min([deadline, *times]) - self.clock()))
        now = self.clock()
        if times and min(times) <= now:
            self.catch_up()
            for member in list(self._members):
                due = member.next_deadline()
                if due is not None and due <= now:
                    member.on_deadline(now)

    def catch_up(self) -> None:
        """Serve what has arrived, without waiting. To be called before something is given up as late.

        This process may have been held up for longer than any deadline: what has arrived by then arrived in time, and a
        server in the same process has not even had that time. Bounded, for a peer that never stops sending.
        """
        for _ in range(_MOST_ROUNDS):
            for member in self._members:
                self._watch(member)
            if not self._serve(0.0):
                return

    def _serve(self, wait: float) -> bool:
        """Wait up to `wait` seconds until something happens, and serve it. Whether something did."""
        events = self._selector.select(wait)
        for key, ready in events:
            member = t.cast("Member", key.fileobj)
            if ready & selectors.EVENT_WRITE and member in self._members:
                member.on_writable()
            if ready & selectors.EVENT_READ and member in self._members:
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
        self.sole = None
        self._selector.close()
