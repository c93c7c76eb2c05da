# SPDX-License-Identifier: MIT
"""Table 1 and sections 5.1 to 5.4 of the paper on the sensitivity of NFS to networks (Martin and Culler, 1999).

What the columns measure is a study (`nfsproof sensitivity`), not the run of a workload. Two columns are the servers of
the paper: the embedded server with their times of processor, disks and cache. Their files are smaller than those of the
paper, and their memory is smaller by the same factor, so that the cache hits as often.
"""

from __future__ import annotations

import dataclasses
import statistics
import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from workloads.papers.model import Column, Kind, Paper, Row, StudyPlan, Table
from workloads.sensitivity import study as studies
from workloads.sensitivity.curves import Point, response_at
from workloads.sensitivity.fits import Line, fit_line
from workloads.sensitivity.queueing import RAID, SCSI, Server, errors
from workloads.sensitivity.study import Setting, Study

PACKET: t.Final = 3500
"""Bytes of the largest packet of the paper's network."""
_BYTES: t.Final = 48 << 10
"""Of files for each operation per second, instead of 10 MB."""
_TOUCHED: t.Final = 0.1
_EARLY: t.Final = 60e-3
"""Seconds until a call over UDP is sent again, of a client that knows the response times of a LAN."""
_CALLERS_OF_WAN: t.Final = 45
"""As many as leave half of the peak of the server with these times at 40 ms: 45 / 81 ms is half of 1,111."""
_LONG: t.Final = (10_000.0, 20_000.0, 40_000.0)
"""µs of each direction."""
_LIGHT: t.Final = (0.2,)
"""Of the peak across a WAN: there, operations wait for the round trip, hardly for each other."""
_LONGEST_POINT: t.Final = 120.0
"""Seconds of a point across a WAN: where a few operations per second are the peak, it alone is measured."""
_FEW_BYTES: t.Final = 1 << 10
"""Of files for each operation per second across a WAN, where making them takes longer than measuring."""
_LATENCIES: t.Final = (150.0, 1000.0, 4000.0)
_BANDWIDTHS: t.Final = (1.25, 2.5)
_MIDDLE: t.Final = (0.17, 0.96)
"""Shares of the peak between which the slope is fitted: 200 to 1050 of 1111 operations per second in table 1."""


def _memory(server: Server) -> str:
    """MiB of the cache with files of `_BYTES`."""
    return f"{server.cached * _BYTES * _TOUCHED / (1 << 20):g}"


def _times(server: Server) -> str:
    """As of `nfsproof serve --queue`."""
    return (
        f"service={1000 * server.service:g},disk={1000 * server.disk:g},disks={server.disks},memory={_memory(server)},"
        f"delay={1000 * server.delay:g}"
    )


def _settings(**values: tuple[float, ...]) -> tuple[tuple[str, float], ...]:
    return tuple((knob.replace("_", " "), value) for knob, each in values.items() for value in each)


_SCSI: t.Final = StudyPlan(
    name="scsi",
    only_on="embedded",
    version="2",
    transport="udp",
    settings=_settings(latency=_LATENCIES, bandwidth=_BANDWIDTHS),
    bytes=_BYTES,
    queue=_times(SCSI),
    model=SCSI,
    base_at=200,
)
_RAID: t.Final = StudyPlan(
    name="raid",
    only_on="embedded",
    version="2",
    transport="udp",
    callers=64,
    bytes=_BYTES,
    queue=_times(RAID),
    model=RAID,
    base_at=500,
)
_SCSI_OVERHEAD: t.Final = StudyPlan(
    name="scsi-overhead",
    only_on="embedded",
    version="2",
    transport="udp",
    settings=_settings(server_overhead=(80.0, 160.0, 320.0, 640.0)),
    shares=(),
    bytes=_BYTES,
    packet=PACKET,
    queue=_times(SCSI),
)
_OTHER: t.Final = StudyPlan(
    name="server",
    only_on="others",
    settings=_settings(latency=_LATENCIES, bandwidth=_BANDWIDTHS),
)
_CLIENT_OVERHEAD: t.Final = StudyPlan(
    name="client-overhead",
    settings=_settings(client_overhead=(200.0, 400.0, 800.0, 1600.0)),
    shares=(),
    packet=PACKET,
)
_WAN_2: t.Final = StudyPlan(
    name="wan-v2-udp",
    version="2",
    transport="udp",
    settings=_settings(latency=_LONG),
    shares=_LIGHT,
    callers=_CALLERS_OF_WAN,
    longest=_LONGEST_POINT,
    bytes=_FEW_BYTES,
    resend=_EARLY,
)
_WAN_3: t.Final = StudyPlan(
    name="wan-v3-tcp",
    version="3",
    transport="tcp",
    settings=_settings(latency=_LONG),
    shares=_LIGHT,
    callers=_CALLERS_OF_WAN,
    longest=_LONGEST_POINT,
    bytes=_FEW_BYTES,
)
_QUICK: t.Final = "service=0.9"
"""Of the embedded server across a WAN: its processor alone."""


