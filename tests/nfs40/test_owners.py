# SPDX-License-Identifier: MIT
"""What 4.0 wants besides the operations: sequence ids of owners, confirmation of opens, names instead of handles."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from tests.nfs40.owners import NOT_COUNTED, Lacking, Owners, replaced

DIRECTORY, FILE = b"directory", b"file handle"
CLIENTID = 0xABCD


def stateid(number: int, seqid: int = 1) -> p.Stateid4:
    return p.Stateid4(seqid, bytes(11) + bytes([number]))


def opened(number: int, *, confirm: bool = False) -> p.Open4Res:
    none = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
    flags = p.OPEN4_RESULT_CONFIRM if confirm else 0
    result = p.Open4ResOk(stateid(number), p.ChangeInfo4(False, 0, 0), flags, [], none)
    return p.Open4Res(Nfsstat4.NFS4_OK, result)


PUTFH = p.Putfh4Res(Nfsstat4.NFS4_OK)


@pytest.fixture
def owners() -> Owners:
    return Owners(CLIENTID)


def make(owners: Owners, *, owner: bytes = b"me", confirm: bool = False) -> None:
    """OPEN of a new file by name, with its handle."""
    sent = owners.fill([op.putfh(DIRECTORY), op.open(b"name", owner=owner, how=op.guarded()), op.getfh()])
    got = p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(FILE))
    for unconfirmed in owners.learn(sent, [PUTFH, opened(1, confirm=confirm), got]):
        confirming = owners.confirm(unconfirmed)
        confirmed = p.OpenConfirm4ResOk(stateid(1, seqid=2))
        looked_up = p.Lookup4Res(Nfsstat4.NFS4_OK)
        owners.learn(confirming, [PUTFH, looked_up, p.OpenConfirm4Res(Nfsstat4.NFS4_OK, confirmed)])


def close(owners: Owners, status: Nfsstat4) -> int:
    """CLOSE of that file, which is answered like this; its sequence id."""
    sent = owners.fill([op.putfh(FILE), op.close(stateid(1))])
    second = sent[1]
    assert isinstance(second, p.Close4Args)
    owners.learn(sent, [PUTFH, p.Close4Res(status, stateid(1, 2) if not status else None)])
    return second.seqid


def test_each_owner_counts_its_operations(owners: Owners) -> None:
    make(owners)
    assert close(owners, Nfsstat4.NFS4ERR_DELAY) == 2
    assert close(owners, Nfsstat4.NFS4ERR_LOCKS_HELD) == 3
    other = owners.fill([op.putfh(DIRECTORY), op.open(b"name", owner=b"other")])[1]
    assert isinstance(other, p.Open4Args)
    assert (other.seqid, other.owner.clientid) == (1, CLIENTID)


@pytest.mark.parametrize("status", sorted(NOT_COUNTED))
def test_errors_that_do_not_count(owners: Owners, status: Nfsstat4) -> None:
    make(owners)
    assert [close(owners, status), close(owners, status)] == [2, 2]


def test_an_operation_that_was_not_reached_does_not_count(owners: Owners) -> None:
    make(owners)
    sent = owners.fill([op.putfh(FILE), op.close(stateid(1))])
    owners.learn(sent, [p.Putfh4Res(Nfsstat4.NFS4ERR_STALE)])
    assert close(owners, Nfsstat4.NFS4_OK) == 2


def test_several_operations_of_an_owner_in_a_compound_count_on(owners: Owners) -> None:
    make(owners)
    sent = owners.fill([op.putfh(FILE), op.open_downgrade(stateid(1), 1), op.close(stateid(1))])
    assert [operation.seqid for operation in sent[1:]] == [2, 3]  # type: ignore[attr-defined]


def test_a_given_sequence_id_stays(owners: Owners) -> None:
    make(owners)
    sent = owners.fill([op.putfh(FILE), op.close(stateid(1), seqid=77)])[1]
    assert isinstance(sent, p.Close4Args)
    assert sent.seqid == 77


def test_a_sequence_id_is_never_zero_again(owners: Owners) -> None:
    make(owners)
    owners._next["open", b"me"] = 0xFFFF_FFFF
    assert [close(owners, Nfsstat4.NFS4_OK), close(owners, Nfsstat4.NFS4_OK)] == [0xFFFF_FFFF, 1]


def test_an_open_is_confirmed_and_its_stateid_replaced(owners: Owners) -> None:
    make(owners, confirm=True)
    assert owners.fill([op.putfh(FILE), op.close(stateid(1, seqid=2))])[1] == op.close(
        stateid(1, seqid=2),
        seqid=3,  # after OPEN and OPEN_CONFIRM
    )
    reply = p.Compound4Res(Nfsstat4.NFS4_OK, b"", [PUTFH, opened(1), opened(2)])
    seen = [result.resok4.stateid for result in replaced(reply, stateid(1, seqid=2)).resarray[1:]]  # type: ignore[attr-defined]
    assert seen == [stateid(1, seqid=2), stateid(2)]


def test_a_lock_counts_for_both_owners(owners: Owners) -> None:
    make(owners)
    for number in (1, 2):
        first = op.lock(stateid(1), owner=b"locker")
        sent = owners.fill([op.putfh(FILE), first])
        second = sent[1]
        assert isinstance(second, p.Lock4Args)
        new = second.locker.open_owner
        assert new is not None
        assert (new.open_seqid, new.lock_seqid, new.lock_owner.clientid) == (1 + number, number, CLIENTID)
        owners.learn(sent, [PUTFH, p.Lock4Res(Nfsstat4.NFS4_OK, p.Lock4ResOk(stateid(9)))])
    more = owners.fill([op.putfh(FILE), op.lock_more(stateid(9)), op.locku(stateid(9))])
    assert more[1] == op.lock_more(stateid(9), lock_seqid=3)
    assert more[2] == op.locku(stateid(9), seqid=4)


def test_a_handle_is_opened_by_its_name(owners: Owners) -> None:
    make(owners)
    access = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
    sent = owners.fill([op.putfh(FILE), op.open(None, access, owner=b"me")])
    owner = p.StateOwner4(CLIENTID, b"me")
    assert sent == [op.putfh(DIRECTORY), op.open(b"name", p.OPEN4_SHARE_ACCESS_READ, owner=owner, seqid=2)]


@pytest.mark.parametrize(
    "operations",
    [
        [op.putfh(b"unknown"), op.open(None)],
        [op.putfh(DIRECTORY), op.open(b"name", how=op.exclusive4_1(bytes(8)))],
        [op.putfh(FILE), op.read(op.CURRENT, 0, 4)],
        [op.reclaim_complete()],
    ],
    ids=["unknown-name", "exclusive4_1", "current-stateid", "operation"],
)
def test_what_has_no_form_in_4_0(owners: Owners, operations: list[XdrType]) -> None:
    with pytest.raises(Lacking):
        owners.fill(operations)
