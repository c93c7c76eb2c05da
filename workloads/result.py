# SPDX-License-Identifier: MIT
"""The result of a run of a workload, and its file ``result.json``.

A script has phases; a rate has one phase of its steady state, a series by second, and histograms. Both have what made
the run (workload, parameters, policy, version, sizes, seed), where it ran (`Environment`), what went wrong and what the
checks of data and the lint found. Names of hosts and users are in none of it.

What stays true of every result, and is checked whenever one is made or read:

- red data is a red result: with a failed check of data, or a finding of the lint that is FAIL, the verdict is FAIL;
- a result that is not PASS says why (`reasons`);
- VOID: what ran was not the workload, such as on a full disk or after a lost worker. Its times say nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import typing as t
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.verdict import Verdict
from workloads import shape
from workloads.histogram import Histogram
from workloads.shape import Most, Scalar

SCHEMA = 1
"""The version of ``result.json``. It grows with every change of the fields: they are read strictly."""
FILE = "result.json"
_LARGEST_FILE = 64 << 20
KINDS = ("script", "rate")
GRANTED = "delegations granted"
"""The event of a delegation that came with an OPEN."""
BY_LINT = "lint: "
"""How a reason begins that a finding of the lint is, and not wrong data or a run that ended early."""
JUDGED = "calls that the lint judged"
"""The event of a call that was in the sample of the lint, if it does not judge all."""
SEEN = "calls of all phases"
"""With it: all calls, with those of the warm-up and the preparation."""
_Octets = t.Annotated[str, Most(256)]


class ResultError(ValueError):
    """A file is no result, or of another version. The text names the file, what was expected and what is there."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The machine of the controller, without names of hosts and users (`workloads.environment.here`)."""

    nfsproof: str
    """Its version."""
    python: str
    system: str
    """Such as "Linux 6.1.0 x86_64"."""
    processors: int
    """Those that the process may use."""
    memory: int
    """In bytes; 0 if unknown."""
    load: float
    """Of the last minute, when the run began; 0 if unknown."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Bytes of one call."""

    read: int
    write: int
    directory: int


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a run did: two results are comparable if these are equal (`workloads.compare`)."""

    workload: str
    kind: str
    """"script" or "rate"."""
    parameters: dict[str, Scalar]
    """Of the workload: bytes of files, their number, think time ..."""
    policy: str
    version: str
    """Of NFS: "2", "3", "4.0", "4.1", "4.2"; "mount" for a mounted directory."""
    transport: str
    """"tcp", "udp"; empty for a mounted directory."""
    sizes: Sizes
    stable: str
    """How WRITE asks for stable storage: "unstable", "data-sync", "file-sync"; empty if the version has no choice."""
    listing: str = ""
    """What listings of directories have: "with attributes" (READDIRPLUS, READDIR of NFSv4), "names"; empty if there is
    no choice."""
    workers: int
    clients: int = 1
    """Of all workers; each has its connections, caches and session."""
    connections: int
    """Of each worker."""
    callers: int
    """Of all clients; each waits for its call before it makes the next."""
    window: int
    """How many calls one caller has on the wire at most."""
    arrivals: float
    """Operations per second of an open loop; 0: a closed loop."""
    warmup_seconds: float
    steady_seconds: float
    """What was planned; both are 0 for scripts."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"expected a kind of {', '.join(KINDS)}, got {self.kind!r}")


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One phase of all workers, from the first that began to the last that ended."""

    name: str
    seconds: float
    operations: int
    """Of the program: opens, reads, renames ..."""
    rpcs: int
    """Calls on the wire, retransmissions included."""
    calls: dict[str, int]
    """By procedure; for NFSv4 by what a compound is for, so that each call counts once."""
    sent: int
    received: int
    """Bytes of RPC messages with their headers, without record marks and what is below."""
    read: int = 0
    written: int = 0
    """Bytes of files, as the program counts them."""


@dataclass(frozen=True, kw_only=True)
class Second:
    """One second of a rate, warm-up included."""

    second: int
    """From 0, since the start of the warm-up."""
    operations: int
    read: int
    written: int
    p50_us: float
    p99_us: float
    """0 if no operation ended in this second."""
    is_steady: bool
    """False in the warm-up: not in phases and histograms."""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Histograms of a run. Of an open loop, latencies count from the intended start."""

    operations: Histogram = field(default_factory=Histogram)
    """Of the program."""
    procedures: dict[str, Histogram] = field(default_factory=dict)
    """Of calls on the wire by procedure, from sending to the reply."""
    lag: Histogram | None = None
    """Of an open loop: from the intended start to the sending. A large one says that the client was too slow."""


@dataclass(frozen=True, kw_only=True)
class WrongData:
    """Data that was read is not what was written."""

    path: str
    """Below the folder of the run."""
    offset: int
    expected: _Octets
    seen: _Octets
    """The first bytes from there that differ, in hexadecimal, and whose they are; or two sizes in words."""
    writer: str
    reader: str
    """Which worker and caller."""
    capture: str = ""
    """The file of the exchange, next to the result; empty if there is none."""


@dataclass(frozen=True, kw_only=True)
class DataChecks:
    """Comparisons of what was read with what was written."""

    made: int = 0
    """Reads that were compared."""
    bytes: int = 0
    """Compared bytes."""
    failed: int = 0
    first: t.Annotated[tuple[WrongData, ...], Most(20)] = ()
    """The first failed ones."""


