# SPDX-License-Identifier: MIT
"""Short WRITEs, of which the server writes only a part, and ways to cause them."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow, Write3Res
from nfsjudge import observe, skip
from nfsjudge.answers import answer_name
from suites.nfs3.limits import fsinfo
from suites.replies import REJECTIONS

MOST_SENT: t.Final = 2 * 1024 * 1024
"""Bytes. Checks of WRITEs above wtmax are skipped if wtmax exceeds this."""
CAUSES: t.Final[dict[str, int | dict[str, int]]] = {
    "wtmax+1": 1,
    "wtmax+4097": 4097,
    "wtmax+64k": 65_536,
    "accepts-1": {"write_accepts": 1},
    "accepts-4097": {"write_accepts": 4097},
    "accepts-random": {"write_accepts_random": 7},
}
"""What makes a WRITE short: a number of bytes above wtmax, or a knob of the target."""


@dataclass
class Sender:
    """Sends more than the server writes in one call."""

    nfs3: Nfs3
    most: int
    """Bytes to send in one WRITE."""

    def write(
        self, file: bytes, offset: int, data: bytes, stable: StableHow = StableHow.FILE_SYNC
    ) -> Write3Res | None:
        """Send one WRITE of up to `most` bytes. None if the server rejected so large a call."""
        try:
            reply = self.nfs3.write(file, offset, data[: self.most], stable)
        except REJECTIONS as refusal:
            observe("WRITE of more than wtmax", answer_name(refusal))
            return None
        extent = f"refused with {reply.status}" if reply.resok is None else "short count"
        if reply.resok is not None and reply.resok.count >= min(self.most, len(data)):
            extent = "complete"
        observe("WRITE", extent)
        return reply


def sender(request: pytest.FixtureRequest, nfs3: Nfs3, scratch: Nfs3Scratch, cause: str) -> Sender:
    """Make WRITEs short by one of the `CAUSES`. UNSUPPORTED if the target has no knobs."""
    how = CAUSES[cause]
    if isinstance(how, dict):
        request.getfixturevalue("knobs").set(**how)
        return Sender(nfs3, how.get("write_accepts", 5000) + 600)
    wtmax = fsinfo(nfs3, scratch.handle).wtmax
    if not 1 <= wtmax <= MOST_SENT:
        skip(f"wtmax is {wtmax}: these checks send 1 to {MOST_SENT} bytes")
    return Sender(request.getfixturevalue("second_client"), wtmax + how)
