# SPDX-License-Identifier: MIT
"""NVERIFY (RFC 5661 section 18.15)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Level, Requirement, expect, proves
from suites.nfs4.minors import MINORS

NVERIFY_COMPARES = Requirement(
    rfc="RFC 5661",
    section="18.15.3",
    level=Level.MUST,
    gist="NVERIFY returns NFS4ERR_SAME if all attributes match, and succeeds if one does not",
)


@MINORS
@proves(NVERIFY_COMPARES, killed_by="nverify4-always-differs")
def test_same(session: Session4, scratch: Nfs4Scratch) -> None:
    """NVERIFY of the size that a file has fails with SAME."""
    reply = session.compound(op.putfh(scratch.file("f", b"four")), op.nverify(Fattr4(size=4)))
    expect(reply).refused(Nfsstat4.NFS4ERR_SAME, because=NVERIFY_COMPARES)


@MINORS
@proves(NVERIFY_COMPARES, killed_by="nverify4-always-matches")
def test_other(session: Session4, scratch: Nfs4Scratch) -> None:
    """NVERIFY of another size succeeds, and the COMPOUND goes on."""
    file = scratch.file("f", b"four")
    expect(session.compound(op.putfh(file), op.nverify(Fattr4(size=5)), op.getfh())).ok()
