# SPDX-License-Identifier: MIT
"""`nfsproof coverage` and the statuses in records that it is made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, EndRecord, RunRecord, to_line
from nfsproof import covering
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from reports.coverage import Pages


def records(folder: Path, target: str, *, ended: bool = True) -> Path:
    lines = [to_line(RunRecord(target)), to_line(CheckRecord("nfs3/write/no_such", "PASS"))]
    lines += [to_line(EndRecord(0))] if ended else []
    (folder / "records.jsonl").write_text("".join(line + "\n" for line in lines))
    return folder


def test_one_of_both_options_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["coverage"]) == Exit.USAGE
    assert "--update" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "ended", "said"),
    [
        ("ganesha", True, "expected a run on the embedded server"),
        ("embedded", False, "an incomplete one"),
        ("embedded", True, "use a complete run"),
    ],
)
def test_only_a_whole_run_on_the_embedded_server_will_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, ended: bool, said: str
) -> None:
    folder = records(tmp_path, target, ended=ended)
    assert run_command_line(["coverage", "--check", str(folder)]) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_records_that_are_not_there_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["coverage", "--check", str(tmp_path)]) == Exit.USAGE
    assert "expected the records of a run" in capsys.readouterr().err


def test_a_page_that_is_not_current_is_told_by_line(tmp_path: Path) -> None:
    pages = Pages({"coverage.md": "new\n"}, [])
    (tmp_path / "coverage.md").write_text("old\n")
    assert {"-old", "+new"} <= set(covering.differences(pages, tmp_path))
    assert covering.write(pages, tmp_path) == ["coverage.md"]
    assert covering.differences(pages, tmp_path) == []
    assert covering.write(pages, tmp_path) == []


def test_rules_of_the_lint_are_told_with_their_clauses() -> None:
    rules = dict(covering.lint_rules())
    assert rules["lint/nfs3/write-count"].rfc == "RFC 1813"
