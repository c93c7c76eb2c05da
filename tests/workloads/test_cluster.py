# SPDX-License-Identifier: MIT
"""Workers on a cluster of Dask: three worker processes of Dask's `LocalCluster`, one of which is killed."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsjudge.verdict import Verdict
from nfsproof import __version__
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.workload_actor import WorkloadActor
from tests.needs import needs
from tests.workloads import crews
from tests.workloads.crews import Rig, Watched
from workloads.carriers import cluster
from workloads.sensitivity.study import read_all
from workloads.trouble import LostWorker, Refused

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="dask")
def make_dask() -> Iterator[t.Any]:
    """A scheduler and three worker processes on free ports of loopback."""
    distributed = importlib.import_module("distributed")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as made:
        yield made


@pytest.fixture(name="rig")
def make_rig() -> Iterator[Rig]:
    yield from crews.rig()


def _reach(dask: t.Any, rig: Rig) -> cluster.Cluster:
    return cluster.Cluster(cluster.at_scheduler(dask.scheduler_address), rig.loop, WorkloadActor)


@needs("distributed")
def test_three_workers_of_dask_share_the_work_and_one_that_is_killed_ends_it(
    dask: t.Any, rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    """One test for all, since the cluster takes longest."""
    reach = _reach(dask, rig)
    with pytest.raises(Refused, match="the cluster has 3 workers, expected 20 or more"):
        reach.find_workers(0.1, 20)
    reach.end(1)

    reach = _reach(dask, rig)
    assert reach.find_workers(60, None) == 3
    order = rig.order("write10", 3)
    result = rig.run(order, reach=reach, version=__version__).result
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.phases[0].calls == {"COMMIT": 3, "CREATE": 3, "WRITE": 24}
    assert [each.written for each in result.client.workers] == [64 << 10] * 3
    rig.require_nothing_left()

    words = ["workload", "run", "write10", "--set", "size=64k", "--cluster", dask.scheduler_address]
    assert run_command_line([*words, "--workers", "2"]) == Exit.OK
    assert "in 2 workers" in capsys.readouterr().out
    words = [
        "sensitivity",
        "embedded",
        "--loads",
        "0",
        "--repeat",
        "1",
        "--seconds",
        "0.5",
        "--max-bytes",
        "24M",
    ]
    assert run_command_line([*words, "--cluster", dask.scheduler_address, "--workers", "2"]) == Exit.OK
    assert "in each of 2 workers" in capsys.readouterr().out

    reach = _reach(dask, rig)
    assert reach.find_workers(60, 3) == 3
    pids = reach._client.run(os.getpid)

    def kill(what: str, crew: Watched) -> None:
        if what == "compare":
            os.kill(pids[reach._addresses[1]], signal.SIGKILL)

    with pytest.raises(LostWorker, match=r"worker 1 \(Dask worker tcp://127.0.0.1:\d+\)") as caught:
        rig.run(order, reach=reach, version=__version__, during=kill)
    assert caught.value.left == ()
    rig.require_nothing_left()


@pytest.fixture(name="ssh")
def make_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A host that can be reached by SSH without a password: this one."""
    (tmp_path / ".ssh").mkdir()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.workloads.ssh_server", str(tmp_path / ".ssh")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    with server:
        assert server.stdout is not None
        assert server.stdin is not None
        assert server.stdout.readline() == b"ready\n"
        monkeypatch.setenv("HOME", str(tmp_path))
        yield "127.0.0.1"
        server.stdin.close()


@needs("distributed", "asyncssh")
def test_workers_are_started_by_ssh(rig: Rig, ssh: str) -> None:
    reach = cluster.Cluster(cluster.over_ssh([ssh, ssh], listen=ssh), rig.loop, WorkloadActor)
    assert reach.find_workers(60, 2) == 2
    result = rig.run(rig.order("write10", 2), reach=reach, version=__version__).result
    assert result.verdict is Verdict.PASS
    assert result.phases[0].calls == {"COMMIT": 2, "CREATE": 2, "WRITE": 16}
    rig.require_nothing_left()


@needs("distributed", "asyncssh")
def test_a_study_has_a_worker_on_each_host(ssh: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[int | None] = []
    find = cluster.Cluster.find_workers

    def noting(self: cluster.Cluster, seconds: float, number: int | None) -> int:
        wanted.append(number)
        return find(self, seconds, number)

    monkeypatch.setattr(cluster.Cluster, "find_workers", noting)
    words = ["sensitivity", "embedded", "--hosts", f"{ssh},{ssh}", "--listen", ssh, "--loads", "0"]
    few = ["--callers", "2", "--seconds", "1", "--repeat", "1", "--out", str(tmp_path / "study")]
    assert run_command_line([*words, *few]) == Exit.OK
    (study,) = read_all(tmp_path / "study")
    assert study.workers == 2
    assert set(wanted) == {2}  # not as many as have come by then
    (point,) = study.points
    assert point.operations > 0


@needs("distributed")
def test_a_scheduler_that_does_not_answer_has_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfsproof.workload_carriers._CONNECT", 0.2)
    assert run_command_line(["workload", "run", "write10", "--cluster", "tcp://127.0.0.1:1"]) == Exit.USAGE
    error = capsys.readouterr().err
    assert "the scheduler tcp://127.0.0.1:1 of Dask does not answer" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(("missing", "words"), [
    ("distributed", ["--cluster", "tcp://127.0.0.1:1"]), ("asyncssh", ["--hosts", "a,b"]),
])  # fmt: skip
def test_a_missing_extra_says_how_to_install_it(
    missing: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(name: str) -> t.Any:
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return object()

    monkeypatch.setattr(cluster.importlib, "import_module", find)  # type: ignore[attr-defined]
    with pytest.raises(Refused):
        cluster.over_ssh(["a"]) if missing == "asyncssh" else cluster.at_scheduler("tcp://127.0.0.1:1")
    monkeypatch.undo()
    monkeypatch.setattr(
        cluster, "_package", lambda name: (_ for _ in ()).throw(cluster.MissingExtra(missing))
    )
    assert run_command_line(["workload", "run", "write10", *words]) == Exit.USAGE
    error = capsys.readouterr().err
    assert f"the package {missing}, which is not installed" in error
    assert "pip install 'nfsproof[cluster]'" in error
