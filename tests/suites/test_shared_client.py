# SPDX-License-Identifier: MIT
"""The client that checks of NFSv4 share: what happens to it between two checks does not reach the next one."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.nfs4.clients import Grace, Lasting, OwnNfs4, Shared
from fixtures.checks.nfs4.scratch import Nfs4Scratch, Ways
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from tests.nfsserver.conftest import Rig, make_rig, rig, root

__all__ = ["make_rig", "rig", "root"]


def client_of(rig: Rig) -> OwnNfs4:
    nfs4 = OwnNfs4(rig.rpc())
    nfs4.made, nfs4.grace, nfs4.to_give_back = [], Grace(lambda _seconds: None), []
    return nfs4


def shared_by(session: Session) -> Shared:
    assert session.client is not None
    return Shared(session.client, session.state)


def lasting(rig: Rig, shared: Shared, made: list[Shared]) -> Lasting:
    def another() -> Shared:
        made.append(shared_by(client_of(rig).establish()))
        return made[-1]

    return Lasting(client_of(rig), shared, another)


@pytest.mark.parametrize("damage", ["destroyed", "misordered", "without-slots"])
def test_a_check_gets_another_session_for_one_that_is_of_no_use(rig: Rig, damage: str) -> None:
    shared, made = shared_by(client_of(rig).establish()), list[Shared]()
    if damage == "destroyed":
        client_of(rig).destroy_session(shared.state.id)
    elif damage == "misordered":
        shared.state.slots[0].sequence_id += 7
    else:
        for slot in range(shared.state.slots.allowed):
            shared.state.slots.take(shared.state.slots[slot])
        assert not shared.is_whole
    session = lasting(rig, shared, made)
    assert session.compound(op.putrootfh(), op.getfh()).status == Nfsstat4.NFS4_OK
    assert [each.state for each in made] == [session.state]


def test_a_check_sees_what_happens_to_the_session_while_it_runs(rig: Rig) -> None:
    shared, made = shared_by(client_of(rig).establish()), list[Shared]()
    session = lasting(rig, shared, made)
    assert session.compound(op.putrootfh()).status == Nfsstat4.NFS4_OK
    client_of(rig).destroy_session(shared.state.id)
    assert session.compound(op.putrootfh()).status == Nfsstat4.NFS4ERR_BADSESSION
    session.doubt()
    assert session.compound(op.putrootfh()).status == Nfsstat4.NFS4_OK
    assert len(made) == 1


def test_a_refusal_of_another_kind_stays(rig: Rig) -> None:
    made = list[Shared]()
    session = lasting(rig, shared_by(client_of(rig).establish()), made)
    assert session.compound(op.putfh(b"none")).status != Nfsstat4.NFS4_OK
    assert not made


@pytest.mark.parametrize("operation", [p.WRITE, p.CLOSE], ids=["write", "close"])
def test_a_file_is_made_by_a_server_without_the_current_stateid(rig: Rig, operation: t.Any) -> None:
    def around(_server: object, context: object, args: object, proceed: object) -> object:
        stateid = getattr(args, "stateid", None) or getattr(args, "open_stateid", None)
        if stateid == p.CURRENT_STATEID:
            return operation.res(Nfsstat4.NFS4ERR_BAD_STATEID)
        return proceed(context, args)  # type: ignore[operator]

    session, ways = client_of(rig).establish(), Ways()
    where = session.compound(op.putrootfh(), op.lookup(b"export"), op.getfh()).handle
    rig.server.knobs.set("write_accepts", 3)
    rig.server.interpose(operation, around)
    scratch = Nfs4Scratch(session, where, Grace(lambda _seconds: None), ways)
    for number in range(2):
        assert scratch.read(scratch.file(f"file{number}", b"data")) == b"data"
    assert not ways.at_once
    assert session.client is not None
    assert not rig.server.states.held.has_any(session.client.id)
