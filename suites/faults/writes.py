# SPDX-License-Identifier: MIT
"""Operations on files as calls that a wire sends, by NFSv2 or NFSv3; a WRITE of several segments."""

from __future__ import annotations

import typing as t

from fixtures.checks.wire import SUCCESS, RawCall, Wire
from nfsclient.files import Call, Files, Steps, v2, v3
from nfsclient.protocol import nfs2, nfs3
from nfsclient.rpc.program import Procedure
from nfsjudge import skip

SIZE: t.Final = 3000
"""Bytes of data."""
FILES: t.Final[dict[int, Files]] = {2: v2.Files(checked=False), 3: v3.Files(checked=False)}
"""The operations of a version, whose replies the checks judge themselves."""


def call_of(steps: Steps[t.Any]) -> Call:
    """The first call of an operation: a check that sends it twice, or damages it, does what follows itself."""
    call = next(steps)
    assert isinstance(call, Call)
    return call


def procedure_of(version: int) -> Procedure[t.Any, t.Any]:
    return nfs2.WRITE if version == 2 else nfs3.WRITE


def make_write(peer: Wire, file: bytes, data: bytes) -> RawCall:
    """A WRITE of data at the beginning of a file, on stable storage before it is answered."""
    call = call_of(FILES[peer.version].write(file, 0, data))
    return peer.make(call.procedure.number, call.args.to_xdr())


def written(peer: Wire, call: RawCall) -> int:
    """Make a WRITE: the bytes that the server wrote. SKIP if it fails."""
    answer = peer.call(call)
    if answer.outcome != SUCCESS:
        skip(f"WRITE is refused: {answer.outcome}")
    reply = answer.decode(procedure_of(peer.version).res)
    if reply.status != 0:
        skip(f"WRITE answers {reply.status}")
    return SIZE if peer.version == 2 else int(reply.resok.count)
