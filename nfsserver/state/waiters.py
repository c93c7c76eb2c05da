# SPDX-License-Identifier: MIT
"""Who was denied a lock, and wants to hear when it may be had: READW_LT and WRITEW_LT (RFC 5661 sections 9.6, 20.11).

    (nobody) --LOCK that waits is denied--> waits --the range is free: heard of once--> (nobody)
                                              |
                                              +--its LOCK succeeds, or one that does not wait is denied--> (nobody)

What must stay true: a waiter has nothing of the file. The lock is free for whoever asks first.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Hashable

from nfsserver.bounds import MOST


class Waiter(t.NamedTuple):
    """A lock that was denied."""

    client: Hashable
    owner: bytes
    start: int
    end: int
    is_write: bool


class Waiters:
    """Those who wait for locks of files: one lock of each owner in a file, the last that it asked for."""

    def __init__(self) -> None:
        self._of_file: dict[Hashable, dict[tuple[Hashable, bytes], Waiter]] = {}

    def add(self, file: Hashable, waiter: Waiter) -> None:
        """Remember what was denied, if there is room."""
        waiting = self._of_file.setdefault(file, {})
        if len(waiting) < MOST.lock_owners:
            waiting[waiter.client, waiter.owner] = waiter

    def remove(self, file: Hashable, client: Hashable, owner: bytes) -> None:
        """The owner waits no more, or never did."""
        waiting = self._of_file.get(file)
        if waiting is not None:
            waiting.pop((client, owner), None)
            if not waiting:
                del self._of_file[file]

    def take(self, file: Hashable, is_free: Callable[[Waiter], bool]) -> list[Waiter]:
        """Those whose lock is free now, in the order in which they came; they wait no more."""
        found = [waiter for waiter in self._of_file.get(file, {}).values() if is_free(waiter)]
        for waiter in found:
            self.remove(file, waiter.client, waiter.owner)
        return found

    def forget_client(self, client: Hashable) -> None:
        """A client is gone."""
        for file in list(self._of_file):
            for waiter in tuple(self._of_file[file].values()):
                if waiter.client == client:
                    self.remove(file, waiter.client, waiter.owner)

    def forget_file(self, file: Hashable) -> None:
        """A file is gone."""
        self._of_file.pop(file, None)
