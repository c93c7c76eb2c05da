# SPDX-License-Identifier: MIT
"""Stateids (RFC 5661 sections 8.2 and 16.2.3.1.2): which ones are valid where, and the current stateid."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import Harm, expect, expect_data, must, observe, proves, should, stated
from suites.nfs4.delegations import KEPT_FOR_A_LEASE, delegated
from suites.nfs4.locks import WRITE_LT, lock_range, test_range, try_lock_more
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, Opened, another_client, open_again, open_file

ZERO_IS_THE_LATEST = stated("RFC 5661", "8.2.2", "a seqid of zero in a request means the most up-to-date one")
LOWER_IS_OLD = must(  # "the server is required to return"
    "RFC 5661", "8.2.2", "a seqid that is lower than the most current value gets NFS4ERR_OLD_STATEID"
)
HIGHER_IS_BAD = must(
    "RFC 5661", "8.2.2", "a seqid that is greater than the most current value gets NFS4ERR_BAD_STATEID"
)
TYPE_MUST_FIT = must(
    "RFC 5661",
    "8.2.4",
    "a stateid of another type than the operation needs gets NFS4ERR_BAD_STATEID",
    also={"4.0": ("RFC 7530", "9.1.4.4")},
)
CLIENT_MUST_FIT = stated(
    "RFC 5661", "8.2.4", "a stateid that is not associated with the client of the session is refused"
)
OF_OTHERS_IS_BAD = should(  # "the following procedure could be used"
    "RFC 5661",
    "8.2.4",
    "a stateid that is not associated with the client of the session should get NFS4ERR_BAD_STATEID",
)
FILE_MUST_FIT = stated(
    "RFC 5661",
    "8.2.4",
    "a stateid that does not belong to the current filehandle is refused: NFS4ERR_BAD_STATEID",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.4.4")},
)
UNKNOWN_IS_BAD = stated(
    "RFC 5661", "8.2.4", "a stateid that the server does not know is refused: NFS4ERR_BAD_STATEID"
)
INVALID_IS_BAD = stated(
    "RFC 5661", "8.2.3", "the invalid special stateid is never valid in a request: NFS4ERR_BAD_STATEID"
)
CURRENT_IS_USED = stated(
    "RFC 5661",
    "16.2.3.1.2",
    "an operation that returns a stateid sets the current stateid, which the special one stands for",
)
SPECIAL_IS_NOT_PASSED = must(
    "RFC 5661", "16.2.3.1.2", "the anonymous stateid cannot be passed as the current one: NFS4ERR_BAD_STATEID"
)
SAVED_WITH_THE_FILEHANDLE = stated(
    "RFC 5661",
    "16.2.3.1.2",
    "SAVEFH and RESTOREFH save and restore the current filehandle and the current stateid as a set",
)

FIRST_SEQID = stated(
    "RFC 5661",
    "8.2.2",
    "when a set of locks is first created, the server returns a stateid with a seqid of one",
)
NEVER_REUSED = stated(
    "RFC 5661",
    "8.2.4",
    "an other value is never used again for another file, owner or type of locks of the same client",
    harm=Harm.DATA,
)


@MINORS
@proves(ZERO_IS_THE_LATEST, killed_by="read4-seqid-zero-is-bad")
def test_seqid_zero(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with a seqid of zero succeeds after the open was changed."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    first = open_file(compounds, file, READ, owner=owner)
    open_again(compounds, first, BOTH, 0, owner)
    stateid = p.Stateid4(0, first.stateid.other)
    result = expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 4))).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)])


@MINORS
@proves(LOWER_IS_OLD, killed_by="close4-takes-any-seqid")
def test_old(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE with the seqid of before an upgrade is refused, and the file stays open."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    first = open_file(compounds, file, READ, owner=owner)
    second = open_again(compounds, first, BOTH, 0, owner)
    reply = compounds.compound(op.putfh(file), op.close(first.stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_OLD_STATEID, because=LOWER_IS_OLD)
    expect(compounds.compound(op.putfh(file), op.read(second.stateid, 0, 4))).ok()


@MINORS
@pytest.mark.parametrize("step", [1, 1000])
@proves(HIGHER_IS_BAD, killed_by="close4-takes-any-seqid")
def test_future(compounds: Compounds, scratch: Nfs4Scratch, step: int) -> None:
    """CLOSE with a seqid that the stateid never had is refused."""
    opened = open_file(compounds, scratch.file("file"), READ)
    stateid = p.Stateid4(opened.stateid.seqid + step, opened.stateid.other)
    reply = compounds.compound(op.putfh(opened.handle), op.close(stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=HIGHER_IS_BAD)


@MINORS
@proves(TYPE_MUST_FIT, killed_by="close4-takes-lock-stateids")
def test_lock_stateid_in_close(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE with the stateid of a lock-owner is refused."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    # While there is a lock, NFS4ERR_LOCKS_HELD would be right too.
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    reply = compounds.compound(op.putfh(opened.handle), op.close(unlocked))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=TYPE_MUST_FIT)


@MINORS
@proves(TYPE_MUST_FIT, killed_by="locku4-takes-open-stateids")
def test_open_stateid_in_locku(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU with the stateid of an open is refused."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    reply = compounds.compound(op.putfh(opened.handle), op.locku(opened.stateid, 0, 10))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=TYPE_MUST_FIT)


@MINORS
@proves(CLIENT_MUST_FIT, killed_by="read4-takes-stateids-of-others")
def test_other_client(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with the stateid of another client is refused."""
    opened = open_file(compounds, scratch.file("file", b"data"), READ)
    reply = another_client(v4).compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))
    expect(reply, because=CLIENT_MUST_FIT).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=OF_OTHERS_IS_BAD)


