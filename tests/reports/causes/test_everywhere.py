# SPDX-License-Identifier: MIT
"""The causes of a run in each of its reports."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, FindingRecord, RequirementRecord, RunRecord
from nfsproof.events.holding import shared_lines
from reports.allure import write_allure
from reports.annotations import annotation_lines
from reports.brief import MOST, brief
from reports.causes import causes_of, plain_causes, shared
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.run import Run, from_records
from reports.text import render_text

COUNT = RequirementRecord("RFC 1813", "3.3.16", "DESCRIPTION", "STATED", "the result is at most count bytes")
LINE = "READDIR: size: expected at most 88 bytes, got 1 to 3 bytes (RFC 1813 3.3.16): 3 checks, lint readdir-count in 1"


def too_large(number: int) -> CheckRecord:
    record = CheckRecord(
        f"nfs3/READDIR/small[{number}]", "FAIL", COUNT, ["at most 88 bytes"], f"{number} bytes"
    )
    record.what, record.rerun = "size", f"nfsproof run x 'nfs3/READDIR/small[{number}]'"
    return record


def run_of(target: str = "embedded") -> Run:
    finding = FindingRecord("lint/nfs3/readdir-count", "nfs3/READDIR/other", "FAIL", COUNT, observed="x")
    skipped = [CheckRecord(f"nfs3/A/{n}", "UNSUPPORTED", reason="no links") for n in range(4)]
    about = RunRecord(target, lint="fail")
    records: list[AnyRecord] = [about, *map(too_large, (1, 2, 3)), finding, *skipped, EndRecord(1)]
    return from_records(records)[-1]


def test_text_has_a_line_for_each_cause_and_reason() -> None:
    text = render_text(run_of())
    assert f"causes: 1\nFAIL         {LINE}  nfs3/READDIR/small\n" in text
    assert "reasons: 1\nUNSUPPORTED  no links: 4 checks not asked\n" in text


def test_markdown_begins_with_the_causes() -> None:
    text = render_markdown([run_of()])
    assert text.index("#### Causes (1)") < text.index("#### Not asked") < text.index("#### FAIL")


def test_an_annotation_is_for_a_cause() -> None:
    (line,) = annotation_lines([run_of()])
    assert line.startswith("::error title=FAIL nfs3/READDIR/small[1] and 2 checks more::")
    assert f"%0Acause: {LINE}%0A" in line


def test_a_test_suite_has_its_causes_as_properties() -> None:
    root = ET.fromstring(render_junit([run_of()]))
    suite = next(element for element in root if element.attrib["name"] == "nfs3")
    properties = {element.attrib["name"]: element.attrib["value"] for element in suite[0]}
    assert properties["cause.1"] == f"FAIL {LINE}"
    (case,) = [element for element in suite.iter("testcase") if element.attrib["name"] == "small[1]"]
    assert LINE.partition(": 3 checks")[0] in [element.attrib["value"] for element in case.iter("property")]


def test_allure_has_a_category_for_a_cause(tmp_path: Path) -> None:
    write_allure([run_of()], tmp_path)
    (cause,) = causes_of(run_of())
    rule = json.loads((tmp_path / "categories.json").read_text())[0]
    assert rule["name"] == f"FAIL: {cause.headline}"
    found = [json.loads(path.read_text()) for path in tmp_path.glob("*-result.json")]
    traces = [result["statusDetails"]["trace"] for result in found if result["status"] == "failed"]
    assert len(traces) == 4
    assert all(trace.startswith(f"cause {cause.key}: ") for trace in traces)


def test_servers_share_a_cause() -> None:
    runs = [run_of("one"), run_of("two"), from_records([RunRecord("three"), EndRecord(0)])[-1]]
    (both,) = shared(runs)
    assert both.labels == ("one", "two")
    assert [len(plain_cause["causes"]) for plain_cause in plain_causes(runs)] == [1, 1, 0]  # type: ignore[arg-type]
    assert shared_lines([]) == []


@pytest.mark.parametrize("room", [5, 7, 12, 25])
def test_a_brief_text_keeps_what_matters(room: int) -> None:
    record = too_large(1)
    record.call, record.elsewhere = "READDIR dir=00", ["another server"] * 4
    record.transcript = [
        "#1 MKDIR",
        *["  more"] * 50,
        "#2 READDIR",
        *["  field: 1"] * 60,
        "  size: 1    <-- size",
        "  x",
    ]
    lines = brief(record, room)
    assert len(lines) <= room <= MOST
    assert lines[0] == f"FAIL  {record.id}"
    assert lines[-1] == f"  rerun:      {record.rerun}"
    assert any(line.startswith("  result:") for line in lines)
    assert any("<--" in line for line in lines) == (room == MOST)
