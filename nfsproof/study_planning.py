# SPDX-License-Identifier: MIT
"""What a user wants of `nfsproof sensitivity TARGET`: which points, and how long they take."""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.wording import count
from nfsproof.exits import Trouble
from nfsproof.workload_carriers import Workers
from workloads.safety import Limits
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import CLIENT, SERVER, Setting, Task

WARMUP: t.Final = 1.0
"""Seconds before a point that are not counted."""
_PREPARATION: t.Final = 3.0
"""Seconds that a few files are made and removed in, for the estimate of the duration."""
_A_BYTE: t.Final = 2e-4
"""Seconds more for each byte of files for an operation per second: 1.5 calls for 8 KiB, at the rate of the peak."""


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
    """Of each worker."""
    seed: int
    limits: Limits
    out: Path | None
    label: str
    queue: str = ""
    """Times of the embedded server, as of `nfsproof serve --queue`."""
    packet: int = 0
    """Bytes of a message, for overheads; 0: a call or a reply is one."""
    resend: float = 0.0
    """Over UDP, seconds until a call is sent again for the first time, with a window that halves then; 0: as usual."""
    bytes: int = 0
    """Of files for each operation per second; 0: as many as `limits` permit, up to those of the paper."""
    longest: float = 3600.0
    """Seconds of a point at most: one that needs more until enough has arrived is not measured."""
    workers: Workers = field(default_factory=Workers)
    listen: str = "127.0.0.1"
    """Where workers reach the proxy."""
    knobs: tuple[str, ...] = ()
    """Of the embedded server."""


def plan_lines(wish: Wish) -> Iterator[str]:
    """What will be measured, and how long it takes at least. Raises `Trouble`."""
    require_possible(wish)
    settings = [Setting(), *wish.settings]
    number = sum(len(studies.tasks(each, wish.shares, wish.repeats, wish.seed)) for each in settings)
    yield f"settings: {', '.join(map(str, settings))}"
    loads = f"each of {count(len(wish.shares), 'load')} and the peak" if wish.shares else "the peak"
    yield f"points: {number}, {wish.repeats} for {loads}, of each setting"
    if any(each.knob == CLIENT for each in settings):
        yield f"of each {CLIENT}, only the peak"
    yield f"duration: {duration(wish, settings, 0.0, wish.bytes)} or more; the peaks say how much more"


def require_possible(wish: Wish) -> None:
    """Raise `Trouble` for what would end the study after hours."""
    if wish.target != "embedded" and (wish.knobs or wish.queue):
        raise Trouble(f"only the embedded server has knobs and a queue, not {wish.target}")
    if any(each.knob == SERVER for each in wish.settings):
        if wish.target != "embedded" or not wish.queue:
            raise Trouble("only the embedded server with --queue has an overhead that can be set")
        names = {each.partition("=")[0].strip() for each in wish.queue.split(",")}
        if found := sorted(names & {"overhead", "packet"}):
            raise Trouble(
                f"--queue has {' and '.join(found)}, which --server-overhead and --packet are about: base has none"
            )


def duration(
    wish: Wish, settings: Sequence[Setting], peak: float, bytes_of_files: int, done: Collection[Task] = ()
) -> str:
    """How long the points of settings take without those that are done; `bytes_of_files`: for an operation/s."""
    tasks = [
        each
        for of in settings
        for each in studies.tasks(of, wish.shares, wish.repeats, wish.seed)
        if each not in done
    ]
    longest = max(wish.longest, wish.seconds)
    times = [seconds_of_point(wish, each.share, each.share * peak) for each in tasks]
    times = [each if each <= longest else 0.0 for each in times]
    files = sum((each.share or 1.0) for each in tasks) * bytes_of_files * _A_BYTE
    minutes = (sum(times) + files + len(tasks) * (WARMUP + _PREPARATION)) / 60
    return count(max(1, round(minutes)), "minute") if minutes < 120 else f"{minutes / 60:.1f} hours"


def seconds_of_point(wish: Wish, share: float, rate: float) -> float:
    """Seconds of a point, so that enough arrives; beyond the peak, the queue only grows, so more of it is no help."""
    return studies.seconds_of(rate, wish.seconds) if rate and share <= 1 else wish.seconds
