# SPDX-License-Identifier: MIT
"""The current stateid (RFC 5661 sections 8.2.3 and 16.2.3.1.2): what sets it, what takes it, and what clears it."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, expect_data, must, proves, skip, stated
from suites.nfs4.delegations import delegated
from suites.nfs4.locks import WRITE_LT, lock_range, opened_by_two, test_range
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_again, open_file, try_open

RETURNED_IS_CURRENT = must(
    "RFC 5661", "16.2.3.1.2", "an operation that returns a stateid sets the current stateid to it"
)
STANDS_FOR_THE_LAST = stated(
    "RFC 5661",
    "8.2.3",
    "the stateid of seqid 1 and other 0 represents the last stateid that an operation of the compound has returned",
)
CLEARED_WITH_THE_FILEHANDLE = must(
    "RFC 5661",
    "16.2.3.1.2",
    "an operation that sets the current filehandle and returns no stateid sets the current stateid to (0, 0)",
)
USE_CHANGES_NOTHING = must(
    "RFC 5661",
    "16.2.3.1.2",
    "an operation that takes a stateid and returns none does not change the current stateid",
)
PASSED_WITH_SEQID_ZERO = stated(
    "RFC 5661", "8.2.3", "an operation gets the current stateid with a seqid of zero: the most recent one"
)
SOME_COMPARE_THE_SEQID = stated(
    "RFC 5661",
    "8.2.3",
    "CLOSE and OPEN_DOWNGRADE get the current stateid with its seqid",
)
THAT_OF_THE_OPEN = stated(
    "RFC 5661",
    "8.2.3",
    "after an OPEN, the current stateid is that of the open file, not that of the delegation",
)
_CURRENT: t.Final = p.CURRENT_STATEID


def _opening(access: int = BOTH, owner: bytes | None = None) -> XdrType:
    return op.open(None, access, owner=owner or new_state_owner())


def _noted(compounds: Compounds, file: bytes, reply: CompoundReply) -> CompoundReply:
    """The same reply; the file is closed after the check."""
    note_open(compounds, file, expect(reply).of(p.OPEN).ok().stateid)
    return reply


# ---------------------------------------------------------------- what sets it


@proves(RETURNED_IS_CURRENT, killed_by="lock4-sets-no-current-stateid")
def test_of_lock(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE and LOCKU with the current stateid use that of the LOCK before them."""
    pair = opened_by_two(v4, compounds, scratch)
    locking = op.lock(pair.mine.stateid, WRITE_LT, 0, 10, owner=new_state_owner())
    writing = op.write(_CURRENT, 0, b"abc")
    reply = compounds.compound(op.putfh(pair.file), locking, writing, op.locku(_CURRENT, 0, 10))
    expect(reply).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 10)).ok()


