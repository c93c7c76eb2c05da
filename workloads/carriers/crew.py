# SPDX-License-Identifier: MIT
"""The carrier of a run with several workers: calls all of them, waits for all, and ends all when one is lost.

    state of a worker    what may happen
    living               it answers; between two calls it waits
    lost                 its process is gone, it did not answer in time, or its answer makes no sense: it is ended, and
                         no call goes to it any more

What must stay true:

- A phase has begun on all workers or on none that matters: if one is lost, the others are stopped, and `LostWorker` is
  raised. What the others counted until then is thrown away: a part of a result looks like a slower server. Only if one
  of them has found the server wrong there is a result: FAIL.
- All begin at the same time of the controller's clock. The clock of each worker is compared with it before; how far
  apart they began is measured, and stands in the result.
- Each wait has a deadline (`Deadlines`). `clean` and `close` never raise, except for Ctrl-C.
- What the run has made is removed by a living worker; if that fails, by the controller itself.

While it waits it serves the loop: the embedded server may be on the same one.
"""

from __future__ import annotations

import base64
import contextlib
import math
import time
import typing as t
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from nfsclient.rpc.loop import Loop
from workloads.carriers.messages import decode, encode, no_report, report_of
from workloads.carriers.servant import STOP
from workloads.engine import Interrupted
from workloads.shape import Misshaped, Plain
from workloads.spec import Order
from workloads.trouble import LostWorker, Refused, Stopped
from workloads.worker import STEADY

_TURN: t.Final = 0.1
"""Seconds between two looks at what a signal handler has set."""
_SAMPLES: t.Final = 5


