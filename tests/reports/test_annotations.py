# SPDX-License-Identifier: MIT
"""Annotations of GitHub Actions: one command a line, whatever a target said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, FindingRecord, RequirementRecord, RunRecord
from reports.annotations import PER_KIND, annotation_lines
from reports.plain import printable
from reports.run import Run, from_records
from reports.text import render_text

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "a gist")
NASTY = st.text(st.sampled_from("%:,=\r\n# []\x1b\u2028a") | st.characters(codec="utf-8"), max_size=60)
COMMAND = re.compile(r"::(error|warning) ((?:[a-z]+=[^,:\r\n]*)(?:,[a-z]+=[^,:\r\n]*)*)::([^\r\n]*)")


def run_of(*records: AnyRecord, strict: bool = False, lint: str = "fail") -> Run:
    return from_records([RunRecord("embedded", strict=strict, lint=lint), *records, EndRecord(1)])[-1]


def decoded(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner reads a command."""
    match = COMMAND.fullmatch(line)
    assert match is not None
    pairs = (pair.partition("=")[::2] for pair in match[2].split(","))
    return match[1], {name: undone(value) for name, value in pairs}, undone(match[3])


def undone(text: str) -> str:
    return re.sub(r"%(0D|0A|3A|2C|25)", lambda code: chr(int(code[1], 16)), text)


@settings(deadline=None)
@given(NASTY, st.sampled_from(["FAIL", "VOID", "NONSTRICT"]))
def test_any_text_is_one_command_that_says_it(text: str, verdict: str) -> None:
    record = CheckRecord(f"nfs3/{text}", verdict, CLAUSE, [text], f"<{text}>", nodeid=text)
    (line,) = annotation_lines([run_of(record)], Path())
    kind, properties, message = decoded(line)
    assert kind == ("warning" if verdict == "NONSTRICT" else "error")
    assert properties == {"title": printable(f"{verdict} nfs3/{text}")}
    assert message.endswith(printable(f"seen: <{text}>"))


def test_errors_warnings_and_files(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "test_a.py").touch()
    nodeids = ("suites/test_a.py::test_b", "suites/test_gone.py::test_b", "../secret.py::x", "/etc/x.py::y")
    checks = [CheckRecord(f"nfs3/a/{n}", "FAIL", nodeid=nodeid) for n, nodeid in enumerate(nodeids)]
    found = [decoded(line) for line in annotation_lines([run_of(*checks)], tmp_path)]
    assert [properties.get("file") for _, properties, _ in found] == ["suites/test_a.py", None, None, None]


@pytest.mark.parametrize(("strict", "kind"), [(False, "warning"), (True, "error")])
def test_a_strict_run(strict: bool, kind: str) -> None:
    (line,) = annotation_lines([run_of(CheckRecord("nfs3/a/b", "NONSTRICT", CLAUSE), strict=strict)])
    assert decoded(line)[0] == kind


@pytest.mark.parametrize(("lint", "kind"), [("report", "warning"), ("fail", "error")])
def test_findings(lint: str, kind: str) -> None:
    found = FindingRecord("lint/a", "nfs3/a/b", "FAIL", CLAUSE, observed="5")
    (line,) = annotation_lines([run_of(found, lint=lint)])
    assert decoded(line)[0] == kind


def test_what_is_green_or_left_out_says_nothing() -> None:
    checks = [CheckRecord("nfs3/a/b", verdict) for verdict in ("PASS", "SKIP", "UNSUPPORTED")]
    assert annotation_lines([run_of(*checks)]) == []


def test_as_many_as_github_shows() -> None:
    checks = [CheckRecord(f"nfs3/a/{n}", "FAIL") for n in range(25)]
    lines = annotation_lines([run_of(*checks), run_of(CheckRecord("nfs3/a/b", "NONSTRICT"))])
    assert len(lines) == PER_KIND + 1
    assert decoded(lines[PER_KIND - 1])[2] == "16 more like these"
    assert decoded(lines[-1])[1]["title"] == "embedded (2): NONSTRICT nfs3/a/b"


def test_a_run_that_was_killed_is_an_error() -> None:
    (line,) = annotation_lines([from_records([RunRecord("embedded")])[-1]])
    assert "is incomplete" in line


@settings(deadline=None)
@given(NASTY)
def test_no_line_of_the_text_report_is_a_command_or_an_escape(text: str) -> None:
    record = CheckRecord(f"nfs3/{text}", "FAIL", CLAUSE, [text], text, text, transcript=[text], rerun=text)
    for line in render_text(run_of(record)).split("\n"):
        assert not line.strip().startswith("::")
        assert "##[" not in line
        assert "\x1b" not in line


def test_a_finding_that_is_red_is_an_error_though_its_check_is_not() -> None:
    check = CheckRecord("nfs3/READDIR/a", "NONSTRICT", CLAUSE, ["less"], "more", what="size")
    finding = FindingRecord("lint/nfs3/count", check.id, "FAIL", CLAUSE, observed="a large page")
    (line,) = annotation_lines([run_of(check, finding)])
    kind, shown, _ = decoded(line)
    assert (kind, shown["title"]) == ("error", "FAIL lint/nfs3/count and 1 check more")
