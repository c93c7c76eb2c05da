# SPDX-License-Identifier: MIT
"""RESTOREFH and SAVEFH (RFC 5661 sections 18.27 and 18.28)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsjudge import Requirement, expect, proves
from suites.nfs4.minors import MINORS

RESTORES_THE_SAVED = Requirement(
    rfc="RFC 5661",
    section="18.27.3",
    gist="RESTOREFH sets the current filehandle to the saved one",
)
SAVES_THE_LAST = Requirement(
    rfc="RFC 5661",
    section="18.28.3",
    gist="SAVEFH saves the current filehandle; one that was saved before is no longer accessible",
)


@MINORS
@proves(RESTORES_THE_SAVED, killed_by="restorefh4-keeps-the-current")
def test_restores(session: Session4, scratch: Nfs4Scratch) -> None:
    """RESTOREFH makes the saved filehandle the current one."""
    saved, other = scratch.file("saved"), scratch.file("other")
    reply = session.compound(op.putfh(saved), op.savefh(), op.putfh(other), op.restorefh(), op.getfh())
    expect(expect(reply).ok().handle, "object", field="object").equals(saved)


@MINORS
@proves(SAVES_THE_LAST, killed_by="savefh4-keeps-the-first")
def test_saves_last(session: Session4, scratch: Nfs4Scratch) -> None:
    """A second SAVEFH replaces what the first has saved."""
    first, second = scratch.file("first"), scratch.file("second")
    saving = (op.putfh(first), op.savefh(), op.putfh(second), op.savefh())
    reply = session.compound(*saving, op.putfh(first), op.restorefh(), op.getfh())
    expect(expect(reply).ok().handle, "object", field="object").equals(second)


@MINORS
@proves(SAVES_THE_LAST, killed_by="savefh4-takes-the-current-away")
def test_keeps_current(session: Session4, scratch: Nfs4Scratch) -> None:
    """SAVEFH keeps the current filehandle."""
    file = scratch.file("file")
    reply = expect(session.compound(op.putfh(file), op.savefh(), op.getfh())).ok()
    expect(reply.handle, "object", field="object").equals(file)
