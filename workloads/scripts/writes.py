# SPDX-License-Identifier: MIT
"""`write10` and `write40`: one file, written from its beginning to its end (NFSv3 paper, figures 2 and 3).

The time includes the close: with UNSTABLE writes that is COMMIT. The windows are the write daemons of the paper, 7 and
15. Afterwards the file is read and compared, as a phase that is not of the paper and not measured.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import DESIGN
from workloads.shape import Scalar
from workloads.spec import SIZE, STEP, Context, Demand, PhaseDef, Workload
from workloads.trouble import WrongAnswer


def _path(context: Context) -> str:
    return f"file{context.client}"


def _write(context: Context) -> Iterable[c.Program[None]]:
    yield _write_whole(_path(context), context.number("size"), context.number("write"))


def _write_whole(path: str, size: int, step: int) -> c.Program[None]:
    file = yield c.Create(path)
    for offset in range(0, size, step):
        yield c.Write(file, offset, min(step, size - offset))
    yield c.Close(file)


def _compare(context: Context) -> Iterable[c.Program[None]]:
    yield _read_whole(_path(context), context.number("size"))


def _read_whole(path: str, size: int, step: int = 1 << 20) -> c.Program[None]:
    yield c.DropCaches()
    file = yield c.Open(path)
    for offset in range(0, size, step):
        got = yield c.Read(file, offset, min(step, size - offset))
        if got != min(step, size - offset):
            raise WrongAnswer(f"{path}: it has {offset + got} bytes, and {size} were written")
    yield c.Close(file)


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    return Demand(int(parameters["size"]) * clients, clients)


def _workload(name: str, size: int, window: int, figure: str) -> Workload:
    return Workload(
        name=name,
        about=f"one file of {size >> 20} MB, written from its beginning to its end, and closed",
        source=f"{DESIGN}, {figure}",
        is_spread=True,
        defaults={"size": size, "write": 8192},
        bounds={"size": SIZE, "write": STEP},
        demand=_demand,
        phases=(PhaseDef("write", _write), PhaseDef("compare", _compare, is_measured=False)),
        window=window,
        size=8192,
    )


WORKLOADS: t.Final = (
    _workload("write10", 10 << 20, 7, "figure 2"),
    _workload("write40", 40 << 20, 15, "figure 3"),
)
register(*WORKLOADS)
