# SPDX-License-Identifier: MIT
"""PUTPUBFH (RFC 5661 section 18.20)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, proves, stated
from suites.nfs4.minors import MINORS

PUBLIC_IS_CURRENT = stated(
    "RFC 5661",
    "18.20.3",
    "PUTPUBFH replaces the current filehandle with that of the public directory: the root, or one below it",
)


@MINORS
@proves(PUBLIC_IS_CURRENT, killed_by="putpubfh4-keeps-the-current-filehandle")
def test_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After PUTPUBFH the current filehandle is that of a directory."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.putpubfh(), op.getfh(), op.getattr("type"))
    expect(expect(reply).ok().attributes).field("type").equals(p.NfsFtype4.NF4DIR)
