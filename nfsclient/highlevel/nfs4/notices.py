# SPDX-License-Identifier: MIT
"""Locks that wait, and CB_NOTIFY_LOCK, which ends a pause of theirs (RFC 5661 sections 9.6 and 20.11).

A notice promises nothing: the lock may be gone again, and a server need not send any. So a lock that waits is tried
again after each pause as if there were no notices, and earlier after one.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from nfsclient.clients.patience import Patience
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop


class Waiter:
    """One lock that waits."""

    def __init__(self, patience: Patience, loop: Loop) -> None:
        self.has_notice = False
        """Whether a notice has come since the last attempt."""
        self._loop = loop
        # Who passes the time in another way than by the loop has it passed so.
        is_usual = patience.clock == loop.clock
        self._pauses = (dataclasses.replace(patience, wait=self._wait) if is_usual else patience).pauses()

    def _wait(self, seconds: float) -> None:
        self._loop.run_until(lambda: self.has_notice, self._loop.clock() + seconds)

    def pause(self) -> bool:
        """Wait for a while, or until a notice has come; False when patience has ended."""
        return next(self._pauses, None) is not None


class LockNotices:
    """The locks of a client that wait, by handle and lock owner."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[bytes, bytes], Waiter] = {}

    def note(self, handle: bytes, owner: p.StateOwner4) -> None:
        """CB_NOTIFY_LOCK has come."""
        waiter = self._waiting.get((bytes(handle), bytes(owner.owner)))
        if waiter is not None:
            waiter.has_notice = True

    @contextlib.contextmanager
    def waiting(self, handle: bytes, owner: bytes, waiter: Waiter) -> Iterator[None]:
        """Inside, notices for this lock go to `waiter`."""
        key = handle, owner
        self._waiting[key] = waiter
        try:
            yield
        finally:
            self._waiting.pop(key, None)
