# SPDX-License-Identifier: MIT
"""A result in the text format of OpenMetrics 1.0, for systems that collect metrics.

Units are those of that standard: seconds and bytes. The edges of histograms are next to powers of two of 0.1 µs, where
buckets of `workloads.histogram` end as well, so cumulative counts are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nfsjudge.verdict import Verdict
from reports.plain import HIDING, escape
from workloads.histogram import TICKS, Histogram
from workloads.result import Result

_PREFIX = "nfsproof_workload"
_MICROSECONDS = 1e-6


def openmetrics(result: Result) -> str:
    """The text of one exposition, with ``# EOF``."""
    return "\n".join([*_lines(result), "# EOF", ""])


def _lines(result: Result) -> Iterator[str]:
    setup = result.setup
    yield from _family("", "info", "What was run.", [])
    labels = {
        "workload": setup.workload,
        "kind": setup.kind,
        "policy": setup.policy,
        "version": setup.version,
        "target": result.target,
        "nfsproof": result.environment.nfsproof,
        "seed": str(result.seed),
        "verdict": str(result.verdict),
    }
    yield f"{_PREFIX}_info{_labels(labels)} 1"
    passed = int(result.verdict is Verdict.PASS)
    yield from _family("_passed", "gauge", "Whether the verdict is PASS.", [("", {}, passed)])
    phases = [(phase, {"phase": phase.name}) for phase in result.phases]
    yield from _family(
        "_phase_seconds", "gauge", "Time of a phase.", [("", label, phase.seconds) for phase, label in phases]
    )
    for name, what, values in (
        ("_operations", "Operations of the program.", [(label, phase.operations) for phase, label in phases]),
        ("_sent_bytes", "Bytes of calls.", [(label, phase.sent) for phase, label in phases]),
        ("_received_bytes", "Bytes of replies.", [(label, phase.received) for phase, label in phases]),
        (
            "_calls",
            "Calls by procedure.",
            [({"call": name}, number) for name, number in result.calls.items()],
        ),
        (
            "_troubles",
            "What went wrong.",
            [({"kind": kind}, number) for kind, number in result.troubles.items()],
        ),
        (
            "_events",
            "What else happened.",
            [({"kind": kind}, number) for kind, number in result.events.items()],
        ),
        ("_compared_reads", "Reads that were compared.", [({}, result.checks.made)]),
        ("_wrong_reads", "Reads with wrong data.", [({}, result.checks.failed)]),
    ):
        yield from _family(name, "counter", what, [("_total", label, number) for label, number in values])
    yield from _histograms(result)


def _histograms(result: Result) -> Iterator[str]:
    yield from _family("_latency_seconds", "histogram", "Latency of operations of the program.", [])
    if result.latency.operations.count:
        yield from _histogram("_latency_seconds", {}, result.latency.operations)
    yield from _family("_call_latency_seconds", "histogram", "Latency of calls by procedure.", [])
    for name, histogram in result.latency.procedures.items():
        yield from _histogram("_call_latency_seconds", {"call": name}, histogram)


def _histogram(name: str, labels: Mapping[str, str], histogram: Histogram) -> Iterator[str]:
    """Cumulative counts at each power of two that has values up to it, and the sum."""
    edge, below = 1, 0
    for low, _, number in histogram.buckets():
        while round(low * TICKS) >= edge:
            # Values are whole ticks, and `le` includes its edge.
            yield f"{_PREFIX}{name}_bucket{_labels({**labels, 'le': _number(_in_seconds(edge - 1))})} {below}"
            edge *= 2
        below += number
    yield f"{_PREFIX}{name}_bucket{_labels({**labels, 'le': '+Inf'})} {below}"
    yield f"{_PREFIX}{name}_count{_labels(labels)} {histogram.count}"
    yield f"{_PREFIX}{name}_sum{_labels(labels)} {_number(histogram.mean * histogram.count * _MICROSECONDS)}"


def _in_seconds(ticks: int) -> float:
    return ticks / (TICKS * 1_000_000)


def _family(
    name: str, kind: str, what: str, samples: Iterable[tuple[str, Mapping[str, str], float]]
) -> Iterator[str]:
    unit = next((unit for unit in ("seconds", "bytes") if name.endswith(f"_{unit}")), "")
    yield f"# TYPE {_PREFIX}{name} {kind}"
    if unit:
        yield f"# UNIT {_PREFIX}{name} {unit}"
    yield f"# HELP {_PREFIX}{name} {what}"
    for suffix, labels, value in samples:
        yield f"{_PREFIX}{name}{suffix}{_labels(labels)} {_number(value)}"


def _labels(labels: Mapping[str, str]) -> str:
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inner}}}" if inner else ""


def _escaped(value: str) -> str:
    value = HIDING.sub(escape, value)
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(value)
