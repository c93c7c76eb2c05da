# SPDX-License-Identifier: MIT
"""Titles: every report shows the claim of a check in a sentence, also those of records that have none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nfsjudge.records import CheckRecord, RequirementRecord, RunRecord, failure_text, from_line, to_line
from reports import render_board, render_text
from reports.allure import write_allure
from reports.annotations import annotation_lines
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.run import Run, from_records

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "a gist")
TITLE = "WRITE keeps what it was given"
NEW = CheckRecord("nfs3/WRITE/keeps-data[a-b]", "FAIL", CLAUSE, ["4"], "5", title=TITLE)


@pytest.fixture(params=["new", "old"])
def record(request: pytest.FixtureRequest) -> CheckRecord:
    """A record with a title, and the line of a version that knew none."""
    if request.param == "new":
        return NEW
    plain = json.loads(to_line(NEW))
    del plain["title"]
    made = from_line(json.dumps(plain))
    assert isinstance(made, CheckRecord)
    return made


@pytest.fixture
def title(record: CheckRecord) -> str:
    return TITLE if record is NEW else "keeps data"


@pytest.fixture
def run(record: CheckRecord) -> Run:
    return from_records([RunRecord("embedded"), record])[-1]


def test_failure_text(record: CheckRecord, title: str, run: Run) -> None:
    assert failure_text(record).splitlines()[:2] == [f"FAIL  {NEW.id}", f"  {title}"]
    assert f"  {title}\n" in render_text(run)


def test_junit(title: str, run: Run) -> None:
    case = next(ET.fromstring(render_junit([run])).iter("testcase"))
    assert (case.attrib["classname"], case.attrib["name"]) == ("nfs3.WRITE", "keeps-data[a-b]")
    assert {"name": "title", "value": title} in [element.attrib for element in case.iter("property")]
    assert next(case.iter("failure")).attrib["message"].splitlines() == [
        f"FAIL: {title}",
        "expected 4, got 5",
    ]


def test_allure(title: str, run: Run, tmp_path: Path) -> None:
    write_allure([run], tmp_path)
    (result,) = (json.loads(path.read_text()) for path in tmp_path.glob("*-result.json"))
    assert result["name"] == f"{title} [a-b]"
    assert result["fullName"] == NEW.id
    assert {"name": "feature", "value": "WRITE"} in result["labels"]


def test_markdown_and_annotations(title: str, run: Run) -> None:
    assert re.search(rf"- `{re.escape(NEW.id)}` · .*\n  `{re.escape(title)}`\n", render_markdown([run]))
    (line,) = (
        annotation_line
        for annotation_line in annotation_lines([run])
        if NEW.id.replace("[", "[") in annotation_line
    )
    assert f"::{title}%0A" in line


def test_board(title: str, run: Run) -> None:
    page = render_board([run])
    assert f"<li><code>{NEW.id}</code>: {title}" in page
    assert f'"{title}"' in page


def test_a_board_takes_the_title_from_the_run_that_has_one() -> None:
    bare = CheckRecord(NEW.id, "PASS")
    page = render_board(
        [from_records([RunRecord(name), record])[-1] for name, record in (("A", NEW), ("B", bare))]
    )
    index = page.partition('id="index">')[2].partition("</script>")[0]
    assert json.loads(index)["strings"][json.loads(index)["checks"][0][2]] == TITLE
