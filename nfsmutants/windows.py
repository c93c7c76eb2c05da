# SPDX-License-Identifier: MIT
"""Mutants that answer a call in steps, while the server answers other calls in between.

The embedded server completes each call before the next one, so nothing in it can race. A mutant in steps opens a
window: at `yield` its call waits with half of its work done, and other connections see that state.

    @mutant_in_steps(RENAME, RFC1813_RENAME)
    def rename3_removes_the_target_in_a_first_step(call: Rename) -> Steps[Rename3Res]:
        \"\"\"RENAME over a file removes it before it moves the source\"\"\"
        remove(call, call.args.to)
        yield
        return call.proceed()

How a call waits: `Window.step` raises `_Waits` through the dispatcher, so no reply is sent, and `answer_record` keeps
the message. Later it answers the message again, and `step` continues where the mutant stopped. That happens after
`CALLS_BETWEEN` other calls, or when a second call waits, or after `LONGEST` seconds. Calls over UDP do not wait.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Generator
from dataclasses import dataclass

from nfsclient.rpc.server import Connection
from nfsclient.rpc.service import CallContext
from nfsclient.rpc.sockets import Address
from nfsserver.transport import AnswerRecord, TransportMiddleware
from nfsserver.waiting import DeadlineMember

R = t.TypeVar("R")

Steps: t.TypeAlias = Generator[None, None, R]
"""What a mutant in steps returns: it yields where other calls may come between, and returns the reply."""
CALLS_BETWEEN: t.Final = 12
"""Enough for a client with several calls under way to make another one that depends on what it saw."""
LONGEST: t.Final = 0.01
"""Seconds that a call waits if no other call comes."""


class _Waits(BaseException):
    """The call that is being answered waits in a window. No handler may take this for a fault: not an `Exception`."""

    def __init__(self, window: Window) -> None:
        super().__init__("a call waits")
        self.window = window


@dataclass(slots=True, eq=False)
class _Waiting:
    """A call in the middle of its steps."""

    connection: Connection
    message: bytes
    proceed: AnswerRecord
    until: float
    left: int = CALLS_BETWEEN
    """Calls that may still come between."""


class Window(DeadlineMember, TransportMiddleware):
    """The calls of one mutant that wait. As a member of the loop it has no socket, only deadlines."""

    def __init__(self) -> None:
        self._begun: dict[tuple[Address, int], Steps[t.Any]] = {}
        """Peer and XID of a call -> its steps."""
        self._waiting: list[_Waiting] = []
        self._answering: Connection | None = None
        """The connection whose call is being answered; None outside of `answer_record`."""

    def step(self, context: CallContext, begin: Callable[[], Steps[R]]) -> R:
        """The reply, if the call is complete. Raises `_Waits` if it is not."""
        key = context.peer, context.xid
        steps: Steps[R] = self._begun.pop(key) if key in self._begun else begin()
        try:
            next(steps)
            while self._answering is None or context.transport != "tcp":
                next(steps)
        except StopIteration as end:
            return t.cast("R", end.value)
        self._begun[key] = steps
        raise _Waits(self)

    # ------------------------------------------------------------ below messages

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer a call, or keep it if it waits; then continue the calls that have waited for long enough."""
        earlier = list(self._waiting)
        is_second = self._answer(connection, message, proceed) and bool(earlier)
        for waiting in earlier:
            waiting.left -= 1
        due = [waiting for waiting in self._waiting if is_second or waiting.left <= 0]
        # The last first: the steps of two calls that do the same then alternate.
        self._continue(due[::-1], connection)

    def _answer(self, connection: Connection, message: bytes, proceed: AnswerRecord) -> bool:
        """Whether the call waits now."""
        outer, self._answering = self._answering, connection
        try:
            proceed(connection, message)
        except _Waits as waits:
            if waits.window is not self:
                raise
            self.watch(connection.server.loop)
            until = connection.server.loop.clock() + LONGEST
            self._waiting.append(_Waiting(connection, message, proceed, until))
            return True
        finally:
            self._answering = outer
        return False

    def _continue(self, calls: list[_Waiting], current: Connection | None = None) -> None:
        for call in calls:
            if call not in self._waiting:
                continue  # sending the output of another one has made room for further calls
            self._waiting.remove(call)
            self._answer(call.connection, call.message, call.proceed)
            if call.connection is not current and call.connection in call.connection.server.connections:
                call.connection.on_writable()  # the reply; `current` sends its output itself
        if not self._waiting:
            self.unwatch()

    # ------------------------------------------------------------ member of the loop

    def next_deadline(self) -> float | None:
        """When the first call has waited for `LONGEST`."""
        return min((waiting.until for waiting in self._waiting), default=None)

    def on_deadline(self, now: float) -> None:
        """Continue the calls that have waited for `LONGEST`."""
        self._continue([waiting for waiting in self._waiting if waiting.until <= now])
