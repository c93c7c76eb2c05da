# SPDX-License-Identifier: MIT
"""`nfsproof sensitivity TARGET`: measures the points of a study, one run of `sfs-like` each, and resumes it.

The server is another process than this one, also the embedded one: a server in the same process would delay what is
sent. So is the proxy with the links. What is sent comes from this process, or from several workers.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsclient.rpc.sockets import format_address
from nfsjudge.verdict import Verdict
from nfsproof import __version__, workloading
from nfsproof.exits import Exit, Trouble
from nfsproof.signals import interruptible
from nfsproof.study_planning import WARMUP, Wish, duration, plan_lines, seconds_of_point
from nfsproof.study_resuming import begun
from nfsproof.workload_carriers import carrier_of, reached
from nfstargets import TargetAddress, TargetError, make_target
from workloads import catalog
from workloads.clients import Link
from workloads.result import Result
from workloads.running import About, Carrier, Outcome, carry_out
from workloads.safety import require_room, require_within
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import CLIENT, PEAK, SERVER, Measured, Setting, Study, Task
from workloads.shape import Plain
from workloads.spec import Order
from workloads.trouble import LostWorker, Refused, Stopped
from workloads.worker import STEADY

Say: t.TypeAlias = Callable[[str], None]
WORKLOAD: t.Final = "sfs-like"
_FULL_BYTES: t.Final = 10 << 20
_ROOM: t.Final = 0.8
"""Share of --max-bytes that the files of the largest load have."""
_MORE: t.Final = 4.0
"""How many times the peak may be that of the first look at it, which may fall into a busy moment of the machine."""
_FIRST_LOAD: t.Final = 10.0
_FIRST_BYTES: t.Final = 1 << 20
"""For the first look at the peak."""
_SHOWN: t.Final = 400
"""Characters of the reasons of a run that a point has."""
_MOUNT: t.Final = 10.0
"""Seconds for a call that asks for the directory."""
_DECK: t.Final = 3 << 20
"""Bytes of all files of a worker at least."""
_PATIENCE: t.Final = 5.0
"""Seconds until a server or a proxy has ended, before it is killed."""
_PORT: t.Final = re.compile(r":(\d+) for ")
_URL: t.Final = re.compile(r"nfs://\S+")


def run(wish: Wish, *, say: Say, progress: Say) -> tuple[Study, Exit]:
    """Measure what is not in the file of `wish.out` yet. Raises `Trouble` if there is no point then.

    Whatever ends a study early, what was measured is returned: with `Exit.INTERRUPTED`, or `Exit.USAGE` if it could not
    go on, or a setting has no peak.
    """
    for line in plan_lines(wish):
        say(line)
    measuring: _Measuring | None = None
    try:
        with (
            interruptible(),
            closing(Loop()) as loop,
            _serving(wish, wish.queue) as target,
            tempfile.TemporaryDirectory() as folder,
        ):
            measuring = _Measuring(wish, loop, target, Path(folder), say, progress)
            return measuring.all()
    except KeyboardInterrupt:  # between two runs: within one, it ends that alone
        if measuring is None:
            raise
        return measuring.study, Exit.INTERRUPTED
    except (Refused, TargetError, LostWorker, Stopped, OSError) as error:
        text = f"{error.kind}: {error}" if isinstance(error, Stopped) else str(error)
        if measuring is None or not measuring.study.points:
            raise Trouble(text) from error
        say(f"the study could not go on: {text}")
        return measuring.study, Exit.USAGE


@contextlib.contextmanager
def _serving(wish: Wish, times: str) -> Iterator[TargetAddress]:
    """The address of the target, which is started if it is not a URL; the embedded one with times of a queue."""
    with contextlib.ExitStack() as stack:
        words = wish.target
        if words == "embedded":
            knobs = [f"--knob={each}" for each in wish.knobs]
            knobs += [f"--queue={times}"] if times else []
            words = stack.enter_context(_started(["serve", "--port=0", *knobs], _URL, 0)).first
        elif wish.knobs or times:
            raise Refused(f"only the embedded server has knobs and a queue, not {wish.target}")
        target = make_target(words)
        if not target.serves:
            raise Refused(f"{wish.target} is a client; a study needs a server")
        stack.callback(target.stop)
        target.start()
        yield target.address()


class _Started:
    """Another nfsproof that runs: what its first lines have said, and what it says now."""

    def __init__(self, output: int, first: str) -> None:
        self.first = first
        self._output = output
        self._last = ""
        os.set_blocking(output, False)

    def last_line(self) -> str:
        """The last line since it started; its output is read, so that it can go on; empty: it has said nothing more."""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._output, 1 << 16):
                lines = part.decode(errors="replace").strip().splitlines()
                self._last = lines[-1].strip() if lines else self._last
        return self._last


@contextlib.contextmanager
def _started(words: list[str], wanted: re.Pattern[str], group: int) -> Iterator[_Started]:
    """Another nfsproof, until the end. Raises `Refused`."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "nfsproof", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,  # what comes later is read from the pipe
        env={**os.environ, "TERM": "dumb", "PYTHONUNBUFFERED": "1"},
        start_new_session=True,  # Ctrl-C is for the study, which ends it
    )
    assert process.stdout is not None
    try:
        seen = ""
        for line in process.stdout:
            seen += line.decode(errors="replace")
            found = wanted.search(line.decode(errors="replace"))
            if found is not None:
                yield _Started(process.stdout.fileno(), found[group].rstrip(".,;"))
                return
        raise Refused(f"nfsproof {words[0]} did not start: {seen.strip()}")
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it, whether or not it listens."""
    process.terminate()
    if process.stdout is not None:
        process.stdout.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _Measuring:
    """Measures point by point. The study is written after each."""

    def __init__(
        self, wish: Wish, loop: Loop, target: TargetAddress, folder: Path, say: Say, progress: Say
    ) -> None:
        self.wish, self.loop, self.target, self.folder = wish, loop, target, folder
        self._say, self._progress = say, progress
        self._file = None if wish.out is None else wish.out / studies.FILE
        self._is_wrong = False
        self._running: _Started | None = None
        self._first_load = _FIRST_LOAD
        self.study = begun(wish, target, self._file)
        self._has_looked = bool(self.study.bytes) and any(
            each.share == PEAK and not each.refused for each in self.study.points
        )
        """Whether any peak is known: how much is to be made for the next one."""
        if self.study.points:
            say(f"{len(self.study.points)} points are in {self._file}")

    def all(self) -> tuple[Study, Exit]:
        """All settings. An interruption ends with what was measured until then.

        Points that are refused are measured again: what they had to do with may be over.
        """
        status = Exit.OK
        for number, setting in enumerate([Setting(), *self.wish.settings], 1):
            with self._linked(setting) as address:
                for task in studies.tasks(setting, self.wish.shares, self.wish.repeats, self.study.seed):
                    if any(each.task == task and not each.refused for each in self.study.points):
                        continue
                    if task.share != PEAK and not self.study.peaks(setting):
                        break
                    if not self._measure(task, address):
                        return self.study, Exit.INTERRUPTED
                    if self._is_wrong:
                        return self.study, Exit.FAIL
                peaks = self.study.peaks(setting)
                if not peaks:
                    self._say(f"{setting}: its peak could not be measured, so it has no loads")
                    status = Exit.USAGE
                if number == 1 and peaks and self.wish.settings:
                    done = {each.task for each in self.study.points if not each.refused}
                    left = duration(self.wish, self.wish.settings, max(peaks), self.study.bytes, done)
                    self._say(f"base is measured; the other settings take some {left}")
        return self.study, status

    @contextlib.contextmanager
    def _linked(self, setting: Setting) -> Iterator[TargetAddress]:
        """The address of a proxy with the link of a setting, before the server."""
        if setting.knob != SERVER:
            with self._proxy(setting, self.target) as address:
                yield address
            return
        if self.wish.target != "embedded" or not self.wish.queue:
            raise Refused("only the embedded server with --queue has an overhead that can be set")
        times = f"{self.wish.queue},overhead={setting.value / 1000:g},packet={self.wish.packet}"
        with _serving(self.wish, times) as target, self._proxy(Setting(), target) as address:
            yield address

    @contextlib.contextmanager
    def _proxy(self, setting: Setting, target: TargetAddress) -> Iterator[TargetAddress]:
        if target.privileged:
            raise Refused("the server wants calls from ports below 1024, which the proxy does not use")
        plan = self.folder / "plan.toml"
        plan.write_text(link_plan(setting), encoding="utf-8")
        to = format_address(target.host, target.nfs_port)
        listen = format_address(self.wish.listen, 0)
        words = ["proxy", "--listen", listen, "--to", to, "--plan", str(plan)]
        # Base goes through a proxy as well, so that all settings have what it costs.
        with _started(words, _PORT, 1) as self._running:
            yield replace(self._found(target), host=self.wish.listen, nfs_port=int(self._running.first))

    def _found(self, target: TargetAddress) -> TargetAddress:
        """The target with the handle of its directory: MOUNT is not at the proxy. Raises `Stopped`."""
        study = self.study
        link = Link(
            target, study.version, self.loop, timeout=_MOUNT, connections=1, transport=study.transport
        )
        with closing(link):
            handle = link.root().hex()
        major, _, minor = study.version.partition(".")
        return replace(target, root_handle=handle, version=int(major), minor=int(minor) if minor else None)

    def _measure(self, task: Task, address: TargetAddress) -> bool:
        """Measure a point, and write the study. False: interrupted."""
        rate = task.share * max(self.study.peaks(task.setting), default=0.0)
        if not self._has_looked and not self._choose_bytes(task, address):
            return False
        lasts = seconds_of_point(self.wish, task.share, rate)
        if rate and lasts > max(self.wish.longest, self.wish.seconds):
            why = f"it would take {lasts:.0f} s, and {self.wish.longest:g} s are the most"
            self._keep(unmeasured(task, rate, why))
            return True
        before = self._of_proxy()
        outcome, loads = self._run(task, address, rate, rate or self._load_of_peak(task.setting))
        if outcome.interrupted:
            return False
        result = outcome.result
        if result.verdict is Verdict.FAIL:
            self._is_wrong = True
            self._say("; ".join(result.reasons))
        elif result.verdict is Verdict.VOID:
            now = self._of_proxy()
            proxy = ("the proxy had trouble with the server",) if now != before else ()
            self._keep(unmeasured(task, rate, "; ".join((*result.reasons, *proxy))[:_SHOWN]))
            if proxy:
                self._say(f"the proxy: {now}")  # it has addresses, which no study has
        else:
            self._keep(measured(task, rate, self.study, result, loads))
            if task.share == PEAK and task.setting.knob != CLIENT:
                for warning in result.warnings:  # the peak may be that of nfsproof's client
                    self._say(f"  {warning}")
        return True

    def _of_proxy(self) -> str:
        """What the proxy has said last."""
        return "" if self._running is None else self._running.last_line()

    def _keep(self, point: Measured) -> None:
        """Add a point to the study, instead of one that was refused before, and write that."""
        others = (each for each in self.study.points if each.task != point.task)
        self.study = replace(self.study, points=(*others, point))
        self._write()
        self._say(_line(point))

    def _load_of_peak(self, setting: Setting) -> float:
        """Operations per second that the files of a peak are for.

        Those of base, so that the server finds as much in its cache. Where calls over UDP are sent again early, files
        are made as slowly as the setting is: there, only as many as the slowest setting until now needs.
        """
        if self.wish.resend:
            known = [each.delivered for each in self.study.points if each.share == PEAK and not each.refused]
            return min(known, default=self._first_load)
        return max([*self.study.peaks(setting), *self.study.peaks(Setting())], default=self._first_load)

    def _choose_bytes(self, task: Task, address: TargetAddress) -> bool:
        """A short peak says how much data there may be for each operation per second. False: interrupted."""
        kept = self.study.bytes
        self.study = replace(self.study, bytes=_FIRST_BYTES)
        outcome, _ = self._run(task, address, 0.0, _FIRST_LOAD, seconds=2.0)
        self.study = replace(self.study, bytes=kept)
        rate = outcome.result.rate if outcome.result.phases else 0.0
        if outcome.interrupted:
            return False
        if outcome.result.verdict is not Verdict.PASS or not rate:
            why = "; ".join(outcome.result.reasons) or "nothing was done"
            raise Refused(f"the peak could not be measured: {why}")
        most = int(_ROOM * self.wish.limits.bytes / (_MORE * rate))
        chosen = kept or self.wish.bytes or min(_FULL_BYTES, most)
        allowed = self.wish.limits.bytes
        if (largest := round(max((1.0, *self.wish.shares)) * rate * chosen)) > allowed:
            raise Refused(
                f"the files of the largest load would have {largest} bytes, and --max-bytes is {allowed}"
            )
        self.study, self._first_load, self._has_looked = replace(self.study, bytes=chosen), rate, True
        self._say(
            f"some {rate:.0f} operations/s; {chosen} bytes of files for each, a tenth of it touched; "
            f"{_DECK >> 20} MiB for each worker at least"
        )
        return True

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            studies.write(self.study, self._file)
            sheet = "\n".join(studies.sheet(self.study))
            self._file.with_name("curves.csv").write_text(f"{sheet}\n", encoding="utf-8")
        except OSError as error:
            raise Refused(f"cannot write {self._file}: {error.strerror}") from error

    def _run(
        self, task: Task, address: TargetAddress, rate: float, load: float, seconds: float | None = None
    ) -> tuple[Outcome, list[Plain]]:
        """A run of the workload, and the load that each worker saw."""
        wish = self.wish
        lasts = seconds or seconds_of_point(wish, task.share, rate)
        with reached(wish.workers, self.loop) as (reach, workers):
            order = self._order(task, address, rate, load, lasts, workers)
            self._require(order, address, lasts)
            made = carrier_of(
                reach,
                order,
                catalog.find(WORKLOAD),
                self.loop,
                evidence=None,
                say=lambda text: self._progress(f"{task.setting}, {text}"),
            )
            carrier = _Noting(made)
            with workloading._stopping(carrier):
                outcome = carry_out(carrier, order, About(self.study.target, __version__))
        self._progress("")
        for left in outcome.left:
            self._say(f"could not be removed: {left}")
        return outcome, [each["load"] for each in carrier.steady]

    def _order(
        self, task: Task, address: TargetAddress, rate: float, load: float, lasts: float, workers: int
    ) -> Order:
        wish = self.wish
        least = workers * _DECK
        order = workloading.order_of(
            workloading.Wish(
                workload=WORKLOAD,
                version=self.study.version,
                transport=self.study.transport,
                parameters={
                    "load": f"{max(load, 0.01):.6f}",
                    "bytes": str(max(self.study.bytes, round(least / max(load, 0.01)))),
                },
                callers=wish.callers,
                arrivals=rate,
                duration=lasts,
                warmup=WARMUP,
                seed=self.study.seed + task.repeat,
                limits=wish.limits,
            ),
            address,
            workers,
        )
        overhead = task.setting.value / 1e6 if task.setting.knob == CLIENT else 0.0
        return replace(order, overhead=overhead, packet=wish.packet, resend=wish.resend)

    def _require(self, order: Order, address: TargetAddress, seconds: float) -> None:
        """Raise `Refused` if the run would make more than the user allows, or than there is room for."""
        demand = catalog.find(WORKLOAD).demand(order.parameters, order.clients * order.workers)
        require_within(demand, self.wish.limits, order, seconds)
        link = Link(
            address, order.version, self.loop, timeout=order.timeout, connections=1, transport=order.transport
        )
        with closing(link):
            require_room(link, link.root(), demand)


class _Noting:
    """A carrier, and the reports of the steady state."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self.steady: list[Plain] = []
        self.open, self.clean, self.close, self.stop = (
            carrier.open,
            carrier.clean,
            carrier.close,
            carrier.stop,
        )

    def phase(self, name: str) -> list[Plain]:
        """As `Carrier.phase`."""
        reports = self._carrier.phase(name)
        if name == STEADY:
            self.steady = reports
        return reports


