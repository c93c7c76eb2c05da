# SPDX-License-Identifier: MIT
"""Figures of a paper that show a run over time: the embedded server in a separate process, sampled while it works."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsproof import __version__, workloading
from nfsproof.exits import Trouble
from nfstargets import make_target
from reports.workloads.timelines import axes, timeline_picture
from workloads import catalog
from workloads.papers.model import Figure, Plan
from workloads.running import About, carry_out
from workloads.timeline import Timeline, Watched, processor_time
from workloads.trouble import Refused, Stopped

Say = Callable[[str], None]
Measure = Callable[[Plan], Timeline]
_URL = re.compile(r"^serving (nfs://\S+)")
_PATIENCE = 30.0
_ON_WHITE = '<svg style="background: white" '
"""A separate file has no text around it, whose colours it could take."""


def draw(figures: Sequence[Figure], out: Path, measure: Measure | None, *, say: Say) -> list[Path]:
    """Measure what is not in `out` yet, and write the pictures there. Their axes are the same. Raises Trouble.

    Without `measure` nothing is run, and what is not there is not drawn.
    """
    found: list[tuple[Figure, Timeline]] = []
    for figure in figures:
        kept = out / f"{name_of(figure)}.json"
        timeline = _read(kept)
        if timeline is None and measure is not None:
            say(f"{figure.name}: {figure.title}")
            timeline = measure(figure.plan)
            workloading.make_folder(out)
            _write(kept, json.dumps(timeline.to_plain()))
        if timeline is not None:
            found.append((figure, timeline))
    if not found:
        return []
    tops = [max(each) for each in zip(*(axes(timeline) for _, timeline in found), strict=True)]
    paths = []
    for figure, timeline in found:
        path = out / f"{name_of(figure)}.svg"
        picture = timeline_picture(f"{figure.name.capitalize()}: {figure.title}", timeline, tops=tops)
        _write(path, picture.replace("<svg ", _ON_WHITE, 1))
        paths.append(path)
    return paths


def name_of(figure: Figure) -> str:
    """The name of its file, without the ending."""
    return figure.name.replace(" ", "-")


def _read(path: Path) -> Timeline | None:
    if not path.exists():
        return None
    try:
        return Timeline.from_plain(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise Trouble(f"expected a timeline in {path}, got something else: {error}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise Trouble(f"cannot write {path}: {error.strerror}") from error


def measured(plan: Plan, wish_of: Callable[[Plan, str], workloading.Wish]) -> Timeline:
    """One run on a server in another process. Raises Trouble."""
    try:
        with served() as (url, process), closing(Loop()) as loop:
            target = make_target(url)
            target.start()
            try:
                order = workloading.order_of(wish_of(plan, url), target.address(), 1)
                workload = catalog.find(order.workload)
                phases = [phase.name for phase in workload.phases if phase.is_measured]
                carrier = Watched(order, loop=loop, phases=phases, processor=lambda: processor_time(process))
                outcome = carry_out(carrier, order, About(url, __version__))
            finally:
                target.stop()
    except (Refused, Stopped, OSError) as error:
        raise Trouble(f"{plan.workload} over time: {error}") from error
    if outcome.result.reasons:
        raise Trouble(f"{plan.workload} over time: {'; '.join(outcome.result.reasons)}")
    return carrier.timeline


@contextlib.contextmanager
def served() -> Iterator[tuple[str, int]]:
    """The embedded server in a process: its URL, and the number of the process. Raises OSError."""
    words = [sys.executable, "-m", "nfsproof", "serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            yield _announced(process), process.pid
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _announced(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = _URL.search(line)
        if found is not None:
            return str(found[1])
    raise OSError("the server did not start")
