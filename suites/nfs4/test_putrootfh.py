# SPDX-License-Identifier: MIT
"""PUTROOTFH and PUTPUBFH (RFC 5661 sections 18.21 and 18.20)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import Requirement, expect, proves
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS

IS_THE_ROOT = Requirement(
    rfc="RFC 5661",
    section="18.21.3",
    gist="PUTROOTFH replaces the current filehandle with that of the root of the server's namespace",
)
ROOT_HAS_NO_PARENT = Requirement(
    rfc="RFC 5661",
    section="18.14.3",
    gist="LOOKUPP at the root of the server's file tree must return NFS4ERR_NOENT",
)


@MINORS
@proves(IS_THE_ROOT, killed_by="putrootfh4-is-no-directory")
def test_directory(session: Session4, scratch: Nfs4Scratch) -> None:
    """The root is a directory, and twice the same."""
    reply = expect(
        session.compound(op.putrootfh(), op.getfh(), op.putrootfh(), op.getfh(), op.getattr("type"))
    ).ok()
    expect(reply.attributes).field("type").equals(p.NfsFtype4.NF4DIR)
    expect_same_object(scratch, reply[3].resok4.object, reply[1].resok4.object, "second root")


@MINORS
@proves(ROOT_HAS_NO_PARENT, killed_by="lookupp4-of-the-root-is-the-root")
def test_parent(session: Session4) -> None:
    """LOOKUPP of the root fails with NOENT."""
    reply = session.compound(op.putrootfh(), op.lookupp())
    expect(reply).refused(p.Nfsstat4.NFS4ERR_NOENT, because=ROOT_HAS_NO_PARENT)
