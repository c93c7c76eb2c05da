# SPDX-License-Identifier: MIT
"""VERIFY (RFC 5661 section 18.31)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Level, Requirement, expect, proves
from suites.nfs4.minors import MINORS

VERIFY_COMPARES = Requirement(
    rfc="RFC 5661",
    section="18.31.3",
    level=Level.MUST,
    gist="VERIFY succeeds if the attributes match; if one does not, it returns NFS4ERR_NOT_SAME",
)


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-always-differs")
def test_same(session: Session4, scratch: Nfs4Scratch) -> None:
    """VERIFY of the size that a file has succeeds."""
    verifying = (op.putfh(scratch.file("f", b"four")), op.verify(Fattr4(size=4)), op.getfh())
    expect(session.compound(*verifying)).ok()


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-always-matches")
def test_other(session: Session4, scratch: Nfs4Scratch) -> None:
    """VERIFY of another size fails with NOT_SAME."""
    reply = session.compound(op.putfh(scratch.file("f", b"four")), op.verify(Fattr4(size=5)))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOT_SAME, because=VERIFY_COMPARES)


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-compares-the-first-only")
def test_one_of_two(session: Session4, scratch: Nfs4Scratch) -> None:
    """VERIFY of a size that matches and a fileid that does not fails with NOT_SAME."""
    file = scratch.file("f")
    known = scratch.attributes(file, "size", "fileid")
    other = Fattr4(size=known.size, fileid=(known.fileid or 0) + 1)
    reply = session.compound(op.putfh(file), op.verify(other))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOT_SAME, because=VERIFY_COMPARES)
