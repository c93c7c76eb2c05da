# SPDX-License-Identifier: MIT
"""The path client of NFSv4.1 against a server that lies: typed errors in bounded time, and nothing is believed."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.clients.nfs4 import CompoundError, SessionViolation
from nfsclient.errors import ServerViolation
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import replace
from tests.nfsclient.nfs4_peer import OK, S, Stage4


@pytest.fixture
def stage() -> Iterator[Stage4]:
    made = Stage4()
    yield made
    made.close()


def lie(stage: Stage4, **wrong: t.Any) -> None:
    def bend(res: p.Compound4Res) -> p.Compound4Res:
        first = res.resarray[0] if res.resarray else None
        if isinstance(first, p.Sequence4Res) and first.sr_resok4 is not None:
            first = p.Sequence4Res(OK, replace(first.sr_resok4, **wrong))
            return p.Compound4Res(res.status, res.tag, [first, *res.resarray[1:]])
        return res

    stage.server.bend = bend


@pytest.mark.parametrize(
    "wrong",
    [{"sr_slotid": 77}, {"sr_sequenceid": 77}, {"sr_sessionid": b"y" * 16}],
    ids=lambda one: next(iter(one)),
)
def test_reply_for_another_request_is_not_believed(stage: Stage4, wrong: dict[str, t.Any]) -> None:
    lie(stage, **wrong)
    for _ in range(20):  # slots that a lie has cost run out: a new session replaces them
        with pytest.raises(SessionViolation):
            stage.client.stat("f")


def test_server_that_always_refuses_sessions(stage: Stage4) -> None:
    stage.server.script("SEQUENCE", *[S.NFS4ERR_BADSESSION] * 1000)
    with pytest.raises(CompoundError, match="BADSESSION"):
        stage.client.stat("f")
    assert stage.server.count("CREATE_SESSION") < 20


def test_server_that_always_forgets_clients(stage: Stage4) -> None:
    stage.server.script("SEQUENCE", S.NFS4ERR_BADSESSION)
    stage.server.script("CREATE_SESSION", *[S.NFS4ERR_STALE_CLIENTID] * 1000)
    with pytest.raises(CompoundError, match="STALE_CLIENTID"):
        stage.client.stat("f")


@pytest.mark.parametrize("status", [S.NFS4ERR_OLD_STATEID, S.NFS4ERR_BAD_STATEID, S.NFS4ERR_EXPIRED])
def test_server_that_never_accepts_a_stateid(stage: Stage4, status: p.Nfsstat4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("READ", *[status] * 1000)
    with pytest.raises(CompoundError) as caught:
        stage.client.read_file("f")
    assert caught.value.status == status


def test_status_flags_that_never_go_away(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.status_flags = 0xFFFF_FFFF
    assert stage.client.read_file("f") == b"data"
    assert stage.server.count("TEST_STATEID") <= 3


def test_results_of_other_operations_are_not_believed(stage: Stage4) -> None:
    def bend(res: p.Compound4Res) -> p.Compound4Res:
        return p.Compound4Res(OK, b"", [res.resarray[0], *[p.Putrootfh4Res(OK)] * 5])

    stage.server.bend = bend
    with pytest.raises(ServerViolation):
        stage.client.stat("")


def test_more_data_than_requested_is_not_believed(stage: Stage4) -> None:
    stage.server.files[b"f"] = bytearray(b"data")
    stage.server.script("READ", p.Read4Res(OK, p.Read4ResOk(True, bytes(5000))))
    with pytest.raises(ServerViolation):
        stage.client.read_file("f")
