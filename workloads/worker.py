# SPDX-License-Identifier: MIT
"""A worker: one process that carries out the phases of a workload, as its controller orders them.

    worker = Worker(order)
    worker.open()                        # connects; worker 0 makes the directory of the run
    worker.phase("files", start_at)      # a phase, begun at a time of the wall clock; what it gives is plain data
    worker.clean()                       # removes the directory
    worker.close()

All that goes in and comes out is plain data (numbers, text, lists, dicts), so it does not matter where a worker is. The
controller calls a phase on all workers and waits for all of them: that is the barrier. A phase does not raise what the
server did wrong or what stopped it: it is in its result (`wrong`, `stopped`), with all that was counted until then.
"""

from __future__ import annotations

import contextlib
import functools
import time
import typing as t
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from nfsclient.errors import ConnectionLost, NfsClientError, ServerViolation, XdrError
from nfsclient.highlevel.snfs.callbacks import Callback, CallbackService
from nfsclient.rpc.loop import Loop
from nfstargets import TargetAddress
from workloads import catalog
from workloads.attributes import AttributeChecks
from workloads.channels import Channel, Meter, SessionChannel
from workloads.clients import Link
from workloads.contents import Contents
from workloads.engine import Engine, Interrupted, Task, Work
from workloads.ledger import Ledger
from workloads.overhead import Overhead
from workloads.policies import POLICIES
from workloads.policies.client import PolicyClient
from workloads.policies.reclaiming import reclaim
from workloads.policies.spritely import SpritelyClient
from workloads.spec import Context, Order, PhaseDef
from workloads.sweeping import MODE, find_directory, make_directory, remove_directory
from workloads.tallying import Rate, Tally, carry_out
from workloads.trouble import Stopped, Wrong, WrongData
from workloads.watching import Watch

STEADY: t.Final = "steady state"
"""The phase of a rate."""
Plain: t.TypeAlias = dict[str, t.Any]
_AT_ONCE: t.Final = 20.0
"""Seconds for which a worker that waits serves its clients at once; they renew their leases meanwhile."""
CAPTURES: t.Final = "wrong-*.pcapng"
"""The pattern of the files of what was wrong, next to a result."""