@proves(RETURNED_IS_CURRENT, killed_by="locku4-sets-no-current-stateid")
def test_of_locku(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with the current stateid uses that of the LOCKU before it."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    stateid = lock_range(compounds, opened)
    unlocking = op.locku(stateid, 0, 10)
    expect(compounds.compound(op.putfh(opened.handle), unlocking, op.read(_CURRENT, 0, 4))).ok()


@proves(RETURNED_IS_CURRENT, killed_by="opendowngrade4-sets-no-current-stateid")
def test_of_open_downgrade(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with the current stateid uses that of the OPEN_DOWNGRADE before it."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    opened = open_again(compounds, open_file(compounds, file, READ, owner=owner), BOTH, 0, owner)
    downgrade = op.open_downgrade(opened.stateid, p.OPEN4_SHARE_ACCESS_READ)
    expect(compounds.compound(op.putfh(file), downgrade, op.read(_CURRENT, 0, 4))).ok()


@side_by_side
@pytest.mark.late
@proves(THAT_OF_THE_OPEN, killed_by="open4-current-is-the-delegation")
def test_of_delegated_open(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """CLOSE with the current stateid closes the file of the OPEN before it, though that has granted a delegation."""
    granted = yield from delegated(v4, scratch, p.OPEN4_SHARE_ACCESS_READ)
    holder, file = granted.holder, granted.file
    granted.give_back()
    wanted = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    reply = holder.compound(op.putfh(file), _opening(wanted), op.close(_CURRENT))
    result = expect(reply).of(p.OPEN).ok()
    if result.delegation.read is None:
        skip("the second OPEN grants no delegation")
    again = holder.compound(op.putfh(file), op.delegreturn(result.delegation.read.stateid))
    expect(reply).ok()
    expect(again).ok()


# ---------------------------------------------------------------- what takes it


@proves(STANDS_FOR_THE_LAST, killed_by="stateids4-current-is-unknown")
def test_in_write(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE with the current stateid after OPEN writes its data."""
    file = scratch.file("file", b"data")
    writing = op.write(_CURRENT, 0, b"more")
    reply = _noted(compounds, file, compounds.compound(op.putfh(file), _opening(), writing))
    count = expect(reply).of(p.WRITE).ok().count
    expect_data(scratch.read(file), b"more"[:count] + b"data"[count:])


@proves(STANDS_FOR_THE_LAST, killed_by="write4-current-is-anonymous")
def test_access_in_write(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE with the current stateid after an OPEN for reading fails with OPENMODE, and writes nothing."""
    file = scratch.file("file", b"data")
    writing = op.write(_CURRENT, 0, b"more")
    reply = _noted(compounds, file, compounds.compound(op.putfh(file), _opening(READ), writing))
    expect_data(scratch.read(file), b"data")
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=STANDS_FOR_THE_LAST)


@proves(STANDS_FOR_THE_LAST, killed_by="stateids4-current-is-unknown")
def test_in_setattr(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of the size with the current stateid after OPEN sets it."""
    file = scratch.file("file", b"data")
    setting = op.setattr(Fattr4(size=2), _CURRENT)
    expect(_noted(compounds, file, compounds.compound(op.putfh(file), _opening(), setting))).ok()
    expect(scratch.attributes(file, "size")).field("size").equals(2)


@proves(STANDS_FOR_THE_LAST, killed_by="stateids4-current-is-unknown")
def test_in_lock(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCK with the current stateid as that of the open locks a range after OPEN."""
    file = scratch.file("file")
    locking = op.lock(_CURRENT, WRITE_LT, 0, 10, owner=new_state_owner())
    reply = _noted(compounds, file, compounds.compound(op.putfh(file), _opening(), locking))
    stateid = expect(reply).ok().stateid
    denied = test_range(compounds, file, WRITE_LT, 0, 10)
    expect(compounds.compound(op.putfh(file), op.locku(stateid, 0, 10))).ok()
    expect(denied).refused(Nfsstat4.NFS4ERR_DENIED)


@proves(STANDS_FOR_THE_LAST, killed_by="stateids4-current-is-unknown")
def test_in_open_downgrade(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN_DOWNGRADE with the current stateid after a second OPEN takes writing away."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    open_file(compounds, file, READ, owner=owner)
    downgrade = op.open_downgrade(_CURRENT, p.OPEN4_SHARE_ACCESS_READ)
    reply = _noted(compounds, file, compounds.compound(op.putfh(file), _opening(WRITE, owner), downgrade))
    if expect(reply).of(p.OPEN).ok().stateid.seqid == 1:
        skip("a second OPEN by the same owner gets a stateid with another other field")
    expect(reply).ok()
    expect(try_open(another_client(v4), file, READ, p.OPEN4_SHARE_DENY_WRITE)).ok()


@proves(STANDS_FOR_THE_LAST, killed_by="stateids4-current-is-unknown")
def test_in_free_stateid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID with the current stateid after OPEN is about that open: it fails with LOCKS_HELD."""
    file = scratch.file("file", b"data")
    freeing = op.free_stateid(_CURRENT)
    reply = _noted(compounds, file, compounds.compound(op.putfh(file), _opening(), freeing))
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=STANDS_FOR_THE_LAST)
    stateid = expect(reply).of(p.OPEN).ok().stateid
    expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 4))).ok()


# ---------------------------------------------------------------- its seqid


def _upgraded_since(
    compounds: Compounds, scratch: Nfs4Scratch, last: XdrType
) -> tuple[bytes, CompoundReply, p.Stateid4]:
    """A file, the reply to an operation whose current stateid is that of before an upgrade, and that of after it."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    away = (op.savefh(), _opening(BOTH, owner), op.restorefh())
    reply = compounds.compound(op.putfh(file), _opening(READ, owner), *away, last)
    opens = [result.resok4 for result in reply.results if isinstance(result, p.Open4Res)]
    if len(opens) != 2 or opens[0] is None or opens[1] is None:
        expect(reply).of(p.OPEN).ok()
        skip("the second OPEN was not executed", reply)
    note_open(compounds, file, opens[1].stateid)
    if opens[0].stateid.other != opens[1].stateid.other:
        note_open(compounds, file, opens[0].stateid)
        skip("a second OPEN by the same owner gets a stateid with another other field")
    return file, reply, opens[1].stateid


@proves(PASSED_WITH_SEQID_ZERO, killed_by="read4-current-keeps-the-seqid")
def test_seqid_is_zero(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with a current stateid that was saved before an upgrade of its open succeeds."""
    _, reply, _ = _upgraded_since(compounds, scratch, op.read(_CURRENT, 0, 4))
    result = expect(reply).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)])


@pytest.mark.parametrize("operation", ["close", "downgrade"])
@proves(SOME_COMPARE_THE_SEQID, killed_by="close4-current-has-no-seqid")
def test_seqid_is_kept(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """CLOSE or OPEN_DOWNGRADE with a current stateid of before an upgrade fails with OLD_STATEID, and does nothing."""
    downgrade = op.open_downgrade(_CURRENT, p.OPEN4_SHARE_ACCESS_READ)
    last = op.close(_CURRENT) if operation == "close" else downgrade
    file, reply, stateid = _upgraded_since(compounds, scratch, last)
    expect(reply).refused(Nfsstat4.NFS4ERR_OLD_STATEID, because=SOME_COMPARE_THE_SEQID)
    expect(compounds.compound(op.putfh(file), op.write(stateid, 0, b"more"))).ok()


# ---------------------------------------------------------------- what clears it, and what does not


@pytest.mark.parametrize("how", ["putfh", "lookup", "restorefh"])
@proves(CLEARED_WITH_THE_FILEHANDLE, killed_by="filehandles4-keep-the-current-stateid")
def test_cleared(compounds: Compounds, scratch: Nfs4Scratch, how: str) -> None:
    """CLOSE with the current stateid is refused if PUTFH, LOOKUP or RESTOREFH came after the OPEN."""
    file = scratch.file("file", b"data")
    before = [op.savefh()] if how == "restorefh" else []
    ways: dict[str, list[XdrType]] = {
        "putfh": [op.putfh(file)],
        "lookup": [op.putfh(scratch.handle), op.lookup(b"file")],
        "restorefh": [op.restorefh()],
    }
    sent = (op.putfh(file), *before, _opening(), *ways[how], op.close(_CURRENT))
    reply = _noted(compounds, file, compounds.compound(*sent))
    expect(reply, because=CLEARED_WITH_THE_FILEHANDLE).refused(
        Nfsstat4.NFS4ERR_BAD_STATEID, because=CLEARED_WITH_THE_FILEHANDLE
    )
    stateid = expect(reply).of(p.OPEN).ok().stateid
    expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 4))).ok()


@proves(USE_CHANGES_NOTHING, killed_by="read4-sets-the-current-stateid")
def test_kept(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE with the current stateid closes what was opened last, not what a READ between them has used."""
    file = scratch.file("file", b"data")
    first = open_file(compounds, file, READ)
    between = op.read(first.stateid, 0, 4)
    expect(compounds.compound(op.putfh(file), _opening(), between, op.close(_CURRENT))).ok()
    expect(compounds.compound(op.putfh(file), op.read(first.stateid, 0, 4))).ok()
