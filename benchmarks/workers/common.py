# SPDX-License-Identifier: MIT
"""What every worker is: a process that measures one client, on order, over and over.

A worker reads one order per line, ``OPERATION PLACE WINDOW SIZE SECONDS``, and answers with one line of JSON:
``{"seconds", "cpu", "operations", "bytes"}``, ``{"unsupported": reason}`` or ``{"error": text}``. It says
``{"ready": true}`` first. PLACE is ``server`` (a real NFS server), ``canned`` (one that answers at once) or
``raw`` (plain TCP, or no network at all). It keeps its connections between orders, so that rounds can
alternate between clients at no cost.

Where things are comes from the environment: BENCH_HOST, BENCH_NFS_PORT, BENCH_MOUNT_PORT, BENCH_EXPORT,
BENCH_URL, BENCH_FH_{ROOT,SMALL,BIG,WRITTEN,MANY,WORK} (hex), BENCH_CANNED_PORT, BENCH_ECHO_PORT,
BENCH_SINK_PORT, BENCH_SOURCE_PORT. The export holds `small`, `big` and `written` (64 MiB each), `many/`
(10,000 files) and `scratch/`.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import resource
import sys
import time
import typing as t
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

FILE_SIZE: t.Final = 64 << 20
SMALL_FILE: t.Final = 4096
MACHINE: t.Final = "benchmark"

clock = time.perf_counter


class Order(t.NamedTuple):
    """What to measure: an operation, where, how many outstanding, bytes per transfer or page, seconds."""

    operation: str
    place: str
    window: int
    size: int
    seconds: float

    @classmethod
    def parse(cls, line: str) -> Order:
        """The order that a line says."""
        operation, place, window, size, seconds = line.split()
        return cls(operation, place, int(window), int(size), float(seconds))


@dataclass
class Tally:
    """What was done: operations (entries when listing) and bytes moved."""

    operations: int = 0
    bytes: int = 0


class Unsupported(Exception):
    """This client cannot do what was ordered; the text says what it lacks."""


Run = Callable[[float], Tally]
"""Does the operation until the clock shows the given time, and lets everything outstanding come in."""
Prepare = Callable[[Order], Run]
"""Untimed: connects, opens, builds what the run needs."""


def setting(name: str) -> str:
    """A value of the environment; a missing one ends the worker."""
    return os.environ[f"BENCH_{name}"]


def handle(name: str) -> bytes:
    """The file handle of one of the prepared objects."""
    return bytes.fromhex(setting(f"FH_{name}"))


def port_of(place: str) -> int:
    """The NFS port of a place."""
    return int(setting("CANNED_PORT" if place == "canned" else "NFS_PORT"))


def host_of(place: str) -> str:
    """The address of a place."""
    return "127.0.0.1" if place == "canned" else setting("HOST")


def offsets(size: int) -> Iterator[int]:
    """Positions of transfers, round and round through the file."""
    return itertools.cycle(range(0, FILE_SIZE, size))


_names = itertools.count()


def fresh_name() -> str:
    """A file name that no worker used before."""
    return f"w{os.getpid()}-{next(_names)}"


def repeat(step: Callable[[Tally], None]) -> Run:
    """A run that takes one step after another."""

    def run(deadline: float) -> Tally:
        tally = Tally()
        while clock() < deadline:
            step(tally)
        return tally

    return run


def gather(loop: asyncio.AbstractEventLoop, window: int, step: Callable[[Tally], Awaitable[None]]) -> Run:
    """A run with `window` tasks, each taking one step after another."""

    async def work(deadline: float, tally: Tally) -> None:
        while clock() < deadline:
            await step(tally)

    async def work_all(deadline: float) -> Tally:
        tally = Tally()
        await asyncio.gather(*(work(deadline, tally) for _ in range(window)))
        return tally

    return lambda deadline: loop.run_until_complete(work_all(deadline))


def cpu_seconds() -> float:
    """Processor time of this process so far, user and system, all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _measure(run: Run, seconds: float) -> dict[str, object]:
    run(clock() + seconds / 8)
    gc.collect()
    began, used = clock(), cpu_seconds()
    tally = run(began + seconds)
    elapsed, cpu = clock() - began, cpu_seconds() - used
    return {"seconds": elapsed, "cpu": cpu, "operations": tally.operations, "bytes": tally.bytes}


def serve(operations: Mapping[str, Prepare]) -> None:
    """Carry out orders until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes to standard error

    def say(answer: dict[str, object]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    say({"ready": True})
    for line in sys.stdin:
        order = Order.parse(line)
        prepare = operations.get(order.operation)
        if prepare is None:
            say({"unsupported": "this client has no such operation"})
            continue
        try:
            say(_measure(prepare(order), order.seconds))
        except Unsupported as reason:
            say({"unsupported": str(reason)})
        except Exception as error:  # noqa: BLE001  (a peer may raise anything; it is reported and left out)
            say({"error": f"{type(error).__name__}: {error}"})
