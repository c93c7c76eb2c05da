# SPDX-License-Identifier: MIT
"""One selector loop for all that a caller waits for: its connections, and servers in the same process."""

from __future__ import annotations

import selectors
import time
import typing as t
from collections.abc import Callable

Clock: t.TypeAlias = Callable[[], float]


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
        self.sole = next(iter(self._members)) if len(self._members) == 1 else None

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
        """Wait until something happens, but not past `deadline`, and serve it."""
        times = [time for time in (member.next_deadline() for member in self._members) if time is not None]
        for member in self._members:
            self._watch(member)
        wait = max(0.0, min([deadline, *times]) - self.clock())
        for key, ready in self._selector.select(wait):
            member = t.cast("Member", key.fileobj)
            if ready & selectors.EVENT_WRITE and member in self._members:
                member.on_writable()
            if ready & selectors.EVENT_READ and member in self._members:
                member.on_readable()
        now = self.clock()
        if times and min(times) <= now:
            for member in list(self._members):
                due = member.next_deadline()
                if due is not None and due <= now:
                    member.on_deadline(now)

    def run_until(self, predicate: Callable[[], bool], deadline: float) -> bool:
        """Serve until `predicate` holds (True) or the clock reaches `deadline` (what it says then)."""
        while not predicate():
            if self.clock() >= deadline:
                return predicate()
            self.run_once(deadline)
        return True

    def close(self) -> None:
        """Forget all members; they close their own sockets."""
        self._members.clear()
        self.sole = None
        self._selector.close()
