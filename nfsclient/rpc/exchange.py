# SPDX-License-Identifier: MIT
"""An exchange: one call and its reply, or the lack of it. Recorders, transcripts and captures work on it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from nfsclient.rpc.auth import Credential
from nfsclient.rpc.program import Procedure


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


Recorder: t.TypeAlias = Callable[[Exchange], None]
RawRecorder: t.TypeAlias = Callable[[bool, bytes], None]
"""Called with (whether they were sent, bytes)."""
