# SPDX-License-Identifier: MIT
"""Records: one line each, equal when read back; newer fields and torn lines are tolerated."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsjudge.records import (
    AnyRecord,
    BadRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    RequirementRecord,
    RunRecord,
    deviation,
    deviation_text,
    failure_text,
    from_line,
    read_records,
    seen,
    to_line,
)
from nfsjudge.verdict import Verdict, worst

CHECK = CheckRecord(
    id="nfs3/write/keeps",
    verdict="FAIL",
    requirement=RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "data is kept"),
    expected=["a", "b"],
    observed="c\x1b",
    transcript=["#1 WRITE"],
    rerun="bin/nfsproof run embedded nfs3/write/keeps",
)


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_records_read_back_equal(reason: str, observed: str, transcript: list[str]) -> None:
    record = CheckRecord(id="a/b", verdict="VOID", reason=reason, observed=observed, transcript=transcript)
    line = to_line(record)
    assert "\n" not in line
    assert line.isascii()
    assert from_line(line) == record


FINDING = FindingRecord(
    id="lint/nfs3/write-count",
    check="nfs3/write/keeps",
    verdict="FAIL",
    requirement=RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "count is what was written"),
    expected=["count is at most 4"],
    observed="WRITE, exchange #3: count is 5",
    count=2,
    rerun="bin/nfsproof run embedded nfs3/write/keeps",
)


@pytest.mark.parametrize(
    "record",
    [CHECK, FINDING, RunRecord("embedded"), EndRecord(1, counts={"FAIL": 1}, findings={"lint/x": 2})],
)
def test_every_kind_reads_back(record: AnyRecord) -> None:
    assert from_line(to_line(record)) == record


def test_unknown_fields_are_dropped_and_newer_schemas_refused() -> None:
    plain = json.loads(to_line(CHECK))
    assert from_line(json.dumps(plain | {"later": 1})) == CHECK
    with pytest.raises(BadRecord, match="schema 99"):
        from_line(json.dumps(plain | {"schema": 99}))


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "{}", '{"kind":"check"}', '{"kind":"other","schema":1}', "null"]
)
def test_what_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(BadRecord):
        from_line(line)


def test_a_torn_last_line_is_left_out() -> None:
    lines = [to_line(CHECK) + "\n", to_line(CHECK)[:40]]
    assert list(read_records(lines)) == [CHECK]


def test_failure_text_says_what_an_author_of_a_server_needs() -> None:
    text = failure_text(CHECK)
    for part in (
        "FAIL",
        "RFC 1813 section 3.3.7 (STATED)",
        "data is kept",
        "a",
        "or: b",
        "#1 WRITE",
        CHECK.rerun,
    ):
        assert part in text


@pytest.mark.parametrize(
    ("expected", "observed", "lines"),
    [
        (["5", "6"], "4", ["  result:     size: expected 5 or 6, got 4"]),
        (
            ["5" * 90],
            "4" * 90,
            ["  result:     size:", f"    expected: {'5' * 90}", f"         got: {'4' * 90}"],
        ),
    ],
)
def test_an_outcome_with_a_noun_is_one_line_where_it_fits(
    expected: list[str], observed: str, lines: list[str]
) -> None:
    record = dataclasses.replace(
        CHECK, what="size", call="GETATTR object=01", expected=expected, observed=observed
    )
    text = failure_text(record).splitlines()
    at = text.index("  call:       GETATTR object=01")
    assert text[at + 1 : at + 1 + len(lines)] == lines


@given(st.text(), st.lists(st.text(), max_size=3), st.text())
def test_a_deviation_names_all_its_parts(what: str, expected: list[str], observed: str) -> None:
    text = deviation_text(what, expected, observed)
    assert text.endswith(observed)
    assert all(part in text for part in [what, *expected])


def test_a_check_that_was_not_judged_has_its_reason_as_deviation() -> None:
    assert deviation(CheckRecord("a", "SKIP", reason="no room")) == "no room"
    assert deviation(FINDING) == FINDING.observed
    assert seen(dataclasses.replace(CHECK, what="size", observed="4")) == "size: 4"


def test_the_heaviest_verdict_counts() -> None:
    assert worst([]) is Verdict.PASS
    assert worst([Verdict.PASS, Verdict.VOID, Verdict.NONSTRICT]) is Verdict.VOID
    assert worst([Verdict.VOID, Verdict.FAIL]) is Verdict.FAIL


def test_the_text_of_a_finding_names_the_check() -> None:
    text = failure_text(FINDING)
    assert text.startswith("FAIL  lint/nfs3/write-count\n  check:      nfs3/write/keeps\n")
    assert "expected:   count is at most 4" in text
    assert "rerun:      bin/nfsproof run embedded nfs3/write/keeps" in text
