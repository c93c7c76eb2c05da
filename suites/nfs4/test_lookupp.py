# SPDX-License-Identifier: MIT
"""LOOKUPP (RFC 5661 section 18.14); its check at the root is with PUTROOTFH."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, proves, stated
from suites.nfs4.minors import MINORS

FINDS_THE_PARENT = stated(
    "RFC 5661",
    "18.14.3",
    "LOOKUPP makes the parent directory the current filehandle",
    also={"4.0": ("RFC 7530", "16.14.4")},
)
NEEDS_A_DIRECTORY = stated(
    "RFC 5661", "18.14.3", "LOOKUPP of an object that is no directory returns NFS4ERR_NOTDIR"
)


@MINORS
@proves(FINDS_THE_PARENT, killed_by="lookupp4-stays")
def test_parent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUPP of a new directory finds the directory that it is in."""
    inner = scratch.directory("inner")
    known = scratch.attributes(None, "fileid").fileid
    reply = expect(compounds.compound(op.putfh(inner), op.lookupp(), op.getattr("fileid"))).ok()
    expect(reply.attributes).field("fileid").equals(known)


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="lookupp4-of-a-file-is-noent")
def test_of_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUPP of a regular file fails with NOTDIR."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.lookupp())
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)
