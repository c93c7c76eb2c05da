# SPDX-License-Identifier: MIT
"""The view of workloads: one result, two, or those of several servers side by side, as one file of HTML.

It has no script. All text is escaped, and the policy of the page lets nothing be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from nfsjudge.wording import count
from reports.board.charts import drawing
from reports.board.data import SYMBOLS
from reports.board.page import digest, style_text
from reports.board.safe import visible, visible_line
from reports.workloads.charts import pictures
from reports.workloads.table import comparison_text, wrong_data_text
from reports.workloads.wording import (
    UNKNOWN,
    compared,
    describe,
    digits,
    duration,
    names_of,
    percentile,
    percentile_names,
    seconds,
)
from workloads.compare import NotComparable, compare
from workloads.histogram import PERCENTILES
from workloads.result import Result

Table = tuple[str, list[str], list[list[str]]]


@dataclass(frozen=True, slots=True)
class ResultsView:
    """Results of one workload, as the templates show them: text that is safe in HTML once it is escaped."""

    title: str
    tagline: str
    names: list[str]
    verdicts: list[tuple[str, str]]
    facts: list[tuple[str, list[str]]]
    tables: list[Table]
    comparison: str
    lists: list[tuple[str, list[str]]]
    charts: list[tuple[str, Markup]]
    is_study: bool = False


def render_results(results: Sequence[Result]) -> str:
    """The page of at least one result. ValueError for none, or for more than a picture can show."""
    style = style_text()
    return _template().render(
        policy=f"default-src 'none'; style-src '{digest(style)}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704  a file of this package
        view=view_of(results),
    )


def views_of(results: Sequence[Result]) -> list[ResultsView]:
    """A view for each workload, of all its results side by side. ValueError for more than a picture can show."""
    by_workload: dict[str, list[Result]] = {}
    for each in results:
        by_workload.setdefault(each.setup.workload, []).append(each)
    return [view_of(by_workload[name]) for name in sorted(by_workload)]


def view_of(results: Sequence[Result]) -> ResultsView:
    """The view of at least one result. ValueError for none, or for more than a picture can show."""
    if not results:
        raise ValueError("expected at least one result, got none")
    names = [visible_line(name) for name in names_of(results)]
    charts = pictures(list(zip(names, results, strict=True)))
    return ResultsView(
        title=visible_line(", ".join(dict.fromkeys(each.setup.workload for each in results))),
        tagline=visible_line(" · ".join(dict.fromkeys(describe(each.setup) for each in results))),
        names=names,
        verdicts=[(SYMBOLS[each.verdict], str(each.verdict)) for each in results],
        facts=[
            (visible_line(name), [visible_line(cell) for cell in cells]) for name, cells in _facts(results)
        ],
        tables=[_visible(table) for table in _tables(results, names)],
        comparison=visible(_comparison(results)),
        lists=[
            (heading, [visible_line(line) for line in lines]) for heading, lines in _lists(results, names)
        ],
        charts=[(visible_line(title), Markup(drawing(svg))) for title, svg in charts],  # noqa: S704  rebuilt
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("results.html.j2")


def _visible(table: Table) -> Table:
    heading, columns, rows = table
    return heading, columns, [[visible_line(cell) for cell in row] for row in rows]


def _facts(results: Sequence[Result]) -> Iterator[tuple[str, list[str]]]:
    yield "work", [describe(each.setup) for each in results]
    yield "parameters", [", ".join(f"{k} {v}" for k, v in each.setup.parameters.items()) for each in results]
    yield "server", [each.server or each.target for each in results]
    yield "started", [f"{each.started}, seed {each.seed}" for each in results]
    yield (
        "client",
        [
            f"nfsproof {each.environment.nfsproof}, {each.environment.python}, {each.environment.system}"
            for each in results
        ],
    )
    yield (
        "processor of the client",
        [f"{100 * each.client.cpu_share:.0f} % of a core at most" for each in results],
    )
    yield (
        "NULL",
        [duration(each.client.null_rtt_us) if each.client.null_rtt_us else UNKNOWN for each in results],
    )
    yield "data", [compared(each.checks) for each in results]
    if any(each.events for each in results):
        yield "events", [", ".join(f"{k} {v}" for k, v in each.events.items()) or "none" for each in results]
    yield "troubles", [", ".join(f"{k} {v}" for k, v in each.troubles.items()) or "none" for each in results]


def _tables(results: Sequence[Result], names: list[str]) -> Iterator[Table]:
    phases = list(dict.fromkeys(phase.name for each in results for phase in each.phases))
    yield (
        "Seconds by phase",
        ["phase", *names],
        [[name, *(_phase(each, name) for each in results)] for name in phases],
    )
    if any(each.latency.operations.count for each in results):
        rows = [["operations/s", *(digits(each.rate) for each in results)]]
        rows.append(["latencies", *(str(each.latency.operations.count) for each in results)])
        for name, percent in zip(percentile_names(), PERCENTILES, strict=True):
            rows.append([name, *(percentile(each.latency.operations, percent) for each in results)])
        rows.append(["highest", *(duration(each.latency.operations.highest) for each in results)])
        yield "Rate and latency", ["", *names], rows
    procedures = sorted({name for each in results for name in each.calls})
    rows = [[name, *(str(each.calls.get(name, 0)) for each in results)] for name in procedures]
    rows.append(["all calls on the wire", *(str(each.rpcs) for each in results)])
    for what in ("sent", "received"):
        rows.append([f"bytes {what}", *(str(sum(getattr(p, what) for p in each.phases)) for each in results)])
    yield "Calls by procedure", ["call", *names], rows


def _phase(result: Result, name: str) -> str:
    found = [phase.seconds for phase in result.phases if phase.name == name]
    return f"{seconds(sum(found))} s" if found else UNKNOWN


def _comparison(results: Sequence[Result]) -> str:
    """Of two results."""
    if len(results) != 2:
        return ""
    try:
        return comparison_text(compare(results[:1], results[1:]))
    except NotComparable as error:
        return f"not comparable: {error}"


def _lists(results: Sequence[Result], names: list[str]) -> Iterator[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {
        "Wrong data": [],
        "Rules of the protocol broken": [],
        "Reasons": [],
        "Warnings": [],
    }
    for name, each in zip(names, results, strict=True):
        prefix = f"{name}: " if len(results) > 1 else ""
        found["Wrong data"] += [prefix + wrong_data_text(wrong) for wrong in each.checks.first]
        found["Rules of the protocol broken"] += [
            f"{prefix}{finding.verdict} {finding.rule}, {count(finding.count, 'time')}: {finding.text}"
            for finding in each.findings
        ]
        found["Reasons"] += [prefix + text for text in each.reasons]
        found["Warnings"] += [prefix + text for text in each.warnings]
    return ((heading, lines) for heading, lines in found.items() if lines)
