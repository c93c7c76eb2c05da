# SPDX-License-Identifier: MIT
"""The write verifier: asking for it, and judging it after a loss of data."""

from __future__ import annotations

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow
from nfsjudge import expect, skip


def verifier_after(nfs3: Nfs3, file: bytes) -> bytes:
    """The verifier after a crash or restart. SKIP if the handle did not survive it."""
    reply = nfs3.write(file, 0, b"data", StableHow.UNSTABLE)
    if reply.resok is None:
        skip(f"cannot get the verifier after the restart: WRITE answers {reply.status}", reply)
    return reply.resok.verf


def expect_new(verf: bytes, lost: set[bytes]) -> None:
    """The verifier is none of those under which data was lost."""
    __tracebackhide__ = True
    expect(verf, "verf after unstable data was lost", field="verf").satisfies(
        lambda now: now not in lost, "a new verifier"
    )


def verifier(nfs3: Nfs3, file: bytes) -> bytes:
    return expect(nfs3.write(file, 0, b"data", StableHow.UNSTABLE)).ok().verf
