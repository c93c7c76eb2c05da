# SPDX-License-Identifier: MIT
"""SECINFO (RFC 5661 section 18.29)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, expect_that, proves, stated
from suites.nfs4.minors import MINORS

LISTS_FLAVORS = stated(
    "RFC 5661", "18.29.3", "the result contains an array that represents the security mechanisms available"
)
CONSUMES_THE_FILEHANDLE = stated(
    "RFC 5661",
    "18.29.3",
    "on success the current filehandle is consumed: its next use fails with NFS4ERR_NOFILEHANDLE",
)
ABSENT_IS_NOENT = stated(
    "RFC 5661",
    "15.1.4.8",
    "NFS4ERR_NOENT: the file or directory that is named does not exist",
    also={"4.0": ("RFC 7530", "13.1.4.8")},
)
EMPTY_NAME_IS_INVALID = stated("RFC 5661", "18.29.3", "a name of zero length gets NFS4ERR_INVAL")


@MINORS
@proves(LISTS_FLAVORS, killed_by="secinfo4-lists-nothing")
def test_flavors(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO lists the flavor that the check itself uses."""
    scratch.file("file")
    reply = expect(compounds.compound(op.putfh(scratch.handle), op.secinfo(b"file"))).ok()
    flavors = [entry.flavor for entry in reply.of(p.SECINFO).resok4 or []]
    expect_that(p.AUTH_SYS in flavors, "AUTH_SYS among the flavors", str(flavors), because=LISTS_FLAVORS)


@MINORS
@proves(CONSUMES_THE_FILEHANDLE, killed_by="secinfo4-keeps-the-current-filehandle")
def test_consumes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After SECINFO there is no current filehandle."""
    scratch.file("file")
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b"file"), op.getfh())
    expect(reply).of(p.SECINFO).ok()
    expect(reply).refused(Nfsstat4.NFS4ERR_NOFILEHANDLE, because=CONSUMES_THE_FILEHANDLE)


@MINORS
@proves(ABSENT_IS_NOENT, killed_by="secinfo4-knows-every-name")
def test_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO of a name that does not exist fails with NOENT."""
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ABSENT_IS_NOENT)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="secinfo4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO of an empty name fails with INVAL."""
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)
