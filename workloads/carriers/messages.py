# SPDX-License-Identifier: MIT
"""What goes between controller and workers: one JSON object a message, read strictly.

    to a worker      {"call": "phase", ...}         open, clock, phase, finish, clean, end; and stop, at any time
    from a worker    {"result": ...}                of the call
                     {"stopped": {kind, text}}      the call raised `Stopped`
                     {"refused": text}              ... `Refused`
                     {"interrupted": true, report}  ... `Interrupted`, after stop: what was counted until then, or null
                     {"broken": text}               ... anything else: a defect
                     {"progress": text}             no answer: a line for people, while a phase runs

Each call has exactly one answer. The controller merges what workers report, so a report is read by the annotations
below before anything is added: a worker on another machine may run another version, and what it saw came from a server.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass

from workloads import shape
from workloads.histogram import Histogram
from workloads.shape import Most, Plain
from workloads.tallying import Tally

_LINE: t.Final = 10_000
_CAPTURE: t.Final = 64 << 20


def encode(message: Plain) -> str:
    """The text of a message, in ASCII."""
    return json.dumps(message, allow_nan=False, separators=(",", ":"))


def decode(text: str) -> dict[str, Plain]:
    """The message. Raises `shape.Misshaped`."""
    try:
        message = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise shape.Misshaped(f"expected JSON, got: {str(error)[:200]}") from None
    if not isinstance(message, dict):
        raise shape.Misshaped(f"expected an object, got {text[:60]!r}")
    return message


def _no_constant(text: str) -> Plain:
    raise ValueError(f"{text} is no number of JSON")


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Comparisons of data."""

    made: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Found:
    """A finding of the lint."""

    rule: str
    severity: str
    text: t.Annotated[str, Most(_LINE)]
    count: int

    def __post_init__(self) -> None:
        if self.severity not in {"FAIL", "NONSTRICT", "INFO"}:
            raise ValueError(f"expected a severity, got {self.severity!r:.40}")


@dataclass(frozen=True, kw_only=True)
class WrongReport:
    """What a server did wrong; of wrong data with the place."""

    text: t.Annotated[str, Most(_LINE)]
    capture: t.Annotated[str, Most(_CAPTURE)]
    """pcapng in base64; empty: none."""
    path: t.Annotated[str, Most(_LINE)] | None = None
    offset: int | None = None
    expected: t.Annotated[str, Most(_LINE)] | None = None
    seen: t.Annotated[str, Most(_LINE)] | None = None
    writer: str | None = None
    reader: str | None = None


@dataclass(frozen=True, kw_only=True)
class StoppedReport:
    """What stood in the way."""

    kind: str
    text: t.Annotated[str, Most(_LINE)]


class Row:
    """A second of a rate: number, operations, bytes read and written, and two latencies in microseconds."""

    def __init__(self, values: list[t.Any]) -> None:
        self.values = values

    @classmethod
    def from_plain(cls, plain: object) -> Row:
        if not (
            isinstance(plain, list)
            and len(plain) == 6
            and all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in plain[:4])
            and all(isinstance(each, int | float) and 0 <= each < 1e15 for each in plain[4:])
        ):
            raise ValueError(f"expected the six numbers of a second, got {plain!r:.60}")
        return cls(plain)

    def to_plain(self) -> list[t.Any]:
        return self.values


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Units that began in a part of the steady state, and µs of all of them together."""

    count: int
    sum: float


@dataclass(frozen=True, kw_only=True)
class Load:
    """What the curves of `sensitivity` need (`tallying.Tally.load`)."""

    ended: int
    arrivals: int
    met: int
    messages: int
    batches: t.Annotated[tuple[Batch, ...], Most(1000)]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a worker gives for a phase (`workloads.worker.Worker.phase`)."""

    name: str
    began_at: float
    seconds: float
    cpu: float
    operations: int
    read: int
    written: int
    calls: dict[str, int]
    all_operations: dict[str, int]
    rpcs: int
    sent: int
    received: int
    waited: float
    troubles: dict[str, int]
    procedures: dict[str, Histogram]
    latencies: Histogram
    lag: Histogram | None
    series: t.Annotated[tuple[Row, ...], Most(100_000)]
    checks: Checks
    findings: tuple[Found, ...]
    judged: int
    seen: int
    load: Load
    wrong: WrongReport | None = None
    stopped: StoppedReport | None = None


_OPTIONAL: t.Final = {"path", "offset", "expected", "seen", "writer", "reader"}


def report_of(plain: Plain, phase: str) -> dict[str, Plain]:
    """A report of this phase, as it was sent, once it is known to be one. Raises `shape.Misshaped`."""
    whole = {"wrong": None, "stopped": None, **plain} if isinstance(plain, dict) else plain
    if isinstance(whole, dict) and isinstance(whole["wrong"], dict):
        whole["wrong"] = dict.fromkeys(_OPTIONAL) | whole["wrong"]
    report = shape.from_plain(Report, whole, name=f"report of {phase}")
    if report.name != phase:
        raise shape.Misshaped(f"expected a report of {phase}, got one of {report.name!r:.60}")
    found: dict[str, Plain] = shape.to_plain(report)
    if found["wrong"] is not None:
        found["wrong"] = {name: each for name, each in found["wrong"].items() if each is not None}
    return {name: each for name, each in found.items() if each is not None or name == "lag"}


def no_report(phase: str, began_at: float, why: str) -> dict[str, Plain]:
    """That of a worker that was stopped, because another one has ended early."""
    nothing = dict.fromkeys(
        ("operations", "read", "written", "rpcs", "sent", "received", "judged", "seen"), 0
    )
    return {
        **nothing,
        **{name: {} for name in ("calls", "all_operations", "troubles", "procedures")},
        **dict.fromkeys(("seconds", "cpu", "waited"), 0.0),
        "name": phase,
        "began_at": began_at,
        "latencies": Histogram().to_plain(),
        "lag": None,
        "series": [],
        "checks": {"made": 0, "bytes": 0},
        "findings": [],
        "load": Tally().load(),
        "stopped": {"kind": "stopped", "text": why},
    }
