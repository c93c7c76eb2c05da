# SPDX-License-Identifier: MIT
"""Runs a workload on an embedded server in this process, which a test may have changed before."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsserver.server import Server
from nfstargets.embedded import EmbeddedTarget
from workloads import catalog
from workloads.policies import DIRECT
from workloads.result import Result
from workloads.running import About, Here, Outcome, carry_out
from workloads.spec import Order

Prepare: t.TypeAlias = Callable[[Server], object]
SMALL: t.Final[Mapping[str, dict[str, t.Any]]] = {
    "write10": {"size": 64 << 10},
    "write40": {"size": 128 << 10},
    "find": {"files": 120, "directories": 12, "levels": 4},
    "connectathon-basic": {
        "levels": 2, "stats": 5, "files": 2, "chmods": 8, "size": 32 << 10, "rounds": 2, "entries": 6, "renames": 4,
        "symlinks": 4, "statfs": 7,
    },
}  # fmt: skip
"""Parameters at which a workload takes a moment."""


def run_whole(
    workload: str,
    *,
    prepare: Prepare | None = None,
    evidence: Path | None = None,
    mutants: frozenset[str] = frozenset(),
    parameters: Mapping[str, t.Any] | None = None,
    during: Callable[[Here, EmbeddedTarget], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    make_loop: Callable[[], Loop] | None = None,
    **order: t.Any,
) -> tuple[Outcome, Server]:
    """Run a workload; its outcome, and the server as it was left."""
    definition = catalog.find(workload)
    with closing(Loop(clock) if make_loop is None else make_loop()) as loop:
        target = EmbeddedTarget()
        target.loop, target.broken = loop, mutants
        target.start()
        try:
            server = target.running()
            if prepare is not None:
                prepare(server)
            settings = {
                "version": "3",
                "policy": definition.policy if definition.policy == DIRECT else "raw",
                "window": definition.window,
                "rsize": definition.size,
                "wsize": definition.size,
                "clients": definition.clients,
                "callers": definition.callers,
                "timeout": 3.0,
                **order,
            }
            made = Order(
                workload=workload,
                parameters={**definition.defaults, **SMALL.get(workload, {}), **(parameters or {})},
                address=target.address().to_plain(),
                directory="nfsproof-workload-test",
                **settings,
            )
            carrier = Here(made, loop=loop, evidence=evidence)
            if during is not None:
                during(carrier, target)
            return carry_out(carrier, made, About("embedded", "0", is_in_process=True)), server
        finally:
            target.stop()


def run(workload: str, **more: t.Any) -> Result:
    """The result of a workload that removes all that it makes."""
    outcome, server = run_whole(workload, **more)
    assert outcome.left == ()
    assert names_of(server) == []
    return outcome.result


def names_of(server: Server) -> list[bytes]:
    """What is in the export."""
    directory = server.fs.root.directory
    assert directory is not None
    return directory.names()


def calls_of(result: Result, phase: str) -> dict[str, int]:
    """The calls of a phase by procedure."""
    return next(each.calls for each in result.phases if each.name == phase)
