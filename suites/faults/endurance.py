# SPDX-License-Identifier: MIT
"""How many other calls, and how many seconds, a server keeps the reply to a call that is not idempotent."""

from __future__ import annotations

import dataclasses
import typing as t

from fixtures.checks.side_by_side import Wait, Waiting
from fixtures.checks.wire import Answer, RawCall, Wire
from nfsclient.protocol import nfs2, nfs3
from nfsclient.rpc.record import fragment
from nfsjudge.duplicates import CACHED
from suites.faults.duplicated import Change, Either, absent_entry, outcome_of

_FEWEST: t.Final = 64
MOST_CALLS: t.Final = 4096
"""Other calls: of a larger cache the size is not found."""
_AT_ONCE: t.Final = 16
"""Calls that are under way together: few enough for the buffer of a UDP socket."""
_SECONDS: t.Final = (2.0, 1.0, 0.5)


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """Attempts to find the first reply in the cache."""

    change: Change
    peer: Wire
    directory: bytes
    other: Either
    """A client on another connection, which undoes the change."""

    def is_kept(self, *, after: int = 0) -> bool:
        """Whether a duplicate gets the first reply after other calls.

        The duplicate comes after its change was undone, so an execution shows. It is undone in the end.
        """
        call = self._made_and_undone()
        self._flood(after)
        return self._is_answered_so(call)

    def is_kept_for(self, seconds: float) -> Waiting[bool]:
        """The same after some time."""
        call = self._made_and_undone()
        yield Wait(seconds)
        return self._is_answered_so(call)

    def _made_and_undone(self) -> RawCall:
        call = self.change.arrange(self.peer)
        self.change.need(self.peer.call(call))
        self.change.undo(self.other)
        return call

    def _is_answered_so(self, call: RawCall) -> bool:
        answer = self.peer.try_message(call.message())
        is_made = self.change.is_made()
        if is_made:
            self.change.undo(self.other)
        return self._is_cached(answer, is_made)

    def _is_cached(self, answer: Answer, is_made: bool) -> bool:
        is_second = self.change.is_second(answer)
        return outcome_of(answer, is_made=is_made, is_second=is_second) == CACHED

    def _flood(self, count: int) -> None:
        """Make other calls that change nothing: REMOVE of names that are not there, several at once."""
        number = (nfs2 if self.change.version == 2 else nfs3).REMOVE.number
        args = absent_entry(self.change.version, self.directory)
        for first in range(0, count, _AT_ONCE):
            calls = [self.peer.make(number, args) for _ in range(first, min(first + _AT_ONCE, count))]
            if self.peer.proto == "tcp":
                self.peer.send_raw(b"".join(fragment(call.message(), ()) for call in calls))
            else:
                for call in calls:
                    self.peer.send_record(call.message())
            for call in calls:
                self.peer.receive_reply(call)


def entries_kept(trial: Trial, most: int = MOST_CALLS) -> str:
    """How many other calls an entry outlives, between two powers of two; of more than `most`, it says that."""
    if not trial.is_kept():
        return "none"
    kept, after = 0, _FEWEST
    while after <= most:
        if not trial.is_kept(after=after):
            return f"there after {kept} other calls, gone after {after}"
        kept, after = after, 2 * after
    return f"there after {kept} other calls"


def seconds_kept(trial: Trial) -> Waiting[str]:
    """How long an entry is there at least."""
    if not trial.is_kept():
        return "none"
    for seconds in _SECONDS:
        if (yield from trial.is_kept_for(seconds)):
            return f"at least {seconds:g} s"
    return f"less than {_SECONDS[-1]:g} s"