class Reach(t.Protocol):
    """A way to reach workers. Only `start` and `end` may take time; both have a deadline."""

    names: list[str]
    """What each worker is called in messages, once it is started."""

    def start(self) -> None:
        """Start all workers. Raises `Refused`, `Stopped`."""
        ...

    def send(self, worker: int, text: str) -> None:
        """A message to a worker; nothing happens if it is gone."""
        ...

    def arrived(self) -> list[tuple[int, str]]:
        """The messages that have come since the last time: (worker, text)."""
        ...

    def gone(self) -> Mapping[int, str]:
        """Workers that are no more, and why."""
        ...

    def kill(self, worker: int) -> None:
        """End a worker without a word, now."""
        ...

    def end(self, seconds: float) -> None:
        """End all workers: those that do not end by themselves in this time, by force."""
        ...


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds."""

    open: float = 60.0
    slack: float = 30.0
    """For a phase, beyond what a worker itself allows for it."""
    stop: float = 10.0
    """From `stop` to the answer."""
    clean: float = 300.0
    end: float = 5.0


@dataclass(slots=True)
class _Clock:
    """The clock of a worker, compared with that of the controller."""

    offset: float = 0.0
    """Seconds that it is ahead."""
    round_trip: float = math.inf
    """Of the quickest comparison: the offset is wrong by at most half of that."""


@dataclass(slots=True)
class _Answers:
    """What is known of a call on several workers."""

    waiting: set[int]
    results: dict[int, Plain] = field(default_factory=dict)
    partial: dict[int, Plain] = field(default_factory=dict)
    """Reports of workers that were stopped within the phase."""
    problems: list[Exception] = field(default_factory=list)
    """What workers have raised."""


class _Cut(Interrupted):
    """A call was stopped from outside; `answers` came until then."""

    def __init__(self, answers: _Answers) -> None:
        super().__init__()
        self.answers = answers


class Crew:
    """Several workers. As `running.Carrier`."""

    def __init__(
        self,
        order: Order,
        reach: Reach,
        *,
        loop: Loop,
        last_phase: str,
        remove: Callable[[], str] | None = None,
        nfsproof: str = "",
        evidence: Path | None = None,
        say: Callable[[str], None] | None = None,
        deadlines: Deadlines = Deadlines(),
    ) -> None:
        """`remove` removes what the run has made, without a worker, and gives what is left; `nfsproof`: the version
        that workers must have; `evidence`: a folder for captures of what was wrong."""
        self.order = order
        self.workers = range(order.workers)
        self._reach = reach
        self._loop = loop
        self._last_phase = last_phase
        self._remove = remove
        self._nfsproof = nfsproof
        self._evidence = evidence
        self._say = say
        self._deadlines = deadlines
        self._living = set[int]()
        self._clocks = {worker: _Clock() for worker in self.workers}
        self._news: list[tuple[int, Plain]] = []
        """(worker, news) that the others do not know yet."""
        self._is_opened = False
        self._is_stopped = False

    # ------------------------------------------------------------ the carrier

    def open(self) -> list[Plain]:
        """Start all workers; the first makes the directory of the run. Raises `Stopped`, `Refused`, `LostWorker`."""
        self._reach.start()
        self._living = set(self.workers)
        self._compare_clocks()
        self._is_opened = True
        opened = dict[int, Plain]()
        for group in ([0], self.workers[1:]):
            calls = {each: {"call": "open", "order": self._order_of(each)} for each in group}
            opened |= self._call("open", calls, self._deadlines.open).results
        for worker in self.workers:
            version = _text(opened[worker], "nfsproof")
            if version != self._nfsproof:
                raise Refused(
                    f"{self._name(worker)} has nfsproof {version}, and this is {self._nfsproof}: install the same "
                    "version everywhere"
                )
        return [{"null_rtt_us": _number(opened[worker], "null_rtt_us")} for worker in self.workers]

    def phase(self, name: str) -> list[Plain]:
        """A phase on all workers. Raises `Interrupted` with what was counted, `LostWorker`."""
        trip = max(clock.round_trip for clock in self._clocks.values())
        start_at = time.time() + 0.02 + 3 * trip
        calls = {
            worker: {
                "call": "phase",
                "name": name,
                "start_at": start_at + self._clocks[worker].offset,
                "learn": [news for of, news in self._news if of != worker],
                "collect": name != self._last_phase,
            }
            for worker in self.workers
        }
        self._news.clear()
        try:
            answers = self._call(name, calls, self._limit_of(name), ends=_ends_early)
        except _Cut as error:
            answers = error.answers
            raise Interrupted(
                *(self._report(name, worker, answers, start_at) for worker in self.workers)
            ) from None
        reports = [self._report(name, worker, answers, start_at) for worker in self.workers]
        results = [(worker, answers.results.get(worker)) for worker in self.workers]
        self._news = [
            (of, each["news"]) for of, each in results if isinstance(each, dict) and each.get("news")
        ]
        return reports

    def clean(self) -> list[Plain]:
        """Remove what the run has made, whatever has become of the workers."""
        if not self._is_opened:
            return []
        self._is_stopped = False
        seconds = self._deadlines.clean
        living = sorted(self._living)
        left = "nobody could remove the directory of the run"
        with contextlib.suppress(Stopped, Refused, Interrupted, LostWorker):
            self._call("finish", {worker: {"call": "finish"} for worker in living[1:]}, seconds)
            living = sorted(self._living)
        with contextlib.suppress(Stopped, Refused, Interrupted, LostWorker):
            results = self._call(
                "clean", {worker: {"call": "clean"} for worker in living[:1]}, seconds
            ).results
            left = next((_text(each, "left") for each in results.values()), left)
        if left and self._remove is not None:
            self._end()  # so that nobody makes anything any more
            left = self._remove()
        return [{"left": left}]

    def close(self) -> None:
        """End all workers."""
        self._end()

    def stop(self) -> None:
        """End the running phase: called by a signal handler."""
        self._is_stopped = True

    # ------------------------------------------------------------ parts of it

    def _order_of(self, worker: int) -> Plain:
        order = replace(self.order, worker=worker)
        plain = {each.name: getattr(order, each.name) for each in fields(order)}
        return {name: dict(each) if isinstance(each, Mapping) else each for name, each in plain.items()}

    def _limit_of(self, name: str) -> float:
        order = self.order
        own = order.most_seconds
        if name == STEADY:
            own = order.warmup + order.duration + 2 * (order.timeout + 30)
        return own + self._deadlines.slack

    def _compare_clocks(self) -> None:
        for _ in range(_SAMPLES):
            for worker in self.workers:
                begin = time.time()
                answer = self._call("clock", {worker: {"call": "clock"}}, self._deadlines.open).results[
                    worker
                ]
                end = time.time()
                if isinstance(answer, int | float) and end - begin < self._clocks[worker].round_trip:
                    self._clocks[worker] = _Clock(answer - (begin + end) / 2, end - begin)

    def _report(self, phase: str, worker: int, answers: _Answers, start_at: float) -> Plain:
        """The report of a worker, in the controller's time."""
        if worker not in answers.results and worker not in answers.partial:
            return self._no_report(phase, worker, start_at)
        clock = self._clocks[worker]
        is_partial = worker in answers.partial
        try:
            given = answers.partial[worker] if is_partial else answers.results[worker]["report"]
            report = report_of(given, phase)
        except (Misshaped, KeyError, TypeError) as error:
            self._lose({worker: f"its answer makes no sense: {error}"[:500]}, answers)
            return self._no_report(phase, worker, start_at)
        report["began_at"] -= clock.offset
        report["start"] = self._start(worker, start_at, report["began_at"])
        if is_partial and not self._is_stopped:
            report |= {"stopped": self._no_report(phase, worker, start_at)["stopped"]}
        if "wrong" in report:
            report["wrong"]["capture"] = self._keep_capture(worker, report["wrong"]["capture"])
        return report

    def _no_report(self, phase: str, worker: int, start_at: float) -> Plain:
        why = f"{self._name(worker)} was stopped, since another worker had ended early"
        return no_report(phase, start_at, why) | {"start": self._start(worker, start_at, start_at)}

    def _start(self, worker: int, start_at: float, began_at: float) -> Plain:
        """How well a worker began in time, in microseconds."""
        clock = self._clocks[worker]
        return {
            "clock_us": clock.offset * 1e6,
            "clock_error_us": clock.round_trip / 2 * 1e6,
            "late_us": (began_at - start_at) * 1e6,
        }

    def _keep_capture(self, worker: int, text: str) -> str:
        """Write the capture of a worker into the folder of the result; its name there."""
        if not text or self._evidence is None:
            return ""
        name = f"wrong-{worker}.pcapng"
        try:
            (self._evidence / name).write_bytes(base64.b64decode(text, validate=True))
        except (OSError, ValueError):
            return ""
        return name

    def _name(self, worker: int) -> str:
        return f"worker {worker} ({self._reach.names[worker]})"

    # ------------------------------------------------------------ calls

    def _call(
        self,
        what: str,
        calls: Mapping[int, Plain],
        seconds: float,
        *,
        ends: Callable[[Plain], bool] = lambda _: False,
    ) -> _Answers:
        """Call workers, and wait for all of them.

        If `ends` says of a result that the phase is over for all, the others are stopped. Raises `LostWorker`,
        `Interrupted`, and `Stopped` or `Refused` if a worker did.
        """
        for worker, call in calls.items():
            self._reach.send(worker, encode(call))
        answers = _Answers(set(calls))
        deadline = self._loop.clock() + seconds
        has_ended = is_stopping = False
        while answers.waiting:
            self._take(what, answers)
            if not answers.waiting:
                break
            has_ended = has_ended or bool(answers.problems) or any(map(ends, answers.results.values()))
            if (self._is_stopped or has_ended) and not is_stopping:
                is_stopping = True
                deadline = min(deadline, self._loop.clock() + self._deadlines.stop)
                self._order_to_stop(answers.waiting)
            if self._loop.clock() >= deadline:
                late = dict.fromkeys(answers.waiting, f"it did not answer in time ({what}, {seconds:.0f} s)")
                self._lose(late, answers)
            self._loop.run_once(min(deadline, self._loop.clock() + _TURN))
        if self._is_stopped:
            raise _Cut(answers)
        if answers.problems:
            raise answers.problems[0]
        return answers

    def _order_to_stop(self, workers: Iterable[int]) -> None:
        for worker in workers:
            self._reach.send(worker, STOP)

    def _take(self, what: str, answers: _Answers) -> None:
        """Take what has arrived, and see who is gone."""
        for worker, text in self._reach.arrived():
            if worker not in self._living:
                continue
            try:
                self._take_message(worker, decode(text), answers)
            except Misshaped as error:
                self._lose({worker: f"its answer makes no sense: {error}"[:500]}, answers)
        gone = {worker: why for worker, why in self._reach.gone().items() if worker in self._living}
        if gone:
            self._lose({worker: f"{why} ({what})" for worker, why in gone.items()}, answers)

    def _take_message(self, worker: int, message: dict[str, Plain], answers: _Answers) -> None:
        match message:
            case {"progress": str(line)}:
                if self._say is not None and worker == min(self._living):
                    self._say(f"{len(self.workers)} workers, the first: {line[:200]}")
                return
            case _ if worker not in answers.waiting:
                raise Misshaped(f"nobody expected {encode(message)[:100]}")
            case {"result": result}:
                answers.results[worker] = result
            case {"interrupted": True}:
                if message.get("report") is not None:
                    answers.partial[worker] = message["report"]
            case {"stopped": {"kind": str(kind), "text": str(text)}}:
                answers.problems.append(Stopped(kind[:100], f"{self._name(worker)}: {text[:1000]}"))
            case {"refused": str(text)}:
                answers.problems.append(Refused(f"{self._name(worker)}: {text[:1000]}"))
            case {"broken": str(text)}:
                self._lose({worker: f"it failed: {text[:1000]}"}, answers)
            case _:
                raise Misshaped(f"no answer has the form of {encode(message)[:100]}")
        answers.waiting.discard(worker)

    # ------------------------------------------------------------ the end

    def _lose(self, lost: Mapping[int, str], answers: _Answers) -> None:
        """These workers are lost: end them, and stop the others. Raises `LostWorker`.

        Unless another one has found the server wrong: that must not get lost, so the phase ends with what there is.
        """
        for worker in lost:
            self._living.discard(worker)
            self._reach.kill(worker)
        others = answers.waiting & self._living
        self._order_to_stop(others)
        deadline = self._loop.clock() + self._deadlines.stop
        while others and self._loop.clock() < deadline:
            for worker, text in self._reach.arrived():
                with contextlib.suppress(Misshaped):
                    if "progress" not in decode(text):
                        others.discard(worker)
            dead = self._reach.gone().keys() & others
            others -= dead
            self._living -= dead
            if others:
                self._loop.run_once(min(deadline, self._loop.clock() + _TURN))
        for worker in others:
            self._living.discard(worker)
            self._reach.kill(worker)
        if any(_is_wrong(result) for worker, result in answers.results.items() if worker not in lost):
            answers.waiting.clear()
            return
        each = "; ".join(f"{self._name(worker)}: {why}" for worker, why in sorted(lost.items()))
        raise LostWorker(f"{each}. There is no result: a part of one would look like a slower server")

    def _end(self) -> None:
        self._living.clear()
        self._reach.end(self._deadlines.end)


def _ends_early(result: Plain) -> bool:
    report = result.get("report") if isinstance(result, dict) else None
    return isinstance(report, dict) and ("wrong" in report or "stopped" in report)


def _is_wrong(result: Plain) -> bool:
    report = result.get("report") if isinstance(result, dict) else None
    return isinstance(report, dict) and isinstance(report.get("wrong"), dict)


def _text(plain: Plain, name: str) -> str:
    found = plain.get(name) if isinstance(plain, dict) else None
    return found[:1000] if isinstance(found, str) else f"an answer without {name}"


def _number(plain: Plain, name: str) -> float:
    found = plain.get(name) if isinstance(plain, dict) else None
    is_number = isinstance(found, int | float) and math.isfinite(found) and found >= 0
    return float(found) if is_number else 0.0  # type: ignore[arg-type]
