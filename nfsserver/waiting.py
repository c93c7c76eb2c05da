# SPDX-License-Identifier: MIT
"""Calls that wait for the return of a delegation, where the knob `conflicts` says so (RFC 5661 section 10.2).

So do opens of Spritely NFS, for callbacks to other clients; they wait whatever the knob says.

A handler completes each call before the next one. One that must wait raises `Waits` before it has changed anything;
no reply is sent, and the message is answered again when a delegation was returned or revoked. A compound goes on with
the operation that had to wait: what was before it is not executed again.

    state of a call     where it is                 what moves it
    being answered      `_current`                  its reply; `Waits`, which puts it among those that wait
    waits               `_waiting`                  a delegation was returned or revoked, or its holder has answered
                                                    CB_GETATTR (`wake`); `_PAUSE` is over; a restart

What must stay true:

- `Waits` is raised before a handler has changed anything: the message is answered from its beginning, or, in a
  compound, from the operation that waits (`keep_compound`, `take_compound`).
- Only calls over streams wait, and only up to `waiting_calls` and `waiting_bytes` (`nfsserver/bounds.py`): others get
  DELAY or JUKEBOX at once. A client cannot make the server keep more.
- Answering may raise `Waits` again, and may be entered while another call is answered: `_current` is restored on
  every way out.
- Calls are answered again in the order in which they came. One whose connection has ended is answered to nobody;
  where being carried out would harm, its handler asks `is_for_nobody`.
- A wait is no timer of the protocol: leases that are over are noticed when a call comes, and `_PAUSE` makes one come.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import Connection
from nfsserver.bounds import MOST
from nfsserver.transport import AnswerRecord, TransportMiddleware

_PAUSE: t.Final = 0.25
"""Seconds after which a call that waits is tried again though nothing was returned: a lease may be over."""


class DeadlineMember:
    """The base of members of a loop that have no socket, only deadlines, and are members while they have one."""

    _loop: Loop | None = None

    def watch(self, loop: Loop) -> None:
        """Become a member, unless it is one; a deadline that comes right after this is noticed."""
        if self._loop is None:
            loop.add(self)
            self._loop = loop
        loop.changed(self)

    def unwatch(self) -> None:
        """Be none any more."""
        if self._loop is not None:
            self._loop.remove(self)
            self._loop = None

    def next_deadline(self) -> float | None:
        """When `on_deadline` is to be called; None: never."""
        return None

    def on_deadline(self, now: float) -> None:
        """It is that time."""

    def fileno(self) -> int:
        """It has none: it never wants to read or write."""
        return -1

    def wants_to_read(self) -> bool:
        return False

    def wants_to_write(self) -> bool:
        return False

    def on_readable(self) -> None:
        """There is no socket."""

    def on_writable(self) -> None:
        """There is no socket."""


class Waits(BaseException):
    """The call that is being answered waits. No handler may take this for a fault: not an `Exception`."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call that is being answered, or waits."""

    connection: Connection
    message: bytes
    proceed: AnswerRecord
    compound: t.Any = None
    """What goes on with a compound in the middle; None for other calls."""


class WaitingCalls(DeadlineMember, TransportMiddleware):
    """The calls of a server that wait."""

    def __init__(
        self, is_used: t.Callable[[], bool], returned: t.Callable[[], int], is_usual: t.Callable[[], bool]
    ) -> None:
        self._is_used = is_used
        self._is_usual = is_usual
        self._returned = returned
        """How often what calls wait for has come: delegations that were returned or revoked, holders that answered."""
        self._seen = 0
        self._waiting: list[_Call] = []
        self._current: _Call | None = None
        self._until = 0.0

    def below_messages(self) -> list[TransportMiddleware]:
        """Itself, where there is something to do."""
        return [self] if self._waiting or self._is_used() else []

    @property
    def may_wait(self) -> bool:
        """Whether a call that a client of another protocol is in the way of may raise `Waits`, as the knob says."""
        return self._is_usual() and self.has_room

    @property
    def has_room(self) -> bool:
        """Whether the call that is being answered may raise `Waits`: those over UDP may not."""
        if self._current is None or not self._is_used() or len(self._waiting) >= MOST.waiting_calls:
            return False
        kept = sum(len(call.message) for call in self._waiting)
        return kept + len(self._current.message) <= MOST.waiting_bytes

    @property
    def is_for_nobody(self) -> bool:
        """Whether the connection of the call that is being answered has ended: no reply will come to its client."""
        current = self._current
        return current is not None and current.connection not in current.connection.server.connections

    def take_compound(self) -> t.Any:
        """What goes on with the compound that is being answered; None if it begins."""
        if self._current is None:
            return None
        compound, self._current.compound = self._current.compound, None
        return compound

    def keep_compound(self, compound: t.Any) -> None:
        """The compound that is being answered waits, and goes on with this."""
        assert self._current is not None
        self._current.compound = compound

    # ------------------------------------------------------------ below messages

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer a call, or keep it if it waits; then those that waited, if a delegation was returned."""
        self._answer(_Call(connection, message, proceed))
        if self._waiting and self._returned() != self._seen:
            self._answer_again(connection)

    def _answer(self, call: _Call) -> None:
        outer, self._current = self._current, call
        try:
            call.proceed(call.connection, call.message)
        except Waits:
            if not self._waiting:
                self._until = call.connection.server.loop.clock() + _PAUSE
            self._waiting.append(call)
            call.connection.unanswered += 1
            self.watch(call.connection.server.loop)
        finally:
            self._current = outer

    def _answer_again(self, current: Connection | None = None) -> None:
        self._seen = self._returned()
        calls, self._waiting = self._waiting, []
        for call in calls:
            call.connection.unanswered -= 1
            self._answer(call)
            if call.connection is not current and call.connection in call.connection.server.connections:
                call.connection.on_writable()  # the reply; `current` sends its output itself
        if not self._waiting:
            self.unwatch()

    def wake(self) -> None:
        """What calls wait for may have come without a message of a client that would show it."""
        if self._waiting and self._loop is not None:
            self._until = 0.0
            self._loop.changed(self)

    def forget(self) -> None:
        """The service restarts: what waits is lost."""
        for call in self._waiting:
            call.connection.unanswered -= 1
        self._waiting.clear()
        self._seen = 0
        self.unwatch()

    # ------------------------------------------------------------ member of the loop

    def next_deadline(self) -> float | None:
        """When the calls are tried again."""
        return self._until if self._waiting else None

    def on_deadline(self, now: float) -> None:
        """Try the calls again."""
        if self._waiting and now >= self._until:
            self._until = now + _PAUSE
            self._answer_again()
