# SPDX-License-Identifier: MIT
"""File handles after a crash or a restart (RFC 1813 section 1.6)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsjudge import Level, Requirement, expect, observe, proves

SERVER_IS_STATELESS = Requirement(
    rfc="RFC 1813",
    section="1.6",
    gist="the server needs no state of its clients: their handles should work after it restarts",
    level=Level.SHOULD,  # a server may revoke a handle at any time (section 2.5)
)


@pytest.mark.exclusive
@pytest.mark.parametrize("control", ["crash", "restart"])
@proves(SERVER_IS_STATELESS, killed_by="getattr3-handles-are-stale-after-restart")
def test_survive(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, control: str) -> None:
    """Handles work after a crash or a restart."""
    handles = {"file": scratch.file("f", b"data"), "directory": scratch.directory("d")}
    known = {what: scratch.attributes(handle).fileid for what, handle in handles.items()}
    getattr(target, control)()
    for what, handle in handles.items():
        reply = target.client(Nfs3).getattr(handle)
        observe(f"GETATTR of the {what} after the {control}", reply.status)
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.fileid").equals(known[what])
