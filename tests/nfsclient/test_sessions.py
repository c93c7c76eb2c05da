# SPDX-License-Identifier: MIT
"""Slots, sequence ids and replies of compounds, without a server."""

from __future__ import annotations

import typing as t
from random import Random

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ServerViolation
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions import CompoundReply, NoFreeSlot, Request, SessionState, SlotTable
from nfsclient.sessions.owners import with_clientid
from nfsclient.sessions.reply import CompoundError
from nfsclient.sessions.session import SessionViolation
from nfsclient.xdr import XdrType

OK = p.Nfsstat4.NFS4_OK
DELAY = p.Nfsstat4.NFS4ERR_DELAY
NOENT = p.Nfsstat4.NFS4ERR_NOENT
ID = b"0123456789abcdef"


def session(requests: int = 4) -> SessionState:
    channel = op.channel(requests=requests)
    return SessionState(p.CreateSession4ResOk(ID, 1, 0, channel, channel), clientid=7)


def answered(
    request: Request,
    *results: XdrType,
    status: p.Nfsstat4 = OK,
    highest: int = 3,
    target: int = 3,
    flags: int = 0,
    **wrong: t.Any,
) -> p.Compound4Res:
    """SEQUENCE OK, and these results."""
    values: dict[str, t.Any] = {
        "sr_sessionid": ID,
        "sr_sequenceid": request.sequence_id,
        "sr_slotid": request.slot.id,
    }
    values |= wrong
    first = p.Sequence4ResOk(
        **values,
        sr_highest_slotid=highest,
        sr_target_highest_slotid=target,
        sr_status_flags=flags,
    )
    return p.Compound4Res(status, b"", [p.Sequence4Res(OK, first), *results])


def refused(status: p.Nfsstat4) -> p.Compound4Res:
    return p.Compound4Res(status, b"", [p.Sequence4Res(status)])


def test_sequence_ids_begin_with_one_and_count_per_slot() -> None:
    state = session()
    first = state.begin([op.putrootfh()])
    second = state.begin([op.putrootfh()])
    assert (first.slot.id, first.sequence_id, second.slot.id, second.sequence_id) == (0, 1, 1, 1)
    state.finish(first, answered(first, p.Putrootfh4Res(OK)))
    third = state.begin([op.putrootfh()])
    assert (third.slot.id, third.sequence_id) == (0, 2)


def test_sequence_ids_wrap_to_zero() -> None:
    state = session()
    state.slots[0].sequence_id = 0xFFFF_FFFF
    request = state.begin([])
    state.finish(request, answered(request))
    assert state.begin([]).sequence_id == 0


def test_error_of_sequence_does_not_move_the_slot() -> None:
    state = session()
    request = state.begin([op.putrootfh()])
    reply = state.finish(request, refused(DELAY))
    assert (reply.status, len(reply)) == (DELAY, 0)
    assert state.begin([]).sequence_id == 1


def test_error_of_a_later_operation_moves_it() -> None:
    state = session()
    request = state.begin([op.putrootfh()])
    state.finish(request, answered(request, p.Putrootfh4Res(DELAY), status=DELAY))
    assert state.begin([]).sequence_id == 2


def test_highest_slot_is_that_of_the_requests_under_way() -> None:
    state = session()
    requests = [state.begin([]) for _ in range(3)]
    assert [r.args.argarray[0].sa_highest_slotid for r in requests] == [0, 1, 2]  # type: ignore[attr-defined]
    for request in requests[:2]:
        state.finish(request, answered(request))
    assert state.begin([]).args.argarray[0].sa_highest_slotid == 2  # type: ignore[attr-defined]


def test_target_shrinks_and_grows_the_table() -> None:
    state = session()
    request = state.begin([])
    state.finish(request, answered(request, target=0))
    held = state.begin([])
    with pytest.raises(NoFreeSlot):
        state.begin([])
    state.finish(held, answered(held, highest=9, target=9))
    assert state.slots.allowed == 10


def test_table_is_bounded_whatever_the_server_offers() -> None:
    assert SlotTable(1 << 31).allowed == 1024
    table = SlotTable(1)
    table.comply(0xFFFF_FFFF, 0xFFFF_FFFF)
    assert table.allowed == 1024


@pytest.mark.parametrize(
    ("field", "value"), [("sr_sessionid", b"x" * 16), ("sr_slotid", 3), ("sr_sequenceid", 9)]
)
def test_reply_about_something_else_is_a_violation_and_costs_the_slot(field: str, value: object) -> None:
    state = session()
    request = state.begin([])
    with pytest.raises(SessionViolation, match="SEQUENCE"):
        state.finish(request, answered(request, **t.cast("dict[str, t.Any]", {field: value})))
    assert state.begin([]).slot.id == 1


def test_numbers_can_be_given() -> None:
    state = session()
    request = state.begin([], slot=9, sequence_id=5, highest_slot=2, cache_this=True, minor=7, tag=b"t")
    assert request.args == p.Compound4Args(b"t", 7, [p.Sequence4Args(ID, 5, 9, 2, True)])
    state.finish(request, answered(request))
    assert state.slots[9].sequence_id == 1  # it was not its turn