@MINORS
@proves(INVALID_IS_BAD, killed_by="write4-takes-the-invalid-stateid")
def test_invalid_special(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE with the invalid special stateid is refused, and changes nothing."""
    file = scratch.file("file", b"data")
    reply = compounds.compound(op.putfh(file), op.write(p.INVALID_STATEID, 0, b"more"))
    expect_data(scratch.read(file), b"data")
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=INVALID_IS_BAD)


@MINORS
@proves(CURRENT_IS_USED, killed_by="open4-sets-no-current-stateid")
def test_current(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ and CLOSE with the current stateid use that of the OPEN before them."""
    file = scratch.file("file", b"data")
    opening = op.open(None, READ, owner=new_state_owner())
    reading = op.read(p.CURRENT_STATEID, 0, 4)
    reply = compounds.compound(op.putfh(file), opening, reading, op.close(p.CURRENT_STATEID))
    result = expect(reply).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)])
    expect(reply).ok()


@MINORS
@proves(SPECIAL_IS_NOT_PASSED, killed_by="read4-current-is-anonymous")
def test_no_current(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with the current stateid after PUTFH is refused."""
    file = scratch.file("file", b"data")
    reply = compounds.compound(op.putfh(file), op.read(p.CURRENT_STATEID, 0, 4))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=SPECIAL_IS_NOT_PASSED)


@MINORS
@proves(SAVED_WITH_THE_FILEHANDLE, killed_by="restorefh4-restores-no-stateid")
def test_saved(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RESTOREFH brings back the current stateid that SAVEFH has saved."""
    file, other = scratch.file("file", b"data"), scratch.file("other")
    opening = op.open(None, READ, owner=new_state_owner())
    away = (op.savefh(), op.putfh(other), op.restorefh())
    reply = compounds.compound(op.putfh(file), opening, *away, op.read(p.CURRENT_STATEID, 0, 4))
    note_open(compounds, file, expect(reply).of(p.OPEN).ok().stateid)
    result = expect(reply).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)])


# ---------------------------------------------------------------- the same rules for each operation


WITH_STATEID: dict[str, t.Callable[[p.Stateid4], XdrType]] = {
    "read": lambda stateid: op.read(stateid, 0, 4),
    "write": lambda stateid: op.write(stateid, 0, b"more"),
    "setattr": lambda stateid: op.setattr(p.Fattr4(size=0), stateid),
    "lock": lambda stateid: op.lock(stateid, WRITE_LT, 0, 10, owner=new_state_owner()),
    "open_downgrade": lambda stateid: op.open_downgrade(stateid, p.OPEN4_SHARE_ACCESS_BOTH),
    "close": op.close,
    "locku": lambda stateid: op.locku(stateid, 0, 10),
    "delegreturn": op.delegreturn,
    "free_stateid": op.free_stateid,
}
"""Operations with a stateid, of a file that is open for reading and writing: the stateid is all that may be wrong."""
_OF_OPENS = list(WITH_STATEID)[:6]
_OF_LOCKS: dict[str, t.Callable[[p.Stateid4], XdrType]] = {
    "lock": lambda stateid: op.lock_more(stateid, WRITE_LT, 20, 10),
    "locku": lambda stateid: op.locku(stateid, 0, 10),
}
"""The same of a lock-owner that has locked bytes 0 to 9."""
_NOBODYS = p.Stateid4(1, bytes.fromhex("a55a5aa5a55a5aa5a55a5aa5"))


