# SPDX-License-Identifier: MIT
"""`nfsproof baseline` and `nfsproof diff`: which runs an update takes, how the file is written, exit statuses."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

import pytest

from nfsjudge.records import (
    AnyRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    RequirementRecord,
    RunRecord,
    to_line,
)
from nfsjudge.terms import outcome_of
from nfsproof import baselines
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit

GREEN = (RunRecord("mine"), CheckRecord("a/b/c", "PASS"), CheckRecord("a/b/d", "FAIL", observed="IO"))
KNOWN = '# mine\n[[entry]]\nid = "a/b/c"\nreason = "r"\n\n[[entry]]\nid = "a/b/d"\nreason = "r"\n'


@pytest.fixture(autouse=True)
def _two_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "_promised", lambda _: frozenset({"a/b/c", "a/b/d"}))


def run_in(folder: Path, records: Iterable[AnyRecord] = (*GREEN, EndRecord(1)), torn: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    text = "".join(f"{to_line(record)}\n" for record in records)
    (folder / "records.jsonl").write_text(text + torn)
    return folder


@pytest.mark.parametrize(
    ("records", "torn", "message"),
    [
        (GREEN, "", "is incomplete"),
        ((*GREEN, EndRecord(2)), "", "interrupted"),
        ((*GREEN, EndRecord(1, note="the target is gone")), "", "the target is gone"),
        (
            (GREEN[0], GREEN[1], EndRecord(1)),
            "",
            "the run did not judge 1 check of this version of nfsproof, such as a/b/d",
        ),
        ((RunRecord("mine", is_partial=True), *GREEN[1:], EndRecord(1)), "", "only some of the checks"),
        ((*GREEN, EndRecord(1)), '{"kind":"che', "line 5, the last one, is incomplete"),
    ],
)
def test_an_update_takes_whole_runs_only(
    records: tuple[AnyRecord, ...],
    torn: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "b.toml"
    file.write_text(KNOWN)
    folder = run_in(tmp_path / "run", records, torn)
    assert run_command_line(["baseline", "update", str(folder), str(file)]) == Exit.USAGE
    error = capsys.readouterr().err
    assert message in error
    assert "needs a complete run" in error
    assert file.read_text() == KNOWN


def test_an_update_writes_all_or_nothing_and_leaves_links_modes_and_line_ends(tmp_path: Path) -> None:
    file, link = tmp_path / "b.toml", tmp_path / "link.toml"
    file.write_bytes(KNOWN.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    link.symlink_to(file)
    arguments = ["baseline", "update", str(run_in(tmp_path / "run")), str(link)]
    assert run_command_line([*arguments, "--dry-run"]) == Exit.OK
    assert b"a/b/c" in file.read_bytes()
    assert run_command_line(arguments) == Exit.OK
    content = file.read_bytes()
    assert b"a/b/c" not in content
    assert content.count(b"\n") == content.count(b"\r\n") > 3
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.toml", "link.toml", "run"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "nowhere" / "b.toml"
    assert run_command_line(["baseline", "update", str(run_in(tmp_path / "run")), str(file)]) == Exit.USAGE
    assert capsys.readouterr().err == f"nfsproof: {file}: No such file or directory\n"
    assert run_command_line(["baseline", "update", str(tmp_path / "run"), str(tmp_path)]) == Exit.USAGE
    assert capsys.readouterr().err == f"nfsproof: {tmp_path}: Is a directory\n"


def test_a_torn_record_is_never_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "b.toml"
    file.write_text('[[entry]]\nid = "a/b/d"\nreason = "r"\n')
    folder = run_in(tmp_path / "run", (*GREEN[:2], CheckRecord("a/b/d", "FAIL"), EndRecord(11)))
    assert run_command_line(["baseline", "check", str(folder), str(file)]) == Exit.OK
    run_in(folder, (*GREEN, EndRecord(11)), torn='{"kind":"che\n')
    assert run_command_line(["baseline", "check", str(folder), str(file)]) == Exit.BASELINE
    assert "not finished: its records:" in capsys.readouterr().out


def test_a_missing_capability_stays_red(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "b.toml"
    file.write_text('[[entry]]\nid = "a/b/d"\nreason = "r"\n')
    folder = run_in(tmp_path / "run", (*GREEN, EndRecord(1, missing=["hardlink: no"])))
    assert run_command_line(["baseline", "check", str(folder), str(file)]) == Exit.FAIL
    assert "REQUIRED capability is missing: hardlink: no" in capsys.readouterr().out


def test_a_comparison_warns_of_runs_that_are_not_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, cut = run_in(tmp_path / "whole"), run_in(tmp_path / "cut", GREEN)
    assert run_command_line(["diff", str(whole), str(whole)]) == Exit.OK
    assert capsys.readouterr().out == "no difference\n"
    assert run_command_line(["diff", str(whole), str(cut)]) == Exit.OK
    assert f"warning: {cut}: the run is incomplete" in capsys.readouterr().out
    run_in(cut, (*GREEN, EndRecord(1)), torn="{\n")
    assert run_command_line(["diff", str(whole), str(cut)]) == Exit.BASELINE


def test_a_run_of_a_part_is_compared_where_both_ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = [CheckRecord(f"a/b/c{n}", "PASS") for n in range(9)]
    found = FindingRecord("lint/nfs3/x", "a/b/c7", "FAIL", observed="x")
    whole = run_in(tmp_path / "whole", [RunRecord("mine"), *checks, found, EndRecord(1)])
    part = run_in(tmp_path / "part", [RunRecord("mine", is_partial=True), *checks[:2], EndRecord(0)])
    assert run_command_line(["diff", str(whole), str(part)]) == Exit.OK
    assert capsys.readouterr().out == (
        f"warning: {part}: only some of the checks were selected\n"
        "not compared: 7 checks that only the first run has\nno difference\n"
    )
    red = CheckRecord("a/b/c1", "FAIL", observed="IO")
    part = run_in(tmp_path / "part", [RunRecord("mine", is_partial=True), checks[0], red, EndRecord(1)])
    assert run_command_line(["diff", str(part), str(whole)]) == Exit.BASELINE
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines[0] == "not compared: 7 checks that only the second run has"
    assert [line.partition(":")[0] for line in lines[1:-1]] == ["fixed"]


def test_runs_that_have_no_check_in_common_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [
        run_in(
            tmp_path / name,
            [RunRecord("mine", is_partial=True), CheckRecord(f"a/b/{name}", "PASS"), EndRecord(0)],
        )
        for name in ("one", "other")
    ]
    assert run_command_line(["diff", *map(str, parts)]) == Exit.USAGE
    assert "have no check in common: nothing was compared" in capsys.readouterr().err


def test_a_whole_run_without_a_check_has_lost_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = [CheckRecord(f"a/b/c{n}", "PASS") for n in range(2)]
    before = run_in(tmp_path / "before", [RunRecord("mine"), *checks, EndRecord(0)])
    after = run_in(tmp_path / "after", [RunRecord("mine"), checks[0], EndRecord(0)])
    assert run_command_line(["diff", str(before), str(after)]) == Exit.BASELINE
    assert capsys.readouterr().out.splitlines()[-1] == "1 gone"


def test_two_servers_are_compared_by_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def red(clause: str, harm: str, n: int) -> CheckRecord:
        of = RequirementRecord("RFC 1813", clause, "DESCRIPTION", "STATED", clause, harm)
        record = CheckRecord(f"nfs3/{clause}/c[{n}]", "FAIL", of, ["1"], "2", what=f"value of {clause}")
        record.outcome = outcome_of(["1"], "2")
        return record

    shared = [red("SHARED", "", n) for n in range(3)]
    first: list[AnyRecord] = [
        RunRecord("one"),
        *shared,
        *(red("MANY", "", n) for n in range(5)),
        red("LOST", "data", 0),
    ]
    two: list[AnyRecord] = [
        RunRecord("two"),
        *shared,
        *(CheckRecord(f"nfs3/MANY/c[{n}]", "PASS") for n in range(5)),
    ]
    folders = [run_in(tmp_path / name, [*of, EndRecord(1)]) for name, of in (("one", first), ("two", two))]
    assert run_command_line(["diff", *map(str, folders)]) == Exit.BASELINE
    assert capsys.readouterr().out.splitlines() == [
        "only one: FAIL value of LOST: expected 1, got 2 (RFC 1813 LOST): 1 check",
        "only one: FAIL value of MANY: expected 1, got 2 (RFC 1813 MANY): 5 checks",
        "both: FAIL value of SHARED: expected 1, got 2 (RFC 1813 SHARED)",
        "different results: 6 checks, 0 rules of the lint",
    ]


def test_a_long_update_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = [CheckRecord(f"a/b/c{n:02}", "FAIL", observed=f"x{n}" * n) for n in range(30)]
    monkeypatch.setattr(baselines, "_promised", lambda _: frozenset(check.id for check in checks))
    folder = run_in(tmp_path / "run", [RunRecord("mine"), *checks, EndRecord(1)])
    file = tmp_path / "b.toml"
    dry = run_command_line(["baseline", "update", str(folder), str(file), "--dry-run"])
    assert dry == Exit.OK
    assert len(capsys.readouterr().out.splitlines()) > 60
    assert run_command_line(["baseline", "update", str(folder), str(file)]) == Exit.OK
    (line,) = capsys.readouterr().out.splitlines()
    number = file.read_text().count("[[entry]]")
    assert line == f"{file}: {number} entries, 0 before; {number} without a reason: search for TODO"
