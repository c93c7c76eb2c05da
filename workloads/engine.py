# SPDX-License-Identifier: MIT
"""Runs many tasks on one loop: generators that yield what they wait for.

What a task may yield, and what it is sent:

    nfsclient.files.Call, Compound    one call on the channel of the task: its reply
    Start(steps, pool)                another task on the same channel: a `Task`, at once
    Join(task)                        the result of a task, or its error
    Room(pool)                        None, as soon as the pool has room for one more task
    Drain(pool)                       None, when no task of the pool is left; or the error of one
    Until(time)                       None, at that time of the loop's clock

    state of a task    where it is
    ready              in `_ready`: it goes on in this turn
    waiting            with a channel (call), a task or pool, or in `_timers`
    done               nowhere; `result` or `error` is set

What must stay true:

- One turn: all ready tasks go on until none is ready, then all that they have queued goes out in one send for each
  connection, then the loop waits. So what many callers ask for at the same time costs one system call.
- An error of a task that nobody joins, and that is of no pool, ends the whole run with it (`failed`).
- Nothing here knows NFS or programs; a channel decides what a call is and how often it is repeated.
"""

from __future__ import annotations

import heapq
import itertools
import math
import typing as t
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from nfsclient.files import Ask
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.mixed import MixedCalls, TimedCall, dispatch

_LOOK: t.Final = 0.25

T = t.TypeVar("T")
Work: t.TypeAlias = Generator[t.Any, t.Any, T]
"""A task, or a part of one: it yields an `Ask` or what is above."""


class Channel(t.Protocol):
    """Where calls of tasks go."""

    connections: list[MixedCalls]

    def perform(self, ask: Ask, task: Task) -> None:
        """Make a call. `Engine.resume` or `Engine.throw` gives its end to the task, not from within this call."""
        ...


class Pool:
    """Tasks of which no more than `most` are to be under way, such as write daemons."""

    __slots__ = ("errors", "most", "running", "waiting")

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self.running = 0
        self.errors: list[BaseException] = []
        self.waiting: list[tuple[Task, bool]] = []
        """(task, whether it waits for the end of all)."""


@dataclass(slots=True, eq=False)
class Start:
    """Start another task."""

    steps: Work[t.Any]
    pool: Pool | None = None


@dataclass(slots=True, eq=False)
class Join:
    """Wait for a task."""

    task: Task


@dataclass(slots=True, eq=False)
class Room:
    """Wait until a pool has room."""

    pool: Pool


@dataclass(slots=True, eq=False)
class Drain:
    """Wait until a pool is empty."""

    pool: Pool


@dataclass(slots=True, eq=False)
class Until:
    """Wait for a time."""

    at: float


class Task:
    """A generator that is under way, or its end."""

    __slots__ = ("channel", "done", "error", "joining", "on_done", "pool", "result", "steps")

    def __init__(self, steps: Work[t.Any], channel: Channel, pool: Pool | None) -> None:
        self.steps = steps
        self.channel = channel
        self.pool = pool
        self.done = False
        self.result: t.Any = None
        self.error: BaseException | None = None
        self.joining: list[Task] = []
        self.on_done: Callable[[Task], None] | None = None


class Interrupted(Exception):
    """The run was stopped from outside: Ctrl-C."""

    def __init__(self, *reports: t.Any) -> None:
        super().__init__()
        self.reports = list(reports)
        """What was counted in the phase until then, of each worker."""


