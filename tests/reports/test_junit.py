# SPDX-License-Identifier: MIT
"""JUnit XML: any text survives a parser, and the document keeps to what its readers know."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, FindingRecord, RequirementRecord, RunRecord
from nfsjudge.verdict import VERDICTS
from reports.junit import render_junit
from reports.plain import legal_in_xml
from reports.run import Run, from_records

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "a gist")
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)

# junit-10.xsd of Jenkins' xUnit plugin: element -> (attributes, those it must have, children). `properties` of a
# test case is our addition to it, and that of pytest.
OUTCOMES = ({"type", "message"}, {"type"}, set[str]())
GRAMMAR: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped", "timestamp"},
        {"name", "tests", "failures", "errors"},
        {"properties", "testcase"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": (
        {"name", "time", "classname"},
        {"name", "time"},
        {"properties", "skipped", "error", "failure"},
    ),
    "failure": OUTCOMES,
    "error": OUTCOMES,
    "skipped": OUTCOMES,
}


def parsed(*runs: Run) -> ET.Element:
    return ET.fromstring(render_junit(runs))


def hold_grammar(element: ET.Element) -> None:
    known, needed, children = GRAMMAR[element.tag]
    assert needed <= set(element.attrib) <= known
    assert {child.tag for child in element} <= children
    assert not any((child.tail or "").strip() for child in element)
    for child in element:
        hold_grammar(child)


def run_of(*records: AnyRecord, strict: bool = False, lint: str = "fail", code: int = 1) -> Run:
    about = RunRecord("embedded", started="2026-11-21T10:00:00+00:00", strict=strict, lint=lint)
    return from_records([about, *records, EndRecord(code)])[-1]


def outcome(case: ET.Element) -> str:
    tags = [child.tag for child in case if child.tag != "properties"]
    assert len(tags) <= 1
    return tags[0] if tags else "passed"


def properties(element: ET.Element) -> dict[str, str]:
    return {added.attrib["name"]: added.attrib["value"] for added in element.findall("properties/property")}


@settings(deadline=None)
@given(TEXT)
def test_legal_text_is_left_alone_and_all_text_becomes_legal(text: str) -> None:
    element = ET.Element("a", b=legal_in_xml(text))
    element.text = legal_in_xml(text)
    again = ET.fromstring(ET.tostring(element, encoding="unicode"))
    assert again.get("b") == legal_in_xml(text)
    assert (again.text or "") == legal_in_xml(text)
    if text.isprintable():
        assert legal_in_xml(text) == text


@settings(deadline=None)
@given(
    verdict=st.sampled_from(VERDICTS),
    text=TEXT.filter(str.strip),
    seconds=st.floats(-1, 1e9),
    several=st.booleans(),
)
def test_whatever_a_record_holds_the_document_is_valid(
    verdict: str, text: str, seconds: float, several: bool
) -> None:
    check = CheckRecord(text, verdict, CLAUSE, [text], text, text, {text: text}, seconds, capture=text)
    check.rerun, check.transcript = text, [text, text]
    found = FindingRecord(text, text, "FAIL", CLAUSE, [text], text)
    run = run_of(check, found)
    assert run.about is not None
    run.about.description, run.about.environment = text, {text: text}
    root = parsed(*[run] * (2 if several else 1))
    hold_grammar(root)
    assert properties(next(root.iter("testcase")))["id"] == legal_in_xml(text)


@pytest.mark.parametrize("strict", [False, True])
def test_outcomes(strict: bool) -> None:
    run = run_of(*(CheckRecord(f"nfs3/a/{verdict}", verdict, CLAUSE) for verdict in VERDICTS), strict=strict)
    cases = {case.attrib["name"]: outcome(case) for case in parsed(run).iter("testcase")}
    assert cases == {
        "FAIL": "failure",
        "VOID": "error",
        "NONSTRICT": "failure" if strict else "passed",
        "SKIP": "skipped",
        "UNSUPPORTED": "skipped",
        "PASS": "passed",
    }


def test_suites_names_and_numbers() -> None:
    root = parsed(
        run_of(
            CheckRecord("nfs3/write/keeps[a/b]", "FAIL", CLAUSE, ["4"], "5", duration=1.25),
            CheckRecord("nfs3/read/short", "VOID", duration=0.5),
            CheckRecord("mount/mnt/it", "SKIP", reason="no root"),
        )
    )
    suites = {suite.attrib["name"]: suite for suite in root}
    assert list(suites) == ["mount", "nfs3"]
    assert suites["nfs3"].attrib | {"timestamp": ""} == {
        "name": "nfs3", "tests": "2", "failures": "1", "errors": "1", "skipped": "0", "time": "1.750", "timestamp": "",
    }  # fmt: skip
    assert root.attrib["tests"] == "3"
    case = suites["nfs3"].find("testcase")
    assert case is not None
    assert (case.attrib["classname"], case.attrib["name"]) == ("nfs3.write", "keeps[a/b]")
    shown = properties(case)
    assert {
        "verdict": "FAIL",
        "level": "STATED",
        "requirement": "RFC 1813 section 3.3.7",
    }.items() <= shown.items()
    assert (shown["expected"], shown["observed"]) == ("4", "5")


def test_several_runs_are_distinguished() -> None:
    run = run_of(CheckRecord("nfs3/a/b", "PASS"))
    names = [case.attrib["classname"] for case in parsed(run, run).iter("testcase")]
    assert names == ["embedded/nfs3.a", "embedded (2)/nfs3.a"]


ENDS = [None, EndRecord(2), EndRecord(10, note="the target is gone"), EndRecord(1, missing=["udp: no"])]


@pytest.mark.parametrize("end", ENDS)
def test_a_run_that_is_not_complete_is_an_error(end: EndRecord | None) -> None:
    run = from_records([RunRecord("embedded"), CheckRecord("nfs3/a/b", "PASS")])[-1]
    run.end = end
    root = parsed(run)
    assert root.attrib["errors"] == "1"
    assert "run" in {suite.attrib["name"] for suite in root}


@pytest.mark.parametrize(("lint", "expected"), [("fail", "failure"), ("report", "passed"), ("", "failure")])
def test_a_finding_is_a_separate_case_and_a_property_of_its_check(lint: str, expected: str) -> None:
    found = FindingRecord("lint/nfs3/wcc", "nfs3/a/b", "FAIL", CLAUSE, observed="4")
    root = parsed(run_of(CheckRecord("nfs3/a/b", "PASS"), found, lint=lint))
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert properties(cases["b"])["finding.lint/nfs3/wcc"] == "4"
    assert outcome(cases["nfs3/wcc"]) == expected


def test_a_cause_has_in_each_suite_the_verdict_of_what_is_there() -> None:
    check = CheckRecord("nfs3/READDIR/a", "NONSTRICT", CLAUSE, ["less"], "more", what="size")
    finding = FindingRecord("lint/nfs3/count", check.id, "FAIL", CLAUSE, observed="a large page")
    of_checks, of_lint = parsed(run_of(check, finding))
    assert (of_checks.get("failures"), of_lint.get("failures")) == ("0", "1")
    assert properties(of_checks)["cause.1"].startswith("NONSTRICT ")
    assert properties(of_lint)["cause.1"].startswith("FAIL ")


def test_checks_that_were_not_asked_are_one_error() -> None:
    gone = "not asked: the target is gone since nfs3/WRITE/a"
    checks = [CheckRecord(f"nfs3/WRITE/{letter}", "VOID", reason=gone) for letter in "bcd"]
    ours = CheckRecord("nfs3/WRITE/e", "VOID", reason="the suite is wrong")
    suite, *_ = parsed(run_of(*checks, ours, code=10))
    cases = suite.findall("testcase")
    assert [outcome(case) for case in cases] == ["skipped"] * 3 + ["error"] * 2
    assert {name: suite.get(name) for name in ("tests", "errors", "skipped")} == {
        "tests": "5",
        "errors": "2",
        "skipped": "3",
    }
    last = cases[-1]
    assert (last.get("classname"), last.get("name")) == ("nfs3", "not_asked")
    error = last.find("error")
    assert error is not None
    assert error.get("message") == f"VOID: 3 checks {gone}"
