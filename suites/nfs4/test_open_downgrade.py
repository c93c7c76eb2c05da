# SPDX-License-Identifier: MIT
"""OPEN_DOWNGRADE (RFC 5661 section 18.18)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, skip, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_again, open_file, try_open

REPLACES_THE_MODES = stated(
    "RFC 5661",
    "18.18.3",
    "the server replaces the access and deny modes on the file with share_access and share_deny",
)
VALUES_ARE_CHECKED = must(
    "RFC 5661",
    "18.18.3",
    "other values than those that are valid for share_access and share_deny get NFS4ERR_INVAL",
)
SEQID_IS_IGNORED = must("RFC 5661", "18.18.3", "the seqid argument is ignored")
SEQID_COUNTS = stated(
    "RFC 5661",
    "8.2.2",
    "the seqid of a stateid is incremented by each operation that changes its state",
    also={"4.0": ("RFC 7530", "9.1.4.2")},
)


@MINORS
@proves(REPLACES_THE_MODES, killed_by="opendowngrade4-changes-nothing")
def test_access(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After a downgrade to reading, another client may deny writing."""
    file, owner = scratch.file("file"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, READ, owner=owner), WRITE, 0, owner)
    other = another_client(v4)
    expect(try_open(other, file, READ, p.OPEN4_SHARE_DENY_WRITE)).refused(Nfsstat4.NFS4ERR_SHARE_DENIED)
    expect(compounds.compound(op.putfh(file), op.open_downgrade(opened.stateid, 1))).ok()
    expect(try_open(other, file, READ, p.OPEN4_SHARE_DENY_WRITE)).ok()


@MINORS
@proves(REPLACES_THE_MODES, killed_by="opendowngrade4-keeps-the-denial")
def test_denial(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After a downgrade that ends a denial, another client may open the file for what was denied."""
    file = scratch.file("file")
    owner = new_state_owner()
    first = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_NONE, owner=owner)
    opened = open_again(compounds, first, READ, p.OPEN4_SHARE_DENY_WRITE, owner)
    other = another_client(v4)
    expect(try_open(other, file, WRITE)).refused(Nfsstat4.NFS4ERR_SHARE_DENIED)
    expect(compounds.compound(op.putfh(file), op.open_downgrade(opened.stateid, 1, 0))).ok()
    expect(try_open(other, file, WRITE)).ok()


@MINORS
@proves(SEQID_COUNTS, killed_by="opendowngrade4-keeps-the-seqid")
def test_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE returns the stateid of the open, one seqid on."""
    file, owner = scratch.file("file"), new_state_owner()
    open_file(compounds, file, READ, owner=owner)
    opened = open_file(compounds, file, BOTH, owner=owner)
    reply = expect(compounds.compound(op.putfh(file), op.open_downgrade(opened.stateid, 1))).ok()
    expect(reply.stateid).field("other").equals(opened.stateid.other)
    expect(reply.stateid).field("seqid").equals(opened.stateid.seqid + 1)


@MINORS
@proves(SEQID_IS_IGNORED, killed_by="opendowngrade4-compares-the-seqid")
def test_any_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE with any seqid succeeds."""
    file, owner = scratch.file("file"), new_state_owner()
    open_file(compounds, file, READ, owner=owner)
    opened = open_file(compounds, file, BOTH, owner=owner)
    downgrade = op.open_downgrade(opened.stateid, 1, seqid=0x1234_5678)
    expect(compounds.compound(op.putfh(file), downgrade)).ok()


@MINORS
@pytest.mark.parametrize(
    ("access", "deny"), [(0, 0), (4, 0), (1, 4)], ids=["no-access", "access-4", "deny-4"]
)
@proves(VALUES_ARE_CHECKED, killed_by="opendowngrade4-takes-any-value")
def test_invalid(compounds: Compounds, scratch: Nfs4Scratch, access: int, deny: int) -> None:
    """Values of share_access and share_deny that are not defined are invalid."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    reply = compounds.compound(op.putfh(opened.handle), op.open_downgrade(opened.stateid, access, deny))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=VALUES_ARE_CHECKED)


_KEPT = {
    "read": p.OPEN4_SHARE_ACCESS_READ,
    "write": p.OPEN4_SHARE_ACCESS_WRITE,
    "both": p.OPEN4_SHARE_ACCESS_BOTH,
}


@MINORS
@pytest.mark.parametrize("kept", _KEPT)
@proves(REPLACES_THE_MODES, killed_by="opendowngrade4-denies-nothing")
def test_of_two(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, kept: str) -> None:
    """A downgrade to one or both of two opens keeps access and denial of those, and of no other."""
    file, owner, modes = scratch.file("file"), new_state_owner(), _KEPT[kept]
    first = open_file(compounds, file, WRITE, p.OPEN4_SHARE_DENY_WRITE, owner=owner)
    second = try_open(compounds, file, READ, p.OPEN4_SHARE_DENY_READ, owner=owner)
    if second.status == Nfsstat4.NFS4ERR_SHARE_DENIED:
        skip("the server refuses a second OPEN by the same owner, which does not conflict with the first")
    if expect(second).ok().stateid.other != first.stateid.other:
        skip("a second OPEN by the same owner gets a stateid with another other field")
    expect(compounds.compound(op.putfh(file), op.open_downgrade(second.stateid, modes, modes))).ok()
    other = another_client(v4)
    for access, bit in ((READ, p.OPEN4_SHARE_DENY_READ), (WRITE, p.OPEN4_SHARE_DENY_WRITE)):
        reply = try_open(other, file, access)
        if modes & bit:
            expect(reply).refused(Nfsstat4.NFS4ERR_SHARE_DENIED)
        else:
            expect(reply).ok()
