# SPDX-License-Identifier: MIT
"""RESTOREFH and SAVEFH (RFC 5661 sections 18.27 and 18.28)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsjudge import expect, proves, stated
from suites.nfs4.minors import MINORS

RESTORES_THE_SAVED = stated(
    "RFC 5661",
    "18.27.3",
    "RESTOREFH sets the current filehandle to the saved one",
    also={"4.0": ("RFC 7530", "16.29.4")},
)
SAVES_THE_LAST = stated(
    "RFC 5661",
    "18.28.3",
    "SAVEFH saves the current filehandle; one that was saved before is no longer accessible",
    also={"4.0": ("RFC 7530", "16.30.4")},
)


@MINORS
@proves(RESTORES_THE_SAVED, killed_by="restorefh4-keeps-the-current")
def test_restores(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RESTOREFH makes the saved filehandle the current one."""
    saved, other = scratch.file("saved"), scratch.file("other")
    reply = compounds.compound(op.putfh(saved), op.savefh(), op.putfh(other), op.restorefh(), op.getfh())
    expect(expect(reply).ok().handle, "object", field="object").equals(saved)


@MINORS
@proves(SAVES_THE_LAST, killed_by="savefh4-keeps-the-first")
def test_saves_last(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A second SAVEFH replaces what the first has saved."""
    first, second = scratch.file("first"), scratch.file("second")
    saving = (op.putfh(first), op.savefh(), op.putfh(second), op.savefh())
    reply = compounds.compound(*saving, op.putfh(first), op.restorefh(), op.getfh())
    expect(expect(reply).ok().handle, "object", field="object").equals(second)


@MINORS
@proves(SAVES_THE_LAST, killed_by="savefh4-takes-the-current-away")
def test_keeps_current(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SAVEFH keeps the current filehandle."""
    file = scratch.file("file")
    reply = expect(compounds.compound(op.putfh(file), op.savefh(), op.getfh())).ok()
    expect(reply.handle, "object", field="object").equals(file)
