# SPDX-License-Identifier: MIT
"""A workload for tests of workers: each client writes a file, reads that of the next client, and does something else.

It is in no catalog but that of the processes that `make_toy` was called in.
"""

from __future__ import annotations

import time
import typing as t
from collections.abc import Iterable, Mapping
from pathlib import Path

from nfsclient.rpc.loop import Loop
from workloads import calls as c
from workloads import catalog
from workloads.carriers.servant import make_worker
from workloads.shape import Scalar
from workloads.spec import SPRITELY, VERSIONS, Context, Demand, PhaseDef, Workload
from workloads.worker import Worker

SIZE: t.Final = 12_000


def _write(context: Context) -> Iterable[c.Program[None]]:
    yield _write_whole(f"d{context.client}", f"d{context.client}/f")


def _write_whole(directory: str, path: str) -> c.Program[None]:
    yield c.Mkdir(directory)
    file = yield c.Create(path)
    yield c.Write(file, 0, SIZE)
    yield c.Close(file)
    yield c.Symlink("f", f"{directory}/s")
    yield c.Link(path, f"{directory}/l")


def _read(context: Context) -> Iterable[c.Program[None]]:
    yield _read_whole(f"d{(context.client + 1) % context.clients}")


def _read_whole(directory: str) -> c.Program[None]:
    yield c.Readdir(directory)
    yield c.Readlink(f"{directory}/s")
    file = yield c.Open(f"{directory}/l")
    yield c.Read(file, 0, SIZE)
    yield c.Close(file)


def _overwrite(context: Context) -> Iterable[c.Program[None]]:
    """The next client has read, and may have a delegation; now others write, and it reads again."""

    def program() -> c.Program[None]:
        file = yield c.Open(f"d{context.client}/f", writes=True)
        yield c.Write(file, 4096, 4096)
        yield c.Close(file)

    if context.client % 2:
        yield program()


def _act(context: Context) -> Iterable[c.Program[None]]:
    act = str(context.parameters["act"])
    if act == "think":
        yield _think()
    elif context.client == context.number("who"):
        if act == "raise":
            raise RuntimeError("on purpose")
        if act == "hang":
            time.sleep(3600)


def _think() -> c.Program[None]:
    yield c.Think(3600)


def _demand(_parameters: Mapping[str, Scalar], clients: int) -> Demand:
    return Demand(SIZE * clients, clients, clients)


TOY: t.Final = Workload(
    name="toy",
    about="for tests",
    source="nowhere",
    defaults={"act": "nothing", "who": 1},
    demand=_demand,
    phases=(
        PhaseDef("write", _write),
        PhaseDef("read", _read),
        PhaseDef("overwrite", _overwrite),
        PhaseDef("read again", _read),
        PhaseDef("act", _act),
    ),
    versions=(*VERSIONS, SPRITELY),
    is_spread=True,
)


def make_toy(order: t.Any, loop: Loop, evidence: Path) -> Worker:
    """What makes a worker in a process of a test."""
    catalog._KNOWN[TOY.name] = TOY
    worker = make_worker(order, loop, evidence)
    assert isinstance(worker, Worker)
    return worker
