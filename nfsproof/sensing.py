# SPDX-License-Identifier: MIT
"""`nfsproof sensitivity TARGET`: measures the points of a study, one run of `sfs-like` each, and resumes it.

The server is another process than this one, also the embedded one: a server in the same process would delay what is
sent. So is the proxy with the links.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsjudge.verdict import Verdict
from nfsproof import __version__, workloading
from nfsproof.exits import Exit, Trouble
from nfsproof.signals import interruptible
from nfstargets import TargetAddress, TargetError, make_target
from workloads import catalog, environment
from workloads.clients import Link
from workloads.running import About, Here, Outcome, carry_out
from workloads.safety import Limits, require_room, require_within
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import PEAK, Measured, Setting, Study, Task
from workloads.spec import Order
from workloads.tallying import Tally
from workloads.trouble import Refused, Stopped
from workloads.worker import Worker

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
_WARMUP: t.Final = 1.0
_PREPARATION: t.Final = 3.0
"""Seconds that files are made and removed in, for the estimate of the duration."""
_PORT: t.Final = re.compile(r":(\d+) for ")
_URL: t.Final = re.compile(r"nfs://\S+")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What the user wants."""

    target: str
    version: str | None
    transport: str | None
    settings: tuple[Setting, ...]
    """Besides base, which is always measured."""
    shares: tuple[float, ...]
    repeats: int
    seconds: float
    callers: int
    seed: int
    limits: Limits
    out: Path | None
    label: str
    queue: str = ""
    """Times of the embedded server, as of `nfsproof serve --queue`."""
    knobs: tuple[str, ...] = ()
    """Of the embedded server."""


def plan_lines(wish: Wish) -> Iterator[str]:
    """What will be measured, and how long it takes at least."""
    settings = [Setting(), *wish.settings]
    number = len(settings) * wish.repeats * (len(wish.shares) + 1)
    yield f"settings: {', '.join(map(str, settings))}"
    yield f"points: {number}, {wish.repeats} for each of {len(wish.shares)} loads and the peak, of each setting"
    yield f"duration: {_duration(wish, len(settings), 0.0)} or more; the peaks say how much more"


def _duration(wish: Wish, settings: int, peak: float) -> str:
    least = wish.seconds + _WARMUP + _PREPARATION
    each = sum(
        (studies.seconds_of(share * peak, wish.seconds) if peak else wish.seconds) + _WARMUP + _PREPARATION
        for share in wish.shares
    )
    minutes = settings * wish.repeats * (least + each) / 60
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"


def run(wish: Wish, *, say: Say, progress: Say) -> tuple[Study, Exit]:
    """Measure what is not in the file of `wish.out` yet. Raises `Trouble`."""
    for line in plan_lines(wish):
        say(line)
    try:
        with (
            interruptible(),
            closing(Loop()) as loop,
            _serving(wish) as target,
            tempfile.TemporaryDirectory() as folder,
        ):
            return _Measuring(wish, loop, target, Path(folder), say, progress).all()
    except (Refused, TargetError) as error:
        raise Trouble(str(error)) from error
    except Stopped as error:
        raise Trouble(f"{error.kind}: {error}") from error


@contextlib.contextmanager
def _serving(wish: Wish) -> Iterator[TargetAddress]:
    """The address of the target, which is started if it is not a URL."""
    with contextlib.ExitStack() as stack:
        words = wish.target
        if words == "embedded":
            knobs = [f"--knob={each}" for each in wish.knobs]
            knobs += [f"--queue={wish.queue}"] if wish.queue else []
            words = stack.enter_context(_started(["serve", "--port=0", *knobs], _URL, 0))
        elif wish.knobs or wish.queue:
            raise Refused(f"only the embedded server has knobs and a queue, not {wish.target}")
        target = make_target(words)
        if not target.serves:
            raise Refused(f"{wish.target} is a client; a study needs a server")
        stack.callback(target.stop)
        target.start()
        yield target.address()


