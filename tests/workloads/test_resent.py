# SPDX-License-Identifier: MIT
"""Calls that are sent again with their slots, or put off, while the server works on them, or has carried them out."""

from __future__ import annotations

import typing as t
from contextlib import closing
from types import SimpleNamespace

import pytest

from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.nfs3 import directories, types
from nfsclient.rpc.loop import Loop
from nfsclient.sessions.session import SessionState
from nfsjudge.verdict import Verdict
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import run, run_whole
from workloads import channels
from workloads.channels import AGAIN, Meter, SessionChannel
from workloads.engine import Engine
from workloads.recovering import Lost
from workloads.running import Here
from workloads.watching import Watch
from workloads.worker import Worker

_CREATE: dict[str, t.Any] = {
    "version": "4.1", "policy": "v4-like", "callers": 8, "duration": 0.3, "warmup": 0.0, "parameters": {"files": 40},
}  # fmt: skip


class _Cut:
    """The connections end after an operation, and the server refuses the retry of that call for some times."""

    def __init__(self, operation: t.Any, number: int, status: nfs4.Nfsstat4, times: int) -> None:
        self.operation = operation
        self.number = number
        self.status = status
        self.times = times
        self.refused = 0
        self._last = self._victim = (-1, -1)

    def during(self, carrier: Here, target: EmbeddedTarget) -> None:
        worker = carrier.worker
        assert isinstance(worker, Worker)
        engine = worker.engine

        def sequence(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            self._last = args.sa_slotid, args.sa_sequenceid
            if self._last == self._victim and self.refused < self.times:
                self.refused += 1
                return nfs4.Sequence4Res(self.status)
            return proceed(context, args)

        def cut(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            result = proceed(context, args)
            self.number -= 1
            if not self.number:
                self._victim = self._last
                for connection in engine.connections:
                    connection.rpc.close()
            return result

        target.running().interpose(nfs4.SEQUENCE, sequence)
        target.running().interpose(self.operation, cut)


_STATUSES = [nfs4.Nfsstat4.NFS4ERR_DELAY, nfs4.Nfsstat4.NFS4ERR_SEQ_MISORDERED]


@pytest.mark.parametrize("status", _STATUSES)
def test_a_call_that_still_runs_keeps_its_slot(status: nfs4.Nfsstat4) -> None:
    """RFC 5661 section 2.10.6.2: such a retry gets DELAY or SEQ_MISORDERED, and the slot is of this call until its end.

    Other callers wait for slots, and would take it.
    """
    cut = _Cut(nfs4.OPEN, 7, status, 2)
    result = run("create", during=cut.during, **_CREATE)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert cut.refused == 2
    assert result.troubles[AGAIN] >= 1
    assert result.troubles[status.name.removeprefix("NFS4ERR_")] == 2


@pytest.mark.parametrize("status", _STATUSES)
def test_a_name_is_removed_once_though_its_call_was_refused_meanwhile(status: nfs4.Nfsstat4) -> None:
    cut = _Cut(nfs4.REMOVE, 3, status, 1)
    result = run("connectathon-basic", version="4.1", policy="v4-like", during=cut.during)
    assert (result.verdict, result.reasons, cut.refused) == (Verdict.PASS, (), 1)


@pytest.mark.parametrize("status", _STATUSES)
def test_a_call_that_never_ends_ends_the_run(status: nfs4.Nfsstat4, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "PATIENCE", 0.2)
    outcome, _ = run_whole("create", during=_Cut(nfs4.OPEN, 7, status, 1000).during, **_CREATE)
    assert outcome.result.verdict is Verdict.VOID
    assert outcome.result.reasons[0].startswith("connection: ")
    assert f"the server answered {status.name.removeprefix('NFS4ERR_')}" in outcome.result.reasons[0]


def test_a_wrong_number_without_a_retry_is_red() -> None:
    """Nothing was sent twice, so nothing excuses SEQ_MISORDERED."""
    left = 7

    def sequence(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        nonlocal left
        left -= 1
        if left:
            return proceed(context, args)
        return nfs4.Sequence4Res(nfs4.Nfsstat4.NFS4ERR_SEQ_MISORDERED)

    def during(_carrier: Here, target: EmbeddedTarget) -> None:
        target.running().interpose(nfs4.SEQUENCE, sequence)

    outcome, _ = run_whole("connectathon-basic", version="4.1", policy="v4-like", during=during)
    assert outcome.result.verdict is Verdict.FAIL


_FAILURES: dict[t.Any, t.Any] = {
    nfs3.CREATE: directories.Create3ResFail,
    nfs3.MKDIR: directories.Mkdir3ResFail,
    nfs3.REMOVE: directories.Remove3ResFail,
    nfs3.RMDIR: directories.Rmdir3ResFail,
}


def _jukebox_at(
    operation: t.Any, number: int, *, is_carried_out: bool
) -> t.Callable[[Here, EmbeddedTarget], None]:
    def during(_carrier: Here, target: EmbeddedTarget) -> None:
        left = number

        def put_off(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal left
            left -= 1
            if left:
                return proceed(context, args)
            if is_carried_out:
                proceed(context, args)
            failure = _FAILURES[operation](types.WccData())
            return operation.res(nfs3.Nfsstat3.NFS3ERR_JUKEBOX, resfail=failure)

        target.running().interpose(operation, put_off)

    return during


@pytest.mark.parametrize("operation", list(_FAILURES), ids=lambda it: it.name)
def test_an_error_after_jukebox_of_a_change_of_names_proves_nothing(operation: t.Any) -> None:
    """RFC 1813 section 2.6: the server initiated the request. EXIST and NOENT may be what it has done itself."""
    during = _jukebox_at(operation, 2, is_carried_out=True)
    outcome, _ = run_whole("connectathon-basic", policy="v3-like", during=during)
    assert outcome.result.verdict is Verdict.VOID
    assert f"busy: {operation.name} was put off by JUKEBOX" in outcome.result.reasons[0]


@pytest.mark.parametrize("operation", list(_FAILURES), ids=lambda it: it.name)
def test_a_change_of_names_that_was_put_off_is_made_again(operation: t.Any) -> None:
    during = _jukebox_at(operation, 2, is_carried_out=False)
    result = run("connectathon-basic", policy="v3-like", during=during)
    assert (result.verdict, result.reasons, result.troubles["JUKEBOX"]) == (Verdict.PASS, (), 1)


def test_a_call_that_is_sent_again_began_when_it_was_sent_first() -> None:
    """The server may give the reply that it kept, with attributes of the time before the connection ended."""
    sizes = nfs4.ChannelAttrs4(0, 1 << 20, 1 << 20, 1 << 12, 8, 4, [])
    state = SessionState(nfs4.CreateSession4ResOk(b"s" * 16, 1, 0, sizes, sizes), clientid=1)
    ticks = iter(range(10, 100))
    connection = SimpleNamespace(start=lambda *_: SimpleNamespace(sent_bytes=0))
    with closing(Loop()) as loop:
        channel = SessionChannel(
            Engine(loop),
            t.cast("t.Any", [connection]),
            Meter(),
            Watch(0),
            t.cast("t.Any", SimpleNamespace(state=state)),
            90.0,
        )
        channel.checks = t.cast("t.Any", SimpleNamespace(begin=lambda: next(ticks)))
        call = Lost(None, None, state.begin([]), state, nfs4.COMPOUND, 0.0, 0.05)
        channel._start(call)
        assert call.begun == 10
        channel._start(call)  # in a new session
        assert call.begun == 11
        call.was_resent = True
        channel._start(call)
    assert call.begun == 11
