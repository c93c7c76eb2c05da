# SPDX-License-Identifier: MIT
"""What runs have left is read as far as it can be; what is no record is reported with its line."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reports
from nfsjudge.records import (
    BadRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    MessageRecord,
    RequirementRecord,
    RunRecord,
    from_line,
    to_line,
)
from reports import reading
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.reading import MAX_PROBLEMS, find_records, load_runs
from reports.run import Run, distinct_labels, from_records

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "a gist")
GOOD = [to_line(RunRecord("embedded")), to_line(CheckRecord("nfs3/a/b", "PASS")), to_line(EndRecord(0))]
CHECK = json.loads(GOOD[1])


def left(folder: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    path = folder / "records.jsonl"
    data = [line.encode() if isinstance(line, str) else line for line in lines]
    path.write_bytes(b"\n".join(data) + end)
    return path


def changed(**fields: object) -> str:
    return json.dumps(CHECK | fields)


FOREIGN = {
    "words": "hello",
    "other_json": '{"some": "json"}',
    "a_list": "[1, 2]",
    "a_number": "12",
    "torn": GOOD[1][:40],
    "unknown_kind": changed(kind="surprise"),
    "kind_is_a_list": changed(kind=[]),
    "future_schema": changed(schema=99),
    "schema_is_text": changed(schema="new"),
    "id_is_a_number": changed(id=5),
    "id_is_empty": changed(id=" "),
    "no_id": json.dumps({"kind": "check", "schema": 1, "verdict": "PASS"}),
    "unknown_verdict": changed(verdict="MAYBE"),
    "verdict_is_a_list": changed(verdict=["PASS"]),
    "expected_is_text": changed(expected="x"),
    "observations_of_numbers": changed(observations={"a": 1}),
    "requirement_is_text": changed(requirement="RFC 1813"),
    "requirement_lacks_a_field": changed(requirement={"rfc": "RFC 1813"}),
    "duration_is_text": changed(duration="1"),
    "duration_is_no_number": changed(duration=float("nan")),
    "duration_is_endless": changed(duration=1).replace('"duration": 1', '"duration": 1' + "0" * 400),
    "duration_is_beyond_reason": changed(duration=1e308),
    "a_count_of_400_digits": changed(exchanges=10**400),
    "digits": changed(exchanges=1).replace('"exchanges": 1', '"exchanges": ' + "1" * 5000),
    "deep": "[" * 100_000,
    "not_utf8": b'{"kind":"check","id":"\xff"}',
    "utf16": "hello".encode("utf-16"),
    "nul": b"\0" * 100,
}


@pytest.mark.parametrize("line", FOREIGN.values(), ids=list(FOREIGN))
def test_a_foreign_line_is_named_and_the_rest_is_used(tmp_path: Path, line: str | bytes) -> None:
    run = reports.load(left(tmp_path, GOOD[0], line, *GOOD[1:]))
    assert [check.id for check in run.checks] == ["nfs3/a/b"]
    assert run.end is not None
    (problem,) = run.problems
    assert "records.jsonl: line 2 is " in problem
    assert len(problem.splitlines()) == 1
    assert problem.isprintable()


@pytest.mark.parametrize("line", FOREIGN.values(), ids=list(FOREIGN))
def test_nothing_but_a_foreign_line_is_refused(tmp_path: Path, line: str | bytes) -> None:
    with pytest.raises(BadRecord, match="it has no record of a run; line 1 is") as caught:
        reports.load(left(tmp_path, line))
    assert len(str(caught.value).splitlines()) == 1


def test_a_line_that_is_too_long_is_left_out_without_being_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LINE", 2**16)
    path = left(tmp_path, GOOD[0], b"x" * 2**16, b"y" * (2**16 - 1), b"\0" * 2**24, *GOOD[1:])
    tracemalloc.start()
    run = reports.load(path)
    (_, most) = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**22
    assert [text.partition(".jsonl: line ")[2].split()[0] for text in run.problems] == ["2", "3", "4"]
    assert "longer than 65536 bytes" in run.problems[0]
    assert [check.id for check in run.checks] == ["nfs3/a/b"]


def test_many_foreign_lines_are_counted(tmp_path: Path) -> None:
    run = reports.load(left(tmp_path, *GOOD, *["x"] * 1000))
    assert len(run.problems) == MAX_PROBLEMS + 1
    assert run.problems[-1].endswith(f": {1000 - MAX_PROBLEMS} more lines are no records")


def test_a_torn_last_line_is_named(tmp_path: Path) -> None:
    run = reports.load(left(tmp_path, *GOOD[:2], GOOD[1][:30], end=b""))
    assert len(run.checks) == 1
    assert "line 3, the last one, is incomplete" in run.problems[0]
    assert "is incomplete" in run.ending


def test_a_last_line_without_its_end_is_used(tmp_path: Path) -> None:
    run = reports.load(left(tmp_path, *GOOD, end=b""))
    assert run.end is not None
    assert not run.problems


def test_a_mark_at_the_beginning_and_line_ends_of_windows_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*GOOD, "", ""]).encode())
    run = reports.load(path)
    assert (len(run.checks), run.problems) == (1, [])


def test_a_missing_first_line_is_named(tmp_path: Path) -> None:
    run = reports.load(left(tmp_path, *GOOD[1:]))
    assert "what was tested is missing" in run.problems[0]
    assert reports.render_text(run)


def test_fields_of_later_versions_are_dropped_everywhere() -> None:
    record = CheckRecord("nfs3/a/b", "PASS", RequirementRecord("RFC 1813", "1", "", "MUST", ""))
    record.messages = [MessageRecord(1, 0.5, "call", "NULL")]
    plain = json.loads(to_line(record))
    plain["new"] = plain["requirement"]["new"] = plain["messages"][0]["new"] = 1
    assert from_line(json.dumps(plain)) == record


@settings(deadline=None)
@given(st.text(max_size=30))
def test_what_is_read_can_be_written_as_utf8(text: str) -> None:
    record = CheckRecord("nfs3/a/b", "PASS", observed=text, observations={text: text})
    again = from_line(to_line(record))
    assert isinstance(again, CheckRecord)
    again.observed.encode()
    expected = text.encode("utf-8", "backslashreplace").decode()
    assert again.observations == {expected: expected}


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(sorted(CHECK)) | st.text(), inner),
    )
)
def test_any_json_is_a_record_or_refused(value: object) -> None:
    for plain in (value, CHECK | value if isinstance(value, dict) else value):
        try:
            record = from_line(json.dumps(plain))
        except BadRecord:
            continue
        assert from_line(to_line(record)) == record


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    path = left(tmp_path, *GOOD, to_line(RunRecord("ganesha")), GOOD[1])
    assert [run.label for run in load_runs(path)] == ["embedded", "ganesha"]
    assert reports.load(path).label == "ganesha"


def test_files_and_folders_and_folders_of_folders(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        left(tmp_path / name, to_line(RunRecord(name)), *GOOD[1:])
    (tmp_path / "c").mkdir()
    (tmp_path / "latest").symlink_to("b")  # no other run
    assert [path.parent.name for path in find_records(tmp_path)] == ["a", "b"]
    runs, problems = reports.load_all([tmp_path, tmp_path / "b" / "records.jsonl", tmp_path / "missing"])
    assert [run.label for run in runs] == ["a", "b", "b"]
    assert [run.folder for run in runs] == [tmp_path / "a", tmp_path / "b", tmp_path / "b"]
    assert len(problems) == 1
    assert "missing" in problems[0]


def test_nothing_usable_among_several(tmp_path: Path) -> None:
    with pytest.raises(BadRecord):
        reports.load_all([left(tmp_path, "x"), tmp_path / "missing"])
    with pytest.raises(FileNotFoundError):
        reports.load_all([tmp_path / "missing"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read it")
def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = left(tmp_path, *GOOD)
    path.chmod(0)
    with pytest.raises(PermissionError):
        reports.load(path)


def test_findings_that_are_only_notes_are_left_out(tmp_path: Path) -> None:
    run = reports.load(left(tmp_path, *GOOD, to_line(FindingRecord("lint/a", "nfs3/a/b", "INFO"))))
    assert (run.findings, run.problems) == ([], [])


def test_a_label_hides_the_address() -> None:
    run = from_records([RunRecord("nfs://secret/", "secret at 10.0.0.1", label="target A")])[-1]
    assert (run.target, run.label, run.is_anonymous) == ("target A", "target A", True)
    assert Run().label == "unknown"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["A", "B"], ["A", "B"]),
        (["A", "A", "A"], ["A", "A (2)", "A (3)"]),
        (["A", "A (2)", "A"], ["A", "A (2)", "A (3)"]),
        (["A", "A", "A (2)"], ["A", "A (3)", "A (2)"]),
    ],
)
def test_no_two_runs_are_called_the_same(labels: list[str], expected: list[str]) -> None:
    assert distinct_labels([Run(about=RunRecord("embedded", label=label)) for label in labels]) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([("10:00", "abc"), ("11:30", "abc")], ["A, 2026-11-20 10:00", "A, 2026-11-20 11:30"]),
        ([("10:00", "abc"), ("10:00", "def")], ["A, 2026-11-20 10:00, abc", "A, 2026-11-20 10:00, def"]),
        ([("10:00", ""), ("10:00", "")], ["A, 2026-11-20 10:00", "A, 2026-11-20 10:00 (2)"]),
    ],
)
def test_runs_of_one_target_are_distinguished_by_time_and_commit(
    facts: list[tuple[str, str]], expected: list[str]
) -> None:
    runs = [
        Run(
            about=RunRecord(
                "x", label="A", started=f"2026-11-20T{time}:59+00:00", environment={"commit": commit}
            )
        )
        for time, commit in facts
    ]
    assert distinct_labels([Run(about=RunRecord("x", label="B")), *runs]) == ["B", *expected]


def test_an_id_that_comes_twice_is_reported(tmp_path: Path) -> None:
    run = reports.load(left(tmp_path, *GOOD[:2], GOOD[1], GOOD[2]))
    (problem,) = run.problems
    assert "nfs3/a/b" in problem
    assert "more than once" in problem


def test_commands_do_not_show_the_address_of_a_label(tmp_path: Path) -> None:
    again = "bin/nfsproof run 'nfs://acme-host/export?port=1' nfs3/a/b"
    about = RunRecord("nfs://acme-host/export?port=1", label="A")
    check = CheckRecord("nfs3/a/b", "FAIL", CLAUSE, ["1"], "2", rerun=again)
    found = FindingRecord("lint/a", "nfs3/a/b", "FAIL", CLAUSE, ["1"], "2", rerun=again)
    run = reports.load(left(tmp_path, to_line(about), to_line(check), to_line(found), GOOD[2]))
    for text in (
        reports.render_text(run),
        render_junit([run]),
        render_markdown([run]),
        reports.render_html(run),
    ):
        assert "acme-host" not in text
        assert "TARGET" in text
    about.label = ""
    run = reports.load(left(tmp_path, to_line(about), to_line(check), to_line(found), GOOD[2]))
    assert run.checks[0].rerun == again


def test_the_text_reports_broken_rules_at_its_head(tmp_path: Path) -> None:
    found = FindingRecord("lint/a", "nfs3/a/b", "FAIL", CLAUSE)
    text = reports.render_text(reports.load(left(tmp_path, *GOOD[:2], to_line(found), GOOD[2])))
    assert "\nlint:    rules broken in the exchanges: 1 FAIL\n" in text


def test_an_archive_that_is_not_there_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        reports.load_all([tmp_path / "gone.tar.gz"], tmp_path / "board-files")
    assert list(tmp_path.iterdir()) == []