@pytest.mark.parametrize("operation", _OF_OPENS)
@proves(FILE_MUST_FIT, killed_by=("stateids4-of-any-file", "stateids4-that-are-bad-write"))
def test_other_file(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with the stateid of an open of another file is refused, and changes nothing."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, scratch.file("another", b"0123"), BOTH)
    reply = compounds.compound(op.putfh(file), WITH_STATEID[operation](opened.stateid))
    expect_data(scratch.read(file), b"data")
    if operation == "lock":
        tested = test_range(compounds, file, WRITE_LT, 0, 10)
        expect(tested).field("status", "status of LOCKT of the other file").differs_from(
            Nfsstat4.NFS4ERR_DENIED
        )
    observe("stateid of another file", reply.status.name)
    expect(reply).refused()


@pytest.mark.parametrize("operation", WITH_STATEID)
@proves(UNKNOWN_IS_BAD, killed_by=("stateids4-unknown-is-anonymous", "stateids4-that-are-bad-write"))
def test_unknown(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with a stateid that the server never gave is refused, and changes nothing."""
    file = scratch.file("file", b"data")
    reply = compounds.compound(op.putfh(file), WITH_STATEID[operation](_NOBODYS))
    expect_data(scratch.read(file), b"data")
    observe("stateid that was never given", reply.status.name)
    expect(reply).refused()


def _another_seqid(compounds: Compounds, scratch: Nfs4Scratch, step: int) -> tuple[Opened, p.Stateid4]:
    """A file that was opened twice by one owner, and its stateid with a seqid that is not the current one."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, READ, owner=owner), BOTH, 0, owner)
    return opened, p.Stateid4(opened.stateid.seqid + step, opened.stateid.other)


def _expect_wrong_seqid(
    compounds: Compounds, scratch: Nfs4Scratch, operation: str, step: int
) -> CompoundReply:
    """The reply to an operation with a seqid that is not the current one. It is refused, and nothing has changed."""
    __tracebackhide__ = True
    opened, stateid = _another_seqid(compounds, scratch, step)
    reply = compounds.compound(op.putfh(opened.handle), WITH_STATEID[operation](stateid))
    expect_data(scratch.read(opened.handle), b"data")
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).ok()
    expect(reply).refused()
    expect(compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))).ok()
    return reply


@pytest.mark.parametrize("operation", _OF_OPENS)
@proves(LOWER_IS_OLD, killed_by="stateids4-of-any-seqid")
def test_old_in_each(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with the seqid of before an upgrade gets OLD_STATEID, and changes nothing."""
    reply = _expect_wrong_seqid(compounds, scratch, operation, -1)
    expect(reply).refused(Nfsstat4.NFS4ERR_OLD_STATEID, because=LOWER_IS_OLD)


@pytest.mark.parametrize("operation", _OF_OPENS)
@proves(HIGHER_IS_BAD, killed_by="stateids4-of-any-seqid")
def test_future_in_each(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with a seqid that the stateid never had gets BAD_STATEID, and changes nothing."""
    reply = _expect_wrong_seqid(compounds, scratch, operation, 3)
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=HIGHER_IS_BAD)


@pytest.mark.parametrize("operation", _OF_LOCKS)
@proves(LOWER_IS_OLD, killed_by="stateids4-of-locks-of-any-seqid")
def test_old_of_lock(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """LOCK or LOCKU with the seqid of before the last LOCK gets OLD_STATEID, and the locks stay."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    first = lock_range(compounds, opened, WRITE_LT, 0, 10)
    expect(try_lock_more(compounds, opened, first, WRITE_LT, 40, 10)).ok()
    reply = compounds.compound(op.putfh(opened.handle), _OF_LOCKS[operation](first))
    expect(reply).refused(Nfsstat4.NFS4ERR_OLD_STATEID, because=LOWER_IS_OLD)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(test_range(compounds, opened.handle, WRITE_LT, 20, 10)).ok()


@pytest.mark.parametrize("operation", _OF_LOCKS)
@proves(HIGHER_IS_BAD, killed_by="stateids4-of-locks-of-any-seqid")
def test_future_of_lock(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """LOCK or LOCKU with a seqid that the stateid of the locks never had gets BAD_STATEID, and the locks stay."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    known = lock_range(compounds, opened, WRITE_LT, 0, 10)
    future = p.Stateid4(known.seqid + 3, known.other)
    reply = compounds.compound(op.putfh(opened.handle), _OF_LOCKS[operation](future))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=HIGHER_IS_BAD)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)