def measured(task: Task, rate: float, study: Study, result: Result, loads: Sequence[Plain]) -> Measured:
    """The point of a run. `loads`: what each worker saw, as of `Tally.load`."""
    latencies, lag = result.latency.operations, result.latency.lag
    operations = latencies.count
    batches = [
        (sum(each["count"] for each in part), sum(each["sum"] for each in part))
        for part in zip(*(load["batches"] for load in loads), strict=True)
    ]
    low, high = studies.interval_of(batches, latencies.mean)
    seen = [load["met"] / load["arrivals"] for load in loads if load["arrivals"]]
    facts = {
        "offered": rate,
        "delivered": sum(load["ended"] for load in loads) / result.phases[0].seconds if operations else 0.0,
        "response": latencies.mean,
        "median": latencies.percentile(50) if operations else 0.0,
        "lag_p99": lag.percentile(99) if lag is not None and lag.count else 0.0,
        "in_flight": sum(seen) if seen else float(study.callers * study.workers),
    }
    refused = studies.why_refused(**facts) if operations else "nothing was done"
    return Measured(
        knob=task.setting.knob,
        value=task.setting.value,
        share=task.share,
        repeat=task.repeat,
        response_low=low,
        response_high=high,
        operations=operations,
        messages=sum(load["messages"] for load in loads) / max(1, sum(load["ended"] for load in loads)),
        arrivals=sum(load["arrivals"] for load in loads),
        ended=sum(load["ended"] for load in loads),
        null_rtt=result.client.null_rtt_us,
        refused=refused,
        **facts,
    )


