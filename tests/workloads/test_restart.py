# SPDX-License-Identifier: MIT
"""The server is restarted in the middle of a run: what goes on, what does not, and what the result says."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest

from nfsclient.protocol import nfs2, nfs3, nfs4
from nfsjudge.verdict import Verdict
from nfstargets import TargetAddress
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import names_of, run, run_whole
from workloads.channels import AGAIN
from workloads.contents import FileState, check, wrong_size
from workloads.recovering import MOST, RECLAIMED, SESSIONS
from workloads.running import Here
from workloads.spec import Order
from workloads.trouble import WrongData
from workloads.worker import Worker

_FEW: dict[str, dict[str, t.Any]] = {"lockedreads": {"files": 3, "rounds": 2}, "recall": {"files": 3}}
During = t.Callable[[Here, EmbeddedTarget], None]


def _restart_at(operation: t.Any, number: int, *, crash: bool = False) -> During:
    """The server is restarted after it has carried out this operation for the n-th time."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        worker = carrier.worker
        assert isinstance(worker, Worker)
        event = target.crash if crash else target.restart
        left = number

        def count(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal left
            left -= 1
            if not left:
                worker.engine.at(0, event)
            return proceed(context, args)

        target.running().interpose(operation, count)

    return during


@pytest.mark.parametrize("crash", [False, True], ids=["restart", "crash"])
def test_nfs3_goes_on_and_writes_again_what_was_not_stable(crash: bool) -> None:
    result = run("write10", during=_restart_at(nfs3.WRITE, 4, crash=crash))
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.troubles[AGAIN] >= 1
    # The fourth WRITE ends it; of the eight some more may be answered before.
    assert 4 <= result.troubles["ranges written again: another verifier"] <= 8
    assert result.phases[0].operations == 10  # what was sent twice is no more work


@pytest.mark.parametrize(
    ("version", "workload", "policy", "operation"),
    [
        ("2", "write10", "v2-like", nfs2.WRITE),
        ("3", "find", "v3-like", nfs3.READDIRPLUS),
        ("3", "connectathon-basic", "raw", nfs3.READ),
        ("3", "connectathon-basic", "v3-like", nfs3.SETATTR),
    ],
)
def test_versions_without_sessions_go_on(version: str, workload: str, policy: str, operation: t.Any) -> None:
    size = 8192
    result = run(
        workload,
        version=version,
        policy=policy,
        rsize=size,
        wsize=size,
        during=_restart_at(operation, 2, crash=True),
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.troubles[AGAIN] >= 1


_OF_SESSIONS = [
    ("4.1", "write10", "raw", nfs4.WRITE),
    ("4.1", "connectathon-basic", "v4-like", nfs4.READ),
    ("4.2", "connectathon-basic", "delegated", nfs4.READ),
    ("4.1", "lockedreads", "v4-like", nfs4.READ),
    ("4.1", "lockedreads", "delegated", nfs4.OPEN),
    ("4.1", "recall", "delegated", nfs4.READ),
]


@pytest.mark.parametrize(("version", "workload", "policy", "operation"), _OF_SESSIONS)
def test_a_session_is_made_again_after_a_restart(
    version: str, workload: str, policy: str, operation: t.Any
) -> None:
    """Opens and locks are reclaimed; what was under way is made again, and no more work for that."""
    more: dict[str, t.Any] = {"parameters": _FEW.get(workload), "clients": 1 + (workload == "recall")}
    usual = run(workload, version=version, policy=policy, **more)
    result = run(
        workload, version=version, policy=policy, during=_restart_at(operation, 2, crash=True), **more
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.troubles[SESSIONS] >= 1
    assert result.troubles[AGAIN] >= 1
    assert [each.operations for each in result.phases] == [each.operations for each in usual.phases]


def test_a_server_that_never_knows_a_session_ends_the_run() -> None:
    def during(_carrier: Here, target: EmbeddedTarget) -> None:
        is_lost = False

        def forget(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            return nfs4.Sequence4Res(nfs4.Nfsstat4.NFS4ERR_BADSESSION) if is_lost else proceed(context, args)

        def write(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal is_lost
            is_lost = True
            return proceed(context, args)

        target.running().interpose(nfs4.SEQUENCE, forget)
        target.running().interpose(nfs4.WRITE, write)

    outcome, _ = run_whole("write10", version="4.1", during=during)
    assert outcome.result.verdict is Verdict.VOID
    assert f"the session was lost {MOST} times" in outcome.result.reasons[0]


def test_opens_are_reclaimed() -> None:
    result = run("lockedreads", version="4.1", policy="v4-like", parameters=_FEW["lockedreads"], clients=2,
                 during=_restart_at(nfs4.READ, 3, crash=True))  # fmt: skip
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.troubles[RECLAIMED] >= 1


@pytest.mark.parametrize("gives", [False, True], ids=["no delegation", "a delegation"])
def test_what_is_opened_again_has_no_delegation(gives: bool) -> None:
    """Nobody answers a recall of one that comes with an OPEN after a restart: it is not wanted, and goes back."""
    wishes, returned = list[int](), list[object]()

    def opening(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if args.claim.claim == nfs4.OpenClaimType4.CLAIM_PREVIOUS:
            return nfs4.Open4Res(nfs4.Nfsstat4.NFS4ERR_NO_GRACE)
        if not bytes(args.owner.owner).startswith(b"reclaimer"):
            return proceed(context, args)
        wishes.append(args.share_access)
        if gives:
            args.share_access = nfs4.OPEN4_SHARE_ACCESS_READ | nfs4.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
        result = proceed(context, args)
        assert (result.resok4.delegation.read is not None) == gives
        return result

    def give_back(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        returned.append(args)
        return proceed(context, args)

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        _restart_at(nfs4.READ, 3, crash=True)(carrier, target)
        target.running().interpose(nfs4.OPEN, opening)
        target.running().interpose(nfs4.DELEGRETURN, give_back)

    result = run("lockedreads", version="4.1", policy="v4-like", parameters=_FEW["lockedreads"], clients=1,
                 during=during)  # fmt: skip
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert wishes
    assert all(wish & nfs4.OPEN4_SHARE_ACCESS_WANT_NO_DELEG for wish in wishes)
    assert len(returned) == (len(wishes) if gives else 0)


@pytest.mark.parametrize(
    "operation", [nfs4.WRITE, nfs4.CLOSE, nfs4.OPEN, nfs4.REMOVE], ids=lambda it: it.name
)
def test_a_connection_that_ends_keeps_the_session(operation: t.Any) -> None:
    """The same requests go out again over a new connection, and the server executes none twice: names, too."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        worker = carrier.worker
        assert isinstance(worker, Worker)
        left = 3

        def cut(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal left
            result = proceed(context, args)
            left -= 1
            if not left:
                worker.engine.connections[0].rpc.close()
            return result

        target.running().interpose(operation, cut)

    result = run("connectathon-basic", version="4.1", policy="v4-like", during=during)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.troubles[AGAIN] >= 1
    assert SESSIONS not in result.troubles


def test_a_change_of_names_is_not_made_twice() -> None:
    """The server has executed it, and its memory of calls has gone: EXIST would be right, and would look wrong."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        is_first = True

        def restart(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal is_first
            result = proceed(context, args)
            if is_first and bytes(args.where.name) == b"file0":
                is_first = False
                target.crash()
            return result

        target.running().interpose(nfs3.CREATE, restart)

    outcome, server = run_whole("write10", during=during)
    assert outcome.result.verdict is Verdict.VOID
    assert "whether it was carried out is not known" in outcome.result.reasons[0]
    assert names_of(server) == []


def test_wrong_data_after_a_restart_that_lost_nothing_is_red() -> None:
    """All was stable, so the restart excuses nothing."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        _restart_at(nfs3.READ, 1, crash=True)(carrier, target)

        def flip(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            result = proceed(context, args)
            data = bytearray(result.resok.data)
            data[77] ^= 1
            result.resok.data = bytes(data)
            return result

        target.running().interpose(nfs3.READ, flip)

    outcome, _ = run_whole("connectathon-basic", policy="raw", during=during)
    assert outcome.result.verdict is Verdict.FAIL


@pytest.mark.parametrize("workers", [1, 2])
def test_wrong_data_that_was_stable_is_red_with_several_workers_too(workers: int) -> None:
    """A lost connection excuses what was not stable, whoever wrote it, and nothing else."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        assert isinstance(carrier.worker, Worker)
        carrier.worker.order = replace(carrier.worker.order, workers=workers)
        _restart_at(nfs3.READ, 1)(carrier, target)
        target.running().interpose(nfs3.READ, _flips)

    outcome, _ = run_whole("connectathon-basic", policy="raw", during=during)
    assert outcome.result.verdict is Verdict.FAIL
    assert outcome.result.checks.failed == 1


def _flips(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    result = proceed(context, args)
    data = bytearray(result.resok.data)
    data[77] ^= 1
    result.resok.data = bytes(data)
    return result


def test_a_file_that_is_too_short_may_have_lost_what_was_not_stable_at_its_end() -> None:
    """The size that is seen may be in front of the piece that was lost, and in no piece."""
    address = TargetAddress(host="127.0.0.1", nfs_port=1, mount_port=1).to_plain()
    worker = Worker(Order(workload="write10", parameters={}, address=address, directory="d"))
    state = worker.ledger.files["f"] = FileState("f")
    stable = state.begin_write(0, 100, 0)
    state.end_write(stable)
    piece = state.begin_write(300, 100, 0)
    state.end_write(piece)
    reading = state.begin_read(0, 400)
    with pytest.raises(WrongData) as short:
        check(worker.ledger.contents, state, reading, bytes(100), 0)
    for wrong in (short.value, wrong_size(state, "a size of 100 bytes", 0, 100)):
        assert "wrong" in worker._ended(wrong)
        state.unstable[id(piece)] = piece
        assert worker._ended(wrong)["stopped"]["kind"] == "restart"
        state.unstable.clear()


def test_what_was_not_stable_may_be_lost() -> None:
    """Of another client: who wrote it writes it again; until then nobody can say that it is wrong."""
    state = FileState("f")
    piece = state.begin_write(0, 100, 0)
    state.end_write(piece)
    assert not state.may_be_lost(50, restarted=True)
    state.unstable[id(piece)] = piece
    assert state.may_be_lost(50, restarted=False)
    assert not state.may_be_lost(100, restarted=True)
    late = state.begin_write(300, 100, 0)
    state.end_write(late)
    state.unstable[id(late)] = late
    assert not state.may_be_lost(200, restarted=True)
    assert state.may_be_lost(200, restarted=True, to_the_end=True)  # a size of 200: the second piece is gone
    assert not state.may_be_lost(400, restarted=True, to_the_end=True)
    state.unstable.clear()
    state.truncate(10)
    assert not state.may_be_lost(5, restarted=False)
    state.begin_cut(0)
    state.truncate(0)
    assert state.may_be_lost(5, restarted=True)  # a crash may undo a cut