@pytest.mark.parametrize("operation", [*_OF_OPENS[1:], "locku", "free_stateid"])
@proves(CLIENT_MUST_FIT, killed_by="stateids4-of-any-client")
def test_of_another_client(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, operation: str
) -> None:
    """An operation with the stateid of another client is refused, and changes nothing for that client."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    stateid = opened.stateid
    if operation in {"locku", "free_stateid"}:
        stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    if operation == "free_stateid":
        stateid = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    # Where locks are mandatory, only their owner reads and writes; and LOCKU changes no data.
    mine = stateid if operation == "locku" else opened.stateid
    reply = another_client(v4).compound(op.putfh(opened.handle), WITH_STATEID[operation](stateid))
    if operation != "locku":
        expect_data(scratch.read(opened.handle), b"data")
    expect(reply, because=CLIENT_MUST_FIT).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=OF_OTHERS_IS_BAD)
    wanted = Nfsstat4.NFS4ERR_DENIED if operation == "locku" else Nfsstat4.NFS4_OK
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).status(wanted)
    expect(compounds.compound(op.putfh(opened.handle), op.write(mine, 0, b"more"))).ok()


@pytest.mark.parametrize("operation", ["read", "write", "setattr", *_OF_LOCKS])
@proves(FILE_MUST_FIT, killed_by=("stateids4-of-locks-of-any-file", "stateids4-of-locks-of-any-file-write"))
def test_lock_of_other_file(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with the stateid of locks of another file is refused, and changes nothing."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, scratch.file("another", b"0123"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    make = _OF_LOCKS.get(operation) or WITH_STATEID[operation]
    reply = compounds.compound(op.putfh(file), make(stateid))
    expect_data(scratch.read(file), b"data")
    observe("stateid of locks of another file", reply.status.name)
    expect(reply).refused()
    expect(test_range(compounds, file, WRITE_LT, 0, 30)).ok()
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)


# ---------------------------------------------------------------- each type in its place


@pytest.mark.parametrize("operation", ["open_downgrade", "lock", "delegreturn"])
@proves(TYPE_MUST_FIT, killed_by="stateids4-of-locks-are-any")
def test_lock_out_of_place(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """OPEN_DOWNGRADE, LOCK for a new lock-owner, and DELEGRETURN are refused with the stateid of a lock-owner."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 20, 10)
    reply = compounds.compound(op.putfh(opened.handle), WITH_STATEID[operation](stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=TYPE_MUST_FIT)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).ok()


@pytest.mark.parametrize("operation", ["lock", "delegreturn"])
@proves(TYPE_MUST_FIT, killed_by="stateids4-of-opens-are-any")
def test_open_out_of_place(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """LOCK for a known lock-owner, and DELEGRETURN, are refused with the stateid of an open, which stays."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    make = _OF_LOCKS["lock"] if operation == "lock" else op.delegreturn
    reply = compounds.compound(op.putfh(opened.handle), make(opened.stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=TYPE_MUST_FIT)
    expect(test_range(compounds, opened.handle, WRITE_LT, 20, 10)).ok()
    expect(compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).ok()


@side_by_side
@pytest.mark.late
@proves(TYPE_MUST_FIT, KEPT_FOR_A_LEASE, killed_by="stateids4-of-delegations-are-any")
def test_delegation_out_of_place(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """CLOSE, OPEN_DOWNGRADE, LOCK and LOCKU are refused with the stateid of a delegation."""
    granted = yield from delegated(v4, scratch, p.OPEN4_SHARE_ACCESS_READ)
    acts = [WITH_STATEID[operation](granted.stateid) for operation in ("close", "lock", "locku")]
    acts.append(op.open_downgrade(granted.stateid, p.OPEN4_SHARE_ACCESS_READ))
    replies = [granted.holder.compound(op.putfh(granted.file), act) for act in acts]
    granted.need_kept()
    granted.give_back()
    for reply in replies:
        expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=TYPE_MUST_FIT)


# ---------------------------------------------------------------- how they are given


@pytest.mark.parametrize("kind", ["open", "lock"])
@proves(FIRST_SEQID, killed_by="stateids4-begin-with-two")
def test_first_seqid(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """The first stateid of an owner for a file has a seqid of 1."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened) if kind == "lock" else opened.stateid
    expect(stateid).field("seqid").equals(1)


@proves(NEVER_REUSED, killed_by="open4-gives-the-same-stateid-again")
def test_never_reused(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """No two stateids of opens and locks of several files and owners have the same other, though all are closed."""
    seen: dict[bytes, str] = {}
    for number in range(6):
        file = scratch.file(f"f{number}")
        for owner in ("one", "two"):
            opened = open_file(compounds, file, BOTH)
            locked = lock_range(compounds, opened)
            for kind, stateid in (("open", opened.stateid), ("locks", locked)):
                other, what = bytes(stateid.other), f"{kind} of f{number} by owner {owner}"
                expect(seen.setdefault(other, what), f"what {other.hex()} stands for").equals(what)
            expect(compounds.compound(op.putfh(file), op.locku(locked, 0, 10))).ok()
            expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