@dataclass(frozen=True)
class Studied:
    """A study, and what it was measured for."""

    plan: StudyPlan
    study: Study

    @property
    def peak(self) -> float:
        """Of base; 0 if there is none."""
        return self.peak_at(Setting()) or 0.0

    def peak_at(self, setting: Setting) -> float | None:
        """The median of the peaks of a setting."""
        peaks = self.study.peaks(setting)
        return statistics.median(peaks) if peaks else None

    @property
    def curve(self) -> list[Point]:
        """Of base."""
        return studies.mean_curve(self.study, Setting())


@dataclass(frozen=True)
class Modelled:
    """The model of the paper as nfsproof calculates it."""

    server: Server
    low: int
    high: int
    """The range of loads of table 1."""


Seen: t.TypeAlias = Studied | Modelled
_STEP: t.Final = 50
"""Operations per second between two points of a model."""


def _line(seen: Seen) -> Line | None:
    """The linear regression of section 4.2: ms over operations per second."""
    if isinstance(seen, Modelled):
        return fit_line(seen.server.curve(range(seen.low, seen.high + 1, _STEP)))
    points = [
        point
        for share, point in studies.by_share(seen.study, Setting()).items()
        if _MIDDLE[0] <= share <= _MIDDLE[1]
    ]
    return fit_line(points) if len({point.throughput for point in points}) > 2 else None


def _of_line(take: Callable[[Line], float]) -> Callable[[Seen], float | None]:
    def measure(seen: Seen) -> float | None:
        line = _line(seen)
        return None if line is None else take(line)

    return measure


def _base(seen: Seen) -> float | None:
    """ms at the load of the table."""
    if isinstance(seen, Modelled):
        return 1000 * seen.server.response(seen.low)
    curve = seen.curve
    at = seen.plan.base_at
    if not at:
        base = studies.base_of(seen.study, Setting())
        return None if base is None else base.estimate / 1000
    if len(curve) < 2 or not curve[0].throughput <= at <= curve[-1].throughput:
        return None
    return response_at(curve, at)


def _error(seen: Seen) -> float | None:
    """Per cent that the model is off at most. Of a server that would have to be inferred from its own curve, none."""
    if isinstance(seen, Modelled) or seen.plan.model is None:
        return None
    known = seen.plan.model
    below = [point for point in seen.curve if point.throughput < _MIDDLE[1] * known.saturation]
    return 100 * max((abs(each) for each in errors(known, below)), default=0.0) if below else None


def _fixed(server: Server) -> Server:
    return dataclasses.replace(server, variation=0.0)


_TABLE_1: t.Final = Table(
    name="table 1",
    title="linear regressions of response time over throughput",
    columns=(
        Column("SCSI, M/M/1", None, computed=Modelled(SCSI, 200, 1050)),
        Column("SCSI, M/D/1", None, computed=Modelled(_fixed(SCSI), 200, 1050)),
        Column("SCSI", _SCSI),
        Column("RAID, M/M/1", None, computed=Modelled(RAID, 500, 1400)),
        Column("RAID, M/D/1", None, computed=Modelled(_fixed(RAID), 500, 1400)),
        Column("RAID", _RAID),
        Column("this server", _OTHER),
    ),
    rows=(
        Row(
            "slope, µs per operation/s",
            Kind.VALUE,
            (8.5, 8.5, 14.3, 10.4, 10.4, 18.9, None),
            _of_line(lambda line: 1000 * line.slope.estimate),
        ),
        Row(
            "intercept, ms",
            Kind.VALUE,
            (8.0, 8.0, 4.52, -6.8, -6.8, -0.04, None),
            _of_line(lambda line: line.intercept.estimate),
        ),
        Row(
            "base, ms", Kind.VALUE, (8.6, 8.6, 7.3, 4.3, 4.3, 4.5, None), _base, "at 200 and 500 operations/s"
        ),
        Row("r²", Kind.VALUE, (0.93, 0.93, 0.99, 0.98, 0.98, 0.96, None), _of_line(lambda line: line.r2)),
        Row("largest error of the model, %", Kind.VALUE, (None, None, 24, None, None, 30, None), _error),
    ),
    note="SCSI and RAID are the embedded server with the times of the paper's model, and client, proxy and timers of "
    "nfsproof besides. The intercepts that the paper prints for RAID stand in each other's columns: a line with the "
    "slope 10.4 and the intercept -6.8 ms is below 0 at 500 operations/s, where the model has 4.3 ms. The paper calls "
    "its processor M/M/1, but the regression that it prints for the model of RAID is that of M/D/1: a processor with "
    "fixed times, at which operations wait half as long. That of SCSI is nearer to M/D/1, too; near its saturation the "
    "curve bends, and the slope depends on which points are taken, which the paper does not say. Of this server, no "
    "model is known beforehand: one that is inferred from its curve has an error next to nothing. One that answers in "
    "less than a millisecond is quicker than nfsproof's client: its loads lag and are refused, and its peak is that of "
    "the client.",
)


