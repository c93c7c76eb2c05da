# SPDX-License-Identifier: MIT
"""`sort`: sorting a file with temporary files, as Spritely NFS has it (section 5.3).

The input is read and written as runs; runs are read back and merged into fewer, larger ones, which are temporary files,
too; the last pass writes the output. How much temporary storage a size of input needs is from the paper: there are
passes until that much was written. A temporary is removed when it was read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import SPRITELY
from workloads.rates.fileset import preparation, read_whole, write_new
from workloads.shape import Scalar
from workloads.spec import STEP, Bounds, Context, Demand, PhaseDef, Programs, Workload

_KB = 1024
SIZES = ((281, 304), (1408, 2170), (2816, 7764))
"""(KB of input, KB of temporary storage)."""
_RUN = 64 * _KB
_MERGED = 4
"""Runs that are merged into one."""


def _input(context: Context, size: int) -> str:
    return f"c{context.client}/in{size}"


def _prepare(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.Mkdir(f"c{context.client}")
        for size, _ in SIZES:
            yield from write_new(_input(context, size), _scaled(context, size))
        yield c.DropCaches(everything=True)

    yield program()


def _scaled(context: Context, size: int) -> int:
    return max(1, int(size * _KB * context.real("scale")))


def _sort(size: int, temporary: int) -> Programs:
    def programs(context: Context) -> Iterable[c.Program[None]]:
        yield _program(context, _scaled(context, size), _scaled(context, temporary), _input(context, size))

    return programs


def _program(context: Context, size: int, temporary: int, source: str) -> c.Program[None]:
    step = context.number("write")
    numbers = itertools.count()
    runs = list[tuple[str, int]]()
    yield from read_whole(source, size, step)
    for offset in range(0, size, _RUN):
        runs.append((f"{source}.tmp{next(numbers)}", min(_RUN, size - offset)))
        yield from _write(*runs[-1], step)
    left = temporary - size
    while left > 0 and len(runs) > 1:
        group, runs = runs[:_MERGED], runs[_MERGED:]
        yield from _consume(group, step)
        merged = sum(length for _, length in group)
        runs.append((f"{source}.tmp{next(numbers)}", merged))
        yield from _write(*runs[-1], step)
        left -= merged
    yield from _consume(runs, step)
    yield from _write(f"{source}.out", size, step)


def _consume(runs: list[tuple[str, int]], step: int) -> c.Program[None]:
    for path, size in runs:
        yield from read_whole(path, size, step)
        yield c.Remove(path)


def _write(path: str, size: int, step: int) -> c.Program[None]:
    file = yield c.Create(path)
    for offset in range(0, size, step):
        yield c.Write(file, offset, min(step, size - offset))
    yield c.Close(file)


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    data = sum(2 * size for size, _ in SIZES) + 2 * SIZES[-1][0]
    files = 2 * len(SIZES) + -(-int(SIZES[-1][0] * _KB * float(parameters["scale"])) // _RUN) + 1
    return Demand(int(data * _KB * float(parameters["scale"])) * clients, files * clients, clients)


register(
    Workload(
        name="sort",
        about="sorts files of 281, 1,408 and 2,816 KB with temporary files",
        source=f"{SPRITELY}, section 5.3",
        is_spread=True,
        defaults={"write": 4096, "scale": 1.0},
        bounds={"write": STEP, "scale": Bounds(0.001, 1000)},
        demand=_demand,
        phases=(
            preparation("input", _prepare),
            *(PhaseDef(f"{size} KB", _sort(size, temporary)) for size, temporary in SIZES),
        ),
        policy="like",
        size=4096,
        window=4,
    )
)
