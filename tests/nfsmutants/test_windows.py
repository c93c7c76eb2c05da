# SPDX-License-Identifier: MIT
"""Mutants in steps: what other connections see between the steps of a call, and that each call is answered."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.protocol.nfs3 import (
    CREATE,
    GETATTR,
    RENAME,
    Create3Args,
    Createhow3,
    CreateMode3,
    Diropargs3,
    Getattr3Args,
    Getattr3Res,
    Nfsstat3,
    Rename3Args,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsmutants import form, windows
from nfsmutants.form import mutant_in_steps
from nfsmutants.nfs3.calls import Getattr
from nfsmutants.windows import CALLS_BETWEEN, Steps
from tests.nfsserver.conftest import AnyNfs3, Rig
from tests.waiting import AT_MOST

TWO_STEPS = "rename3-removes-the-target-in-a-first-step"
S = Nfsstat3


@pytest.fixture
def scratch_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants declared in a test are forgotten after it."""
    monkeypatch.setattr(form, "_registry", dict(form._registry))


@pytest.fixture
def only_calls_close_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time closes a window: on a busy machine ten milliseconds are over before the next call."""
    monkeypatch.setattr(windows, "LONGEST", AT_MOST)


def start_rename(rig: Rig, rpc: RpcClient) -> Pending[t.Any]:
    """Send RENAME of `source` over `target`, which both exist."""
    rig.file(b"source", b"new")
    rig.file(b"target", b"old")
    rig.mutants.add(TWO_STEPS)
    args = Rename3Args(Diropargs3(rig.root, b"source"), Diropargs3(rig.root, b"target"))
    return rpc.submit(RENAME, args)


def test_another_connection_sees_the_first_step(
    rig: Rig, nfs3: AnyNfs3, root: bytes, only_calls_close_it: None
) -> None:
    rpc = rig.rpc()
    renaming = start_rename(rig, rpc)
    assert nfs3.lookup(root, b"target").status == S.NFS3ERR_NOENT
    assert nfs3.lookup(root, b"source").status == S.NFS3_OK
    assert not renaming.done
    for _ in range(CALLS_BETWEEN):
        nfs3.null()
    assert rpc.wait(renaming).status == S.NFS3_OK
    assert bytes(nfs3.read(nfs3.lookup(root, b"target").resok.object, 0, 10).resok.data) == b"new"


def test_the_window_closes_after_some_calls(
    rig: Rig, nfs3: AnyNfs3, root: bytes, only_calls_close_it: None
) -> None:
    rpc = rig.rpc()
    renaming = start_rename(rig, rpc)
    seen = [nfs3.lookup(root, b"target").status for _ in range(CALLS_BETWEEN + 1)]
    assert seen[0] == S.NFS3ERR_NOENT
    assert seen[-1] == S.NFS3_OK
    assert rpc.wait(renaming).status == S.NFS3_OK


def test_two_calls_come_between_the_steps_of_each_other(rig: Rig, root: bytes) -> None:
    rig.mutants.add("create3-guarded-creates-later")
    how = Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644))
    clients = [rig.rpc(), rig.rpc()]
    calls = [client.submit(CREATE, Create3Args(Diropargs3(root, b"f"), how)) for client in clients]
    statuses = [client.wait(call).status for client, call in zip(clients, calls, strict=True)]
    assert statuses == [S.NFS3_OK, S.NFS3_OK]


def test_over_udp_no_call_waits(rig: Rig, root: bytes) -> None:
    over_udp = rig.rpc(proto="udp")
    assert over_udp.wait(start_rename(rig, over_udp)).status == S.NFS3_OK


def test_a_call_may_wait_more_than_once(scratch_registry: None, make_rig: t.Callable[..., Rig]) -> None:
    order: list[str] = []

    @mutant_in_steps(GETATTR)
    def getattr3_waits_twice(call: Getattr) -> Steps[Getattr3Res]:
        """GETATTR waits twice"""
        for step in ("first", "second"):
            order.append(step)
            yield
        return call.proceed()

    rig = make_rig(mutants=["getattr3-waits-twice"])
    assert rig.rpc().call(GETATTR, Getattr3Args(rig.root)).status == S.NFS3_OK
    assert order == ["first", "second"]


def test_a_client_that_leaves_does_not_stop_the_others(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    rpc = rig.rpc()
    start_rename(rig, rpc)
    rpc.close()

    def is_renamed() -> bool:
        return bool(nfs3.lookup(root, b"source").status == S.NFS3ERR_NOENT)

    assert rig.loop.run_until(is_renamed, rig.loop.clock() + AT_MOST)
    assert nfs3.lookup(root, b"target").status == S.NFS3_OK


def test_a_call_goes_on_although_its_mutant_was_switched_off(rig: Rig) -> None:
    rpc = rig.rpc()
    renaming = start_rename(rig, rpc)
    rig.nfs3().null()
    rig.mutants.clear()
    assert rpc.wait(renaming).status == S.NFS3_OK
