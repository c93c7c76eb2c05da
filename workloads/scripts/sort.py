# SPDX-License-Identifier: MIT
"""`sort`: sorting a file with temporary files, as Spritely NFS has it (section 5.3).

The input is read and written as runs; most of the runs are read back and merged into fewer, larger ones, which are
temporary files, too; the last pass writes the output. A temporary is removed when it was read.

The paper does not describe the program. Its counts say that each byte is written to temporary files twice: 1452 WRITEs
of 4 KB for 2816 KB, with one partial block more for each file; and that there are 34 temporary files, since each is
opened twice. So a run has 94 KB, seven runs are merged into one, as by the `sort` of UNIX, and once. What has 281 KB
is merged at once: its temporary storage is not much more than that (table 4). For the larger ones, the storage that
table 4 prints does not agree with the WRITEs of table 5: 2170 KB and 729 of 4 KB, 7764 KB and 1452. The program follows
the WRITEs.

`ends` says whether input and output are on the server, too; in the paper only the temporary files are. `pace281` and so
on is what passes on the clock of a client for each call of the program, in seconds, while that many KB are sorted; 0:
the real time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import SPRITELY
from workloads.rates.fileset import preparation, read_whole, write_new
from workloads.shape import Scalar
from workloads.spec import SPRITELY as SNFS
from workloads.spec import STEP, VERSIONS, Bounds, Context, Demand, PhaseDef, Programs, Workload

_KB = 1024
SIZES = (281, 1408, 2816)
"""KB of input."""
_RUN = 94 * _KB
_MERGED = 7
"""Runs that are merged into one."""
_AT_ONCE = 1408
"""KB of input from which on the runs are merged before the last pass."""


def pace_of(size: int) -> str:
    """The parameter with the pace of a sort."""
    return f"pace{size}"


def _input(context: Context, size: int) -> str:
    return f"c{context.client}/in{size}"


def _prepare(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.Mkdir(f"c{context.client}")
        for size in SIZES:
            yield from write_new(_input(context, size), _scaled(context, size))
        yield c.DropCaches(everything=True)

    yield program()


def _scaled(context: Context, size: int) -> int:
    return max(1, int(size * _KB * context.real("scale")))


def _sort(size: int) -> Programs:
    def programs(context: Context) -> Iterable[c.Program[None]]:
        yield _program(context, size)

    return programs


def _program(context: Context, kilobytes: int) -> c.Program[None]:
    size, source = _scaled(context, kilobytes), _input(context, kilobytes)
    step, has_ends = context.number("write"), bool(context.number("ends"))
    numbers = itertools.count()
    run = max(1, int(_RUN * context.real("scale")))
    runs = list[tuple[str, int]]()
    if has_ends:
        yield from read_whole(source, size, step)
    for offset in range(0, size, run):
        runs.append((f"{source}.tmp{next(numbers)}", min(run, size - offset)))
        yield from _write(*runs[-1], step)
    if kilobytes >= _AT_ONCE:
        groups = [runs[at : at + _MERGED] for at in range(0, len(runs), _MERGED)]
        runs = []
        for group in groups:
            yield from _consume(group, step)
            runs.append((f"{source}.tmp{next(numbers)}", sum(length for _, length in group)))
            yield from _write(*runs[-1], step)
    yield from _consume(runs, step)
    if has_ends:
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
    data = sum(2 * size for size in SIZES) + 2 * SIZES[-1]
    files = 2 * len(SIZES) + -(-SIZES[-1] * _KB // _RUN) + 2
    return Demand(int(data * _KB * float(parameters["scale"])) * clients, files * clients, clients)


register(
    Workload(
        name="sort",
        about="sorts files of 281, 1,408 and 2,816 KB with temporary files",
        source=f"{SPRITELY}, section 5.3",
        versions=(*VERSIONS, SNFS),
        is_spread=True,
        defaults={"write": 4096, "scale": 1.0, "ends": 1, **{pace_of(size): 0.0 for size in SIZES}},
        bounds={
            "write": STEP,
            "scale": Bounds(0.001, 1000),
            "ends": Bounds(0, 1),
            **{pace_of(size): Bounds(0, 3600) for size in SIZES},
        },
        demand=_demand,
        phases=(
            preparation("input", _prepare),
            *(PhaseDef(f"{size} KB", _sort(size), pace=pace_of(size)) for size in SIZES),
        ),
        policy="like",
        size=4096,
        window=4,
    )
)