class Engine:
    """Runs tasks. Not thread-safe; `stop` may be called by a signal handler."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.clock = loop.clock
        self.over: deque[TimedCall] = deque()
        """Calls of all connections that are over."""
        self.connections: list[MixedCalls] = []
        self.failed: BaseException | None = None
        self.on_turn: Callable[[float], None] | None = None
        """Called with the time about four times a second, while tasks run: for a line of progress."""
        self.keepers: list[Callable[[float], None]] = []
        """Called with the time about four times a second: for what has to be done while tasks wait."""
        self.turned_at = -math.inf
        """When the loop was served last."""
        self._ready: deque[tuple[Task, t.Any, BaseException | None]] = deque()
        self._timers: list[tuple[float, int, Task | Callable[[], None]]] = []
        self._count = itertools.count()
        self.look = _LOOK
        """Seconds between two looks at deadlines of calls."""
        self._look_at = 0.0
        self._is_stopped = False
        self._left = 0
        """Tasks that `run` waits for."""

    def stop(self) -> None:
        """End the run as soon as possible: `run` raises `Interrupted`."""
        self._is_stopped = True

    # ------------------------------------------------------------ tasks

    def start(self, steps: Work[t.Any], channel: Channel, pool: Pool | None = None) -> Task:
        """A new task. It begins with the next turn."""
        task = Task(steps, channel, pool)
        if pool is not None:
            pool.running += 1
        self._ready.append((task, None, None))
        return task

    def resume(self, task: Task, value: t.Any) -> None:
        """What the task waited for has come."""
        self._ready.append((task, value, None))

    def throw(self, task: Task, error: BaseException) -> None:
        """What the task waited for has failed."""
        self._ready.append((task, None, error))

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Call a function at a time of the clock."""
        heapq.heappush(self._timers, (when, next(self._count), call))

    def _step(self, task: Task, value: t.Any, error: BaseException | None) -> None:
        while True:
            try:
                wanted = task.steps.send(value) if error is None else task.steps.throw(error)
            except StopIteration as end:
                self._finish(task, end.value, None)
                return
            except Exception as failure:  # noqa: BLE001  (whoever waits for the task gets it)
                self._finish(task, None, failure)
                return
            value, error = None, None
            if isinstance(wanted, Start):
                value = self.start(wanted.steps, task.channel, wanted.pool)
            elif isinstance(wanted, Join):
                if not wanted.task.done:
                    wanted.task.joining.append(task)
                    return
                value, error = wanted.task.result, wanted.task.error
            elif isinstance(wanted, Room | Drain):
                pool, is_drain = wanted.pool, isinstance(wanted, Drain)
                if pool.running and (is_drain or pool.running >= pool.most):
                    pool.waiting.append((task, is_drain))
                    return
                error = pool.errors.pop() if pool.errors else None
            elif isinstance(wanted, Until):
                heapq.heappush(self._timers, (wanted.at, next(self._count), task))
                return
            else:
                task.channel.perform(wanted, task)
                return

    def _finish(self, task: Task, result: t.Any, error: BaseException | None) -> None:
        task.done, task.result, task.error = True, result, error
        if task.pool is not None:
            self._leave(task.pool, error)
        elif task.joining:
            for waiting in task.joining:
                self._ready.append((waiting, result, error))
        elif error is not None and self.failed is None:
            self.failed = error
        if task.on_done is not None:
            task.on_done(task)

    def _leave(self, pool: Pool, error: BaseException | None) -> None:
        pool.running -= 1
        if error is not None:
            pool.errors.append(error)
        left = list[tuple[Task, bool]]()
        room = pool.most - pool.running
        for waiting, is_drain in pool.waiting:
            if (is_drain and pool.running) or (not is_drain and room <= 0):
                left.append((waiting, is_drain))
                continue
            room -= 0 if is_drain else 1
            failure = pool.errors.pop() if pool.errors else None
            self._ready.append((waiting, None, failure))
        pool.waiting = left

    # ------------------------------------------------------------ turns

    def run(self, tasks: Iterable[Task], *, until: float = math.inf) -> None:
        """Serve until these tasks are done, or `until`. Raises the first error that nobody waits for, `Interrupted`."""
        self._left = 0
        for task in tasks:
            if not task.done:
                task.on_done = self._ended
                self._left += 1
        while self._left and self.failed is None and not self._is_stopped and self.clock() < until:
            self._turn(until)
        if self._is_stopped:
            raise Interrupted
        if self.failed is not None:
            failed, self.failed = self.failed, None
            raise failed

    def serve(self, is_over: Callable[[], bool], until: float) -> None:
        """Serve tasks that nobody waits for, such as those for recalls, between two phases."""
        self._left = 1
        while not is_over() and self.failed is None and self.clock() < until:
            self._turn(until)

    def _ended(self, _task: Task) -> None:
        self._left -= 1

    def _turn(self, until: float) -> None:
        ready = self._ready
        while ready:
            self._step(*ready.popleft())
            if self.failed is not None:
                return
        if not self._left:
            return
        for connection in self.connections:
            if connection.has_queued:
                connection.flush()
        if not self.over:
            self._wait(until)
        dispatch(self.over)
        now = self.turned_at = self.clock()
        timers = self._timers
        while timers and timers[0][0] <= now:
            due = heapq.heappop(timers)[2]
            if isinstance(due, Task):
                ready.append((due, None, None))
            else:
                due()
        if now >= self._look_at:
            self._look(now)

    def _wait(self, until: float) -> None:
        deadline = min(until, self._look_at, self.clock() + self.look)
        timer = self._timers[0][0] if self._timers else math.inf
        if timer < deadline:
            self.loop.run_precisely(timer)
        else:
            self.loop.run_once(deadline)
        for connection in self.connections:
            if not connection.rpc.is_open and connection.inflight:
                connection.check()

    def _look(self, now: float) -> None:
        self._look_at = now + self.look
        late = [each for each in self.connections if (each.next_deadline() or math.inf) <= now]
        if late:
            self.loop.catch_up()  # what has arrived by now arrived in time
            for connection in late:
                connection.expire(now)
        for keep in self.keepers:
            keep(now)
        if self.on_turn is not None:
            self.on_turn(now)

    def abandon(self, seconds: float) -> None:
        """Give all tasks up, and wait at most this long for the answers to what is under way, which nobody looks at."""
        self._ready.clear()
        self._timers.clear()
        self.failed, self._is_stopped = None, False
        for connection in self.connections:
            for call in connection.inflight.values():
                call.done = _ignore
        for call in self.over:
            call.done = _ignore
        deadline = self.clock() + seconds
        while self.clock() < deadline and any(
            each.inflight and each.rpc.is_open for each in self.connections
        ):
            self.loop.run_once(deadline)
        dispatch(self.over)

    def close(self) -> None:
        """End all tasks that wait; nothing is sent any more."""
        for connection in self.connections:
            connection.close()
        self.connections.clear()
        self._ready.clear()
        self._timers.clear()


def _ignore(_call: TimedCall) -> None:
    pass
