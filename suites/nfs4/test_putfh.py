# SPDX-License-Identifier: MIT
"""PUTFH (RFC 5661 section 18.19), with GETFH (18.8)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, proves, stated
from suites.nfs4.minors import MINORS

SETS_THE_CURRENT = stated(
    "RFC 5661",
    "18.19.3",
    "PUTFH replaces the current filehandle with the one that it is given",
    also={"4.0": ("RFC 7530", "16.20.4")},
)
BADHANDLE = stated(
    "RFC 5661",
    "15.1.2.1",
    "NFS4ERR_BADHANDLE: the filehandle fails internal consistency checks",
    also={"4.0": ("RFC 7530", "13.1.2.1")},
)


@MINORS
@proves(SETS_THE_CURRENT, killed_by="getfh4-changes-the-handle")
def test_getfh(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """GETFH after PUTFH returns the handle that was put."""
    file = scratch.file("file")
    reply = expect(compounds.compound(op.putfh(file), op.getfh())).ok()
    expect(reply.handle, "object", field="object").equals(file)


@MINORS
@proves(SETS_THE_CURRENT, killed_by="putfh4-keeps-the-first")
def test_last_counts(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The second PUTFH of a COMPOUND replaces the first."""
    first, second = scratch.file("first", b"1"), scratch.file("second", b"22")
    reply = expect(compounds.compound(op.putfh(first), op.putfh(second), op.getattr("size"))).ok()
    expect(reply.attributes).field("size").equals(2)


@MINORS
@proves(BADHANDLE, killed_by="putfh4-bad-handle-is-inval")
def test_bad_handle(session: Session) -> None:
    """A handle that the server never made is refused, by PUTFH or by the next operation."""
    reply = session.compound(op.putfh(b"nfsproof: no handle of any server"), op.getattr("type"))
    expect(reply.res.resarray[-1] if reply.res.resarray else reply).refused(
        Nfsstat4.NFS4ERR_BADHANDLE, Nfsstat4.NFS4ERR_STALE, Nfsstat4.NFS4ERR_FHEXPIRED, because=BADHANDLE
    )
    expect(reply).of(p.SEQUENCE).ok()