def unmeasured(task: Task, rate: float, why: str) -> Measured:
    """A point that has no numbers."""
    return Measured(
        knob=task.setting.knob,
        value=task.setting.value,
        share=task.share,
        repeat=task.repeat,
        offered=rate,
        delivered=0.0,
        response=0.0,
        response_low=0.0,
        response_high=0.0,
        median=0.0,
        lag_p99=0.0,
        in_flight=0.0,
        operations=0,
        messages=0.0,
        refused=why,
    )


def link_plan(setting: Setting) -> str:
    """The plan of the proxy. Overhead is a serial delay of messages, in each direction, not of the server's host.

    Overheads of the client and of the embedded server are not in the proxy.
    """
    field, value = {
        "base": ("latency", 0.0),
        "latency": ("latency", setting.value / 1e6),
        "overhead": ("overhead", setting.value / 1e6),
        "bandwidth": ("gap_per_byte", 1 / (setting.value * 1e6) if setting.value else 0.0),
    }.get(setting.knob, ("latency", 0.0))
    return "".join(
        f'[[link]]\ntoward = "{toward}"\nshared = true\n{field} = {value:.12f}\n'
        for toward in ("server", "client")
    )


def _line(point: Measured) -> str:
    what = "peak" if point.share == PEAK else f"{point.share:.0%}"
    text = f"{point.task.setting}, {what}"
    if point.operations:
        text += f": {point.delivered:.0f} operations/s, {point.response / 1000:.2f} ms"
    return f"{text}; refused: {point.refused}" if point.refused else text