class Worker:
    """Carries out phases over the library. `mounted.MountWorker` does it on a mounted directory."""

    def __init__(self, order: Order, *, loop: Loop | None = None, evidence: Path | None = None) -> None:
        """`loop` is for a server in this process. `evidence` is a folder for a capture of what was wrong."""
        self.order = order
        self.workload = catalog.find(order.workload)
        self.loop = Loop() if loop is None else loop
        self.engine = Engine(self.loop)
        self.on_progress: Callable[[str], None] | None = None
        """Called with a line about four times a second while a phase runs."""
        self._evidence = evidence
        self._may_have_doubled = False
        self._links: list[Link] = []
        self._channels: list[Channel] = []
        self._performers: list[PolicyClient] = []
        self._paced_by = ""
        """The parameter by which the clocks of the clients go."""
        self._contexts: list[Context] = []
        self._root = self._directory = b""
        self._address = TargetAddress.from_plain(order.address)
        self.ledger = Ledger(Contents(order.seed), order.worker)
        self.meter = Meter()
        """Of the phase that is carried out, or was last."""
        self.troubles: Counter[str] = Counter()
        policy = POLICIES[order.policy]
        self.checks = AttributeChecks(
            self.ledger,
            self.troubles,
            knows_writes=not (policy.wants_delegations or policy.is_spritely),
            knows_sizes=not policy.is_spritely,
        )
        self.watch = Watch(order.lint, alone=order.workers == 1)

    # ------------------------------------------------------------ life

    def open(self) -> Plain:
        """Connect, and make or find the directory of the run. Raises `Stopped`, `Refused`."""
        order = self.order
        for number in range(order.clients):
            link = Link(
                self._address,
                order.version,
                self.loop,
                timeout=order.timeout,
                connections=order.connections,
                transport=order.transport,
                resend=order.resend,
            )
            self._links.append(link)
            if not number:
                self._root = link.root()
                rtt = link.null_rtt()
                making = make_directory if order.worker == 0 else find_directory
                self._directory = making(link, self._root, order.directory)
                if order.worker == 0:
                    self.ledger.items[""].requested = MODE
            channel = link.channel(self.engine, Meter(), self.watch)
            self._channels.append(channel)
            channel.on_lost = self.ledger.lost
            channel.on_doubled = self._doubled
            channel.checks = self.checks
            if order.overhead:
                channel.overhead = Overhead(order.overhead, order.packet, self.loop.clock)
            performer = self._performer(link, channel)
            self._performers.append(performer)
            if isinstance(channel, SessionChannel):
                channel.reclaim = functools.partial(reclaim, performer, channel.renamed)
                channel.on_session = functools.partial(setattr, link, "session")
            self._contexts.append(self._context(number))
        return {"null_rtt_us": rtt}

    def client_time(self) -> float:
        """What the clock of the first client says."""
        return self._performers[0].now()

    def _performer(self, link: Link, channel: Channel) -> PolicyClient:
        order = self.order
        policy = POLICIES[order.policy]
        make: Callable[..., PolicyClient] = PolicyClient
        if policy.is_spritely:
            make = SpritelyClient
        performer = make(
            policy,
            order.version,
            self._directory,
            self.ledger,
            self.checks,
            clock=self.engine.clock,
            troubles=self.troubles,
            rsize=order.rsize,
            wsize=order.wsize,
            page=order.page,
            window=order.window,
            stable=order.stable,
            plus=order.plus,
        )
        if link.session is not None:
            link.session.callbacks.on_recall = functools.partial(self._recalled, performer, channel)
        if isinstance(performer, SpritelyClient):
            CallbackService(link.connections[0], functools.partial(self._called, performer, channel))
        return performer

    def _recalled(self, performer: PolicyClient, channel: Channel, stateid: t.Any, _handle: bytes) -> None:
        """The server wants a delegation back: a task gives it back, after the reply to the recall."""
        self.troubles["recalls of delegations"] += 1
        node = performer.delegation_of(stateid)
        if node is not None:
            self.engine.start(performer.give_back(node), channel)

    def _called(self, performer: SpritelyClient, channel: Channel, callback: Callback) -> None:
        """The server wants data of a file, or wants it to be cached no more: a task carries that out."""
        self.engine.start(performer.answer(callback), channel)

    def _doubled(self) -> None:
        """A call was sent twice: a server without a memory of calls may have carried it out twice, and late."""
        self._may_have_doubled = True

    def _context(self, number: int) -> Context:
        order = self.order
        client = order.worker * order.clients + number
        return Context(
            client=client,
            clients=order.clients * order.workers,
            callers=order.callers,
            seed=order.seed,
            version=order.version,
            parameters=order.parameters,
            ledger=self.ledger,
            clock=self.engine.clock,
            random=Random(f"{order.seed} {client}"),
        )

    def close(self) -> None:
        """End sessions and connections."""
        self.engine.close()
        for link in self._links:
            link.close()

    def stop(self) -> None:
        """End the running phase as soon as possible. May be called by a signal handler."""
        self.engine.stop()

    # ------------------------------------------------------------ phases

    def phase(self, name: str, start_at: float = 0.0) -> Plain:
        """Carry out a phase, from a time of the wall clock on. Raises `Interrupted` after `stop`, with its report."""
        meter = self.meter = Meter(self.order.packet)
        for channel in self._channels:
            channel.meter = meter
        self._sleep_until(start_at)
        began_at, cpu, begin = time.time(), time.process_time(), self.engine.clock()
        tally = Tally()
        error: Exception | None = None
        try:
            if name == STEADY:
                self._steady(meter, tally)
            else:
                self._script(self._phase_named(name), tally)
        except Exception as failure:  # noqa: BLE001  (what it means is decided in one place)
            error = failure
        report: Plain = {
            "name": name,
            "began_at": began_at,
            "seconds": self.engine.clock() - begin,
            "cpu": time.process_time() - cpu,
        }
        if error is not None and name == STEADY and report["seconds"] < self.order.warmup:
            meter.restart()  # the steady state has not begun
        report |= self._counted(meter, tally)
        if isinstance(error, Interrupted):
            self.engine.abandon(2.0)
            raise Interrupted(report)
        if error is not None:
            try:
                report |= self._ended(error)
            finally:  # also if nobody expects the error: the directory of the run is removed
                self.engine.abandon(2.0)
        return report

    def _sleep_until(self, start_at: float) -> None:
        """The wall clock says when to begin; a server on this loop is served meanwhile."""
        left = start_at - time.time()
        if left > 0:
            until = self.engine.clock() + left
            while self.engine.clock() < until:
                self.loop.run_precisely(until)

    def _phase_named(self, name: str) -> PhaseDef:
        return next(phase for phase in (*self.workload.phases, *self.workload.after) if phase.name == name)

    def _script(self, phase: PhaseDef, tally: Tally) -> None:
        tasks = list[Task]()
        if phase.pace != self._paced_by:
            self._paced_by = phase.pace
            for performer in self._performers:
                performer.begin(float(self.order.parameters[phase.pace]) if phase.pace else 0.0)
        for context, performer, channel in zip(self._contexts, self._performers, self._channels, strict=True):
            for program in phase.programs(context):
                work = carry_out(performer, program, tally, self.engine.clock)
                tasks.append(self.engine.start(work, channel))
        self._progress(phase.name, tally)
        self._run(tasks, self.order.most_seconds)

    def _steady(self, meter: Meter, tally: Tally) -> None:
        order, unit = self.order, self.workload.unit
        assert unit is not None
        engine = self.engine
        rate = Rate(
            engine.clock, engine.clock(), order.warmup, order.duration, tally, lambda: engine.turned_at
        )

        def begin_to_count() -> None:
            meter.restart()

        def end_to_count() -> None:
            tally.messages = meter.messages

        self.engine.at(rate.steady, begin_to_count)
        self.engine.at(rate.end, end_to_count)
        meter.has_latencies = True
        tasks = list[Task]()
        for context, performer, channel in zip(self._contexts, self._performers, self._channels, strict=True):
            for work in self._loops(rate, context, performer):
                tasks.append(self.engine.start(work, channel))
        self._progress(STEADY, rate.tally)
        self._run(tasks, order.warmup + order.duration + order.timeout + 30)

    def _loops(self, rate: Rate, context: Context, performer: PolicyClient) -> t.Iterator[Work[None]]:
        order, unit = self.order, self.workload.unit
        assert unit is not None
        if order.arrivals:
            mine = order.arrivals / context.clients
            gaps = functools.partial(Random(f"arrivals {order.seed} {context.client}").expovariate, mine)
            yield rate.open(performer, lambda number: unit(context, number % context.callers), gaps)
            return
        for caller in range(context.callers):
            yield rate.closed(performer, functools.partial(unit, context, caller))

    def _run(self, tasks: list[Task], seconds: float) -> None:
        until = self.engine.clock() + seconds
        self.engine.run(tasks, until=until)
        if not all(task.done for task in tasks):
            raise Stopped("too slow", f"not done within {seconds:.0f} s: the limit of a phase")

    def _progress(self, name: str, tally: Tally) -> None:
        say = self.on_progress
        if say is None:
            self.engine.on_turn = None
            return
        begin = self.engine.clock()

        def turn(now: float) -> None:
            done = tally.operations
            say(f"{name}: {now - begin:.0f} s, {done} operations, {done / max(now - begin, 1e-3):.0f}/s")

        self.engine.on_turn = turn

    # ------------------------------------------------------------ what comes out

    def _counted(self, meter: Meter, tally: Tally) -> Plain:
        troubles = Counter(meter.troubles) + self.troubles
        self.troubles.clear()
        checks = {"made": self.ledger.reads, "bytes": self.ledger.read_bytes}
        self.ledger.reads = self.ledger.read_bytes = 0
        return {
            "operations": tally.operations,
            "read": tally.read,
            "written": tally.written,
            "calls": dict(meter.calls),
            "all_operations": dict(meter.operations),
            "rpcs": meter.rpcs,
            "sent": meter.sent,
            "received": meter.received,
            "waited": meter.waited,
            "troubles": dict(troubles),
            "procedures": {name: each.to_plain() for name, each in meter.procedures.items()},
            "latencies": tally.latencies.to_plain(),
            "lag": None if tally.lag is None else tally.lag.to_plain(),
            "series": tally.series(),
            "checks": checks,
            "findings": [_finding(each) for each in self.watch.findings],
            "judged": self.watch.judged,
            "seen": self.watch.seen,
            "load": tally.load(meter.messages),
        }

    def _ended(self, error: BaseException) -> Plain:
        """What an error means: `wrong` (the server is), or `stopped` (something stands in the way)."""
        if isinstance(error, WrongData) and self._may_be_lost(error):
            text = f"data that is not stable may be lost, and was not written again yet: {error}"
            return {"stopped": {"kind": "restart", "text": text}}
        if isinstance(error, Wrong) and self._may_have_doubled:
            text = f"calls were sent again over UDP, and the server may carry each of them out late; then {error}"
            return {"stopped": {"kind": "retransmission", "text": text}}
        if isinstance(error, Wrong):
            return {"wrong": self._wrong(error)}
        if isinstance(error, ServerViolation | XdrError):
            return {"wrong": self._wrong(error)}
        if isinstance(error, Stopped):
            return {"stopped": {"kind": error.kind, "text": str(error)}}
        if isinstance(error, NfsClientError):
            return {"stopped": {"kind": "connection", "text": str(error)}}
        raise error

    def _may_be_lost(self, error: WrongData) -> bool:
        """Whether a restart excuses it. Whoever wrote the data writes it again as soon as COMMIT tells."""
        state = self.ledger.files.get(error.file)
        return state is not None and state.may_be_lost(
            error.offset, restarted=self.ledger.losses > 0, to_the_end=error.is_about_size
        )

    def _wrong(self, error: BaseException) -> Plain:
        found: Plain = {"text": str(error), "capture": ""}
        if isinstance(error, WrongData):
            found |= error.fields()
        if self._evidence is not None:
            name = f"wrong-{self.order.worker}.pcapng"
            if self.watch.write_capture(self._evidence / name, str(error)):
                found["capture"] = name
        return found

    # ------------------------------------------------------------ between phases

    def wait(self, is_wanted: Callable[[], bool]) -> None:
        """Serve the loop until something else is wanted: recalls are answered, and sessions stay alive."""
        engine = self.engine
        while not is_wanted():
            until = engine.clock() + _AT_ONCE
            if engine.failed is not None:  # the next phase raises it
                self.loop.run_once(until)
                continue
            engine.serve(is_wanted, until)

    # ------------------------------------------------------------ the end

    def finish(self) -> None:
        """End all clients of this worker; another one removes the directory of the run."""
        self._let_go()
        self.engine.close()
        self._channels.clear()
        for link in self._links:
            link.close()

    def clean(self) -> Plain:
        """Remove the directory of the run; what could not be removed, as text."""
        if not self._directory:
            return {"left": ""}
        self.finish()
        with contextlib.suppress(ConnectionLost):  # a server may close what is idle at any time
            return self._remove()
        try:
            return self._remove()
        except ConnectionLost as error:
            return {"left": f"{self.order.directory}: {error}"}

    def _remove(self) -> Plain:
        """Remove the directory over a new connection. Raises `ConnectionLost` if that ends."""
        try:
            link = Link(
                self._address,
                self.order.version,
                self.loop,
                timeout=self.order.timeout,
                connections=1,
                transport=self.order.transport,
            )
        except Stopped as error:
            return {"left": f"{self.order.directory}: {error}"}
        self._links.append(link)
        engine = Engine(self.loop)
        channel = link.channel(engine, Meter(), Watch(0))
        try:
            remove_directory(link, self._root, self._directory, self.order.directory, engine, channel)
        except ConnectionLost:
            raise
        except (NfsClientError, Stopped) as error:
            return {"left": f"{self.order.directory}: {error}"}
        finally:
            engine.close()
        return {"left": ""}

    def _let_go(self) -> None:
        """The clients give back opens and delegations, as far as the server answers."""
        pairs = zip(self._performers, self._channels, strict=True)
        tasks = [self.engine.start(performer.finish(), channel) for performer, channel in pairs]
        # Whatever goes wrong here: the directory of the run is removed.
        with contextlib.suppress(Exception):
            self.engine.run(tasks, until=self.engine.clock() + _LETTING_GO)


_LETTING_GO: t.Final = 10.0
"""Seconds for giving back what the server keeps for the clients of a worker."""


def _finding(finding: t.Any) -> Mapping[str, t.Any]:
    return {
        "rule": finding.rule.id,
        "severity": finding.severity,
        "text": f"expected {finding.breach.expected}, got {finding.say('call ')}",
        "count": finding.count,
    }
