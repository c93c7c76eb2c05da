# SPDX-License-Identifier: MIT
"""What a table of a paper is: columns with our plan, rows with a measure, the paper's numbers, and reasons.

Calls and bytes are compared as they are: both count what is sent, whatever the machine. Times depend on the machine, so
those of both sides are divided by the time of the base column of the same run, and only these quotients are compared.
"""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from workloads.result import Result
from workloads.sensitivity.queueing import Server

TOLERANCE = 0.02
"""Counts that differ by more have a reason next to them."""

Count = Callable[[Result], float]
Measure = Callable[[t.Any], float | None]
"""Of a result, or of what the column has instead; None: it does not have this number."""


class Kind(enum.StrEnum):
    """How the numbers of a row are compared."""

    CALLS = "calls"
    BYTES = "bytes"
    SECONDS = "seconds"
    """As a part of those of the base column."""
    RATE = "KB/s"
    """As seconds."""
    SHARE = "%"
    """Of all calls: where the work is not the same, its mix may be."""
    VALUE = "value"
    """As it is: a quotient, or a number of another machine, which needs no reason."""

    @property
    def is_count(self) -> bool:
        """Whether a number that differs needs a reason."""
        return self in {Kind.CALLS, Kind.BYTES, Kind.SHARE}

    @property
    def is_relative(self) -> bool:
        """Whether only quotients within a run say something."""
        return self in {Kind.SECONDS, Kind.RATE}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a column is measured."""

    workload: str
    version: str
    transport: str = "tcp"
    policy: str = "like"
    """"like": that of a kernel's client of the version."""
    size: int = 8192
    """Bytes of one READ and WRITE."""
    page: int = 8192
    stable: str = "unstable"
    plus: bool = True
    window: int | None = None
    clients: int | None = None
    lint: int | None = None
    """The lint judges every n-th call; None: as the workload has it."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    """"linux": the programs run in a guest, on a mount of the embedded server; then `policy` says nothing."""
    knobs: Mapping[str, str] = field(default_factory=dict)
    """Legal choices of the embedded server, on which alone such a plan runs."""

    def __hash__(self) -> int:
        parameters = tuple(sorted(self.parameters.items()))
        knobs = tuple(sorted(self.knobs.items()))
        return hash(
            (
                self.workload,
                self.version,
                self.policy,
                self.size,
                self.stable,
                self.plus,
                parameters,
                self.client,
            )
        ) ^ hash(knobs)


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """How the curves of a column are measured: a study, as of `nfsproof sensitivity`."""

    name: str
    only_on: str = ""
    """The only target that it is for: `embedded`; or `others`, without that; empty: all."""
    version: str = ""
    """As `transport`; empty: those of the target."""
    transport: str = ""
    settings: tuple[tuple[str, float], ...] = ()
    """(knob, value) of each setting besides base."""
    shares: tuple[float, ...] = (0.05, 0.2, 0.45, 0.6, 0.8, 0.95)
    """Of the peak: up to where the regressions of the paper end, and none beyond the peak."""
    callers: int = 32
    seconds: float = 5.0
    longest: float = 600.0
    """Seconds of a point at most: one that needs more until enough has arrived is not measured."""
    bytes: int = 0
    packet: int = 0
    resend: float = 0.0
    queue: str = ""
    """Times of the embedded server."""
    model: Server | None = None
    """The server with these times; None: it is inferred."""
    base_at: float = 0.0
    """The load at which the base of its table is; 0: the lowest."""


AnyPlan: t.TypeAlias = Plan | StudyPlan


@dataclass(frozen=True)
class Column:
    """A column of the paper, or one that only nfsproof has."""

    name: str
    plan: AnyPlan | None
    lacking: str = ""
    """Why there is no plan."""
    reference: Plan | None = None
    """What is measured for the side of the paper; None: the paper's numbers stand in the rows."""
    computed: object = None
    """What our numbers are calculated from, if nothing is measured for them."""


@dataclass(frozen=True)
class Row:
    """A row: the paper's numbers, one for each column; None where it has none."""

    name: str
    kind: Kind
    paper: tuple[float | None, ...]
    measure: Measure
    note: str = ""
    """What else the paper says of it."""


