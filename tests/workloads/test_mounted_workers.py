# SPDX-License-Identifier: MIT
"""Workloads on a mounted directory by several workers, and who counts their calls."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from tests.waiting import AT_MOST
from tests.workloads.crews import kill_at_phase
from workloads import mount_counts, result
from workloads.mount_counts import NOTHING, PhaseCounts
from workloads.mountstats import MountCounts
from workloads.trouble import Stopped

SMALL = ("--set", "size=64k")


def _counts(number: int) -> MountCounts:
    return MountCounts(Counter(WRITE=number), number, number * 10, number * 5)


def test_workers_share_the_mounted_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller counts for all: before each phase and after it."""
    looks = iter(range(100))
    monkeypatch.setattr(mount_counts, "read_counts", lambda _mount: _counts(2 ** next(looks)))
    mount, out = tmp_path / "mnt", tmp_path / "out"
    mount.mkdir()
    words = ["workload", "run", "write10", *SMALL, "--mount", str(mount), "--workers", "3", "--out", str(out)]
    assert run_command_line(words) == Exit.OK
    assert "in 3 workers" in capsys.readouterr().out
    made = result.read(out)
    assert (made.setup.workers, len(made.client.workers)) == (3, 3)
    assert [each.written for each in made.client.workers] == [64 << 10] * 3
    assert made.checks.bytes == 3 * (64 << 10)
    (phase,) = made.phases
    assert phase.calls["WRITE"] in {2**n - 2 ** (n - 1) for n in range(1, 20)}
    assert phase.sent == 10 * phase.rpcs > 0
    assert list(mount.iterdir()) == []


def test_a_rate_by_several_workers(tmp_path: Path) -> None:
    mount, out = tmp_path / "mnt", tmp_path / "out"
    mount.mkdir()
    words = ["workload", "run", "mailserver", "--set", "files=8", "--mount", str(mount), "--workers", "2"]
    words += ["--callers", "2", "--duration", "0.3", "--warmup", "0.1", "--out", str(out)]
    assert run_command_line(words) == Exit.OK
    made = result.read(out)
    assert made.latency.operations.count == made.phases[-1].operations > 0
    assert list(mount.iterdir()) == []


def test_nothing_is_left_of_a_killed_worker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_phase(monkeypatch, "compare")
    words = ["workload", "run", "write10", *SMALL, "--mount", str(tmp_path), "--workers", "2"]
    assert run_command_line(words) == Exit.VOID
    assert "lost worker: worker 1 (process " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_has_no_directory_of_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["workload", "run", "write10", "--mount", str(tmp_path), "--hosts", "a,b"]
    assert run_command_line(words) == Exit.USAGE
    assert "--mount is a directory of this machine" in capsys.readouterr().err


def test_a_phase_counts_from_the_end_of_its_warm_up() -> None:
    looked = threading.Event()
    looks = iter((3, 10, 11))

    def look() -> MountCounts:
        looked.set()
        return _counts(next(looks))

    counts = PhaseCounts(look)
    counts.begin()
    assert counts.end().calls == {"WRITE": 7}
    looked.clear()
    counts.begin(0.001)
    assert looked.wait(AT_MOST)
    looks = iter((15,))
    assert counts.end() == MountCounts(Counter(WRITE=4), 4, 40, 20)
    counts.begin(3600)
    assert counts.end() == NOTHING


def test_a_counter_that_fails_in_the_warm_up_is_reported_at_the_end() -> None:
    asked = threading.Event()

    def look() -> MountCounts:
        asked.set()
        raise Stopped("connection", "gone")

    counts = PhaseCounts(look)
    counts.begin(0.001)
    assert asked.wait(AT_MOST)
    with pytest.raises(Stopped, match="gone"):
        counts.end()
