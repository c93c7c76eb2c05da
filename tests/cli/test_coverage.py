# SPDX-License-Identifier: MIT
"""`nfsproof coverage` and the statuses in records that it is made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, EndRecord, RunRecord, to_line
from nfsproof import covering
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from reports.coverage.rendering import Pages


def records(folder: Path, target: str, *, ended: bool = True) -> Path:
    lines = [to_line(RunRecord(target)), to_line(CheckRecord("nfs3/write/no_such", "PASS"))]
    lines += [to_line(EndRecord(0))] if ended else []
    (folder / "records.jsonl").write_text("".join(line + "\n" for line in lines))
    return folder


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
    assert run_command_line(["coverage", str(folder)]) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_records_that_are_not_there_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["coverage", str(tmp_path)]) == Exit.USAGE
    assert "expected the records of a run" in capsys.readouterr().err


def test_the_pages_are_written_into_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    assert covering.write(Pages({"coverage.md": "new\n"}, []), folder) == [folder / "coverage.md"]
    assert (folder / "coverage.md").read_text() == "new\n"


def test_checks_that_are_not_there_run_nowhere() -> None:
    assert covering.checks_in_run([]) == []


def test_what_new_checks_do_to_the_server_comes_from_a_run_of_these() -> None:
    (plain,) = covering.checks_in_run(["nfs3/NULL/no-results"])
    assert (plain.id, plain.verdict, plain.steered) == ("nfs3/NULL/no-results", "PASS", [])


def test_new_checks_that_do_not_pass_are_named() -> None:
    with pytest.raises(covering.CannotCover, match="no check has the id nfs3/NULL/missing"):
        covering.checks_in_run(["nfs3/NULL/missing"])


def test_rules_of_the_lint_are_reported_with_their_clauses() -> None:
    rules = dict(covering.lint_rules())
    assert rules["lint/nfs3/write-count"].rfc == "RFC 1813"