@dataclass(frozen=True)
class Reason:
    """Why our counts differ from those of the paper. ``*`` stands for all rows, or columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    text: str
    needs_delegations: bool = False
    """Whether it is true only if the server granted some."""

    def holds(self, row: str, column: str) -> bool:
        """Whether it is about a cell."""
        return bool({row, "*"} & set(self.rows)) and bool({column, "*"} & set(self.columns))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or figure."""

    name: str
    """As the paper calls it, such as "table 2"."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    reasons: tuple[Reason, ...] = ()
    note: str = ""
    base: int = 0
    """The column by whose times the others are divided."""
    theirs: str = "paper"
    """Whose numbers ours are compared with."""
    ours: str = "here"

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row.paper) == len(self.columns), row.name


@dataclass(frozen=True)
class Figure:
    """A picture of a paper that shows a run over time."""

    name: str
    """As the paper calls it, such as "figure 1"."""
    title: str
    plan: Plan
    note: str = ""
    """What a reader must know of it."""


@dataclass(frozen=True)
class Paper:
    """A paper with its tables."""

    name: str
    title: str
    tables: tuple[Table, ...]
    only_on: str = ""
    """The only target whose numbers make sense; empty: all do."""
    figures: tuple[Figure, ...] = ()

    def plans(self) -> Iterable[Plan]:
        """What must be run for all tables, each once."""
        return dict.fromkeys(
            plan
            for table in self.tables
            for column in table.columns
            for plan in (column.reference, column.plan)
            if isinstance(plan, Plan)
        )

    def studies(self) -> Iterable[StudyPlan]:
        """What must be measured for all tables, each once."""
        plans = (column.plan for table in self.tables for column in table.columns)
        return dict.fromkeys(plan for plan in plans if isinstance(plan, StudyPlan))


# ---------------------------------------------------------------- measures


def calls(*names: str) -> Count:
    """Calls of some procedures together."""
    return lambda result: sum(result.calls.get(name, 0) for name in names)


def calls_in(phase: str, *names: str) -> Count:
    """Calls of some procedures in a phase; of all procedures if there is none."""
    return lambda result: sum(
        number
        for each in result.phases
        if each.name == phase
        for name, number in each.calls.items()
        if not names or name in names
    )


def other_calls_in(phase: str, *names: str) -> Count:
    """Calls of all procedures but these, in a phase."""
    every, named = calls_in(phase), calls_in(phase, *names)
    return lambda result: every(result) - named(result)


def share_of(*names: str) -> Count:
    """Per cent of all calls."""
    return lambda result: 100 * calls(*names)(result) / all_calls(result) if all_calls(result) else 0.0


def per_file(*names: str) -> Count:
    """Calls of some procedures for each file of the workload, which is its parameter ``files``."""
    return lambda result: calls(*names)(result) / int(result.setup.parameters["files"])


def calls_of_each_client(*names: str) -> Count:
    """The same, by client."""
    return lambda result: sum(result.calls.get(name, 0) for name in names) / result.setup.clients


def other_calls(*names: str) -> Count:
    """Calls of all procedures but these."""
    return lambda result: sum(number for name, number in result.calls.items() if name not in names)


def all_calls(result: Result) -> float:
    """Calls of all procedures."""
    return sum(result.calls.values())


def all_calls_of_each_client(result: Result) -> float:
    """The same, by client."""
    return all_calls(result) / result.setup.clients


def bytes_sent(result: Result) -> float:
    """Of all calls."""
    return sum(phase.sent for phase in result.phases)


def bytes_received(result: Result) -> float:
    """Of all replies."""
    return sum(phase.received for phase in result.phases)


def all_bytes(result: Result) -> float:
    """Of calls and replies."""
    return bytes_sent(result) + bytes_received(result)


def seconds_of(*phases: str) -> Count:
    """Of phases by name; of all if there is none."""
    return lambda result: sum(phase.seconds for phase in result.phases if not phases or phase.name in phases)


def written_per_second(result: Result) -> float:
    """KB per second; 0 if no time passed."""
    return sum(phase.written for phase in result.phases) / 1024 / result.seconds if result.seconds else 0.0
