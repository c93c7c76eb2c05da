# SPDX-License-Identifier: MIT
"""Checks of NFSv4 on right servers whose answers say nothing of what the check is about: SKIP or UNSUPPORTED."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from fixtures.checks.dialects.nfs4 import Grace, Nfs4Scratch, OwnClient, OwnNfs4
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Createmode4, Nfsstat4
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Nonconformance, Skipped, Unsupported
from nfsmutants.nfs4.bending import refusal
from suites.nfs3.permissions import STRANGER
from suites.nfs4 import test_expiry, test_limits, test_open, test_sequence, test_stateids, test_two_clients
from suites.nfs4.opens import open_file
from tests.nfsserver.conftest import ROOT_USER, Rig, make_rig, rig, root

__all__ = ["make_rig", "rig", "root"]


class _Four:
    """NFSv4 on a rig, as checks use it. All clients share the loop of the rig."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.made: list[OwnClient] = []
        self.to_give_back: list[t.Any] = []
        self.grace = Grace(lambda _seconds: None)
        self.connections = SimpleNamespace(connect=lambda *_: rig.rpc())

    def client(self, rpc: RpcClient | None = None, credential: Credential = ROOT_USER) -> OwnNfs4:
        client = OwnNfs4(rpc or self.rig.rpc(), credential=credential)
        client.made, client.grace, client.to_give_back = self.made, self.grace, self.to_give_back
        return client

    def new_session(self, rpc: RpcClient | None = None, credential: Credential = ROOT_USER) -> Session:
        return self.client(rpc, credential).establish()

    new_compounds = new_session

    def scratch(self, session: Session) -> Nfs4Scratch:
        reply = session.compound(op.putrootfh(), op.lookup(b"export"), op.getfh())
        return Nfs4Scratch(session, reply.handle, self.grace)


@pytest.fixture
def four(rig: Rig) -> t.Any:
    return _Four(rig)


def _answer(
    rig: Rig, operation: t.Any, status: Nfsstat4, when: Callable[[t.Any, t.Any], bool], times: int = 1000
) -> None:
    """Let an operation fail with a status, without effect, where `when` says so of its context and arguments."""
    left = [status] * times

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        is_meant = left and when(context, args)
        return refusal(operation.res(left.pop()), status) if is_meant else proceed(context, args)

    rig.server.interpose(operation, around)


# ---------------------------------------------------------------- exclusive creation


def _is_exclusive(_context: t.Any, args: t.Any) -> bool:
    return args.openhow.how is not None and args.openhow.how.mode == Createmode4.EXCLUSIVE4_1


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_server_may_lack_exclusive_creation(four: t.Any, how: str) -> None:
    """It should answer NOTSUPP then (RFC 5661 section 18.16.4)."""
    _answer(four.rig, p.OPEN, Nfsstat4.NFS4ERR_NOTSUPP, _is_exclusive)
    session = four.new_session()
    with pytest.raises(Unsupported, match="exclusive creation"):
        test_open.test_exclusive_name_reused(four, session, four.scratch(session), how)
    with pytest.raises(Unsupported, match="exclusive creation"):
        test_open.test_exclusive_keeps_data(session, four.scratch(session))


def test_a_name_that_is_not_given_to_another_file_says_nothing(four: t.Any) -> None:
    """RENAME over a file may be refused while a delegation or an open is out (RFC 5661 section 18.26.4)."""
    _answer(four.rig, p.RENAME, Nfsstat4.NFS4ERR_FILE_OPEN, lambda *_: True)
    session = four.new_session()
    with pytest.raises(Skipped, match="RENAME answers NFS4ERR_FILE_OPEN"):
        test_open.test_exclusive_name_reused(four, session, four.scratch(session), "replaced")


# ---------------------------------------------------------------- another user


_OF_DATA: t.Final = {
    "read_after_mode": p.READ,
    "read_after_owner": p.READ,
    "write_after_mode": p.WRITE,
    "write_after_owner": p.WRITE,
}


def _check_user(four: t.Any, name: str) -> None:
    session = four.new_session()
    getattr(test_two_clients, f"test_{name}")(four, session, four.scratch(session))


