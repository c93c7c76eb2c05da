# SPDX-License-Identifier: MIT
"""Charts: well-formed SVG that says its numbers in words, whatever stands in the records."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest

from nfsjudge.records import CheckRecord, ProcedureStatistics, RequirementRecord, RunRecord, StatisticsRecord
from reports.board import render_html
from reports.charts import charts_of, latency_chart, verdicts_chart
from reports.run import Run

WRITE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "what is written is there")
HOSTILE = '</svg><script>alert("x")</script>\x00\x1b[31m\u202e'
SVG = "{http://www.w3.org/2000/svg}"


def measured(procedure: str, p50: float, p90: float, p99: float, calls: int = 3) -> ProcedureStatistics:
    return ProcedureStatistics("nfs3", procedure, calls, latency={"p50": p50, "p90": p90, "p99": p99})


def timed(*procedures: ProcedureStatistics) -> Run:
    return Run(RunRecord("embedded"), statistics=StatisticsRecord(list(procedures)))


def judged(*verdicts: str) -> Run:
    checks = [CheckRecord(f"nfs3/write/{number}", verdict, WRITE) for number, verdict in enumerate(verdicts)]
    return Run(RunRecord("embedded"), checks)


def texts(svg: str, kind: str) -> list[str]:
    return [
        str(element.text) for element in ET.fromstring(svg).iter(f"{SVG}text") if element.get("class") == kind
    ]


def test_a_run_without_numbers_has_no_charts() -> None:
    assert charts_of([Run()]) == charts_of([]) == []
    assert not latency_chart(timed(ProcedureStatistics("nfs3", "NULL", 1)))


def test_a_row_says_its_percentiles() -> None:
    svg = latency_chart(
        timed(measured("WRITE", 0.0001, 0.0034, 2), measured("READ", 0.00002, 0.0001, 0.0123))
    )
    assert texts(svg, "name") == ["nfs3 READ", "nfs3 WRITE"]
    assert texts(svg, "number") == ["20 µs / 100 µs / 12 ms", "100 µs / 3.4 ms / 2 s"]


def test_the_axis_has_a_tick_a_power_of_ten() -> None:
    svg = latency_chart(timed(measured("WRITE", 0.0002, 0.003, 0.05)))
    assert texts(svg, "tick") == ["p50 / p90 / p99", "100 µs", "1 ms", "10 ms", "100 ms"]


def test_a_power_of_ten_lies_where_its_tick_is() -> None:
    root = ET.fromstring(latency_chart(timed(measured("WRITE", 0.001, 0.01, 0.1))))
    ticks = {
        element.text: element.get("x")
        for element in root.iter(f"{SVG}text")
        if element.get("class") == "tick"
    }
    dots = {element.get("class"): element.get("cx") for element in root.iter(f"{SVG}circle")}
    assert dots == {"p50": ticks["1 ms"], "p99": ticks["100 ms"]}


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, "12"])
def test_what_cannot_be_drawn_is_left_out(value: float) -> None:
    assert not latency_chart(timed(measured("WRITE", 0.1, value, 0.2)))


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e300])
def test_what_is_beyond_the_axis_is_drawn_at_its_end(value: float) -> None:
    root = ET.fromstring(latency_chart(timed(measured("WRITE", value, value, value))))
    assert all(0 <= float(element.get("cx", "")) <= 920 for element in root.iter(f"{SVG}circle"))


def test_of_too_many_procedures_those_with_most_calls_are_shown() -> None:
    many = [measured(f"P{number}", 0.1, 0.2, 0.3, calls=number) for number in range(100)]
    svg = latency_chart(timed(*many))
    assert "nfs3 P99" in texts(svg, "name")
    assert "nfs3 P0" not in texts(svg, "name")
    assert "40 more are not shown" in svg


def test_verdicts_are_reported_in_words_what_is_worst_first() -> None:
    svg = verdicts_chart(judged("PASS", "PASS", "FAIL", "SKIP"), "RFC 1813")
    assert texts(svg, "number") == ["1 FAIL, 1 SKIP, 2 PASS"]
    bars = [
        (element.get("class"), float(element.get("width", "")))
        for element in ET.fromstring(svg).iter(f"{SVG}rect")
    ]
    assert [name for name, _ in bars] == ["FAIL", "SKIP", "PASS"]
    assert bars[2][1] == pytest.approx(2 * bars[0][1])


def test_one_failure_among_hundreds_is_seen() -> None:
    svg = verdicts_chart(judged("FAIL", *["PASS"] * 1000), "RFC 1813")
    widths = [float(element.get("width", "")) for element in ET.fromstring(svg).iter(f"{SVG}rect")]
    assert widths[0] >= 2


def test_a_section_of_a_procedure_is_called_by_its_name() -> None:
    assert texts(verdicts_chart(judged("PASS"), "RFC 1813"), "name") == ["3.3.7 WRITE"]


def test_an_rfc_without_checks_has_no_chart() -> None:
    assert not verdicts_chart(judged("PASS"), "RFC 1094")
    assert not verdicts_chart(judged("PASS"), "RFC 0")


def test_an_unknown_verdict_is_not_drawn() -> None:
    assert "onload" not in verdicts_chart(judged('" onload="x', "PASS"), "RFC 1813")


def test_charts_have_a_name_and_a_description_for_those_who_do_not_see_them() -> None:
    run = judged("PASS", "FAIL")
    run.statistics = timed(measured("WRITE", 0.1, 0.2, 0.3)).statistics
    titles = [title for title, _ in charts_of([run])]
    assert titles == ["Latency by procedure", "Verdicts by section of RFC 1813"]
    for title, svg in charts_of([run]):
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        assert root.findtext(f"{SVG}title") == title
        assert root.findtext(f"{SVG}desc")


def test_nothing_of_a_target_is_trusted() -> None:
    run = timed(ProcedureStatistics(HOSTILE, HOSTILE, 1, latency={"p50": 0.1, "p90": 0.2, "p99": 0.3}))
    svg = latency_chart(run)
    ET.fromstring(svg)
    assert "<script" not in svg
    assert not {"\x00", "\x1b", "\u202e"} & set(svg)


def test_charts_carry_neither_scripts_nor_styles_nor_links() -> None:
    for _, svg in charts_of([judged("PASS", "FAIL", "NONSTRICT")]):
        names = {str(element.tag).removeprefix(SVG) for element in ET.fromstring(svg).iter()}
        assert names <= {"svg", "g", "title", "desc", "text", "line", "circle", "rect"}
        assert "url(" not in svg


def test_of_several_runs_there_are_the_latencies_of_each() -> None:
    run = timed(measured("WRITE", 0.1, 0.2, 0.3))
    assert [title for title, _ in charts_of([run, judged("FAIL"), run])] == [
        "Latency by procedure: embedded",
        "Latency by procedure: embedded (3)",  # as all that tells runs of one target apart
    ]


def test_the_board_shows_the_charts_of_a_run() -> None:
    page = render_html(judged("PASS", "FAIL"))
    assert "Verdicts by section of RFC 1813" in page
    assert 'class="FAIL"' in page
