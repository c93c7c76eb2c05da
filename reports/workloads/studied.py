# SPDX-License-Identifier: MIT
"""A study of a server in text: a row for each setting, and the laws of the paper with what was measured."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsjudge.wording import count
from reports.workloads.wording import UNKNOWN, aligned, digits, digits_between, duration_between
from workloads.sensitivity import study as studies
from workloads.sensitivity.curves import FEWEST
from workloads.sensitivity.study import Row, Setting, Study
from workloads.statistics import Interval

_MOST: t.Final = 8
"""Refused points that are printed with their reasons."""
_OVERHEADS: t.Final = {
    "overhead": "o is a serial delay of the proxy in each direction, which alone makes 1 / o",
    studies.CLIENT: "o is time of the client's processor: service is its time for an operation, where it is the limit",
    studies.SERVER: "o is time of the embedded server's processor; in the paper: 1 / (service + 2.4 o)",
}
"""What the o of each knob is."""
_CARRIERS: t.Final = {"cluster": "of a cluster of Dask", "hosts": "on hosts reached by SSH"}
"""Where calls come from, if not from this machine."""


def study_text(study: Study) -> str:
    """The table and the laws."""
    return "\n".join(_lines(study))


def _lines(study: Study) -> Iterator[str]:
    workers = f" in each of {study.workers} workers" if study.workers > 1 else ""
    yield (
        f"sfs-like on {study.target}, NFSv{study.version} over {study.transport}, {study.callers} callers at the peak"
        f"{workers}"
    )
    if study.carrier in _CARRIERS:
        yield f"workers: {_CARRIERS[study.carrier]}"
    if study.queue:
        yield f"times of the server: {study.queue}"
    if study.knobs:
        yield f"knobs of the server: {', '.join(study.knobs)}"
    if study.resend:
        yield f"calls are sent again after {1000 * study.resend:g} ms"
    yield f"{study.bytes} bytes of files for each operation per second, a tenth of it touched"
    yield ""
    found = studies.rows(study)
    table = [
        ("setting", "peak, op/s", "base", "slope, µs per op/s", "r²", "points", "overloaded", "refused"),
        *map(_cells, found),
    ]
    yield from aligned(table)
    yield ""
    yield from _laws(study, found)
    if any(row.overloaded for row in found):
        yield ""
        yield "overloaded: less was done than arrived, so the response says how long it was measured; no fit uses it"
    refused = [each for each in study.points if each.refused]
    if refused:
        yield ""
        yield "refused, and used by no fit:"
        for each in refused[:_MOST]:
            what = "peak" if each.share == studies.PEAK else f"{each.share:.0%} of the peak"
            yield f"  {each.task.setting}, {what}: {each.refused}"
        if len(refused) > _MOST:
            yield f"  and {len(refused) - _MOST} more"


def _cells(row: Row) -> tuple[str, ...]:
    base = slope = r2 = UNKNOWN
    if row.base is not None:
        base = duration_between(row.base)
    if row.signature is not None and row.signature.slope is not None:
        slope, r2 = _interval(row.signature.slope.slope, 1000), f"{row.signature.slope.r2:.2f}"
    peak = UNKNOWN if row.saturation is None else digits_between(row.saturation)
    return str(row.setting), peak, base, slope, r2, str(len(row.curve)), str(row.overloaded), str(row.refused)


def _laws(study: Study, found: list[Row]) -> Iterator[str]:
    """Sections 5.1 to 5.3 of the paper."""
    yield from _links(study)
    latency = studies.latency_law(study)
    if latency is not None:
        yield (
            f"base over L:     {_interval(latency.slope, 1)} µs for each µs, r² {latency.r2:.3f} "
            "(paper: model 2, measured 3)"
        )
    yield from _flat(study)
    overheads = [line for knob in _OVERHEADS for line in _overhead(study, knob)]
    yield from overheads
    if any(row.setting.knob == "bandwidth" for row in found):
        steeper = studies.steeper_at(found)
        if steeper is not None:
            what = f"steeper from {steeper:g} MB/s down"
        elif studies.can_be_steeper(found):
            what = "steeper at none of these"
        else:
            what = "not known: three loads up to 80 % of the peak are needed"
        yield f"slope over 1/G:  {what} (paper: steeper at 1.25 MB/s)"
    curve = studies.mean_curve(study, Setting())
    if study.shares and len(curve) < FEWEST:
        yield f"no model:        base has {count(len(curve), 'load')} that fits use, and {FEWEST} are needed"
    if latency is None and not overheads and len(found) == 1:
        yield "No knob was turned: --latency, --client-overhead and --bandwidth do it."


def _flat(study: Study) -> Iterator[str]:
    """Whether there is a part without any rise, and what the measurement cannot see."""
    flat, unseen = studies.flat_until(study), studies.unseen_rise(study)
    if unseen is None:
        return
    up_to = "not known" if flat is None else f"up to {flat:g} µs" if flat else "no such part"
    least = f"; a rise of less than {digits(unseen)} µs is not seen" if unseen else ""
    yield f"base is flat:    {up_to} (paper: up to 150 µs){least}"


def _links(study: Study) -> Iterator[str]:
    """Which latencies the links had, by NULL calls."""
    latencies = [row for row in study.settings if row.knob == "latency"]
    seen = [studies.measured_latency(study, each) for each in latencies]
    if any(each is not None for each in seen):
        requested = ", ".join(f"{each.value:g}" for each in latencies)
        found = ", ".join(UNKNOWN if each is None else digits(each) for each in seen)
        yield f"L of the links:  requested {requested} µs, measured {found} µs"


def _overhead(study: Study, knob: str) -> Iterator[str]:
    """Section 5.2: the law of a knob, and the k that the count of messages gives."""
    law = studies.overhead_law(study, knob)
    if law is None:
        some, every = studies.limited_by(study, knob)
        if any(each.knob == knob for each in study.settings):
            least = "" if knob == studies.SERVER else " below 90 % of that of base"
            yield f"peak over o:     no law: {some} of {every} settings have a peak{least}, and three are needed"
            yield f"                 {_OVERHEADS[knob]}"
        return
    yield (
        f"peak over o:     1 / ({_interval(law.service, 1e6)} µs + {_interval(law.messages, 1)} o), r² {law.r2:.2f}"
    )
    messages = studies.messages_of(study, knob)
    if messages is not None and knob != "overhead":
        size = f" of {study.packet} bytes at most" if study.packet else ""
        yield f"                 {messages:.3g} messages{size} for each operation: the k that this should be"
    yield f"                 {_OVERHEADS[knob]}"


def _interval(interval: Interval, factor: float) -> str:
    low, high = (_digits(factor * each) for each in (interval.low, interval.high))
    return f"{_digits(factor * interval.estimate)} ({low} to {high})"


def _digits(value: float) -> str:
    """Three digits, or all before the point; of any sign."""
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