# ---------------------------------------------------------------- section 5


def _latency(seen: Studied) -> float | None:
    law = studies.latency_law(seen.study)
    return None if law is None else law.slope.estimate


def _flat(seen: Studied) -> float | None:
    return studies.flat_until(seen.study)


def _slope_at(knob: str, value: float) -> Callable[[Studied], float | None]:
    """The slope of a setting as a part of that of base, if base has one that is seen."""

    def measure(seen: Studied) -> float | None:
        slopes = {
            row.setting: row.signature.slope.slope
            for row in studies.rows(seen.study)
            if row.signature is not None and row.signature.slope is not None
        }
        slope, base = slopes.get(Setting(knob, value)), slopes.get(Setting())
        if slope is None or base is None or base.low <= 0:
            return None
        return slope.estimate / base.estimate

    return measure


def _peak_at(knob: str, value: float) -> Callable[[Studied], float | None]:
    """The peak of a setting as a part of that of base."""

    def measure(seen: Studied) -> float | None:
        peak = seen.peak_at(Setting(knob, value))
        return peak / seen.peak if peak is not None and seen.peak else None

    return measure


_LONGEST: t.Final = _LATENCIES[-1]
_SECTION_5_1: t.Final = Table(
    name="section 5.1",
    title="latency L of each direction, up to 4 ms",
    columns=(Column("SCSI", _SCSI), Column("this server", _OTHER)),
    rows=(
        Row(
            "base, µs for each µs of L", Kind.VALUE, (3, 3), _latency, "the model says 2: a call and a reply"
        ),
        Row("base does not rise up to L, µs", Kind.VALUE, (150, 150), _flat),
        Row("slope at 4 ms, base = 1", Kind.VALUE, (1, 1), _slope_at("latency", _LONGEST)),
        Row(
            "peak at 4 ms, base = 1",
            Kind.VALUE,
            (None, None),
            _peak_at("latency", _LONGEST),
            "falls a little",
        ),
    ),
    note="The paper's 3 and its flat part have no explanation there. With messages that are only late, base rises by "
    "twice L, from the first µs on: a flat part needs a client or a network that waits anyhow. A latency counts "
    "for it if a rise by 2 L would be seen. Slopes are those between 10 and 80 % of the peak; without one that is seen "
    "at base there is no ratio. The peak falls where there are too few callers: with N of them it is at "
    "most N / (response + 2 L).",
)


def _law(knob: str, take: Callable[[t.Any], float]) -> Callable[[Studied], float | None]:
    def measure(seen: Studied) -> float | None:
        law = studies.overhead_law(seen.study, knob)
        return None if law is None else take(law)

    return measure


def _by_knob(
    measure: Callable[[str], Callable[[Studied], float | None]],
) -> Callable[[Studied], float | None]:
    """Of the overhead that the study has."""

    def of(seen: Studied) -> float | None:
        knobs = {knob for knob, _ in seen.plan.settings}
        return measure(studies.SERVER if studies.SERVER in knobs else studies.CLIENT)(seen)

    return of


def _messages(knob: str) -> Callable[[Studied], float | None]:
    return lambda seen: studies.messages_of(seen.study, knob)


_SECTION_5_2: t.Final = Table(
    name="section 5.2",
    title="overhead o of each message: the peak is 1 / (service + k o)",
    columns=(Column("SCSI", _SCSI_OVERHEAD), Column("o of nfsproof's client", _CLIENT_OVERHEAD)),
    rows=(
        Row(
            "k, fitted",
            Kind.VALUE,
            (2.4, None),
            _by_knob(lambda knob: _law(knob, lambda law: law.messages.estimate)),
        ),
        Row("k, messages counted", Kind.VALUE, (2.4, None), _by_knob(_messages), "with packets of 3.5 KB"),
        Row(
            "service, µs",
            Kind.VALUE,
            (900, None),
            _by_knob(lambda knob: _law(knob, lambda law: 1e6 * law.service.estimate)),
        ),
        Row("r²", Kind.VALUE, (0.99, None), _by_knob(lambda knob: _law(knob, lambda law: law.r2))),
    ),
    note=f"An operation has a call and a reply; those of more than {PACKET} bytes are several messages. SCSI: o is "
    "time of the processor of the embedded server. For any other server only its host could be made slower: there o is "
    "time of the processor of nfsproof's client, with the peaks at which that is the limit, and service is what the "
    "client needs for an operation. The RAID of the paper has the same law with 650 µs, r² 0.93.",
)


