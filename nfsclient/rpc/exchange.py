# SPDX-License-Identifier: MIT
"""An exchange: one call and its reply, or the lack of it. Recorders, transcripts and captures work on it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfsclient.rpc.auth import Credential
from nfsclient.rpc.program import Procedure, Step


@dataclass(slots=True, eq=False)
class Exchange:
    """One call with what came back.

    `call` and `reply` are whole RPC messages without record marks. `procedure` and `args` are None for bytes
    that a check made itself; `result` is None where `error` says why. Times are seconds of the loop's clock.
    """

    xid: int
    procedure: Procedure[t.Any, t.Any] | None
    args: t.Any
    credential: Credential | None
    call: bytes
    sent_at: float
    peer: str
    transport: t.Literal["tcp", "udp"]
    reply: bytes | None = None
    result: t.Any = None
    error: Exception | None = None
    received_at: float | None = None
    local: str = ""
    """The client's own address, as `peer` is the server's; empty where it is not known."""
    resent: int = 0
    """How often the call was sent again (UDP)."""

    @property
    def steps(self) -> Sequence[Step]:
        """The operations of the call, each with its result: one, or those that a compound carried.

        Bytes that a check made itself have no steps. They are made at each reading, so recording a call costs nothing.
        """
        procedure = self.procedure
        if procedure is None:
            return ()
        if procedure.steps is None:
            return (Step(procedure, self.args, self.result),)
        return procedure.steps(self.args, self.result)

    @property
    def is_compound(self) -> bool:
        """Whether the call carries operations, instead of being one."""
        return self.procedure is not None and self.procedure.steps is not None

    def step_of(self, subject: object) -> Step | None:
        """The step of which `subject` is the result."""
        if subject is None or not (self.is_compound or subject is self.result):
            return None
        return next((step for step in self.steps if step.result is subject), None)

    def is_about(self, subject: object) -> bool:
        """Whether `subject` is this exchange, its decoded reply, or the result of one of its operations."""
        if subject is None:
            return False
        return subject is self or subject is self.result or self.step_of(subject) is not None

    def path_of(self, subject: object, field: str | None) -> str | None:
        """The path in the decoded reply of a field of `subject`; None for the reply as a whole."""
        step = self.step_of(subject)
        return field if step is None else step.at(field)


@dataclass(slots=True, eq=False)
class RawBytes:
    """A message besides the calls of a client: raw bytes that were sent, or a message that answers none of its calls.

    What was sent over TCP is a piece of the stream, with such record marks as it has; what was received is a
    message without them.
    """

    at: float
    """Seconds of the loop's clock."""
    sent: bool
    data: bytes
    peer: str
    transport: t.Literal["tcp", "udp"]
    local: str = ""


End: t.TypeAlias = t.Literal["", "half-closed", "closed"]


@dataclass(slots=True, eq=False)
class Segment:
    """Bytes that passed on a connection, as they did: a piece of the stream with its record marks, or a datagram."""

    at: float
    """Seconds of the loop's clock."""
    sent: bool
    data: bytes
    peer: str
    transport: t.Literal["tcp", "udp"]
    local: str = ""
    connection: int = 0
    """Tells connections apart that had the same addresses, one after the other."""
    end: End = ""
    """What ended, instead of data: sending alone, or the connection."""
    aside: str = ""
    """Why it passed, if not for the calls of the check."""


Recorder: t.TypeAlias = Callable[[Exchange], None]
RawRecorder: t.TypeAlias = Callable[[bool, bytes], None]
"""Called with (whether they were sent, bytes)."""
