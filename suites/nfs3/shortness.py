# SPDX-License-Identifier: MIT
"""WRITEs of which a server takes a part only, and how they are brought about."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, RpcTimeout, SystemErr
from nfsclient.protocol.nfs3 import StableHow, Write3Res
from nfsjudge import observe, skip
from suites.nfs3.limits import fsinfo

MOST_SENT: t.Final = 2 * 1024 * 1024
"""Bytes; above a wtmax that is larger nothing is sent."""

CAUSES: t.Final[dict[str, int | dict[str, int]]] = {
    "wtmax and 1 byte": 1,
    "wtmax and 4097 bytes": 4097,
    "wtmax and 64 KiB": 65_536,
    "1 byte taken": {"write_accepts": 1},
    "3 bytes taken": {"write_accepts": 3},
    "100 bytes taken": {"write_accepts": 100},
    "4097 bytes taken": {"write_accepts": 4097},
    "a share taken": {"write_accepts_random": 7},
}
"""What makes WRITEs short: so many bytes more than wtmax, or a knob of the target."""


@dataclass
class Sender:
    """Sends more than the server takes at once."""

    nfs3: Nfs3
    most: int
    """How much to send at once, in bytes."""

    def write(
        self, file: bytes, offset: int, data: bytes, stable: StableHow = StableHow.FILE_SYNC
    ) -> Write3Res | None:
        """One WRITE of up to `most` bytes. None where the server did not handle so large a call."""
        try:
            reply = self.nfs3.write(file, offset, data[: self.most], stable)
        except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as refusal:
            observe("WRITE of more than wtmax", type(refusal).__name__)
            return None
        shortness = "not answered with success" if reply.resok is None else "short"
        if reply.resok is not None and reply.resok.count >= min(self.most, len(data)):
            shortness = "whole"
        observe("the WRITE", shortness)
        return reply


def sender(request: pytest.FixtureRequest, nfs3: Nfs3, scratch: Scratch, cause: str) -> Sender:
    """Make WRITEs short by one of the `CAUSES`. UNSUPPORTED where the target has no knobs."""
    how = CAUSES[cause]
    if isinstance(how, dict):
        request.getfixturevalue("knobs").set(**how)
        return Sender(nfs3, how.get("write_accepts", 5000) + 600)
    wtmax = fsinfo(nfs3, scratch.handle).wtmax
    if not 1 <= wtmax <= MOST_SENT:
        skip(f"wtmax is {wtmax}: checks do not send more than that")
    return Sender(request.getfixturevalue("second_client"), wtmax + how)
