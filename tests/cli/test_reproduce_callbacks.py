# SPDX-License-Identifier: MIT
"""A check that fails for what a callback says: its evidence has the callback, and its script meets it again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, read_records
from nfsproof.exits import Exit
from tests.cli.test_reproduce import python
from tests.needs import needs
from tests.waiting import AT_MOST

CHECK = "nfs4/delegation/recall-seqid[read]"
TEXT = "seqid of the stateid: expected 0, got 1"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run on the embedded server leaves that sends the seqid in CB_RECALL."""
    folder = tmp_path_factory.mktemp("run") / "report"
    words = ("run", "embedded", CHECK, "--mutant=open4-recalls-with-the-seqid", f"--report={folder}", "-q")
    result = python("-m", "nfsproof", *words)
    assert result.returncode == Exit.FAIL, result.stdout + result.stderr
    return folder


@pytest.fixture(scope="module")
def check(report: Path) -> CheckRecord:
    with (report / "records.jsonl").open() as lines:
        (found,) = [record for record in read_records(lines) if isinstance(record, CheckRecord)]
    return found


def test_the_failure_is_about_the_callback(check: CheckRecord) -> None:
    assert check.call.startswith("CB_RECALL (operation 2 of CB_SEQUENCE, CB_RECALL) stateid.seqid=1")
    (marked,) = [line for line in check.transcript if "<--" in line]
    assert marked.strip() == f"seqid: 1    <-- {TEXT}"
    assert any("callback CB_COMPOUND (CB_SEQUENCE, CB_RECALL)" in line for line in check.transcript)


def test_the_script_meets_the_callback_again(report: Path) -> None:
    result = python("-m", "nfsproof", "reproduce", CHECK, f"--report={report}", "--script")
    assert (result.returncode, result.stderr) == (Exit.OK, "")
    (marked,) = [line for line in result.stdout.splitlines() if "    <-- " in line]
    assert marked.strip() == f"seqid: 1    <-- FAIL {CHECK}: {TEXT}"
    assert "callback of the server" in result.stdout
    assert "none within" not in result.stdout


@needs("tshark")
def test_the_capture_has_the_callback(report: Path, check: CheckRecord) -> None:
    command = ["tshark", "-n", "-r", str(report / check.capture), "-Y", "frame.comment contains CB_RECALL"]
    fields = ["-T", "fields", "-e", "tcp.dstport", "-e", "frame.comment"]
    found = subprocess.run([*command, *fields], capture_output=True, text=True, check=True, timeout=AT_MOST)
    lines = [line for line in found.stdout.splitlines() if "callback CB_COMPOUND" in line]
    assert len(lines) == 1, found.stdout
    assert TEXT in lines[0]
