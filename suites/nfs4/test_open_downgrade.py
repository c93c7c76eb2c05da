# SPDX-License-Identifier: MIT
"""OPEN_DOWNGRADE (RFC 5661 section 18.18)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, must, proves, should, skip, stated
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

ONLY_WHAT_WAS_OPENED = should(
    "RFC 5661",
    "18.18.3",
    "share_access should equal the union of that of some of the OPENs in effect: else NFS4ERR_INVAL",
)
ONLY_WHAT_WAS_DENIED = should(
    "RFC 5661",
    "18.18.3",
    "share_deny should equal the union of that of some of the OPENs in effect: else NFS4ERR_INVAL",
)
GIVES_NOTHING = must(
    "RFC 5661",
    "9.1.2",
    "a WRITE that conflicts with a share reservation is refused, also with a stateid after OPEN_DOWNGRADE",
    harm=Harm.DATA,
)
COUNTS_ALWAYS = must(
    "RFC 5661",
    "9.9",
    "OPEN_DOWNGRADE increments the seqid, also where access and deny bits do not change",
)
WANTS_ARE_NO_BITS = stated(
    "RFC 5661",
    "18.18.3",
    "valid values are those of share_access without the bits for delegations that are wanted",
)
UPGRADES_AGAIN = stated(
    "RFC 5661", "9.9", "an OPEN adds its access to that of the open of its owner, also after OPEN_DOWNGRADE"
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


# ---------------------------------------------------------------- what was opened


@proves(
    ONLY_WHAT_WAS_OPENED,
    GIVES_NOTHING,
    killed_by=("opendowngrade4-takes-any-access", "opendowngrade4-adds-access"),
)
def test_more_access(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE of an open for reading to writing fails with INVAL, and gives no right to write."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, READ)
    open_file(another_client(v4), file, READ, p.OPEN4_SHARE_DENY_WRITE)
    reply = compounds.compound(op.putfh(file), op.open_downgrade(opened.stateid, p.OPEN4_SHARE_ACCESS_WRITE))
    writing = op.write(p.Stateid4(0, opened.stateid.other), 0, b"more")
    written = compounds.compound(op.putfh(file), writing)
    expect_data(scratch.read(file), b"data", because=GIVES_NOTHING)
    expect(written, because=GIVES_NOTHING).refused()
    expect(reply, because=ONLY_WHAT_WAS_OPENED).refused(Nfsstat4.NFS4ERR_INVAL, because=ONLY_WHAT_WAS_OPENED)


@proves(ONLY_WHAT_WAS_OPENED, killed_by="opendowngrade4-takes-a-part-of-an-open")
def test_part_of_access(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE to reading of a single OPEN for both fails with INVAL."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    reply = compounds.compound(op.putfh(opened.handle), op.open_downgrade(opened.stateid, 1))
    expect(reply, because=ONLY_WHAT_WAS_OPENED).refused(Nfsstat4.NFS4ERR_INVAL, because=ONLY_WHAT_WAS_OPENED)


@proves(ONLY_WHAT_WAS_DENIED, killed_by="opendowngrade4-takes-any-denial")
def test_more_denial(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE that denies more than the OPEN fails with INVAL, and denies nothing."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, READ)
    downgrade = op.open_downgrade(opened.stateid, 1, p.OPEN4_SHARE_DENY_WRITE)
    reply = compounds.compound(op.putfh(file), downgrade)
    expect(try_open(another_client(v4), file, WRITE), because=ONLY_WHAT_WAS_DENIED).ok()
    expect(reply, because=ONLY_WHAT_WAS_DENIED).refused(Nfsstat4.NFS4ERR_INVAL, because=ONLY_WHAT_WAS_DENIED)


@proves(ONLY_WHAT_WAS_DENIED, killed_by="opendowngrade4-takes-a-part-of-a-denial")
def test_part_of_denial(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE to denying reading of a single OPEN that denies both fails with INVAL."""
    opened = open_file(compounds, scratch.file("file"), READ, p.OPEN4_SHARE_DENY_BOTH)
    downgrade = op.open_downgrade(opened.stateid, 1, p.OPEN4_SHARE_DENY_READ)
    reply = compounds.compound(op.putfh(opened.handle), downgrade)
    expect(reply, because=ONLY_WHAT_WAS_DENIED).refused(Nfsstat4.NFS4ERR_INVAL, because=ONLY_WHAT_WAS_DENIED)


@proves(COUNTS_ALWAYS, killed_by="opendowngrade4-no-change-keeps-the-seqid")
def test_same_modes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE to what the open has already succeeds, and increments the seqid."""
    opened = open_file(compounds, scratch.file("file"), READ, p.OPEN4_SHARE_DENY_WRITE)
    downgrade = op.open_downgrade(opened.stateid, 1, p.OPEN4_SHARE_DENY_WRITE)
    stateid = expect(compounds.compound(op.putfh(opened.handle), downgrade)).ok().stateid
    expect(stateid).field("other").equals(opened.stateid.other)
    expect(stateid).field("seqid").equals(opened.stateid.seqid + 1)


@proves(WANTS_ARE_NO_BITS, killed_by="opendowngrade4-wants-are-inval")
def test_wants(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE ignores the bits of share_access that say which delegation is wanted."""
    file, owner = scratch.file("file"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, READ, owner=owner), BOTH, 0, owner)
    expect(compounds.compound(op.putfh(file), op.open_downgrade(opened.stateid, READ))).ok()


@proves(UPGRADES_AGAIN, killed_by="open4-cannot-upgrade-again")
def test_upgraded_again(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After a downgrade to reading, another OPEN by the same owner gives the right to write again."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, READ, owner=owner), BOTH, 0, owner)
    expect(compounds.compound(op.putfh(file), op.open_downgrade(opened.stateid, 1))).ok()
    again = open_again(compounds, opened, WRITE, 0, owner)
    expect(compounds.compound(op.putfh(file), op.write(again.stateid, 0, b"more"))).ok()
