# SPDX-License-Identifier: MIT
"""A WRITE of several segments, of NFSv2 or NFSv3."""

from __future__ import annotations

import typing as t

from fixtures.checks.wire import SUCCESS, RawCall, Wire
from nfsclient.protocol import nfs2, nfs3
from nfsclient.rpc.program import Procedure
from nfsjudge import skip

SIZE: t.Final = 3000
"""Bytes of data."""


def procedure_of(version: int) -> Procedure[t.Any, t.Any]:
    return nfs2.WRITE if version == 2 else nfs3.WRITE


def make_write(peer: Wire, file: bytes, data: bytes) -> RawCall:
    """A WRITE of data at the beginning of a file, on stable storage before it is answered."""
    args: nfs2.Writeargs | nfs3.Write3Args
    if peer.version == 2:
        args = nfs2.Writeargs(file, 0, 0, 0, data)
    else:
        args = nfs3.Write3Args(file, 0, len(data), nfs3.StableHow.FILE_SYNC, data)
    return peer.make(procedure_of(peer.version).number, args.to_xdr())


def written(peer: Wire, call: RawCall) -> int:
    """Make a WRITE: the bytes that the server wrote. SKIP if it fails."""
    answer = peer.call(call)
    if answer.outcome != SUCCESS:
        skip(f"WRITE is refused: {answer.outcome}")
    reply = answer.decode(procedure_of(peer.version).res)
    if reply.status != 0:
        skip(f"WRITE answers {reply.status}")
    return SIZE if peer.version == 2 else int(reply.resok.count)
