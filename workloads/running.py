# SPDX-License-Identifier: MIT
"""The controller of a run: orders phases to workers, waits for all of them, and makes the result.

    carrier.open()         each worker connects; the first makes the directory of the run
    carrier.phase(name)    on all workers; when all have ended, the next phase may begin (the barrier)
    carrier.clean()        always, also after Ctrl-C

What must stay true: after a phase in which something was wrong, or that was stopped, no other phase begins. What was
counted until then is in the result, whose verdict is FAIL or VOID.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import typing as t
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsjudge.verdict import Verdict
from workloads import catalog, environment
from workloads.channels import RENEWALS
from workloads.engine import Interrupted
from workloads.histogram import Histogram
from workloads.mounted import MountWorker
from workloads.policies.spritely import CALLBACKS, CANCELLED
from workloads.result import (
    BY_LINT,
    GRANTED,
    JUDGED,
    SEEN,
    Client,
    DataChecks,
    Latency,
    LintFinding,
    Phase,
    Result,
    Second,
    Setup,
    Sizes,
    WorkerShare,
    WrongData,
)
from workloads.spec import OF_NFS2, Order, Workload
from workloads.trouble import LostWorker
from workloads.worker import STEADY, Plain, Worker

_LISTING: t.Final = {True: "with attributes", False: "names"}
BUSY: t.Final = 0.7
"""Share of a processor above which the client itself may be what is measured."""
_SHORT: t.Final = 1.0
"""Seconds below which that share says nothing."""
_SHOWN: t.Final = 256
EVENTS: t.Final = frozenset(
    {
        GRANTED,
        RENEWALS,
        CALLBACKS,
        CANCELLED,
        "recalls of delegations",
        "waits for a slot",
        "µs of waiting for slots",
    }
)
"""What workers count with the troubles, and is none."""


class Carrier(t.Protocol):
    """Where workers are. Each method is carried out on all of them, and returns when all have ended."""

    def open(self) -> list[Plain]:
        """Raises `Stopped`, `Refused`."""
        ...

    def phase(self, name: str) -> list[Plain]:
        """The results of a phase, one for each worker. Raises `Interrupted`."""
        ...

    def clean(self) -> list[Plain]:
        """Remove what the run has made."""
        ...

    def close(self) -> None: ...

    def stop(self) -> None:
        """End the running phase: called by a signal handler."""
        ...


class Here:
    """One worker in this process."""

    def __init__(
        self,
        order: Order,
        *,
        loop: Loop | None = None,
        evidence: Path | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.worker: Worker | MountWorker
        if order.mount:
            self.worker = MountWorker(order)
            return
        self.worker = Worker(order, loop=loop, evidence=evidence)
        self.worker.on_progress = say

    def open(self) -> list[Plain]:
        return [self.worker.open()]

    def phase(self, name: str) -> list[Plain]:
        return [self.worker.phase(name)]

    def clean(self) -> list[Plain]:
        return [self.worker.clean()]

    def close(self) -> None:
        self.worker.close()

    def stop(self) -> None:
        self.worker.stop()


@dataclass(frozen=True, slots=True)
class About:
    """What a result says of the run besides what was measured."""

    target: str
    nfsproof: str
    server: str = ""
    is_in_process: bool = False
    """Whether the server shares the process of the worker: then the processor time is of both."""
    warnings: tuple[str, ...] = ()
    """What the reader of the result has to know of the target."""


@dataclass(slots=True)
class Outcome:
    """A run that has ended: its result, and what it could not remove."""

    result: Result
    left: tuple[str, ...] = ()
    interrupted: bool = False


def phases_of(workload: Workload) -> list[tuple[str, bool]]:
    """(name, whether it is measured) of all phases in their order."""
    found = [(phase.name, phase.is_measured) for phase in workload.phases]
    if workload.unit is None:
        return found
    after = [(phase.name, False) for phase in workload.after]
    return [*((name, False) for name, _ in found), (STEADY, True), *after]


def carry_out(carrier: Carrier, order: Order, about: About) -> Outcome:
    """All phases of a run; the directory is removed at the end. Raises `Stopped`, `Refused` if it cannot begin.

    Raises `LostWorker` if it has no result.
    """
    workload = catalog.find(order.workload)
    started = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    here = environment.here(about.nfsproof)
    measured, others = list[list[Plain]](), list[list[Plain]]()
    interrupted = False
    lost: LostWorker | None = None
    left, opened = list[str](), list[Plain]()
    try:
        try:
            opened = carrier.open()
            for name, is_measured in phases_of(workload):
                results = carrier.phase(name)
                (measured if is_measured else others).append(results)
                if any("wrong" in each or "stopped" in each for each in results):
                    break
        except Interrupted as error:
            interrupted = True
            if error.reports:
                (measured if is_measured else others).append(error.reports)
        except LostWorker as error:
            lost = error
        except KeyboardInterrupt:  # a second interruption: the phase did not end by itself
            interrupted = True
        finally:
            left, is_cut = _cleaned(carrier, order)
            interrupted = interrupted or is_cut
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            carrier.close()
    if lost is not None:
        lost.left = tuple(left)
        raise lost
    result = _Made(order, workload, about, measured, others, interrupted=interrupted).result(
        started, here, opened
    )
    return Outcome(result, tuple(left), interrupted)


def _cleaned(carrier: Carrier, order: Order) -> tuple[list[str], bool]:
    """Remove what the run has made: what is left, and whether the removal itself was interrupted."""
    try:
        return [each["left"] for each in carrier.clean() if each["left"]], False
    except KeyboardInterrupt:
        place = Path(order.mount) / order.directory if order.mount else order.directory
        return [f"{place}: the removal was interrupted"], True


class _Made:
    """Puts a result together of what workers gave."""

    def __init__(
        self,
        order: Order,
        workload: Workload,
        about: About,
        measured: list[list[Plain]],
        others: list[list[Plain]],
        *,
        interrupted: bool,
    ) -> None:
        self.order = order
        self.workload = workload
        self.about = about
        self.interrupted = interrupted
        self.measured = measured
        self.everything = [*others, *measured]
        self.all = [each for results in self.everything for each in results]
        self.ends_early = interrupted or any("wrong" in each or "stopped" in each for each in self.all)

    def result(self, started: str, here: t.Any, opened: Sequence[Plain]) -> Result:
        """The whole."""
        checks, findings = self._checks(), self._findings()
        counted = self._sum("troubles")
        verdict, reasons = self._verdict(checks, findings)
        return Result(
            setup=self._setup(),
            seed=self.order.seed,
            is_drawn=self.workload.is_drawn or self.workload.unit is not None,
            target=self.about.target,
            server=self.about.server,
            started=started,
            environment=here,
            client=self._client(opened),
            phases=tuple(self._phase(results) for results in self.measured),
            series=self._series(),
            latency=self._latency(),
            troubles={name: number for name, number in counted.items() if name not in EVENTS},
            events={name: number for name, number in counted.items() if name in EVENTS} | self._judged(),
            checks=checks,
            findings=findings,
            warnings=tuple(self._warnings()),
            verdict=verdict,
            reasons=tuple(reasons),
        )

    def _setup(self) -> Setup:
        order = self.order
        is_rate = self.workload.unit is not None
        stable = "" if order.version in OF_NFS2 or order.mount else order.stable
        return Setup(
            workload=order.workload,
            kind=self.workload.kind,
            parameters=dict(order.parameters),
            policy="kernel" if order.mount else order.policy,
            version="mount" if order.mount else order.version,
            transport="" if order.mount else order.transport,
            sizes=Sizes(read=order.rsize, write=order.wsize, directory=order.page),
            stable=stable,
            listing="" if order.mount or order.version in OF_NFS2 else _LISTING[order.plus],
            workers=order.workers,
            clients=order.clients * order.workers,
            connections=order.connections * order.clients,
            callers=order.callers * order.clients * order.workers,
            window=order.window,
            arrivals=order.arrivals,
            warmup_seconds=order.warmup if is_rate else 0,
            steady_seconds=order.duration if is_rate else 0,
        )

    def _sum(self, name: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for each in self.all:
            found.update(each[name])
        return found

    def _phase(self, results: list[Plain]) -> Phase:
        begin = min(each["began_at"] for each in results)
        end = max(each["began_at"] + each["seconds"] for each in results)
        seconds = end - begin
        if results[0]["name"] == STEADY:
            # What ended early has the time that it ran; what did not is counted up to the planned end.
            ran = max(each["seconds"] for each in results) - self.order.warmup
            seconds = max(0.0, min(ran, self.order.duration)) if self.ends_early else self.order.duration
        calls: Counter[str] = Counter()
        for each in results:
            calls.update(each["calls"])
        whole = {
            name: sum(each[name] for each in results)
            for name in ("operations", "rpcs", "sent", "received", "read", "written")
        }
        return Phase(name=results[0]["name"], seconds=seconds, calls=dict(sorted(calls.items())), **whole)

    def _client(self, opened: Sequence[Plain]) -> Client:
        cpu: Counter[int] = Counter()
        seconds = 0.0
        for results in self.measured:
            # Of all: a worker that has nothing to do in a phase waits for the others.
            seconds += max(each["seconds"] for each in results)
            for worker, each in enumerate(results):
                cpu[worker] += each["cpu"]
        shares = {worker: cpu[worker] / seconds for worker in cpu if seconds > 0}
        if not self.order.mount:  # one thread works; the two clocks are not read at the same time
            shares = {worker: min(share, 1.0) for worker, share in shares.items()}
        rtts = sorted(each["null_rtt_us"] for each in opened)
        starts = [[each["began_at"] for each in results] for results in self.measured]
        return Client(
            cpu_seconds=sum(cpu.values()),
            cpu_share=max(shares.values(), default=0.0),
            null_rtt_us=rtts[len(rtts) // 2] if rtts else 0.0,
            start_skew_us=max((max(each) - min(each) for each in starts), default=0.0) * 1e6,
            workers=tuple(
                self._share(worker, cpu[worker], shares.get(worker, 0.0))
                for worker in range(self.order.workers if self.order.workers > 1 else 0)
            ),
        )

    def _share(self, worker: int, cpu: float, share: float) -> WorkerShare:
        """What one of several workers did."""
        mine = [results[worker] for results in self.measured]
        starts = [each["start"] for each in mine]
        return WorkerShare(
            operations=sum(each["operations"] for each in mine),
            read=sum(each["read"] for each in mine),
            written=sum(each["written"] for each in mine),
            cpu_seconds=cpu,
            cpu_share=share,
            late_us=max((max(0.0, each["late_us"]) for each in starts), default=0.0),
            clock_us=max((abs(each["clock_us"]) for each in starts), default=0.0),
            clock_error_us=max((each["clock_error_us"] for each in starts), default=0.0),
        )

    def _latency(self) -> Latency:
        if self.workload.unit is None:
            return Latency()
        steady = [each for results in self.measured for each in results]
        procedures: dict[str, Histogram] = {}
        for each in steady:
            for name, plain in each["procedures"].items():
                procedures.setdefault(name, Histogram()).merge(Histogram.from_plain(plain))
        lags = [each["lag"] for each in steady if each["lag"] is not None]
        return Latency(
            operations=_merged(each["latencies"] for each in steady),
            procedures=procedures,
            lag=_merged(lags) if lags else None,
        )

    def _series(self) -> tuple[Second, ...]:
        found: dict[int, Second] = {}
        for each in [each for results in self.measured for each in results]:
            for number, operations, read, written, p50, p99 in each["series"]:
                second = Second(
                    second=number,
                    operations=operations,
                    read=read,
                    written=written,
                    p50_us=p50,
                    p99_us=p99,
                    is_steady=number >= self.order.warmup,
                )
                known = found.get(number)
                found[number] = second if known is None else _together(known, second)
        return tuple(found[number] for number in sorted(found))

    # ------------------------------------------------------------ what was wrong

    def _checks(self) -> DataChecks:
        wrong = [each["wrong"] for each in self.all if "wrong" in each]
        data = [each for each in wrong if "path" in each]
        return DataChecks(
            made=sum(each["checks"]["made"] for each in self.all),
            bytes=sum(each["checks"]["bytes"] for each in self.all),
            failed=len(data),
            first=tuple(
                WrongData(
                    path=each["path"],
                    offset=each["offset"],
                    expected=each["expected"][:_SHOWN],
                    seen=each["seen"][:_SHOWN],
                    writer=each["writer"],
                    reader=each["reader"],
                    capture=each["capture"],
                )
                for each in data[:20]
            ),
        )

    def _findings(self) -> tuple[LintFinding, ...]:
        found: dict[str, LintFinding] = {}
        # The lint of a worker is cumulative: what it found is in the result of its last phase.
        last: dict[int, Plain] = {}
        for results in self.everything:
            last.update(enumerate(results))
        for each in last.values():
            for finding in each["findings"]:
                known = found.get(finding["rule"])
                count = finding["count"] + (known.count if known else 0)
                made = known or LintFinding(
                    rule=finding["rule"],
                    verdict=_VERDICTS[finding["severity"]],
                    text=finding["text"],
                )
                found[finding["rule"]] = replace(made, count=count)
        return tuple(found.values())

    def _verdict(self, checks: DataChecks, findings: Iterable[LintFinding]) -> tuple[Verdict, list[str]]:
        wrong = [_reason_of(each["wrong"]) for each in self.all if "wrong" in each]
        broken = [f"{BY_LINT}{each.rule}: {each.text}" for each in findings if each.verdict is Verdict.FAIL]
        stopped = [
            f"{each['stopped']['kind']}: {each['stopped']['text']}" for each in self.all if "stopped" in each
        ]
        if self.interrupted:
            stopped.append("interrupted: the run was stopped from outside")
        if wrong or broken or checks.failed:
            return Verdict.FAIL, [*wrong, *stopped, *broken][:100]
        return (Verdict.VOID, stopped[:100]) if stopped else (Verdict.PASS, [])

    def _judged(self) -> dict[str, int]:
        """Of a sample: how many calls the lint judged, and of how many, with those of the warm-up."""
        if self.order.lint == 1 or self.order.mount or not self.everything:
            return {}
        # Those of a worker are cumulative.
        judged, seen = (
            sum(max(each[name] for each in mine) for mine in zip(*self.everything, strict=True))
            for name in ("judged", "seen")
        )
        return {JUDGED: judged, SEEN: seen}

    def _warnings(self) -> t.Iterator[str]:
        yield from self.about.warnings
        client = self._client([])
        busy = [worker for worker, each in enumerate(client.workers) if each.cpu_share > BUSY]
        measured = sum(max(each["seconds"] for each in results) for results in self.measured)
        if client.cpu_share > BUSY and measured >= _SHORT and not self.about.is_in_process:
            who = f"{len(busy)} of {len(client.workers)} workers" if busy else "the client"
            yield (
                f"{who} used up to {client.cpu_share:.0%} of a processor: it may be what was measured; use more "
                "workers (--workers), or fewer callers (--callers)"
            )
        if self.about.is_in_process:
            yield "the server ran in the process of the client: seconds are of both together"
        waited = sum(each["waited"] for each in self.all)
        if waited:
            yield f"the server asked to wait (JUKEBOX, DELAY): pauses of {waited:.1f} s together, which is no work"
        for each in (each for results in self.measured for each in results):
            if each["lag"] is not None:
                yield from _late(Histogram.from_plain(each["lag"]), Histogram.from_plain(each["latencies"]))


def _late(lag: Histogram, latencies: Histogram) -> t.Iterator[str]:
    """A warning, if late starts are a tenth of the usual latency, or one in a hundred is as long as that."""
    if not lag.count:
        return
    usual = latencies.percentile(50)
    if lag.percentile(50) > usual / 10 or lag.percentile(99) > usual:
        yield (
            f"units began late: half of them within {lag.percentile(50):.0f} µs and 99 % within "
            f"{lag.percentile(99):.0f} µs, and half of all took {usual:.0f} µs, which includes that; do not use the "
            "latencies"
        )


def _reason_of(wrong: Plain) -> str:
    """A reason, with the file of the exchanges that show it."""
    return f"{wrong['text']}; capture {wrong['capture']}" if wrong["capture"] else str(wrong["text"])


def _merged(plains: Iterable[Plain]) -> Histogram:
    whole = Histogram()
    for plain in plains:
        whole.merge(Histogram.from_plain(plain))
    return whole


def _together(known: Second, other: Second) -> Second:
    return replace(
        known,
        operations=known.operations + other.operations,
        read=known.read + other.read,
        written=known.written + other.written,
        p50_us=max(known.p50_us, other.p50_us),
        p99_us=max(known.p99_us, other.p99_us),
    )


_VERDICTS: t.Final = {"FAIL": Verdict.FAIL, "NONSTRICT": Verdict.NONSTRICT, "INFO": Verdict.PASS}
