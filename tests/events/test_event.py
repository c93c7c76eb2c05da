# SPDX-License-Identifier: MIT
"""An event from its file to its archives: what is there when it is over, however that came."""

from __future__ import annotations

import functools
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

import reports
from nfsjudge.records import RunRecord, to_line
from nfsproof import events
from nfsproof.events.file import TargetEntry
from nfsproof.events.holding import read_results
from nfsproof.events.known import what_is_known
from nfsproof.events.runs import Runs, TargetRun
from nfsproof.events.table import table
from nfsproof.exits import Exit
from tests.archives.conftest import contents, make_run
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
ABSENT = '[[target]]\ntarget = "nfs://127.0.0.1/export?nfsport=1&mountport=1"\nlabel = "Absent"\n'


def target(label: str, *more: str) -> str:
    checks = 'checks = ["nfs3/null"]\n' if not any(line.startswith("checks") for line in more) else ""
    return f'[[target]]\ntarget = "embedded"\nlabel = "{label}"\n{checks}' + "".join(
        f"{line}\n" for line in more
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


def run_event(folder: Path, text: str) -> tuple[int, str, str]:
    process = begin(folder, text)
    out, err = process.communicate(timeout=AT_MOST)
    return process.returncode, out, err


def test_several_targets_side_by_side(tmp_path: Path) -> None:
    text = "[event]\nparallel = 2\n" + target("Server A") + target("Server B") + ABSENT
    status, out, _ = run_event(tmp_path, text)
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


def test_a_client_among_servers(tmp_path: Path) -> None:
    client = '[[target]]\ntarget = "client:nfsclient"\nlabel = "Client A"\nchecks = ["clients/control/none[read-3]"]\n'
    status, out, err = run_event(tmp_path, target("Server A") + client)
    assert status == 0, err
    assert "Client A: ended: 1 of 1 check; PASS 1; nothing red" in out
    runs, problems = reports.load_all(
        [tmp_path / "e" / "Server-A.tar.gz", tmp_path / "e" / "Client-A.tar.gz"]
    )
    assert problems == []
    assert [[check.id.partition("/")[0] for check in run.checks][:1] for run in runs] == [
        ["nfs3"],
        ["clients"],
    ]
    for data in contents(tmp_path / "e" / "Client-A.tar.gz").values():
        assert b"client:nfsclient" not in data


def test_too_few_checks_are_red(tmp_path: Path) -> None:
    status, out, _ = run_event(tmp_path, target("A", "floor = 1000"))
    assert status == 1
    assert "expected 1000 at least" in " ".join(out.split())


def test_a_run_that_takes_too_long_is_ended_and_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "e.toml").write_text(target("A", 'checks = ["nfs3"]', "timeout = 5"), encoding="utf-8")
    records = tmp_path / "e" / "A" / "records.jsonl"

    def clock() -> float:
        """Time passes when the run has judged something, however long it takes to begin."""
        is_running = records.exists() and records.read_bytes().count(b"\n") > 5
        return 10.0 if is_running else 0.0

    monkeypatch.setattr("nfsproof.events.holding.Runs", functools.partial(Runs, clock=clock))
    said: list[str] = []
    event = events.load_event(tmp_path / "e.toml", what_is_known())
    assert events.hold(event, tmp_path / "e", said.append, said.append) == 2
    assert "timeout" in "\n".join(said)
    (run,), _ = reports.load_all([tmp_path / "e" / "A.tar.gz"])
    assert run.end is not None
    assert run.end.exit_code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_all_in_order(tmp_path: Path, number: signal.Signals) -> None:
    whole = 'checks = ["nfs3"]'
    process = begin(tmp_path, target("A", whole) + target("B", whole))
    records = tmp_path / "e" / "A" / "records.jsonl"
    deadline = time.monotonic() + AT_MOST
    while not (records.exists() and records.read_bytes().count(b"\n") > 5):
        assert time.monotonic() < deadline
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=AT_MOST)
    assert process.returncode == 2, err
    assert "B: left out: not started: interrupted" in out
    (run,), _ = reports.load_all([tmp_path / "e" / "A.tar.gz"])
    assert run.end is not None
    assert run.end.exit_code == 2
    assert len(run.checks) >= 5


