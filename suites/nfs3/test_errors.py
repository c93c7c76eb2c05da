# SPDX-License-Identifier: MIT
"""Errors that any call on names may return: NFS3ERR_ROFS (RFC 1813 section 2.6)."""

from __future__ import annotations

import pytest

from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import expect, expect_names, proves
from suites.nfs3.calls import CHANGING_NAMES, Place
from suites.nfs3.clauses import READ_ONLY_IS_UNCHANGED, RETURNS_ROFS
from suites.nfs3.statuses import NO_PERMISSION


@pytest.mark.parametrize("procedure", CHANGING_NAMES)
@proves(RETURNS_ROFS, READ_ONLY_IS_UNCHANGED, killed_by=("names3-read-only-is-io", "names3-ignore-read-only"))
def test_rofs(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """Calls that change names on a read-only file system fail with ROFS and change nothing."""
    place.arrange(procedure, b"name")
    known = place.names()
    knobs.set(read_only=True)
    reply = place.call(nfs3, procedure, b"name")
    expect_names(place.names(), known, "names in the directory", because=READ_ONLY_IS_UNCHANGED)
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=RETURNS_ROFS)
