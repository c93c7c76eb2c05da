# SPDX-License-Identifier: MIT
"""Share reservations (RFC 5661 sections 9.7 and 9.9): every access and denial, by one owner and by two."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, must, observe, proves, skip, stated
from suites.nfs4.opens import BOTH, READ, WRITE, Opened, another_client, open_again, open_file, try_open
from suites.nfs4.test_open import DENIES_OTHERS

OWN_OPENS_COUNT = stated(
    "RFC 5661",
    "9.7",
    "the check of share reservations includes the opens of the open-owner that makes the OPEN",
    harm=Harm.DATA,
)
UPGRADE_IS_A_UNION = stated(
    "RFC 5661",
    "9.9",
    "a further OPEN by the same owner adds its access and deny bits to those of the existing OPEN",
    harm=Harm.DATA,
)
ONE_CLOSE_ENDS_ALL = stated(
    "RFC 5661", "9.9", "a single CLOSE resets the effects of all OPENs of one owner", harm=Harm.SUCCESS
)
UPGRADE_COUNTS = stated(
    "RFC 5661", "9.9", "a further OPEN increments the seqid, also if it does not change the open mode"
)
REFUSED_RESERVES_NOTHING = stated(
    "RFC 5661",
    "9.7",
    "an OPEN that gets NFS4ERR_SHARE_DENIED fails: it changes neither access nor denial of anybody",
)
OWNERS_ARE_OF_CLIENTS = stated(
    "RFC 5661",
    "9.1.1",
    "an open-owner is that of one client: owners of two clients with the same bytes have separate opens",
    harm=Harm.DATA,
)
MODE_FOLLOWS_THE_OPENS = stated(
    "RFC 5661",
    "9.1.2",
    "the access mode of an open follows its OPENs and OPEN_DOWNGRADEs: WRITE after a downgrade to reading is refused",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
LOCKS_HAVE_THE_MODE_OF_THE_OPEN = must(
    "RFC 5661",
    "9.1.2",
    "WRITE and SETATTR of the size with the stateid of a lock-owner need that its open allows writing: "
    "NFS4ERR_OPENMODE",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
_ACCESS: t.Final = {"read": READ, "write": WRITE, "both": BOTH}
_DENIED: t.Final = Nfsstat4.NFS4ERR_SHARE_DENIED
_BITS: t.Final = p.OPEN4_SHARE_ACCESS_BOTH


def _excludes(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """The rule of section 9.7."""
    return bool(second[0] & _BITS & first[1] or second[1] & first[0] & _BITS)


def _expect_rule(mine: Compounds, theirs: Compounds, file: bytes, access: int) -> None:
    """Of all pairs of OPENs, the first with this access, those that exclude each other are refused, and no other."""
    __tracebackhide__ = True
    for first in [(access, deny) for deny in range(4)]:
        opened = open_file(mine, file, *first)
        for second in [(access, deny) for access in _ACCESS.values() for deny in range(4)]:
            reply = try_open(theirs, file, *second)
            what = f"OPEN of access {second[0] & _BITS}, deny {second[1]}"
            what += f" after one of access {first[0] & _BITS}, deny {first[1]}"
            wanted = _DENIED if _excludes(first, second) else Nfsstat4.NFS4_OK
            if reply.status not in {wanted, _DENIED, Nfsstat4.NFS4_OK}:
                expect(reply).ok()
            expect(reply.status, what, of=reply.res, field="status").equals(wanted)
            if reply.status == Nfsstat4.NFS4_OK:
                expect(theirs.compound(op.putfh(file), op.close(reply.stateid))).ok()
        expect(mine.compound(op.putfh(file), op.close(opened.stateid))).ok()


@pytest.mark.parametrize("access", _ACCESS)
@proves(
    DENIES_OTHERS,
    killed_by=("open4-deny-read-is-forgotten", "open4-deny-write-denies-all", "open4-takes-what-others-deny"),
)
def test_of_two_clients(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, access: str) -> None:
    """Of all pairs of OPENs by two clients, those are refused of which one denies what the other has, and no other."""
    _expect_rule(compounds, another_client(v4), scratch.file("file"), _ACCESS[access])


@pytest.mark.parametrize("access", _ACCESS)
@proves(DENIES_OTHERS, killed_by="open4-one-client-shares-all")
def test_of_two_owners(compounds: Compounds, scratch: Nfs4Scratch, access: str) -> None:
    """Of all pairs of OPENs by two owners of a client, those are refused of which one denies what the other has."""
    _expect_rule(compounds, compounds, scratch.file("file"), _ACCESS[access])


# ---------------------------------------------------------------- one owner


@proves(OWN_OPENS_COUNT, killed_by="open4-owners-exclude-not-themselves")
def test_own_denial(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """An OPEN for what an earlier OPEN of the same owner denies fails with SHARE_DENIED."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    first = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE, owner=owner)
    expect(try_open(compounds, file, WRITE, owner=owner)).refused(_DENIED, because=OWN_OPENS_COUNT)
    expect(compounds.compound(op.putfh(file), op.read(first.stateid, 0, 4))).ok()


