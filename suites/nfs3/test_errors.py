# SPDX-License-Identifier: MIT
"""Errors that any operation may return: a read-only file system, a squashed user (RFC 1813 section 2.6)."""

from __future__ import annotations

import pytest

from fixtures.checks import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import expect, observe, proves
from suites.nfs3.by_name import CALLS, TAKING, Place
from suites.nfs3.clauses import READ_ONLY_IS_UNCHANGED, RETURNS_ROFS
from suites.nfs3.permissions import FEW, NO_PERMISSION

_CHANGING = [name for name in CALLS if name != "lookup"]


# ---------------------------------------------------------------- ROFS


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(RETURNS_ROFS, killed_by="names3-read-only-is-io")
def test_rofs(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """Calls that change names on a read-only file system fail with ROFS."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    knobs.set(read_only=True)
    reply = CALLS[procedure](nfs3, place, place.here, b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=RETURNS_ROFS)


@pytest.mark.parametrize("procedure", FEW)
@proves(READ_ONLY_IS_UNCHANGED, killed_by="names3-read-only-is-no-matter")
def test_rofs_keeps_names(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """Calls that change names leave a read-only file system unchanged."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    known = place.names()
    knobs.set(read_only=True)
    observe("the refusal", CALLS[procedure](nfs3, place, place.here, b"name").status)
    expect(place.names(), "the names in the directory").equals(known)
