# SPDX-License-Identifier: MIT
"""Replies to compounds that are decoded late: the same value, error and slots as of the ordinary way."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ServerViolation, XdrError
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsclient.sessions.late import LateReplies, LateReply
from nfsclient.sessions.reply import CompoundError, CompoundReply
from nfsclient.sessions.session import SessionState, SessionViolation
from nfsclient.xdr import XdrType
from nfsserver import ManualClock, Server

OK = p.Nfsstat4.NFS4_OK
OPERATIONS = [op.putfh(b"h" * 28), op.lookup(b"name"), op.getfh(), op.getattr("size", "owner", "named_attr")]


def a_session() -> SessionState:
    channel = p.ChannelAttrs4(0, 1 << 20, 1 << 20, 8192, 64, 64, [])
    return SessionState(p.CreateSession4ResOk(b"s" * 16, 1, 0, channel, channel), clientid=1)


def reply(handle: bytes = b"h" * 28, owner: bytes = b"root", size: int = 5, tag: bytes = b"") -> bytes:
    done = p.Sequence4ResOk(b"s" * 16, 1, 0, 7, 9, 0)
    results: list[XdrType] = [
        p.Sequence4Res(OK, done),
        p.Putfh4Res(OK),
        p.Lookup4Res(OK),
        p.Getfh4Res(OK, p.Getfh4ResOk(handle)),
        p.Getattr4Res(OK, p.Getattr4ResOk(p.Fattr4(size=size, owner=owner, named_attr=True))),
    ]
    return p.Compound4Res(OK, tag, results).to_xdr()


def learned(*replies: bytes) -> LateReplies:
    """What has seen these replies often enough."""
    known = LateReplies()
    for wire in replies * 12:
        state = a_session()
        known.take(state, state.begin(OPERATIONS), wire)
    return known


def outcome(take: t.Any, operations: Sequence[XdrType] = OPERATIONS) -> tuple[object, ...]:
    """Everything that a reply leads to."""
    state = a_session()
    request = state.begin(operations)
    found: tuple[object, ...]
    try:
        whole: CompoundReply = take(state, request)
        found = (whole.status, whole.res, whole.statuses, whole.args, len(whole))
        whole.ok()
    except (XdrError, SessionViolation, ServerViolation) as error:
        found = (type(error), str(error))
    except CompoundError as error:
        found = (type(error), error.status, error.index)
    slot = state.slots[0]
    flags = state.status_flags
    return (*found, slot.sequence_id, slot.in_use, state.slots.allowed, flags, sorted(state.outstanding))


def require_same(known: LateReplies, wire: bytes) -> None:
    ordinary = outcome(lambda state, request: state.finish(request, p.Compound4Res.from_xdr(wire)))
    assert outcome(lambda state, request: known.take(state, request, wire)) == ordinary


def is_late(known: LateReplies, wire: bytes) -> bool:
    state = a_session()
    return isinstance(known.take(state, state.begin(OPERATIONS), wire), LateReply)


def test_usual_replies_are_decoded_late() -> None:
    known = learned(reply())
    assert is_late(known, reply(size=99, owner=b"user"))
    assert not is_late(known, reply(owner=b"somebody"))
    assert not is_late(LateReplies(), reply())
    assert not is_late(learned(reply(tag=b"tag")), reply(tag=b"tag"))


def test_every_byte_of_a_reply_may_be_damaged() -> None:
    wire = reply()
    for at in range(len(wire)):
        known = learned(wire)
        for value in {0, 1, wire[at] ^ 1, wire[at] ^ 4, 0xFF}:
            require_same(known, wire[:at] + bytes([value]) + wire[at + 1 :])
        require_same(known, wire[:at])
    require_same(known, wire + b"\0\0\0\0")


@given(
    st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=9)), min_size=1, max_size=6), st.booleans()
)
def test_replies_of_many_forms(forms: list[tuple[bytes, bytes]], twice: bool) -> None:
    known = learned(*(reply(*form) for form in forms))
    for form in forms * (1 + twice):
        require_same(known, reply(*form))


def test_results_of_other_operations_are_no_success() -> None:
    known = learned(reply())
    others = [op.putfh(b"h" * 28), op.lookup(b"name"), op.getfh(), op.readlink()]
    ordinary = outcome(lambda state, request: state.finish(request, p.Compound4Res.from_xdr(reply())), others)
    assert outcome(lambda state, request: known.take(state, request, reply()), others) == ordinary


def test_forms_are_bounded() -> None:
    known = learned(*(reply(owner=b"o" * length) for length in range(20)))
    assert max(len(form.outlines) for form in known._forms.values()) <= 4


@pytest.mark.parametrize("records", [False, True])
def test_a_session_gives_what_it_gave(records: bool) -> None:
    loop = Loop()
    server = Server(clock=ManualClock(), seed=1)
    server.listen(loop)
    rpc = connect_tcp("127.0.0.1", server.port, loop=loop, credential=AuthSys(0, 0))
    seen: list[Exchange] = []
    if records:
        rpc.on_exchange = seen.append
    with Nfs4(rpc).establish() as session:
        kinds = set()
        for _ in range(8):
            found = session.compound(op.putrootfh(), op.getfh(), op.getattr("type"))
            assert found.ok().attributes.type is p.NfsFtype4.NF4DIR
            assert [type(result).__name__ for result in found] == [
                "Putrootfh4Res",
                "Getfh4Res",
                "Getattr4Res",
            ]
            kinds.add(type(found))
        assert kinds == ({CompoundReply} if records else {CompoundReply, LateReply})
        gone = session.compound(op.putrootfh(), op.lookup(b"missing"))
        assert (gone.status, len(gone)) == (p.Nfsstat4.NFS4ERR_NOENT, 2)
    rpc.close()
    server.close()
    loop.close()
