# SPDX-License-Identifier: MIT
"""An event from its file to its archives: what is there when it is over, however that came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reports
from nfsproof.events.file import TargetEntry
from nfsproof.events.runs import TargetRun
from tests.archives.conftest import contents

ROOT = Path(__file__).resolve().parents[2]
ABSENT = '[[target]]\ntarget = "nfs://127.0.0.1/export?nfsport=1&mountport=1"\nlabel = "Absent"\n'


def target(label: str, *more: str) -> str:
    checks = 'checks = ["nfs3/null"]\n' if not any(one.startswith("checks") for one in more) else ""
    return f'[[target]]\ntarget = "embedded"\nlabel = "{label}"\n{checks}' + "".join(
        f"{one}\n" for one in more
    )


def begin(folder: Path, text: str) -> subprocess.Popen[str]:
    (folder / "e.toml").write_text(text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "nfsproof", "event", "e.toml"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def held(folder: Path, text: str) -> tuple[int, str, str]:
    process = begin(folder, text)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_several_targets_side_by_side(tmp_path: Path) -> None:
    text = "[event]\nparallel = 2\n" + target("Server A") + target("Server B") + ABSENT
    status, out, _ = held(tmp_path, text)
    assert status == 4
    assert "Server A: starts" in out
    assert "Absent: the target does not answer" in out
    folder = tmp_path / "e"
    runs, problems = reports.load_all([folder / "Server-A.tar.gz", folder / "Server-B.tar.gz"])
    assert problems == []
    assert [(run.label, run.target, len(run.checks) > 0) for run in runs] == [
        ("Server A", "Server A", True),
        ("Server B", "Server B", True),
    ]
    assert not (folder / "Absent.tar.gz").exists()
    assert "Server B" in (folder / "board.html").read_text()
    for data in contents(folder / "Server-A.tar.gz").values():
        assert b"run embedded" not in data
        assert str(tmp_path).encode() not in data


def test_too_few_checks_are_red(tmp_path: Path) -> None:
    status, out, _ = held(tmp_path, target("A", "floor = 1000"))
    assert status == 1
    assert "expected 1000 at least" in " ".join(out.split())


def test_a_run_that_takes_too_long_is_ended_and_packed(tmp_path: Path) -> None:
    status, out, _ = held(tmp_path, target("A", 'checks = ["nfs3", "nfs2"]', "timeout = 5"))
    assert status == 2
    assert "timeout" in out
    (run,), _ = reports.load_all([tmp_path / "e" / "A.tar.gz"])
    assert run.end is not None
    assert run.end.exit_code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_in_order(tmp_path: Path, number: signal.Signals) -> None:
    whole = 'checks = ["nfs3", "nfs2"]'
    process = begin(tmp_path, target("A", whole) + target("B", whole))
    records = tmp_path / "e" / "A" / "records.jsonl"
    deadline = time.monotonic() + 60
    while not (records.exists() and records.read_bytes().count(b"\n") > 5):
        assert time.monotonic() < deadline
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert "B: left out: not begun: interrupted" in out
    (run,), _ = reports.load_all([tmp_path / "e" / "A.tar.gz"])
    assert run.end is not None
    assert run.end.exit_code == 2
    assert len(run.checks) >= 5


def test_records_of_an_earlier_event_are_not_taken_for_new_ones(tmp_path: Path) -> None:
    held(tmp_path, target("A"))
    archive = tmp_path / "e" / "A.tar.gz"
    archive.unlink()
    status, _, _ = held(tmp_path, ABSENT.replace("Absent", "A"))
    assert status == 4
    assert not archive.exists()


def test_mistakes_and_outputs_are_told_before_anything_runs(tmp_path: Path) -> None:
    status, _, err = held(tmp_path, target("A", "flor = 3"))
    assert (status, err.splitlines()[0][:25]) == (4, "nfsproof: e.toml:5: flor:")
    (tmp_path / "e").write_text("a file")
    status, _, err = held(tmp_path, target("A"))
    assert status == 4
    assert "cannot make the folder e" in err


@pytest.mark.parametrize(
    "data",
    [b"no json\n", b"[]\n", b'{"total": "x"}\n', b"\xff\xfe\n", b'{"total": 1, "done": 1, "counts": 3}\n'],
)
def test_what_a_run_says_is_not_trusted(tmp_path: Path, data: bytes) -> None:
    run = TargetRun(TargetEntry("embedded"), tmp_path)
    run.hear(data)
    assert run.counts == {}