@proves(UPGRADE_IS_A_UNION, killed_by="open4-second-replaces-the-access")
def test_union_of_access(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After an OPEN for writing and one for reading, the stateid of the owner serves for both."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, WRITE, owner=owner), READ, 0, owner)
    expect(compounds.compound(op.putfh(file), op.write(opened.stateid, 0, b"more"))).ok()
    expect(compounds.compound(op.putfh(file), op.read(opened.stateid, 0, 4))).ok()


@proves(UPGRADE_IS_A_UNION, killed_by="open4-second-replaces-the-denial")
def test_union_of_denial(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """What the first OPEN of an owner denies stays denied after a second one that denies nothing."""
    file, owner = scratch.file("file"), new_state_owner()
    first = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE, owner=owner)
    open_again(compounds, first, READ, 0, owner)
    expect(try_open(another_client(v4), file, WRITE)).refused(_DENIED, because=UPGRADE_IS_A_UNION)


def _upgrade_that_is_denied(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch
) -> tuple[Opened, bytes, Opened, Compounds]:
    """An open for reading with its owner, and another client that denies writing, and the other client."""
    owner, other = new_state_owner(), another_client(v4)
    mine = open_file(compounds, scratch.file("file", b"data"), READ, owner=owner)
    theirs = open_file(other, mine.handle, READ, p.OPEN4_SHARE_DENY_WRITE)
    return mine, owner, theirs, other


@proves(DENIES_OTHERS, killed_by="open4-upgrades-against-denials")
def test_upgrade_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """An OPEN for writing by an owner that reads fails with SHARE_DENIED while another client denies writing."""
    mine, owner, _, _ = _upgrade_that_is_denied(v4, compounds, scratch)
    reply = try_open(compounds, mine.handle, WRITE, owner=owner)
    expect(reply).refused(_DENIED, because=DENIES_OTHERS)


@proves(REFUSED_RESERVES_NOTHING, killed_by="open4-denied-upgrades-are-kept")
def test_denied_upgrade(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After an upgrade that was denied, the open is valid for reading, and not for writing."""
    mine, owner, theirs, other = _upgrade_that_is_denied(v4, compounds, scratch)
    if try_open(compounds, mine.handle, WRITE, owner=owner).status == Nfsstat4.NFS4_OK:
        skip("the upgrade is not denied: another check judges that")
    expect(other.compound(op.putfh(mine.handle), op.close(theirs.stateid))).ok()
    stateid = p.Stateid4(0, mine.stateid.other)
    reply = compounds.compound(op.putfh(mine.handle), op.write(stateid, 0, b"more"))
    expect_data(scratch.read(mine.handle), b"data")
    expect(reply).refused()
    expect(compounds.compound(op.putfh(mine.handle), op.read(stateid, 0, 4))).ok()


@proves(REFUSED_RESERVES_NOTHING, killed_by="open4-denied-opens-deny")
def test_denied_open(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """An OPEN that was denied excludes nobody once the open in its way is closed."""
    file, other = scratch.file("file"), another_client(v4)
    opened = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    if try_open(other, file, WRITE, p.OPEN4_SHARE_DENY_BOTH).status == Nfsstat4.NFS4_OK:
        skip("the OPEN is not denied: another check judges that")
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
    expect(try_open(compounds, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)).ok()


@proves(ONE_CLOSE_ENDS_ALL, killed_by="close4-ends-one-open")
def test_one_close(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """One CLOSE after two OPENs of an owner ends what both of them have and deny."""
    file, owner = scratch.file("file"), new_state_owner()
    first = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE, owner=owner)
    second = open_again(compounds, first, READ, 0, owner)
    expect(compounds.compound(op.putfh(file), op.close(second.stateid))).ok()
    expect(try_open(another_client(v4), file, BOTH, p.OPEN4_SHARE_DENY_BOTH)).ok()


@proves(UPGRADE_COUNTS, killed_by="open4-same-mode-keeps-the-seqid")
def test_same_again(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A further OPEN for reading of a file that its owner has open for both increments the seqid."""
    file, owner = scratch.file("file"), new_state_owner()
    first = open_file(compounds, file, BOTH, owner=owner)
    second = open_again(compounds, first, READ, 0, owner)
    expect(second.stateid).field("seqid").equals(first.stateid.seqid + 1)


@proves(OWNERS_ARE_OF_CLIENTS, killed_by="close4-closes-for-owners-of-others")
def test_same_owner(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE leaves the open of another client whose open-owner has the same bytes."""
    file, owner, other = scratch.file("file", b"data"), new_state_owner(), another_client(v4)
    mine = open_file(compounds, file, READ, owner=owner)
    theirs = open_file(other, file, READ, p.OPEN4_SHARE_DENY_WRITE, owner=owner)
    expect(compounds.compound(op.putfh(file), op.close(mine.stateid))).ok()
    expect(other.compound(op.putfh(file), op.read(theirs.stateid, 0, 4))).ok()
    expect(try_open(compounds, file, WRITE)).refused(_DENIED, because=OWNERS_ARE_OF_CLIENTS)


# ---------------------------------------------------------------- the access mode in I/O


@proves(MODE_FOLLOWS_THE_OPENS, killed_by="opendowngrade4-keeps-writing")
def test_downgraded_write(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE after OPEN_DOWNGRADE to reading fails with OPENMODE, and writes nothing."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, READ, owner=owner), WRITE, 0, owner)
    downgrade = op.open_downgrade(opened.stateid, p.OPEN4_SHARE_ACCESS_READ)
    stateid = expect(compounds.compound(op.putfh(file), downgrade)).ok().stateid
    reply = compounds.compound(op.putfh(file), op.write(stateid, 0, b"more"))
    expect_data(scratch.read(file), b"data")
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=MODE_FOLLOWS_THE_OPENS)


@pytest.mark.parametrize("operation", ["write", "setattr"])
@proves(LOCKS_HAVE_THE_MODE_OF_THE_OPEN, killed_by="changes4-lock-stateids-may-write")
def test_lock_of_reader(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """WRITE, or SETATTR of the size, with the stateid of a read lock in an open for reading fails with OPENMODE."""
    opened = open_file(compounds, scratch.file("file", b"data"), READ)
    locking = op.lock(opened.stateid, p.NfsLockType4.READ_LT, 0, 4, owner=new_state_owner())
    stateid = expect(compounds.compound(op.putfh(opened.handle), locking)).ok().stateid
    act = op.write(stateid, 0, b"more") if operation == "write" else op.setattr(p.Fattr4(size=2), stateid)
    reply = compounds.compound(op.putfh(opened.handle), act)
    expect_data(scratch.read(opened.handle), b"data")
    observe(f"{operation} with the stateid of a reader's lock", reply.status.name)
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=LOCKS_HAVE_THE_MODE_OF_THE_OPEN)
