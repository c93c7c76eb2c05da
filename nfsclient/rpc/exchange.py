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


Recorder: t.TypeAlias = Callable[[Exchange], None]
