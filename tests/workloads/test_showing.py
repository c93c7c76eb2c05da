# SPDX-License-Identifier: MIT
"""Results as text, CSV, OpenMetrics, pictures and a page: complete, and harmless whatever a result holds."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from nfsjudge.verdict import Verdict
from reports.board.results import render_results
from reports.workloads.charts import MOST, calls_chart, latency_curve, pictures, seconds_chart
from reports.workloads.openmetrics import openmetrics
from reports.workloads.sheets import sheets
from reports.workloads.table import comparison_text, repeats_text, result_text
from reports.workloads.wording import aligned, compared, digits, duration, names_of, percentile, precise
from tests.needs import needs
from tests.workloads import samples
from workloads import result
from workloads.compare import Design, compare
from workloads.histogram import Histogram
from workloads.result import LintFinding, Result

HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e=cmd|'\"\\\n::warning::"
RATE = samples.rate()


def hostile() -> Result:
    """A result in which every text is an attack."""
    phase = dataclasses.replace(samples.SCRIPT.phases[0], name=HOSTILE, calls={HOSTILE: 3})
    latency = result.Latency(
        operations=Histogram([1.0, 2.0]), procedures={HOSTILE: Histogram([1.0])}, lag=Histogram([3.0])
    )
    return dataclasses.replace(
        RATE,
        setup=dataclasses.replace(
            RATE.setup, workload=HOSTILE, policy=HOSTILE, stable=HOSTILE, parameters={HOSTILE: HOSTILE}
        ),
        target=HOSTILE,
        server=HOSTILE,
        started=HOSTILE,
        environment=dataclasses.replace(samples.ENVIRONMENT, python=HOSTILE, system=HOSTILE),
        phases=(phase,),
        latency=latency,
        troubles={HOSTILE: 1},
        events={HOSTILE: 2},
        checks=result.DataChecks(
            made=1,
            failed=1,
            first=(dataclasses.replace(samples.WRONG, path=HOSTILE, writer=HOSTILE, capture=HOSTILE),),
        ),
        findings=(LintFinding(rule=HOSTILE, verdict=Verdict.FAIL, text=HOSTILE),),
        warnings=(HOSTILE,),
        verdict=Verdict.FAIL,
        reasons=(HOSTILE,),
    )


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(0, "0.00 µs"), (9.994, "9.99 µs"), (9.996, "10.0 µs"), (99.94, "99.9 µs"), (99.96, "100 µs"),
     (999.4, "999 µs"), (999.6, "1.00 ms"), (1234, "1.23 ms"), (999_600, "1.00 s"), (12_345_678, "12.3 s")],
)  # fmt: skip
def test_durations_have_three_digits(microseconds: float, text: str) -> None:
    assert duration(microseconds) == text


def test_a_percentile_is_shown_only_with_a_value_beyond_it() -> None:
    assert percentile(Histogram([1.0] * 1000), 99.9) == "1.00 µs"
    assert percentile(Histogram([1.0] * 999), 99.9) == "-"
    assert percentile(Histogram(), 50) == "-"
    assert digits(1234.5) == "1234"


def test_a_script_is_shown_by_phases_and_calls() -> None:
    text = result_text(samples.SCRIPT)
    assert (
        "workload: write10 (script), policy raw, NFSv3 over tcp, unstable, read 8 KiB, write 8 KiB, window 7"
        in text
    )
    for line in (
        "target:   embedded",
        "write    0.750        1280  1707   1281   10.2 MiB  175.8 KiB       -   13.3 MiB",
        "WRITE    1280  99.8 %  286 µs  456 µs  494 µs  498 µs       -   499 µs",
        "COMMIT      1   0.1 %       -       -       -       -       -        -",
        "1282 calls on the wire",
        "data:     1280 reads compared (10 MiB), all as written",
        "troubles: short writes continued 2",
        "verdict:  PASS",
    ):
        assert line in text.splitlines()


def test_a_rate_is_shown_by_its_latencies_and_says_what_they_are() -> None:
    text = result_text(RATE)
    assert "operations   3000  234 µs  230 µs  350 µs  377 µs  378 µs       -  5.28 ms" in text.splitlines()
    assert "(service as the callers see it)" in text
    is_open = dataclasses.replace(
        RATE,
        setup=dataclasses.replace(RATE.setup, arrivals=500.0),
        latency=dataclasses.replace(RATE.latency, lag=Histogram([20.0] * 3000)),
    )
    text = result_text(is_open)
    assert "(from the intended start)" in text
    assert "open loop, 500 arrivals/s" in text
    assert re.search(r"lag of sending +3000 +20.0 µs", text)


def test_wrong_data_is_shown_with_its_place() -> None:
    lines = result_text(samples.WRONG_DATA).splitlines()
    assert "data:     1280 reads compared (10 MiB), 1 WRONG" in lines
    assert (
        "          f/3 at 4096: expected 00ff, got 00fe; written by worker 1 caller 2, read by worker 2 caller 1"
        in lines
    )
    assert "lint:     FAIL wcc: size: expected 3, got 4 (and 1 more)" in lines
    assert lines[-2:] == ["reason:   1 read returned wrong data", "verdict:  FAIL"]


def test_what_was_compared_is_said_as_it_is() -> None:
    for checks, expected in (
        (result.DataChecks(), "none compared"),
        (result.DataChecks(failed=1, first=(samples.WRONG,)), "1 WRONG"),
        (result.DataChecks(made=2, bytes=10), "2 reads compared (10 bytes), all as written"),
    ):
        assert compared(checks) == expected
    text = result_text(dataclasses.replace(samples.VOID, checks=result.DataChecks()))
    assert "data:     none compared" in text.splitlines()


def test_a_comparison_says_what_is_seen_and_by_which_method() -> None:
    slow = [samples.rate(slower=1.5 + n / 100) for n in range(5)]
    fast = [samples.rate(slower=1.0 + n / 100) for n in range(5)]
    text = comparison_text(compare(fast, slow))
    assert "B: slower: 1.490 times the time of A (1.456 to 1.525)" in text.splitlines()
    assert "exact interval of the rank-sum test, 96.83 %" in text
    assert "B: faster: 0.671" in comparison_text(compare(slow, fast, design=Design.PAIRS))
    assert "signed-rank test, 93.75 %" in comparison_text(compare(slow, fast, design=Design.PAIRS))
    assert "B: no difference seen: " in comparison_text(compare(fast, fast))
    assert "not enough runs" in comparison_text(compare(fast[:1], slow[:1]))


def test_repeats_have_a_mean_with_the_interval_of_student() -> None:
    runs = [dataclasses.replace(samples.SCRIPT, phases=(phase,)) for phase in samples.SCRIPT.phases[:1] * 3]
    times = [9.0, 10.0, 11.0]
    runs = [
        dataclasses.replace(run, phases=(dataclasses.replace(run.phases[0], seconds=time),))
        for run, time in zip(runs, times, strict=True)
    ]
    assert "write (s)  10.00   7.516 to 12.48" in repeats_text(runs).splitlines()
    assert re.search(r"^p99 \(µs\) +(\d+\.\d) +\1 to \1$", repeats_text([RATE, RATE]), re.MULTILINE)
    assert repeats_text([RATE]) == ""
    assert repeats_text([RATE, samples.rate(seed=8)]) == ""
    assert repeats_text([samples.SCRIPT, samples.VOID]) == ""
    assert repeats_text([RATE, dataclasses.replace(RATE, target="other")]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234.5, "1234"),
        (12.345, "12.35"),
        (0.012345, "0.01235"),
        (-3.0, "-3.000"),
        (1e-9, "0.000000"),
    ],
)
def test_precise_numbers_have_four_digits(value: float, text: str) -> None:
    assert precise(value) == text


def test_sides_of_different_work_are_both_described() -> None:
    other = dataclasses.replace(samples.SCRIPT, setup=dataclasses.replace(samples.SETUP, version="2"))
    text = comparison_text(compare([samples.SCRIPT], [other], across={"version"}))
    assert "A: 1 run on embedded: write10 (script), policy raw, NFSv3 over tcp" in text
    assert "B: 1 run on embedded: write10 (script), policy raw, NFSv2 over tcp" in text


def test_results_are_named_by_what_differs() -> None:
    def of(**fields: str) -> Result:
        return dataclasses.replace(samples.SCRIPT, setup=dataclasses.replace(samples.SETUP, **fields))  # type: ignore[arg-type]

    other = dataclasses.replace(samples.SCRIPT, target="ganesha:vfs")
    assert names_of([samples.SCRIPT, other]) == ["embedded", "ganesha:vfs"]
    assert names_of([of(), of(version="2")]) == ["embedded, NFSv3", "embedded, NFSv2"]
    assert names_of([of(), of()]) == ["embedded (1)", "embedded (2)"]


def test_columns_are_aligned() -> None:
    assert aligned([("a", "bb"), ("ccc", "d")]) == ["a    bb", "ccc   d"]


# ---------------------------------------------------------------- CSV


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_csv_has_every_number() -> None:
    made = sheets(RATE)
    assert sorted(made) == ["calls.csv", "latency.csv", "phases.csv", "seconds.csv"]
    assert rows(made["calls.csv"]) == [["phase", "call", "count"], ["steady", "READ", "3000"]]
    assert [row[2] for row in rows(made["seconds.csv"])[1:]] == ["900", "1000", "1010", "990"]
    assert [row[1] for row in rows(made["seconds.csv"])[1:]] == ["0", "1", "1", "1"]
    latencies = rows(made["latency.csv"])[1:]
    assert sum(int(row[3]) for row in latencies if row[0] == "operations") == 3000
    assert rows(made["phases.csv"])[1][:4] == ["steady", "3.0", "3000", "3000"]
    assert sorted(sheets(samples.SCRIPT)) == ["calls.csv", "latency.csv", "phases.csv"]


def test_csv_has_no_formula_and_nothing_that_hides() -> None:
    phase = dataclasses.replace(
        samples.SCRIPT.phases[0], name="=cmd()", calls={"+1": 1, "@x": 2, "a\x1b\u202e": 3}
    )
    made = sheets(dataclasses.replace(samples.SCRIPT, phases=(phase,)))
    assert [row[:2] for row in rows(made["calls.csv"])[1:]] == [
        ["'=cmd()", "'+1"],
        ["'=cmd()", "'@x"],
        ["'=cmd()", "a\\x1b\\u202e"],
    ]


# ---------------------------------------------------------------- OpenMetrics


@needs("prometheus_client")
@pytest.mark.parametrize("measured", [samples.SCRIPT, RATE, samples.WRONG_DATA, samples.VOID, hostile()])
def test_openmetrics_is_valid_and_has_the_numbers(measured: Result) -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    families = {family.name: family for family in text_string_to_metric_families(openmetrics(measured))}  # type: ignore[no-untyped-call]
    prefix = "nfsproof_workload"
    (about,) = families[prefix].samples
    assert about.labels["verdict"] == measured.verdict
    assert about.labels["target"].startswith(measured.target[:9])
    (passed,) = families[f"{prefix}_passed"].samples
    assert passed.value == (measured.verdict is Verdict.PASS)
    assert sum(each.value for each in families[f"{prefix}_calls"].samples) == sum(measured.calls.values())
    assert [each.value for each in families[f"{prefix}_phase_seconds"].samples] == [
        phase.seconds for phase in measured.phases
    ]
    counts = [
        each for each in families[f"{prefix}_call_latency_seconds"].samples if each.name.endswith("_count")
    ]
    assert [each.value for each in counts] == [each.count for each in measured.latency.procedures.values()]


def test_cumulative_counts_are_exact_at_their_edges() -> None:
    latencies = [0.0, 0.1, 25.5, 25.6, 51.1, 51.2, 102.3, 102.4, 5000.0]
    text = openmetrics(dataclasses.replace(RATE, latency=result.Latency(operations=Histogram(latencies))))
    found = re.findall(r'_workload_latency_seconds_bucket\{le="([^"]*)"\} (\d+)', text)
    assert found[-1] == ("+Inf", str(len(latencies)))
    for edge, number in found:
        assert int(number) == sum(value <= round(float(edge) * 1e6, 6) for value in latencies), edge


# ---------------------------------------------------------------- pictures


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter() if element.tag.endswith("}text")]


def points(svg: str) -> list[list[tuple[float, float]]]:
    lines = (
        element.get("points", "") for element in ET.fromstring(svg).iter() if element.tag.endswith("polyline")
    )
    return [
        [(float(x), float(y)) for x, _, y in (each.partition(",") for each in line.split())] for line in lines
    ]


def test_a_slower_server_is_above_the_other_and_never_falls() -> None:
    named = [("fast", RATE), ("slow", samples.rate(slower=3.0))]
    svg = latency_curve(named)
    fast, slow = points(svg)
    assert all(after[1] <= before[1] and after[0] >= before[0] for before, after in itertools.pairwise(fast))
    assert slow[0][1] < fast[0][1]
    assert slow[-1][1] < fast[-1][1]
    assert {"fast", "slow", "50 %", "99.9 %", "1.00 ms"} <= set(texts(svg))


def test_seconds_have_a_point_each_and_the_warm_up_is_marked() -> None:
    svg = seconds_chart([("a", RATE)])
    (line,) = points(svg)
    assert len(line) == 4
    assert 'class="warm-up"' in svg
    assert seconds_chart([("a", samples.SCRIPT)]) == ""


def test_calls_have_a_bar_each() -> None:
    svg = calls_chart([("a", samples.SCRIPT)])
    assert texts(svg) == ["WRITE", "1280", "COMMIT", "1", "CREATE", "1"]
    assert "READ" in texts(calls_chart([("a", samples.SCRIPT), ("b", RATE)]))
    assert calls_chart([("a", dataclasses.replace(samples.SCRIPT, phases=()))]) == ""


def test_a_long_series_is_thinned_and_keeps_its_end() -> None:
    series = tuple(dataclasses.replace(RATE.series[1], second=n, operations=n) for n in range(86_400))
    (line,) = points(seconds_chart([("day", dataclasses.replace(RATE, series=series))]))
    assert len(line) <= 602
    assert line[-1][0] == 690


def test_more_results_than_can_be_distinguished_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at most 8 results in a picture, got 9"):
        pictures([("a", RATE)] * (MOST + 1))


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0], [5.0], [1.0] * 5, [0.1, 6e10]])
def test_a_curve_of_few_values_can_be_drawn(values: list[float]) -> None:
    svg = latency_curve(
        [("a", dataclasses.replace(RATE, latency=result.Latency(operations=Histogram(values))))]
    )
    assert "nan" not in svg
    assert all(0 <= x <= 920 and 0 <= y <= 320 for line in points(svg) for x, y in line)


# ---------------------------------------------------------------- the page


class Reader(HTMLParser):
    """Collects tags, attributes and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


