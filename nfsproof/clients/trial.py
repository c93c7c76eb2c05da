# SPDX-License-Identifier: MIT
"""One plan, one version, one mount: each work is done in it, and judged by what the server has afterwards."""

from __future__ import annotations

import contextlib
import json
import typing as t
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nfsclient import NfsClient, NfsClientError
from nfsjudge.clients import ERROR, RIGHT, SILENT, STUCK, UNTOUCHED, WRONG
from nfsproof.clients.between import Between
from nfsproof.clients.plans import CONTROL, ClientPlan
from nfsproof.clients.served import Served
from nfsproof.clients.subjects import Client, Ended, Export, NotMounted
from nfsproof.clients.works import Work
from nfsserver import Server

_KNOBS: t.Final = {"wtmax": 32_768, "rtmax": 32_768, "readdir_page": 20, "lease_time": 6.0}
"""Small transfers, so that a work is many calls; a short lease, so that the grace period is short."""
_MOST_ERRORS: t.Final = 3


@dataclass(frozen=True, slots=True)
class Result:
    """How a client came through one work."""

    work: Work
    outcome: str
    """One of `nfsjudge.clients.OUTCOMES`; empty: not judged, for `reason`."""
    observed: str = ""
    reason: str = ""
    seconds: float = 0.0


@dataclass
class Trial:
    """What is tried, and with which patience."""

    client: Client
    plan: ClientPlan
    version: str
    works: Sequence[Work]
    seconds: float
    """For one work."""
    seed: int
    clock: Callable[[], float]
    results: list[Result] = field(default_factory=list)

    def run(self, capture: t.BinaryIO) -> list[Result]:
        """The works in their order, up to one that is stuck: it may hold up the next ones, which need another trial.

        What happened on the wire goes into `capture`, the format is pcapng.
        """
        with self._stage(capture) as (served, between):
            try:
                with self.client.mounted(Export(between.host, between.port, self.version)):
                    for work in self.works:
                        self.results.append(self._do(work, served, between))
                        if self.results[-1].outcome == STUCK:
                            break
            except NotMounted as error:
                left = self.works[len(self.results) :]
                self.results += [Result(work, ERROR, f"mounting: {error}") for work in left]
        return self.results

    @contextlib.contextmanager
    def _stage(self, capture: t.BinaryIO) -> Iterator[tuple[Served, Between]]:
        with self.client.network(), Served(self.client.host, _KNOBS) as served:
            with served.client() as nfs:
                for work in self.works:
                    work.prepare(nfs)
            served.do(self._turn_knobs)
            between = Between(self.client.host, served.port, self.plan.plan(self.seed), capture)
            event = {"crash": Server.crash, "restart": Server.restart}.get(self.plan.event)
            if event is not None:
                between.on_firing = lambda _: served.begin(event)
            with between.open():
                yield served, between

    def _turn_knobs(self, server: Server) -> None:
        for name, value in self.plan.knobs.items():
            server.knobs.set(name, value)
        server.messages.replays.knows_ports = False

    def _do(self, work: Work, served: Served, between: Between) -> Result:
        between.count_anew()
        began = self.clock()
        ended = self.client.work([step.order for step in work.steps], self.seconds * self.plan.patience)
        seconds = self.clock() - began
        acted = between.acted > 0 or self.plan.name == CONTROL
        with served.client() as nfs:
            try:
                outcome, observed = judge(work, ended, nfs)
            except NfsClientError as error:  # such as a delegation that the client does not return
                return Result(work, "", reason=f"the files cannot be read: {error}", seconds=seconds)
        if outcome == RIGHT and not acted:
            return Result(work, UNTOUCHED, reason="no rule of the plan acted meanwhile", seconds=seconds)
        return Result(work, outcome, observed, seconds=seconds)


def judge(work: Work, ended: Ended, nfs: NfsClient) -> tuple[str, str]:
    """(outcome, what was seen) of a program that did a work.

    A step that ended without an error must have left what it promises, whatever happened to others. Raises
    `NfsClientError` if the server does not show what is there: that says nothing about the client.
    """
    lines = _lines_of(ended)
    errors: list[str] = []
    for number, step in enumerate(work.steps):
        line = lines.get(number)
        if line is None:
            continue
        if "error" in line:
            errors.append(f"{step} ended with {line['error']}")
            continue
        wrong = step.wrong(nfs, line.get("value"))
        if wrong:
            return WRONG, f"{step} ended without an error, but {wrong}"
    begun = next((str(step) for number, step in enumerate(work.steps) if number not in lines), "")
    if ended.is_late:
        return STUCK, f"{begun or 'the end'} was not reached in time"
    if -1 in lines:
        return ERROR, f"the client could not begin: {lines[-1].get('why') or lines[-1].get('error')}"
    if errors:
        more = len(errors) - _MOST_ERRORS
        return ERROR, "; ".join([*errors[:_MOST_ERRORS], *([f"{more} more"] if more > 0 else [])])
    if begun:
        return SILENT, f"the program ended at {begun}: {ended.errors.strip()[-300:] or 'it said nothing'}"
    return RIGHT, ""


def _lines_of(ended: Ended) -> dict[int, dict[str, t.Any]]:
    """Number of a step -> what it said. A line that is none of `program` is left out."""
    found: dict[int, dict[str, t.Any]] = {}
    for text in ended.output.splitlines():
        try:
            line = json.loads(text)
            found[int(line["step"])] = line
        except (ValueError, KeyError, TypeError):
            continue
    return found
