# SPDX-License-Identifier: MIT
"""A workload by several processes: merged, checked across workers, and ended whole when one is lost."""

from __future__ import annotations

import os
import signal
import typing as t
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsclient.protocol import nfs3
from nfsjudge.verdict import Verdict
from tests.workloads import crews
from tests.workloads.crews import Rig, Watched
from tests.workloads.rig import run as run_here
from tests.workloads.toys import SIZE, TOY
from workloads import catalog
from workloads.carriers.crew import Deadlines
from workloads.carriers.processes import Processes
from workloads.result import from_plain, to_plain
from workloads.trouble import LostWorker, Refused

QUICK: t.Final = Deadlines(slack=0.1, stop=0.5)


@pytest.fixture(name="rig")
def make_rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setitem(catalog._KNOWN, TOY.name, TOY)
    yield from crews.rig()


def _kill(worker: int, crew: Watched) -> None:
    assert isinstance(crew._reach, Processes)
    os.kill(crew._reach.processes[worker].pid or 0, signal.SIGKILL)


# ---------------------------------------------------------------- what is merged


def test_the_result_is_the_sum_of_its_parts(rig: Rig) -> None:
    outcome = rig.run(rig.order("toy", 3))
    result = outcome.result
    assert (result.verdict, result.reasons, outcome.left) == (Verdict.PASS, (), ())
    assert (result.setup.workers, result.setup.clients) == (3, 3)
    for phase in result.phases:
        parts = rig.reports[phase.name]
        assert len(parts) == 3
        calls = Counter[str]()
        for part in parts:
            calls.update(part["calls"])
        assert phase.calls == dict(calls)
        for name in ("operations", "rpcs", "sent", "received", "read", "written"):
            assert getattr(phase, name) == sum(part[name] for part in parts)
    assert [each.operations for each in result.client.workers] == [
        sum(rig.reports[phase.name][worker]["operations"] for phase in result.phases) for worker in range(3)
    ]
    assert from_plain(to_plain(result)) == result
    rig.require_nothing_left()


def test_workers_make_the_calls_of_as_many_clients_of_one_process(rig: Rig) -> None:
    """Names that others made are known, links are known to be the same file, and data is compared."""
    settings: dict[str, t.Any] = {"version": "3", "policy": "v3-like"}
    here = run_here("find", clients=2, **settings)
    result = rig.run(rig.order("find", 2, **settings)).result
    assert {phase.name: phase.calls for phase in result.phases} == {
        phase.name: phase.calls for phase in here.phases
    }
    assert result.verdict is Verdict.PASS


@pytest.mark.parametrize(("version", "policy"), [("2", "v2-like"), ("4.1", "delegated")])
def test_data_of_other_workers_is_compared(rig: Rig, version: str, policy: str) -> None:
    """With delegations: a worker that waits gives back what another one needs."""
    result = rig.run(rig.order("toy", 2, version=version, policy=policy, rsize=8192, wsize=8192)).result
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert (result.checks.made, result.checks.bytes) == (4, 4 * SIZE)


def test_a_lie_about_data_of_another_worker_is_red(rig: Rig, tmp_path: Path) -> None:
    def lie(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        if result.resok is not None and len(result.resok.data) > 5000:
            data = bytearray(result.resok.data)
            data[5000] ^= 0xFF
            result.resok.data = bytes(data)
        return result

    rig.server.interpose(nfs3.READ, lie)
    result = rig.run(rig.order("toy", 2), evidence=tmp_path).result
    assert result.verdict is Verdict.FAIL
    assert [phase.name for phase in result.phases] == ["write", "read"]
    for wrong in result.checks.first:
        reader = int(wrong.reader)
        assert wrong.path == f"d{1 - reader}/f"
        assert (wrong.offset, wrong.writer) == (5000, f"{1 - reader} (version 1)")
        assert wrong.capture == f"wrong-{reader}.pcapng"
        assert (tmp_path / wrong.capture).read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert from_plain(to_plain(result)) == result
    rig.require_nothing_left()


# ---------------------------------------------------------------- what is lost


@pytest.mark.parametrize("worker", [0, 1])
def test_a_killed_worker_ends_the_run(rig: Rig, worker: int) -> None:
    """In the middle of a phase: that of worker 0 had made the directory, too."""
    killed = list[str]()

    def kill(line: str, crew: Watched) -> None:
        if not killed and ": act:" in line:
            killed.append(line)
            _kill(worker, crew)

    with pytest.raises(LostWorker) as caught:
        rig.run(rig.order("toy", 3 - worker, parameters={"act": "think"}), on_line=kill)
    assert f"worker {worker} (process {rig.pids[worker]}): it ended with SIGKILL (act)" in str(caught.value)
    assert caught.value.left == ()
    assert killed
    rig.require_nothing_left()


def test_a_worker_that_is_killed_at_the_barrier_ends_the_run(rig: Rig) -> None:
    """It has done its part, and the others go on."""

    def kill(what: str, crew: Watched) -> None:
        if what == "read":
            _kill(1, crew)

    with pytest.raises(LostWorker, match="SIGKILL"):
        rig.run(rig.order("toy", 2), during=kill)
    assert "read" not in rig.reports
    rig.require_nothing_left()


def test_a_worker_that_raises_ends_the_run(rig: Rig) -> None:
    with pytest.raises(LostWorker, match=r"worker 1 \(process \d+\): it failed: RuntimeError: on purpose"):
        rig.run(rig.order("toy", 2, parameters={"act": "raise"}))
    rig.require_nothing_left()


def test_a_worker_that_hangs_meets_a_deadline(rig: Rig) -> None:
    def hurry(what: str, crew: Watched) -> None:
        if what == "act":  # the phases before that have all the time of the order
            crew._deadlines = QUICK
            crew.order = rig.order("toy", 2, most_seconds=0.1)

    order = rig.order("toy", 2, parameters={"act": "hang"})
    with pytest.raises(LostWorker, match=r"worker 1 .*: it did not answer in time \(act, 0 s\)"):
        rig.run(order, during=hurry)
    rig.require_nothing_left()


def test_ctrl_c_ends_the_phase_on_all_workers(rig: Rig) -> None:
    def stop(line: str, crew: Watched) -> None:
        if ": act:" in line:
            crew.stop()

    outcome = rig.run(rig.order("toy", 2, parameters={"act": "think"}), on_line=stop)
    assert outcome.interrupted
    assert (outcome.result.verdict, outcome.left) == (Verdict.VOID, ())
    assert [phase.name for phase in outcome.result.phases] == [phase.name for phase in TOY.phases]
    assert outcome.result.reasons == ("interrupted: the run was stopped from outside",)


def test_an_interrupted_rate_has_what_all_workers_counted(rig: Rig) -> None:
    def stop(line: str, crew: Watched) -> None:
        if "steady state: 0 s" not in line and "steady state: " in line:
            crew.stop()

    order = rig.order("seqread", 2, parameters={"size": 65536, "io": 4096}, warmup=0.0, duration=500.0)
    result = rig.run(order, on_line=stop).result
    steady = result.phases[-1]
    assert 0 < steady.seconds < 400
    assert [each.operations > 0 for each in result.client.workers] == [True, True]
    assert steady.operations == sum(each.operations for each in result.client.workers)
    assert result.latency.operations.count == steady.operations
    rig.require_nothing_left()
    rig.require_nothing_left()


def test_workers_of_another_version_are_refused(rig: Rig) -> None:
    with pytest.raises(Refused, match="has nfsproof 0, and this is 1: install the same version"):
        rig.run(rig.order("toy", 2), nfsproof="0")
    rig.require_nothing_left()
