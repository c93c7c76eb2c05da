# SPDX-License-Identifier: MIT
"""A result, and a comparison, as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nfsjudge.wording import as_size, count
from reports.plain import printable
from reports.workloads.wording import (
    UNKNOWN,
    aligned,
    compared,
    describe,
    digits,
    duration,
    per_second,
    percentile,
    percentile_names,
    precise,
    seconds,
)
from workloads.compare import Comparison, Design, Difference, Measure, NotComparable, require_comparable
from workloads.histogram import PERCENTILES, Histogram
from workloads.result import JUDGED, SEEN, Phase, Result, WrongData
from workloads.statistics import student


def result_text(result: Result) -> str:
    """All of a result but the series by second, which is for CSV and pictures."""
    parts = [_head(result), _phases(result)]
    if result.latency.operations.count or result.latency.lag is not None:
        parts.append(_operations(result))
    parts += [_calls(result), _ending(result)]
    return printable("\n\n".join(parts) + "\n")


def _head(result: Result) -> str:
    lines = [f"workload: {describe(result.setup)}"]
    parameters = ", ".join(f"{name} {value}" for name, value in result.setup.parameters.items())
    if parameters:
        lines.append(f"work:     {parameters}")
    lines.append(f"target:   {result.target}" + (f" ({result.server})" if result.server else ""))
    lines.append(f"started:  {result.started}, seed {result.seed}")
    environment, client = result.environment, result.client
    lines.append(
        f"client:   nfsproof {environment.nfsproof}, {environment.python}, {environment.system}, "
        f"{count(environment.processors, 'processor')}"
    )
    facts = [f"CPU {digits(client.cpu_seconds)} s, {100 * client.cpu_share:.0f} % of a core at most"]
    if client.null_rtt_us:
        facts.append(f"NULL {duration(client.null_rtt_us)}")
    if client.start_skew_us:
        facts.append(f"start skew {duration(client.start_skew_us)}")
    return "\n".join([*lines, f"          {', '.join(facts)}"])


def _phases(result: Result) -> str:
    columns = ("phase", "seconds", "operations", "op/s", "calls", "sent", "received", "read/s", "written/s")
    return "\n".join(aligned([columns, *map(_phase, result.phases)]))


def _phase(phase: Phase) -> tuple[str, ...]:
    return (
        phase.name,
        seconds(phase.seconds),
        str(phase.operations),
        per_second(phase.operations, phase.seconds),
        str(phase.rpcs),
        as_size(phase.sent),
        as_size(phase.received),
        _bytes_per_second(phase.read, phase.seconds),
        _bytes_per_second(phase.written, phase.seconds),
    )


def _bytes_per_second(amount: int, duration_seconds: float) -> str:
    return as_size(round(amount / duration_seconds)) if amount and duration_seconds > 0 else UNKNOWN


def _operations(result: Result) -> str:
    columns = ("latency", "count", "mean", *percentile_names(), "highest")
    rows = [columns, _latencies("operations", result.latency.operations)]
    if result.latency.lag is not None:
        rows.append(_latencies("lag of sending", result.latency.lag))
    kind = "from the intended start" if result.setup.arrivals else "service as the callers see it"
    return "\n".join([*aligned(rows), f"({kind})"])


def _latencies(name: str, histogram: Histogram) -> tuple[str, ...]:
    if not histogram.count:
        return (name, "0", *[UNKNOWN] * (len(PERCENTILES) + 2))
    return (
        name,
        str(histogram.count),
        duration(histogram.mean),
        *(percentile(histogram, each) for each in PERCENTILES),
        duration(histogram.highest),
    )


def _calls(result: Result) -> str:
    calls, procedures = result.calls, result.latency.procedures
    total = sum(calls.values())
    has_times = any(each.count for each in procedures.values())
    rows = [("call", "count", "share", *([*percentile_names(), "highest"] if has_times else []))]
    for name in sorted({*calls, *procedures}, key=lambda each: (-calls.get(each, 0), each)):
        row = (
            name,
            str(calls.get(name, 0)),
            f"{100 * calls.get(name, 0) / total:.1f} %" if total else UNKNOWN,
        )
        times = _latencies(name, procedures.get(name, Histogram()))[3:] if has_times else ()
        rows.append((*row, *times))
    return "\n".join([*aligned(rows), f"{count(result.rpcs, 'call')} on the wire"])


def _ending(result: Result) -> str:
    checks = result.checks
    lines = [
        f"data:     {compared(checks)}",
    ]
    lines += [f"          {wrong_data_text(each)}" for each in checks.first]
    if result.troubles:
        lines.append("troubles: " + ", ".join(f"{name} {number}" for name, number in result.troubles.items()))
    events = {name: number for name, number in result.events.items() if name not in {JUDGED, SEEN}}
    if events:
        lines.append("events:   " + ", ".join(f"{name} {number}" for name, number in events.items()))
    if JUDGED in result.events:
        lines.append(f"lint:     judged {result.events[JUDGED]} of {result.events.get(SEEN, 0)} calls")
    lines += [
        f"lint:     {each.verdict} {each.rule}: {each.text}"
        + (f" (and {each.count - 1} more)" if each.count > 1 else "")
        for each in result.findings
    ]
    lines += [f"warning:  {text}" for text in result.warnings]
    return "\n".join(
        [*lines, *(f"reason:   {text}" for text in result.reasons), f"verdict:  {result.verdict}"]
    )


def wrong_data_text(wrong: WrongData) -> str:
    """Where wrong data was read, what it is, and who wrote and read it."""
    capture = f", capture {wrong.capture}" if wrong.capture else ""
    seen = wrong.seen or "the end of the file"
    return (
        f"{wrong.path} at {wrong.offset}: expected {wrong.expected}, got {seen}; "
        f"written by {wrong.writer}, read by {wrong.reader}{capture}"
    )


# ---------------------------------------------------------------- repeats


def repeats_text(results: Sequence[Result]) -> str:
    """Means of several runs of the same work on one target, with intervals; empty if they are not that."""
    if len(results) < 2 or len({each.target for each in results}) > 1:
        return ""
    try:
        require_comparable(results, results)
    except NotComparable:
        return ""
    rows = [("mean", "", "interval (95 %)")]
    if results[0].setup.kind == "rate":
        rows.append(_mean("operations/s", [each.rate for each in results]))
        if all(each.latency.operations.count for each in results):
            for percent in (50.0, 99.0):
                values = [each.latency.operations.percentile(percent) for each in results]
                rows.append(_mean(f"p{percent:g} (µs)", values))
    else:
        for index, phase in enumerate(results[0].phases):
            rows.append(_mean(f"{phase.name} (s)", [each.phases[index].seconds for each in results]))
        rows.append(_mean("all (s)", [each.seconds for each in results]))
    head = f"{count(len(results), 'run')} of {describe(results[0].setup)} on {results[0].target}"
    lines = [head, "", *aligned(rows), "(Student's t)"]
    return printable("\n".join(lines) + "\n")


def _mean(name: str, values: Sequence[float]) -> tuple[str, str, str]:
    interval = student(values)
    return name, precise(interval.estimate), f"{precise(interval.low)} to {precise(interval.high)}"


# ---------------------------------------------------------------- two sides

_METHOD = {
    Design.PAIRS: "Hodges-Lehmann estimate over the pairs, exact interval of the signed-rank test",
    Design.SETS: "Hodges-Lehmann estimate over all pairs of runs, exact interval of the rank-sum test",
}


def comparison_text(comparison: Comparison) -> str:
    """Medians of both sides, ratios with intervals, the calls that differ, and what is seen."""
    lines = [
        *_sides(comparison),
        "",
        *aligned(
            [("median", "A", "B", "B / A", "interval"), *map(_row, (comparison.time, *comparison.others))]
        ),
    ]
    if comparison.calls:
        rows = [(name, f"{a:g}", f"{b:g}", _ratio(a, b)) for name, (a, b) in comparison.calls.items()]
        lines += ["", *aligned([("calls that differ", "A", "B", "B / A"), *rows])]
    lines += ["", *(f"warning: {text}" for text in comparison.warnings), *_verdict(comparison)]
    return printable("\n".join(lines) + "\n")


def _sides(comparison: Comparison) -> Iterator[str]:
    """The work, once if it is the same; the runs and the targets."""
    works = [describe(side[0].setup) for side in (comparison.before, comparison.after)]
    if works[0] == works[1]:
        yield f"work: {works[0]}"
    for name, side, work in zip("AB", (comparison.before, comparison.after), works, strict=True):
        yield f"{name}: {count(len(side), 'run')} on {side[0].target}" + (
            f": {work}" if works[0] != works[1] else ""
        )


def _row(measure: Measure) -> tuple[str, ...]:
    show = duration if measure.unit == "µs" else lambda value: f"{seconds(value)} s"
    both = (measure.name, show(measure.before), show(measure.after))
    if measure.ratio is None:
        return (*both, _ratio(measure.before, measure.after), UNKNOWN)
    ratio = measure.ratio
    return (*both, f"{ratio.estimate:.3f}", f"{ratio.low:.3f} to {ratio.high:.3f}")


def _ratio(before: float, after: float) -> str:
    return f"{after / before:.3f}" if before else UNKNOWN


def _verdict(comparison: Comparison) -> Iterator[str]:
    ratio = comparison.time.ratio
    if ratio is None:
        yield "not enough runs: a difference is seen from 5 pairs on, or from 3 runs of each side"
        return
    seen = comparison.difference
    interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
    if seen is Difference.NONE:
        yield f"B: {seen}: {interval} times the time of A"
    else:
        yield f"B: {seen}: {ratio.estimate:.3f} times the time of A ({interval})"
    yield f"({_METHOD[comparison.design]}, {100 * ratio.confidence:.4g} %)"