def read_page(results: list[Result]) -> Reader:
    reader = Reader()
    reader.feed(render_results(results))
    return reader


def test_a_page_shows_measured_two_or_several() -> None:
    single = read_page([samples.WRONG_DATA])
    assert {
        "Result",
        "FAIL",
        "Seconds by phase",
        "Wrong data",
        "1280 reads compared (10 MiB), 1 WRONG",
    } <= set(single.text)
    both = read_page([RATE, dataclasses.replace(samples.rate(slower=2.0), target="ganesha:vfs")])
    assert {"Results side by side", "A and B compared", "p99.9", "embedded", "ganesha:vfs"} <= set(both.text)
    several = read_page([dataclasses.replace(RATE, target=name) for name in ("a", "b", "c")])
    assert "A and B compared" not in several.text
    assert sum(tag == "svg" for tag, _ in several.tags) == 3


def test_two_results_of_different_work_are_not_compared() -> None:
    page = read_page([RATE, samples.SCRIPT])
    assert any(
        text.startswith("not comparable: A and B are of different work: workload") for text in page.text
    )


def test_nothing_of_a_result_is_markup_and_nothing_hides() -> None:
    for results in ([hostile()], [hostile(), hostile()]):
        page = read_page(results)
        assert {tag for tag, _ in page.tags} <= {
            "html", "head", "meta", "title", "style", "body", "header", "div", "p", "h1", "h2", "main", "section",
            "table", "tr", "th", "td", "span", "pre", "ul", "li", "svg", "desc", "g", "line", "text", "polyline",
            "rect",
        }  # fmt: skip
        assert not [
            key
            for _, attributes in page.tags
            for key in attributes
            if key.startswith("on") or key in {"href", "src"}
        ]
        html = render_results(results)
        assert "\x1b" not in html
        assert "\u202e" not in html
    for text in (
        result_text(hostile()),
        comparison_text(compare([RATE], [dataclasses.replace(RATE, target=HOSTILE)])),
    ):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert not re.search(r"^::", text, re.MULTILINE)


# ---------------------------------------------------------------- schema


@needs("jsonschema")
def test_results_are_valid_by_their_schema_and_others_are_not() -> None:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    schema = result.json_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for each in (samples.SCRIPT, RATE, samples.WRONG_DATA, samples.VOID, hostile()):
        plain = json.loads(json.dumps(result.to_plain(each)))
        assert not list(validator.iter_errors(plain))
        assert list(validator.iter_errors(plain | {"extra": 1}))
        assert list(validator.iter_errors(plain | {"seed": -1}))
        assert list(validator.iter_errors({key: value for key, value in plain.items() if key != "seed"}))