@contextlib.contextmanager
def _started(words: list[str], wanted: re.Pattern[str], group: int) -> Iterator[str]:
    """Another nfsproof, until the end; what its first lines say. Raises `Refused`."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "nfsproof", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TERM": "dumb", "PYTHONUNBUFFERED": "1"},
        start_new_session=True,  # Ctrl-C is for the study, which ends it
    )
    assert process.stdout is not None
    try:
        seen = ""
        for line in process.stdout:
            seen += line
            found = wanted.search(line)
            if found is not None:
                yield found[group].rstrip(".,;")
                return
        raise Refused(f"nfsproof {words[0]} did not start: {seen.strip()}")
    finally:
        process.terminate()
        process.stdout.close()
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
        self._first_load = _FIRST_LOAD
        self.study = self._begun()

    def all(self) -> tuple[Study, Exit]:
        """All settings. An interruption ends with what was measured until then."""
        for number, setting in enumerate([Setting(), *self.wish.settings], 1):
            with self._linked(setting) as address:
                for task in studies.tasks(setting, self.wish.shares, self.wish.repeats, self.study.seed):
                    if any(each.task == task for each in self.study.points):
                        continue
                    if not self._measure(task, address):
                        return self.study, Exit.INTERRUPTED
                    if self._is_wrong:
                        return self.study, Exit.FAIL
                peaks = self.study.peaks(setting)
                if number == 1 and peaks and self.wish.settings:
                    left = _duration(self.wish, len(self.wish.settings), max(peaks))
                    self._say(f"base is measured; the other settings take some {left}")
        return self.study, Exit.OK

    def _begun(self) -> Study:
        """The study of the file, if it is of the same work; a new one otherwise. Raises `Refused`."""
        wish = self.wish
        version = wish.version or workloading._usual_version(self.target)
        fresh = Study(
            target=wish.label or ("URL" if "://" in wish.target else wish.target),
            version=version,
            transport=wish.transport or self.target.proto,
            seed=wish.seed,
            callers=wish.callers,
            repeats=wish.repeats,
            seconds=wish.seconds,
            bytes=0,
            shares=wish.shares,
            environment=environment.here(__version__),
        )
        if self._file is None or not self._file.exists():
            return fresh
        known = studies.read(self._file)
        for name in ("target", "version", "transport", "seed", "callers", "repeats", "seconds", "shares"):
            if getattr(known, name) != getattr(fresh, name):
                raise Refused(
                    f"{self._file} is a study with {name} {getattr(known, name)}, not {getattr(fresh, name)}: "
                    "use another --out, or the same options"
                )
        self._say(f"{len(known.points)} points are in {self._file}")
        return known

    @contextlib.contextmanager
    def _linked(self, setting: Setting) -> Iterator[TargetAddress]:
        """The address of the server, or of a proxy with the link of a setting before it."""
        if self.target.privileged:
            raise Refused("the server wants calls from ports below 1024, which the proxy does not use")
        plan = self.folder / "plan.toml"
        plan.write_text(link_plan(setting), encoding="utf-8")
        host = f"[{self.target.host}]" if ":" in self.target.host else self.target.host
        words = ["proxy", "--to", f"{host}:{self.target.nfs_port}", "--plan", str(plan)]
        # Base goes through a proxy as well, so that all settings have what it costs.
        with _started(words, _PORT, 1) as port:
            yield replace(self.target, host="127.0.0.1", nfs_port=int(port))

    def _measure(self, task: Task, address: TargetAddress) -> bool:
        """Measure a point, and write the study. False: interrupted."""
        peaks = self.study.peaks(task.setting)
        if task.share != PEAK and not peaks:
            raise Refused(f"{task.setting}: its peak could not be measured")
        rate = task.share * max(peaks, default=0.0)
        if not self.study.bytes:
            self._choose_bytes(task, address)
        known = [*peaks, *self.study.peaks(Setting())] or [self._first_load]
        load = max(known) if task.share == PEAK else rate
        outcome, tally = self._run(task, address, rate, load)
        if outcome.interrupted:
            return False
        result = outcome.result
        if result.verdict is Verdict.FAIL:
            self._is_wrong = True
            self._say("; ".join(result.reasons))
            return True
        if result.verdict is Verdict.VOID:
            raise Refused(f"{task.setting}: {'; '.join(result.reasons)}")
        point = measured(task, rate, self.study.callers, tally, result.phases[0].seconds, result.latency.lag)
        self.study = replace(self.study, points=(*self.study.points, point))
        self._write()
        self._say(_line(point))
        return True

    def _choose_bytes(self, task: Task, address: TargetAddress) -> None:
        """A short peak says how much data there may be for each operation per second."""
        self.study = replace(self.study, bytes=_FIRST_BYTES)
        outcome, tally = self._run(task, address, 0.0, _FIRST_LOAD, seconds=2.0)
        rate = (
            tally.operations / max(outcome.result.phases[0].seconds, 1e-3) if outcome.result.phases else 0.0
        )
        if outcome.interrupted or outcome.result.verdict is not Verdict.PASS or not rate:
            why = "; ".join(outcome.result.reasons) or "nothing was done"
            raise Refused(f"the peak could not be measured: {why}")
        most = int(_ROOM * self.wish.limits.bytes / (_MORE * rate))
        chosen = min(_FULL_BYTES, most)
        self.study, self._first_load = replace(self.study, bytes=chosen), rate
        self._say(f"some {rate:.0f} operations/s; {chosen} bytes of files for each, a tenth of it touched")

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
    ) -> tuple[Outcome, Tally]:
        wish = self.wish
        lasts = seconds or (studies.seconds_of(rate, wish.seconds) if rate else wish.seconds)
        least = 3 << 20  # a whole deck of files
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
                warmup=_WARMUP,
                seed=self.study.seed + task.repeat,
                limits=wish.limits,
            ),
            address,
            1,
        )
        self._require(order, address, lasts)
        carrier = Here(order, loop=self.loop, say=lambda text: self._progress(f"{task.setting}, {text}"))
        worker = carrier.worker
        assert isinstance(worker, Worker)
        tallies = list[Tally]()
        worker.on_steady = tallies.append
        with workloading._stopping(carrier):
            outcome = carry_out(carrier, order, About(self.study.target, __version__))
        self._progress("")
        for left in outcome.left:
            self._say(f"could not be removed: {left}")
        return outcome, tallies[0] if tallies else Tally()

    def _require(self, order: Order, address: TargetAddress, seconds: float) -> None:
        """Raise `Refused` if the run would make more than the user allows, or than there is room for."""
        demand = catalog.find(WORKLOAD).demand(order.parameters, 1)
        require_within(demand, self.wish.limits, order, seconds)
        link = Link(
            address, order.version, self.loop, timeout=order.timeout, connections=1, transport=order.transport
        )
        with closing(link):
            require_room(link, link.root(), demand)


def measured(task: Task, rate: float, callers: int, tally: Tally, seconds: float, lag: t.Any) -> Measured:
    """The point of a run."""
    latencies = tally.latencies
    delivered = tally.operations / seconds if seconds else 0.0
    means = [
        second.histogram.mean
        for number, second in sorted(tally.seconds.items())
        if number >= _WARMUP and second.histogram.count
    ]
    low, high = studies.interval_of(means, latencies.mean)
    in_flight = tally.met / tally.arrivals if tally.arrivals else float(callers)
    facts = {
        "offered": rate,
        "delivered": delivered,
        "response": latencies.mean,
        "median": latencies.percentile(50),
        "lag_p99": lag.percentile(99) if lag is not None and lag.count else 0.0,
        "in_flight": in_flight,
    }
    refused = studies.why_refused(**facts) if tally.operations else "nothing was done"
    return Measured(
        knob=task.setting.knob,
        value=task.setting.value,
        share=task.share,
        repeat=task.repeat,
        response_low=low,
        response_high=high,
        operations=tally.operations,
        refused=refused,
        **facts,
    )


def link_plan(setting: Setting) -> str:
    """The plan of the proxy. Overhead is a serial delay of messages, in each direction, not of the server's host."""
    field, value = {
        "base": ("latency", 0.0),
        "latency": ("latency", setting.value / 1e6),
        "overhead": ("overhead", setting.value / 1e6),
        "bandwidth": ("gap_per_byte", 1 / (setting.value * 1e6) if setting.value else 0.0),
    }[setting.knob]
    return "".join(
        f'[[link]]\ntoward = "{toward}"\nshared = true\n{field} = {value:.12f}\n'
        for toward in ("server", "client")
    )


def _line(point: Measured) -> str:
    what = "peak" if point.share == PEAK else f"{point.share:.0%}"
    text = f"{point.task.setting}, {what}: {point.delivered:.0f} operations/s, {point.response / 1000:.2f} ms"
    return f"{text}; refused: {point.refused}" if point.refused else text