def test_a_run_that_cannot_begin_does_not_end_the_others(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "A").write_text("a file")
    status, out, err = run_event(tmp_path, target("A") + target("--help"))
    assert (status, err) == (3, "")
    assert "A: cannot be started: " in out
    assert (tmp_path / "e" / "help.tar.gz").exists()  # a label is no option


@pytest.mark.parametrize("status", [Exit.OK, Exit.FAIL, Exit.VOID, Exit.BASELINE])
def test_a_run_that_left_no_end_is_never_green(tmp_path: Path, status: Exit) -> None:
    run = TargetRun(TargetEntry("embedded"), tmp_path)
    run.status = status
    read_results(run)
    assert (run.status, run.remark) == (Exit.INTERNAL, "no records")
    (tmp_path / "records.jsonl").write_text(to_line(RunRecord("embedded", "embedded", {}, "0.1")) + "\n")
    run = TargetRun(TargetEntry("embedded"), tmp_path)
    run.status = status
    read_results(run)
    assert run.status == Exit.INTERNAL


def test_what_the_lint_found_is_printed_next_to_the_counts(tmp_path: Path) -> None:
    run = TargetRun(TargetEntry("embedded"), make_run(tmp_path / "run"))
    run.status = 1
    read_results(run)
    assert run.remark == "red; lint: 1 FAIL"


def test_an_archive_of_an_earlier_event_is_reported(tmp_path: Path) -> None:
    run_event(tmp_path, target("A"))
    _, _, err = run_event(tmp_path, ABSENT.replace("Absent", "A") + target("B"))
    assert err == "nfsproof: not part of this event, and not on its board: A.tar.gz, in e\n"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("is_final", [True, False])
def test_the_table_shows_names_and_counts_in_any_width(width: int, is_final: bool) -> None:
    run = TargetRun(TargetEntry("embedded", label="Server A"), Path())
    run.state, run.total, run.done = "runs", 2718, 1700
    run.counts = {"PASS": 1580, "UNSUPPORTED": 932, "SKIP": 12, "NONSTRICT": 69, "VOID": 4, "FAIL": 66}
    run.running, run.left, run.remark = "nfs3/WRITE/count-limit", 75.0, "red"
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(table([run], width, is_final=is_final))
    header, row = captured.get().splitlines()[:2]
    assert {"target", "PASS", "VOID", "FAIL"} <= set(header.split())
    assert row.startswith("Server A ")
    assert {"1580", "4", "66"} <= set(row.split())
    assert ("red" if is_final else "62 %") in row
    assert ("NONSTRICT" in header) == (width >= 80)


def test_records_of_an_earlier_event_are_not_taken_for_new_ones(tmp_path: Path) -> None:
    run_event(tmp_path, target("A"))
    archive = tmp_path / "e" / "A.tar.gz"
    archive.unlink()
    status, _, _ = run_event(tmp_path, ABSENT.replace("Absent", "A"))
    assert status == 4
    assert not archive.exists()


def test_mistakes_and_outputs_are_reported_before_anything_runs(tmp_path: Path) -> None:
    status, _, err = run_event(tmp_path, target("A", "flor = 3"))
    assert (status, err.splitlines()[0][:25]) == (4, "nfsproof: e.toml:5: flor:")
    (tmp_path / "e").write_text("a file")
    status, _, err = run_event(tmp_path, target("A"))
    assert status == 4
    assert "cannot create the folder e" in err


@pytest.mark.parametrize(
    "data",
    [b"no json\n", b"[]\n", b'{"total": "x"}\n', b"\xff\xfe\n", b'{"total": 1, "done": 1, "counts": 3}\n'],
)
def test_what_a_run_says_is_not_trusted(tmp_path: Path, data: bytes) -> None:
    run = TargetRun(TargetEntry("embedded"), tmp_path)
    run.read_progress(data)
    assert run.counts == {}
