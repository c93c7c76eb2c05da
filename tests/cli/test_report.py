# SPDX-License-Identifier: MIT
"""`nfsproof report` on what a run has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, EndRecord, RequirementRecord, RunRecord, to_line
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "count is what was written")


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """The folder of a run with one check of each of two verdicts."""
    records = (
        RunRecord("embedded"),
        CheckRecord("nfs3/null/is_answered", "PASS"),
        CheckRecord("nfs3/write/keeps_data", "FAIL", CLAUSE, ["4"], "resok.count is 101"),
        EndRecord(1),
    )
    (tmp_path / "records.jsonl").write_text("".join(to_line(record) + "\n" for record in records))
    return tmp_path


def test_a_run_is_told_again(left: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["report", str(left)]) == Exit.OK
    out = capsys.readouterr().out
    assert "nfs3/write/keeps_data" in out
    assert "resok.count is 101" in out


def test_as_a_page(left: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run_command_line(["report", str(left), "--html", str(page)]) == Exit.OK
    assert "nfs3/write/keeps_data" in page.read_text()


def test_a_folder_without_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["report"]) == Exit.USAGE
    assert "nfsproof-report is not there" in capsys.readouterr().err


def test_a_file_that_holds_something_else(left: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (left / "records.jsonl").write_text("hello\n")
    assert run_command_line(["report", str(left)]) == Exit.USAGE
    assert "no record" in capsys.readouterr().err
