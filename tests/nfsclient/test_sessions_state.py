# SPDX-License-Identifier: MIT
"""What a client holds, its lease, and the answers of a backchannel, without a server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.backchannel import Backchannel, CallbackRouter
from nfsclient.sessions.recovery import REMEDIES, Remedy
from nfsclient.sessions.state import HeldState, Lease, LockRange, Locks, Open, is_newer, newest
from nfsclient.xdr import Unread, XdrType

OK = p.Nfsstat4.NFS4_OK
S = p.Nfsstat4
OTHER = b"abcdefghijkl"
END = p.NFS4_MAXFILELEN
WRITE = p.NfsLockType4.WRITE_LT
ID = b"0123456789abcdef"


@pytest.mark.parametrize(
    ("seqid", "than", "expected"),
    [(2, 1, True), (1, 2, False), (1, 1, False), (1, 0xFFFF_FFFF, True), (0xFFFF_FFFF, 1, False)],
)
def test_seqids_wrap(seqid: int, than: int, expected: bool) -> None:
    assert is_newer(seqid, than) is expected


def test_late_reply_does_not_bring_back_an_old_stateid() -> None:
    known, late = p.Stateid4(3, OTHER), p.Stateid4(2, OTHER)
    assert newest(known, late) is known
    assert newest(known, p.Stateid4(1, b"x" * 12)).other == b"x" * 12


def opened(stateid: p.Stateid4, kind: p.OpenDelegationType4 | None = None) -> p.Open4Res:
    delegation = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
    if kind is not None:
        ace = p.Nfsace4(0, 0, 0, b"EVERYONE@")
        delegation = p.OpenDelegation4(kind, read=p.OpenReadDelegation4(p.Stateid4(1, b"d" * 12), False, ace))
    change = p.ChangeInfo4(True, 1, 2)
    return p.Open4Res(OK, p.Open4ResOk(stateid, change, 0, [], delegation))


def test_open_of_the_same_owner_upgrades() -> None:
    held = HeldState()
    first = held.opened(b"f", b"o", 1, 0, opened(p.Stateid4(1, OTHER)))
    second = held.opened(b"f", b"o", 2, 1, opened(p.Stateid4(2, OTHER)))
    assert first is second
    assert (second.access, second.deny, second.users, second.stateid.seqid) == (3, 1, 2, 2)
    assert held.opened(b"f", b"other", 1, 0, opened(p.Stateid4(1, b"y" * 12))) is not first


def test_want_bits_are_no_access() -> None:
    held = HeldState()
    access = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
    assert held.opened(b"f", b"o", access, 0, opened(p.Stateid4(1, OTHER))).access == 1


def test_delegation_comes_with_an_open_and_goes_with_its_recall() -> None:
    held = HeldState()
    state = held.opened(
        b"f", b"o", 1, 0, opened(p.Stateid4(1, OTHER), p.OpenDelegationType4.OPEN_DELEGATE_READ)
    )
    assert held.for_reading(state).other == b"d" * 12
    assert held.recall(b"f", p.Stateid4(1, b"e" * 12)) is None
    delegation = held.recall(b"f", p.Stateid4(1, b"d" * 12))
    assert delegation is not None
    assert held.for_reading(state) == state.stateid
    held.returned(delegation)
    assert held.delegations == {}


def test_close_takes_its_locks_along() -> None:
    held = HeldState()
    state = held.opened(b"f", b"o", 1, 0, opened(p.Stateid4(1, OTHER)))
    held.locked(state, b"l", p.Stateid4(1, b"l" * 12), LockRange(WRITE, 0, 10))
    assert len(held.all_stateids()) == 2
    held.closed(state)
    assert held.all_stateids() == []


RANGES = st.tuples(st.integers(0, 12), st.integers(1, 6) | st.just(END))


@given(st.lists(st.tuples(st.booleans(), RANGES), max_size=8))
def test_ranges_of_locks_are_those_of_their_bytes(steps: list[tuple[bool, tuple[int, int]]]) -> None:
    locks = Locks(Open(b"f", b"o", p.Stateid4(1, OTHER), 1, 0), b"l", p.Stateid4(1, OTHER))
    locked: set[int] = set()
    for adds, (offset, length) in steps:
        covered = {at for at in range(40) if at >= offset and (length == END or at < offset + length)}
        if adds:
            locks.add(LockRange(WRITE, offset, length))
            locked |= covered
        else:
            locks.remove(offset, length)
            locked -= covered
    assert {
        at for at in range(40) for byte_range in locks.ranges if byte_range.offset <= at < byte_range.end
    } == locked
    assert sum(min(byte_range.end, 40) - byte_range.offset for byte_range in locks.ranges) == len(locked)


def test_lease_counts_from_when_the_request_was_sent() -> None:
    lease = Lease(10, now=0)
    assert not lease.is_due(4)
    assert lease.is_due(5)
    lease.renewed(5)
    lease.renewed(3)  # a reply that overtook another
    assert not lease.is_due(9)
    assert lease.may_be_lost(15)


def test_every_remedy_is_in_use() -> None:
    assert set(REMEDIES.values()) == set(Remedy)


# ---------------------------------------------------------------- backchannel


def router(slots: int = 2, operations: int = 4, held: HeldState | None = None) -> CallbackRouter:
    made = CallbackRouter()
    made.sessions[ID] = Backchannel(ID, held, slots=slots, operations=operations)
    return made


def call(
    *operations: XdrType, sequence_id: int = 1, slot: int = 0, highest: int = 0, minor: int = 1
) -> p.CbCompound4Args:
    first = p.CbSequence4Args(ID, sequence_id, slot, highest, False, [])
    return p.CbCompound4Args(b"t", minor, 0, [first, *operations])


NOTICE = p.CbNotifyLock4Args(b"f", p.StateOwner4(1, b"o"))


@pytest.mark.parametrize(
    ("args", "status", "results"),
    [
        (call(minor=3), S.NFS4ERR_MINOR_VERS_MISMATCH, 0),
        (p.CbCompound4Args(b"", 1, 0, []), OK, 0),
        (p.CbCompound4Args(b"", 1, 0, [NOTICE]), S.NFS4ERR_OP_NOT_IN_SESSION, 1),
        (p.CbCompound4Args(b"", 1, 0, [Unread(99, b"")]), S.NFS4ERR_OP_ILLEGAL, 1),
        (call(sequence_id=0), S.NFS4ERR_SEQ_MISORDERED, 1),
        (call(sequence_id=2), S.NFS4ERR_SEQ_MISORDERED, 1),
        (call(slot=2), S.NFS4ERR_BADSLOT, 1),
        (call(highest=2), S.NFS4ERR_BAD_HIGH_SLOT, 1),
        (call(NOTICE, NOTICE, NOTICE, NOTICE), S.NFS4ERR_TOO_MANY_OPS, 1),
        (call(NOTICE, call().argarray[0]), S.NFS4ERR_SEQUENCE_POS, 3),
        (call(Unread(99, b"")), S.NFS4ERR_OP_ILLEGAL, 2),
        (call(p.CbIllegal4Args(), NOTICE), S.NFS4ERR_OP_ILLEGAL, 2),
    ],
)
def test_callbacks_that_break_the_rules(args: p.CbCompound4Args, status: p.Nfsstat4, results: int) -> None:
    reply = router().answer(args)
    assert (reply.status, len(reply.resarray)) == (status, results)
    assert reply.tag == args.tag


def test_replay_is_answered_from_the_cache_and_a_false_one_refused() -> None:
    made = router()
    first = made.answer(call(NOTICE))
    assert made.answer(call(NOTICE)) is first
    other = p.CbNotifyLock4Args(b"g", p.StateOwner4(1, b"o"))
    assert made.answer(call(other)).status == S.NFS4ERR_SEQ_FALSE_RETRY
    assert made.answer(call(other, sequence_id=2)).status == OK
    assert made.sessions[ID].count == 2


def test_callback_that_overtakes_its_reply_is_delayed() -> None:
    made = router(held=HeldState())
    made.sessions[ID].is_outstanding = lambda session, slot, number: (session, slot, number) == (ID, 3, 7)
    first = p.CbSequence4Args(ID, 1, 0, 0, False, [p.ReferringCallList4(ID, [p.ReferringCall4(7, 3)])])
    recall = p.CbRecall4Args(p.Stateid4(1, OTHER), False, b"f")
    assert made.answer(p.CbCompound4Args(b"", 1, 0, [first, recall])).status == S.NFS4ERR_DELAY


def test_recall_slot_limits_the_fore_channel() -> None:
    from nfsclient.sessions.session import SessionState

    channel = op.channel(requests=8)
    state = SessionState(p.CreateSession4ResOk(ID, 1, 0, channel, channel), clientid=7)
    made = CallbackRouter()
    made.sessions[ID] = Backchannel.of(state)
    assert made.answer(call(p.CbRecallSlot4Args(2))).status == OK
    assert state.slots.allowed == 3


@pytest.mark.parametrize(
    "kind", [kind for kind in p.OpenDelegationType4 if "READ" in kind.name or "WRITE" in kind.name]
)
def test_delegations_with_times_are_delegations(kind: p.OpenDelegationType4) -> None:
    """RFC 9754: a server should give them to those only that ask; they are recalled and returned like others."""
    held = HeldState()
    is_write = "WRITE" in kind.name
    stateid, ace = p.Stateid4(1, b"d" * 12), p.Nfsace4(0, 0, 0, b"EVERYONE@")
    limit = p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=7)
    given = p.OpenDelegation4(
        kind,
        read=None if is_write else p.OpenReadDelegation4(stateid, False, ace),
        write=p.OpenWriteDelegation4(stateid, False, limit, ace) if is_write else None,
    )
    assert p.OpenDelegation4.from_xdr(given.to_xdr()) == given
    assert given.to_xdr()[:4] == int(kind).to_bytes(4, "big")
    delegation = held.delegated(b"f", given)
    assert delegation is not None
    assert (delegation.type, delegation.is_write) == (kind, is_write)
    assert held.recall(b"f", stateid) is delegation
