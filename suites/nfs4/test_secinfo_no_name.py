# SPDX-License-Identifier: MIT
"""SECINFO_NO_NAME (RFC 5661 section 18.45)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, SecinfoStyle4
from nfsjudge import expect, expect_that, must, proves, skip, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.strangers import a_stranger

LISTS_FLAVORS = stated(
    "RFC 5661", "18.45.3", "the results are those of SECINFO, for the current filehandle or its parent"
)
CONSUMES_THE_FILEHANDLE = stated(
    "RFC 5661",
    "18.45.3",
    "on success the current filehandle is consumed: its next use fails with NFS4ERR_NOFILEHANDLE",
)
ACCESS_IS_LOOKUPPS = must(
    "RFC 5661",
    "18.45.3",
    "if the caller may not LOOKUPP the parent, SECINFO_STYLE4_PARENT behaves the same way: NFS4ERR_ACCESS",
)
SAYS_WHAT_SECINFO_SAYS = stated(
    "RFC 5661",
    "18.45.3",
    "SECINFO_NO_NAME is for the object of a filehandle what SECINFO is for a name: both list the same flavors",
)
PARENT_NEEDS_A_DIRECTORY = stated(
    "RFC 5661",
    "15.1.2.6",
    "NFS4ERR_NOTDIR: the current filehandle is no directory, and the operation requires one",
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
@pytest.mark.parametrize("style", list(SecinfoStyle4), ids=["current", "parent"])
@proves(CONSUMES_THE_FILEHANDLE, killed_by="secinfononame4-keeps-the-current-filehandle")
def test_consumes(compounds: Compounds, scratch: Nfs4Scratch, style: SecinfoStyle4) -> None:
    """After SECINFO_NO_NAME there is no current filehandle."""
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


@proves(ACCESS_IS_LOOKUPPS, killed_by="secinfononame4-needs-no-access", needs="nfs4_other_users")
def test_access(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """SECINFO_NO_NAME of the parent, by a user who may not go there, fails with ACCESS, as LOOKUPP does."""
    stranger = a_stranger(v4, scratch)
    private = scratch.directory("private", mode=0o700)
    if stranger.compound(op.putfh(private), op.lookupp()).status != Nfsstat4.NFS4ERR_ACCESS:
        skip("LOOKUPP by another user in a directory of mode 0700 is not denied")
    reply = stranger.compound(op.putfh(private), op.secinfo_no_name(SecinfoStyle4.SECINFO_STYLE4_PARENT))
    expect(reply).refused(Nfsstat4.NFS4ERR_ACCESS, because=ACCESS_IS_LOOKUPPS)


@proves(SAYS_WHAT_SECINFO_SAYS, killed_by="secinfononame4-lists-another-flavor")
def test_as_secinfo(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO_NO_NAME of a file lists the flavors that SECINFO lists for its name."""
    file = scratch.file("file")
    by_name = expect(compounds.compound(op.putfh(scratch.handle), op.secinfo(b"file"))).ok()
    result = expect(compounds.compound(op.putfh(file), op.secinfo_no_name())).of(p.SECINFO_NO_NAME)
    wanted = {entry.flavor for entry in by_name.of(p.SECINFO).resok4 or []}
    seen = {entry.flavor for entry in result.ok() or []}
    expect(sorted(seen), "flavors by SECINFO_NO_NAME", field="resok4").equals(sorted(wanted))


@proves(PARENT_NEEDS_A_DIRECTORY, killed_by="secinfononame4-files-have-parents")
def test_parent_of_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO_NO_NAME of the parent of a regular file fails, as LOOKUPP does."""
    file = scratch.file("file")
    if compounds.compound(op.putfh(file), op.lookupp()).status == Nfsstat4.NFS4_OK:
        skip("LOOKUPP of a file succeeds")
    reply = compounds.compound(op.putfh(file), op.secinfo_no_name(SecinfoStyle4.SECINFO_STYLE4_PARENT))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=PARENT_NEEDS_A_DIRECTORY)
