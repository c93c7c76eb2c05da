# SPDX-License-Identifier: MIT
"""PUTROOTFH and PUTPUBFH (RFC 5661 sections 18.21 and 18.20)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, proves, stated
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS

IS_THE_ROOT = stated(
    "RFC 5661",
    "18.21.3",
    "PUTROOTFH replaces the current filehandle with that of the root of the server's namespace",
    also={"4.0": ("RFC 7530", "16.22.4")},
)
ROOT_HAS_NO_PARENT = stated(
    "RFC 5661",
    "18.14.3",
    "LOOKUPP at the root of the server's file tree must return NFS4ERR_NOENT",
    also={"4.0": ("RFC 7530", "16.14.4")},
)


@MINORS
@proves(IS_THE_ROOT, killed_by="putrootfh4-is-no-directory")
def test_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The root is a directory, and twice the same."""
    reply = expect(
        compounds.compound(op.putrootfh(), op.getfh(), op.putrootfh(), op.getfh(), op.getattr("type"))
    ).ok()
    expect(reply.attributes).field("type").equals(p.NfsFtype4.NF4DIR)
    expect_same_object(scratch, reply[3].resok4.object, reply[1].resok4.object, "second root")


@MINORS
@proves(ROOT_HAS_NO_PARENT, killed_by="lookupp4-of-the-root-is-the-root")
def test_parent(compounds: Compounds) -> None:
    """LOOKUPP of the root fails with NOENT."""
    reply = compounds.compound(op.putrootfh(), op.lookupp())
    expect(reply).refused(p.Nfsstat4.NFS4ERR_NOENT, because=ROOT_HAS_NO_PARENT)