@pytest.mark.parametrize("status", [Nfsstat4.NFS4ERR_DELAY, Nfsstat4.NFS4ERR_STALE, Nfsstat4.NFS4ERR_IO])
@pytest.mark.parametrize("name", _OF_DATA)
def test_an_error_of_another_kind_is_no_denial(four: t.Any, name: str, status: Nfsstat4) -> None:
    """For the server both users are one, so that no mode keeps them apart; and it is busy at first."""
    four.rig.server.knobs.set("all_squash", True)

    def is_stranger(context: t.Any, _args: t.Any) -> bool:
        return bool(context.credential.uid == STRANGER[0])

    _answer(four.rig, _OF_DATA[name], status, is_stranger, times=1)
    with pytest.raises(Skipped, match="is not known"):
        _check_user(four, name)


@pytest.mark.parametrize("name", _OF_DATA)
def test_a_denial_before_the_data_is_no_denial_of_it(four: t.Any, name: str) -> None:
    """Where handles are paths, another user may not search the way to a file: PUTFH says so."""
    session = four.new_session()
    scratch = four.scratch(session)

    def is_stranger(context: t.Any, _args: t.Any) -> bool:
        return bool(context.credential.uid == STRANGER[0])

    _answer(four.rig, p.PUTFH, Nfsstat4.NFS4ERR_ACCESS, is_stranger, times=1)
    with pytest.raises(Skipped, match="PUTFH answers"):
        getattr(test_two_clients, f"test_{name}")(four, session, scratch)


# ---------------------------------------------------------------- the reply cache, gaps, stateids


@pytest.mark.parametrize("whose", ["others", "one-client"])
def test_a_server_may_keep_few_replies(four: t.Any, whose: str) -> None:
    """It may grant any ca_maxresponsesize_cached (RFC 5661 section 18.36.3)."""
    session = four.new_session()
    scratch = four.scratch(session)
    _answer(four.rig, p.GETFH, Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE, lambda *_: True)
    with pytest.raises(Skipped, match="keeps no replies of this size"):
        test_sequence.test_sessions_are_separate(four, scratch, whose)


@pytest.mark.parametrize("status", [Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_IO])
def test_a_server_without_gaps_may_refuse_them_with_any_error(four: t.Any, status: Nfsstat4) -> None:
    _answer(four.rig, p.WRITE, status, lambda _context, args: args.offset > 0)
    session = four.new_session()
    with pytest.raises(Skipped, match="no gaps"):
        test_two_clients.test_neighbours(four, session, four.scratch(session), "at-the-end")


def test_a_stateid_of_another_client_may_be_refused_with_another_error(four: t.Any) -> None:
    _answer(four.rig, p.READ, Nfsstat4.NFS4ERR_STALE_STATEID, lambda _context, args: any(args.stateid.other))
    session = four.new_session()
    with pytest.raises(Nonconformance) as found:
        test_stateids.test_other_client(four, session, four.scratch(session))
    assert found.value.requirement is test_stateids.OF_OTHERS_IS_BAD
    assert found.value.requirement.level is Level.SHOULD


def test_a_read_of_nothing_before_the_end_is_no_lost_data(four: t.Any) -> None:
    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if args.offset > 1 << 30:
            return p.Read4Res(Nfsstat4.NFS4_OK, p.Read4ResOk(False, b""))
        return proceed(context, args)

    four.rig.server.interpose(p.READ, around)
    session = four.new_session()
    with pytest.raises(Nonconformance) as found:
        test_limits.test_within_maxfilesize(session, four.scratch(session), "2g")
    assert found.value.requirement is not None
    assert not found.value.requirement.is_red(found.value.outcome)


@pytest.mark.parametrize("status", [Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4ERR_EXPIRED])
def test_a_session_may_end_with_the_lease(four: t.Any, status: Nfsstat4) -> None:
    """SEQUENCE says so, some servers with an error of other operations: no loss stays hidden (section 8.4.3)."""
    session, other = four.new_session(), four.new_session()
    file = four.scratch(session).file("file", b"data")
    opened = open_file(session, file)
    found = test_expiry._Expired(90, session, opened, opened.stateid, opened, other, [])
    _answer(four.rig, p.SEQUENCE, status, lambda *_: True)
    with pytest.raises(Skipped, match="refuses the session"):
        found.heard()
