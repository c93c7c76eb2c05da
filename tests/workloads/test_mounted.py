# SPDX-License-Identifier: MIT
"""Workloads on a mounted directory: a local one stands for it here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import typing as t
from pathlib import Path

import pytest

from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.exits import Exit, Trouble
from tests.waiting import AT_MOST
from tests.workloads.rig import SMALL
from workloads.mounted import MountPerformer
from workloads.mountstats import read_counts
from workloads.result import Result
from workloads.running import Outcome


def _outcome(mount: Path, workload: str, **more: t.Any) -> Outcome:
    parameters = {
        name: str(value) for name, value in (more.pop("parameters", None) or SMALL.get(workload, {})).items()
    }
    wish = workloading.Wish(workload=workload, mount=str(mount), parameters=parameters, **more)
    return workloading.run(wish, say=lambda _line: None)


def _run(mount: Path, workload: str, **more: t.Any) -> Result:
    outcome = _outcome(mount, workload, **more)
    assert outcome.left == ()
    assert list(mount.iterdir()) == []
    return outcome.result


@pytest.mark.parametrize("name", ["write10", "find", "connectathon-basic"])
def test_scripts_run_on_a_mounted_directory(tmp_path: Path, name: str) -> None:
    result = _run(tmp_path, name)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert (result.setup.version, result.setup.policy) == ("mount", "kernel")
    assert sum(phase.operations for phase in result.phases) > 5


def test_a_directory_that_is_no_nfs_mount_has_a_warning(tmp_path: Path) -> None:
    (warning,) = _run(tmp_path, "write10").warnings
    assert warning.endswith(("is no NFS mount: no server was measured", "has no /proc/self/mountstats"))


def test_andrew_sort_and_locks_too(tmp_path: Path) -> None:
    for name, parameters in (
        ("andrew", {"files": 12, "bytes": 20_000}),
        ("sort", {"scale": 0.02}),
        ("lockedreads", {"files": 3}),
    ):
        result = _run(tmp_path, name, parameters=parameters)
        assert (name, result.verdict, result.reasons) == (name, Verdict.PASS, ())
        assert result.checks.made > 0


@pytest.mark.parametrize("name", ["randwrite", "mailserver", "smallread"])
def test_rates_run_with_several_callers(tmp_path: Path, name: str) -> None:
    parameters = {
        "randwrite": {"size": 256 << 10},
        "mailserver": {"files": 15, "mean": 4096},
        "smallread": {"files": 9},
    }
    result = _run(tmp_path, name, parameters=parameters[name], callers=4, duration=0.2, warmup=0.0)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.latency.operations.count == result.phases[0].operations > 0


def test_wrong_data_of_a_mounted_directory_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pread = os.pread

    def lying(file: int, count: int, offset: int) -> bytes:
        data = bytearray(pread(file, count, offset))
        if len(data) > 20_000:
            data[20_000] ^= 1
        return bytes(data)

    monkeypatch.setattr(os, "pread", lying)
    result = _run(tmp_path, "write10")
    assert result.verdict is Verdict.FAIL
    assert result.checks.first[0].offset == 20_000


def test_a_full_disk_is_void(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: int, _data: object, _offset: int) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    result = _run(tmp_path, "write10")
    assert result.verdict is Verdict.VOID
    assert result.reasons[0].startswith("full disk: ")


def test_nothing_is_left_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create = MountPerformer._create
    seen: list[int] = []

    def stopping(self: MountPerformer, call: t.Any) -> t.Any:
        seen.append(1)
        if len(seen) == 5:
            self.stopped = True
        return create(self, call)

    monkeypatch.setattr(MountPerformer, "_create", stopping)
    outcome = _outcome(tmp_path, "find")
    assert outcome.interrupted
    assert list(tmp_path.iterdir()) == []


def test_what_a_mount_cannot_do_is_refused(tmp_path: Path) -> None:
    for workload, more, why in (
        ("recall", {}, "a mounted directory is one"),
        ("randread", {"arrivals": 10.0}, "an open loop needs the library"),
    ):
        with pytest.raises(Trouble, match=why):
            _outcome(tmp_path, workload, **t.cast("dict[str, t.Any]", more))
    with pytest.raises(Trouble, match="cannot use"):
        _outcome(tmp_path / "nosuch", "write10")


_STATS = """device rootfs mounted on / with fstype rootfs
device server:/export mounted on /mnt/a\\040b with fstype nfs statvers=1.1
\topts:\trw,vers=3
\txprt:\ttcp 1009 1 1 0 0 5 5 0 5 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t     GETATTR: 7 8 0 800 700 0 1 1 0
\t       WRITE: 0 0 0 0 0 0 0 0 0
device server:/other mounted on /mnt with fstype nfs4 statvers=1.1
\tper-op statistics
\t        OPEN: 3 3 0 300 200 0 1 1 0
"""


def test_the_counts_of_the_kernel_are_those_of_the_deepest_mount(tmp_path: Path) -> None:
    stats = tmp_path / "mountstats"
    stats.write_text(_STATS)
    counts = read_counts(Path("/mnt/a b/dir"), stats)
    assert counts is not None
    assert counts.calls == {"NULL": 1, "GETATTR": 7}
    assert (counts.transmissions, counts.sent, counts.received) == (9, 844, 724)
    other = read_counts(Path("/mnt/c"), stats)
    assert other is not None
    assert other.calls == {"OPEN": 3}
    assert read_counts(Path("/home"), stats) is None
    assert read_counts(Path("/mnt"), tmp_path / "nosuch") is None


def test_ctrl_c_ends_the_command_and_leaves_nothing(tmp_path: Path) -> None:
    """A whole process, interrupted while a rate runs that would not end for a long time."""
    words = [
        "workload",
        "run",
        "mailserver",
        "--mount",
        str(tmp_path),
        "--duration",
        "500",
        "--set",
        "files=10",
        "--callers",
        "4",
    ]
    command = [sys.executable, "-m", "nfsproof", *words]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + AT_MOST
        while not any(tmp_path.glob("nfsproof-workload-*/c0/*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=AT_MOST)
    assert process.returncode == Exit.INTERRUPTED
    assert "interrupted" in output
    assert list(tmp_path.iterdir()) == []
