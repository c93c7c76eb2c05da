# SPDX-License-Identifier: MIT
"""SECINFO_NO_NAME (RFC 5661 section 18.45)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, SecinfoStyle4
from nfsjudge import expect, expect_that, must, proves, stated
from suites.nfs4.minors import MINORS

LISTS_FLAVORS = stated(
    "RFC 5661", "18.45.3", "the results are those of SECINFO, for the current filehandle or its parent"
)
CONSUMES_THE_FILEHANDLE = stated(
    "RFC 5661",
    "18.45.3",
    "on success the current filehandle is consumed: its next use fails with NFS4ERR_NOFILEHANDLE",
)
ROOT_HAS_NO_PARENT = must(
    "RFC 5661", "18.45.3", "without a parent directory, SECINFO_STYLE4_PARENT gets NFS4ERR_NOENT"
)


@MINORS
@pytest.mark.parametrize("style", list(SecinfoStyle4), ids=["current", "parent"])
@proves(LISTS_FLAVORS, killed_by="secinfononame4-lists-nothing")
def test_flavors(compounds: Compounds, scratch: Nfs4Scratch, style: SecinfoStyle4) -> None:
    """SECINFO_NO_NAME lists the flavor that the check itself uses."""
    reply = expect(compounds.compound(op.putfh(scratch.handle), op.secinfo_no_name(style))).ok()
    flavors = [entry.flavor for entry in reply.of(p.SECINFO_NO_NAME).resok4 or []]
    expect_that(p.AUTH_SYS in flavors, "AUTH_SYS among the flavors", str(flavors), because=LISTS_FLAVORS)


@MINORS
@proves(CONSUMES_THE_FILEHANDLE, killed_by="secinfononame4-keeps-the-current-filehandle")
def test_consumes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After SECINFO_NO_NAME there is no current filehandle."""
    style = SecinfoStyle4.SECINFO_STYLE4_CURRENT_FH
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo_no_name(style), op.getfh())
    expect(reply).of(p.SECINFO_NO_NAME).ok()
    expect(reply).refused(Nfsstat4.NFS4ERR_NOFILEHANDLE, because=CONSUMES_THE_FILEHANDLE)


@MINORS
@proves(ROOT_HAS_NO_PARENT, killed_by="secinfononame4-root-has-a-parent")
def test_parent_of_root(compounds: Compounds) -> None:
    """SECINFO_NO_NAME of the parent of the root fails with NOENT."""
    style = SecinfoStyle4.SECINFO_STYLE4_PARENT
    reply = compounds.compound(op.putrootfh(), op.secinfo_no_name(style))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ROOT_HAS_NO_PARENT)