def _steeper(seen: Studied) -> float | None:
    return studies.steeper_at(studies.rows(seen.study))


_SECTION_5_3: t.Final = Table(
    name="section 5.3",
    title="bandwidth 1/G of each direction",
    columns=(Column("SCSI", _SCSI), Column("this server", _OTHER)),
    rows=(
        Row("the slope is seen to rise from, MB/s", Kind.VALUE, (1.25, 1.25), _steeper, "slightly from 2.5"),
        Row("slope at 2.5 MB/s, base = 1", Kind.VALUE, (None, None), _slope_at("bandwidth", 2.5)),
        Row("slope at 1.25 MB/s, base = 1", Kind.VALUE, (None, None), _slope_at("bandwidth", 1.25)),
        Row("peak at 1.25 MB/s, base = 1", Kind.VALUE, (None, None), _peak_at("bandwidth", 1.25)),
    ),
    note="The first row is the highest bandwidth at which the response differs from that of base by more, the higher "
    "the load is, with 95 % confidence. Bandwidth does not matter until the bytes of the load need "
    "it: a server with a higher peak needs more.",
)


def _allowed(value: float) -> Callable[[Studied], float | None]:
    """The peak at a latency as a part of what its callers allow, if each call goes once."""

    def measure(seen: Studied) -> float | None:
        peak, study = seen.peak_at(Setting("latency", value)), seen.study
        base = min((point.response for point in seen.curve), default=None)
        if peak is None or base is None or not seen.peak:
            return None
        callers = study.callers * study.workers
        return peak / min(seen.peak, callers / (base / 1000 + 2e-6 * value))

    return measure


def _sent(value: float) -> Callable[[Studied], float | None]:
    """Messages of an operation at the peak of a latency."""

    def measure(seen: Studied) -> float | None:
        wanted = Setting("latency", value)
        counts = [
            each.messages
            for each in seen.study.points
            if each.task.setting == wanted and not each.share and not each.refused
        ]
        return sum(counts) / len(counts) if counts else None

    return measure


_SECTION_5_4: t.Final = Table(
    name="section 5.4",
    title="long latencies",
    columns=(Column("v2 over UDP", _WAN_2), Column("v3 over TCP", _WAN_3)),
    rows=(
        *(
            Row(f"peak at {value / 1000:g} ms, base = 1", Kind.VALUE, paper, _peak_at("latency", value), note)
            for value, paper, note in (
                (10_000.0, (None, None), ""),
                (20_000.0, (None, None), ""),
                (40_000.0, (None, 0.5), "v2: very little"),
            )
        ),
        Row("of what the callers allow, at 40 ms", Kind.VALUE, (None, None), _allowed(40_000.0)),
        Row("messages of an operation, at 40 ms", Kind.VALUE, (None, None), _sent(40_000.0)),
        Row("base, µs for each µs of L", Kind.VALUE, (None, None), _latency, "much more than 2 over UDP"),
    ),
    note=f"{_CALLERS_OF_WAN} callers, and no more with latency, as in the paper: at 40 ms they allow half of the peak "
    "of the embedded server, whose processor needs 0.9 ms for an operation here; of a server with a higher peak they "
    "allow less. The paper names the timers of RPC over UDP as a possible cause. That is what is measured: the client "
    f"of v2 is one of its time, which sends a call again after {1000 * _EARLY:g} ms, and has half as many calls under "
    "way when it has done so. A round trip of 80 ms is longer: every call goes twice, and soon there is one at a time. "
    "TCP measures the round trip. A client of UDP without such a window keeps as much as one of TCP.",
)

PAPER: t.Final = Paper(
    "sensitivity",
    "Martin, Culler: NFS Sensitivity to High Performance Networks, 1999",
    (_TABLE_1, _SECTION_5_1, _SECTION_5_2, _SECTION_5_3, _SECTION_5_4),
)


def times_on(plan: StudyPlan, target: str) -> str:
    """Times of the embedded server for a plan; if it has none, those of a processor, so that the client is no limit."""
    if target != "embedded":
        return ""
    return plan.queue or ("" if plan.name == _CLIENT_OVERHEAD.name else _QUICK)