@dataclass(frozen=True, kw_only=True)
class LintFinding:
    """A rule of the lint that the traffic breaks."""

    rule: str
    verdict: Verdict
    text: str
    """Of the first breach."""
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class WorkerShare:
    """One of several workers: its part of the work, and when it began."""

    operations: int
    read: int
    written: int
    cpu_seconds: float
    cpu_share: float
    """Processor time by time of a clock."""
    late_us: float
    """After the time at which all were to begin, the longest of all phases."""
    clock_us: float
    """Between its clock and that of the controller; the times of this result are corrected by it."""
    clock_error_us: float
    """How much that may be wrong: half of the quickest round trip of a comparison."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """What the client itself needed, of all workers."""

    cpu_seconds: float
    cpu_share: float
    """The highest of a worker: processor time by time of a clock, 1.0 is one core."""
    null_rtt_us: float = 0
    """Median of NULL calls before the run; 0 if it was not measured."""
    start_skew_us: float = 0
    """Between the first and the last worker that began, the longest of all phases; 0 for one worker."""
    workers: t.Annotated[tuple[WorkerShare, ...], Most(10_000)] = ()
    """Each of several workers; empty for one."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """All of a run."""

    schema: int = SCHEMA
    setup: Setup
    seed: int
    is_drawn: bool
    """Whether what the workload does depends on the seed."""
    target: str
    """The server under test as it may be named to others: "embedded", "ganesha:vfs", a label."""
    server: str = ""
    """What is known of its software, such as a version."""
    started: str
    """UTC, as in 2026-01-31T12:00:00Z."""
    environment: Environment
    client: Client
    phases: t.Annotated[tuple[Phase, ...], Most(1000)]
    series: t.Annotated[tuple[Second, ...], Most(100_000)] = ()
    latency: Latency = field(default_factory=Latency)
    troubles: dict[str, int] = field(default_factory=dict)
    """How often something went wrong by kind: JUKEBOX, DELAY, restarts, short writes that were continued ..."""
    events: dict[str, int] = field(default_factory=dict)
    """How often something happened that is neither work nor trouble: delegations granted, waits for slots ..."""
    checks: DataChecks = field(default_factory=DataChecks)
    findings: t.Annotated[tuple[LintFinding, ...], Most(1000)] = ()
    warnings: t.Annotated[tuple[str, ...], Most(100)] = ()
    """For the reader: the client was at its limit, no steady state was reached ..."""
    verdict: Verdict = Verdict.PASS
    reasons: t.Annotated[tuple[str, ...], Most(100)] = ()
    """Why the verdict is not PASS."""

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, got {self.schema!r:.40}")
        if self.is_wrong and self.verdict is not Verdict.FAIL:
            raise ValueError(f"expected the verdict FAIL with wrong data or findings, got {self.verdict}")
        if (self.verdict is not Verdict.PASS) != bool(self.reasons):
            raise ValueError(f"expected reasons with a verdict that is not PASS, got {self.verdict}")

    @property
    def is_wrong(self) -> bool:
        """Whether data was wrong, or the lint found a breach that is FAIL."""
        return bool(self.checks.failed) or any(each.verdict is Verdict.FAIL for each in self.findings)

    @property
    def is_complete(self) -> bool:
        """Whether all was done and all data was right: PASS, or FAIL by nothing but the lint."""
        return not self.checks.failed and all(each.startswith(BY_LINT) for each in self.reasons)

    @property
    def seconds(self) -> float:
        """Of all phases."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def calls(self) -> dict[str, int]:
        """Of all phases, by procedure."""
        made: dict[str, int] = {}
        for phase in self.phases:
            for procedure, count in phase.calls.items():
                made[procedure] = made.get(procedure, 0) + count
        return made

    @property
    def rpcs(self) -> int:
        """Of all phases."""
        return sum(phase.rpcs for phase in self.phases)

    @property
    def rate(self) -> float:
        """Operations of the program per second, in all phases; 0 if they had no time."""
        return sum(phase.operations for phase in self.phases) / self.seconds if self.seconds else 0.0


def to_plain(result: Result) -> dict[str, t.Any]:
    """The JSON of a result."""
    return t.cast("dict[str, t.Any]", shape.to_plain(result))


def from_plain(plain: object, name: str = "result") -> Result:
    """The result of which this is the JSON. Raises ResultError."""
    version = plain.get("schema") if isinstance(plain, dict) else None
    if version != SCHEMA or isinstance(version, bool):
        raise ResultError(
            f"{name}: expected a result of schema {SCHEMA}, got {version!r:.40}: "
            "read it with the nfsproof that wrote it, or make the run again"
        )
    try:
        return shape.from_plain(Result, plain, name=name)
    except shape.Misshaped as error:
        raise ResultError(str(error)) from None


def read(path: Path) -> Result:
    """The result of a file, or of the file ``result.json`` of a folder. Raises OSError and ResultError."""
    path = path / FILE if path.is_dir() else path
    try:
        plain = shape.read_json(path, most=_LARGEST_FILE)
    except shape.Misshaped as error:
        raise ResultError(str(error)) from None
    return from_plain(plain, str(path))


def write(result: Result, folder: Path) -> Path:
    """Writes ``result.json`` into a folder: all of it or nothing, also if the process dies. Raises OSError."""
    path, new = folder / FILE, folder / f".{FILE}-{os.getpid()}"
    try:
        with new.open("w", encoding="utf-8") as file:
            json.dump(to_plain(result), file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    return path


def json_schema() -> dict[str, t.Any]:
    """The JSON schema of ``result.json``."""
    schema = shape.schema_of(Result, title=f"A result of nfsproof workload, schema {SCHEMA}")
    schema["properties"]["schema"] = {"const": SCHEMA}
    return schema