@pytest.mark.parametrize(("operation", "cached"), [(op.getattr("size"), False), (op.remove(b"x"), True)])
def test_replies_that_must_not_be_lost_are_cached(operation: XdrType, cached: bool) -> None:
    first = session().begin([op.putrootfh(), operation]).args.argarray[0]
    assert isinstance(first, p.Sequence4Args)
    assert first.sa_cachethis is cached


def test_error_names_the_operation() -> None:
    state = session()
    request = state.begin([op.putrootfh(), op.lookup(b"a"), op.getfh()])
    reply = state.finish(request, answered(request, p.Putrootfh4Res(OK), p.Lookup4Res(NOENT), status=NOENT))
    with pytest.raises(CompoundError) as caught:
        reply.ok("a")
    assert isinstance(caught.value, FileNotFoundError)
    assert (caught.value.operation, caught.value.index, caught.value.path) == (p.LOOKUP, 2, "a")
    assert reply.statuses == [OK, NOENT]
    with pytest.raises(FileNotFoundError):
        reply.of(p.GETFH)


def compound(args: list[XdrType], results: list[XdrType], status: p.Nfsstat4 = OK) -> CompoundReply:
    return CompoundReply(p.Compound4Args(b"", 1, args), p.Compound4Res(status, b"", results))


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([], OK),
        ([p.Putrootfh4Res(OK)], OK),
        ([p.Putrootfh4Res(OK), p.Lookup4Res(OK)], OK),
        ([p.Putrootfh4Res(NOENT), p.Getfh4Res(NOENT)], OK),
        ([p.Putrootfh4Res(OK), p.Getfh4Res(NOENT)], OK),
        ([p.Putrootfh4Res(OK), p.Getfh4Res(NOENT), p.Getfh4Res(OK)], OK),
    ],
)
def test_results_that_do_not_fit_the_operations_are_a_violation(
    results: list[XdrType], status: p.Nfsstat4
) -> None:
    with pytest.raises(ServerViolation):
        compound([op.putrootfh(), op.getfh()], results, status).ok()


def test_contents_of_a_reply() -> None:
    handle = p.Getfh4Res(OK, p.Getfh4ResOk(b"fh"))
    attributes = p.Getattr4Res(OK, p.Getattr4ResOk(p.Fattr4(size=3)))
    reply = compound([op.getfh(), op.getattr("size")], [handle, attributes])
    assert (reply.handle, reply.attributes.size, reply.of(p.GETFH)) == (b"fh", 3, handle)
    with pytest.raises(ServerViolation):
        _ = reply.stateid


def test_owners_have_the_client_id_of_the_session() -> None:
    """An owner without one gets it; what the caller has chosen stays, and so do the caller's arguments."""
    bare, chosen = op.open(b"f", 1, owner=b"o"), op.open(b"f", 1, owner=p.StateOwner4(7, b"o"))
    locks = [op.lock(p.ANONYMOUS_STATEID, owner=b"o"), op.lockt(owner=b"o")]
    made = with_clientid([op.putrootfh(), bare, chosen, *locks, op.lock_more(p.ANONYMOUS_STATEID)], 5)
    assert [
        operation.owner.clientid for operation in made if isinstance(operation, p.Open4Args | p.Lockt4Args)
    ] == [5, 7, 5]
    locker = next(operation.locker.open_owner for operation in made if isinstance(operation, p.Lock4Args))
    assert locker is not None
    assert locker.lock_owner == p.StateOwner4(5, b"o")
    assert bare.owner.clientid == 0
    plain = [op.putrootfh(), op.getfh()]
    assert with_clientid(plain, 5) is plain


@pytest.mark.parametrize("seed", range(20))
def test_slots_are_what_a_plain_search_finds(seed: int) -> None:
    """Whatever is taken and released, allowed and forbidden, `acquire` gives the lowest free slot."""
    random, table, used = Random(seed), SlotTable(8, most=20), set[int]()
    for _ in range(300):
        free = [number for number in range(table.allowed) if number not in used]
        assert table.has_free == bool(free)
        assert table.highest_in_use == max(used, default=0)
        match random.randrange(10):
            case 0 | 1 | 2 | 3 if free:
                assert table.acquire().id == free[0]
                used.add(free[0])
            case 4 | 5 | 6 if used:
                number = random.choice(sorted(used))
                table.release(table[number])
                used.discard(number)
            case 7:
                number = random.choice([0, 3, 7, 15, 30, 2**32 - 1])
                table.take(table[number])
                used.add(number)
            case 8:
                table.comply(random.randrange(25), random.randrange(25))
            case 9:
                table.limit(random.randrange(10))
            case _:
                continue
    table.comply(19, 19)
    for number in sorted(set(range(20)) - used):
        assert table.acquire().id == number
    with pytest.raises(NoFreeSlot):
        table.acquire()
