# SPDX-License-Identifier: MIT
"""An exchange: one call and its reply, or the lack of it. Recorders, transcripts and captures work on it.

In a callback the server is the caller: the call came, and the reply was sent. What the server says is in the arguments.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
    is_callback: bool = False
    """Whether the server made the call: then `sent_at` is when it came, and `received_at` when it was answered."""
    _read: tuple[t.Any, t.Any, Sequence[Step]] | None = field(default=None, init=False, repr=False)
    """Arguments, result, and their steps, as `steps` has found them."""

    @property
    def steps(self) -> Sequence[Step]:
        """The operations of the call, each with its result: one, or those that a compound carried.

        Bytes that a check made itself have no steps. They are made at the first reading, so recording a call costs
        nothing, and again when `args` or `result` is another object.
        """
        procedure = self.procedure
        if procedure is None:
            return ()
        read = self._read
        if read is not None and read[0] is self.args and read[1] is self.result:
            return read[2]
        steps: Sequence[Step] = (
            (Step(procedure, self.args, self.result),)
            if procedure.steps is None
            else procedure.steps(self.args, self.result)
        )
        self._read = self.args, self.result, steps
        return steps

    @property
    def is_compound(self) -> bool:
        """Whether the call carries operations, instead of being one."""
        return self.procedure is not None and self.procedure.steps is not None

    @property
    def of_server(self) -> t.Any:
        """What the server said: the decoded reply, or the arguments of a callback."""
        return self.args if self.is_callback else self.result

    def part_of_server(self, step: Step) -> t.Any:
        """What the server said of one operation."""
        return step.args if self.is_callback else step.result

    def path_to(self, index: int) -> str:
        """Where that stands for the operation of this number in `of_server`: `resarray[2]`."""
        return f"argarray[{index}]" if self.is_callback else self.steps[index].path

    def step_of(self, subject: object) -> Step | None:
        """The step of which `subject` is the result; of a callback, the arguments."""
        index = self._index_of(subject)
        return None if index is None else self.steps[index]

    def _index_of(self, subject: object) -> int | None:
        if subject is None or not (self.is_compound or subject is self.of_server):
            return None
        parts = enumerate(map(self.part_of_server, self.steps))
        return next((index for index, part in parts if part is subject), None)

    def is_about(self, subject: object) -> bool:
        """Whether `subject` is this exchange, what the server said in it, or said of one of its operations."""
        if subject is None:
            return False
        return subject is self or subject is self.of_server or self._index_of(subject) is not None

    def path_of(self, subject: object, field: str | None) -> str | None:
        """The path in what the server said of a field of `subject`; None for all of it."""
        index = self._index_of(subject)
        if index is None:
            return field
        return ".".join(part for part in (self.path_to(index), field) if part) or None


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
