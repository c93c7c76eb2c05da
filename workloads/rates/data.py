# SPDX-License-Identifier: MIT
"""`seqread`, `randread`, `seqwrite`, `randwrite`: one large file for each client (NFSv4.1 study, section 4.1).

A unit is one read or write of `io` bytes. The study had one file of 20 GB for all clients; here each client has its
own, so that what it reads can be compared while others write. Writers divide the blocks among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import STUDY
from workloads.rates.fileset import compare_all, preparation, write_new
from workloads.shape import Scalar
from workloads.spec import SIZE, STEP, Context, Demand, Least, Workload


def _path(context: Context) -> str:
    return f"c{context.client}/file"


def _make(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.Mkdir(f"c{context.client}")
        yield from write_new(_path(context), context.number("size"))

    yield program()


def _open(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.DropCaches()
        context.shared["file"] = yield c.Open(_path(context), writes=True)

    yield program()


def _close(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.Close(context.shared["file"])

    yield program()


def _blocks(context: Context) -> int:
    return max(1, context.number("size") // context.number("io"))


def _next_block(context: Context, caller: int) -> int:
    """In order, from the beginning again at the end; callers take turns."""
    number = int(context.shared.get(f"at {caller}", 0))
    context.shared[f"at {caller}"] = number + 1
    return (caller + number % _mine(context, caller) * context.callers) % _blocks(context)


def _mine(context: Context, caller: int) -> int:
    """How many blocks are those of this caller alone."""
    return max(1, -(-(_blocks(context) - caller) // context.callers))


def _any_block(context: Context, _caller: int) -> int:
    return context.random.randrange(_blocks(context))


def _own_block(context: Context, caller: int) -> int:
    """One that no other caller writes."""
    number = context.random.randrange(_mine(context, caller))
    return (caller + number * context.callers) % _blocks(context)


def _seqread(context: Context, caller: int) -> c.Program[None]:
    yield c.Read(
        context.shared["file"], _next_block(context, caller) * context.number("io"), context.number("io")
    )


def _randread(context: Context, caller: int) -> c.Program[None]:
    yield c.Read(
        context.shared["file"], _any_block(context, caller) * context.number("io"), context.number("io")
    )


def _seqwrite(context: Context, caller: int) -> c.Program[None]:
    yield c.Write(
        context.shared["file"], _next_block(context, caller) * context.number("io"), context.number("io")
    )


def _randwrite(context: Context, caller: int) -> c.Program[None]:
    yield c.Write(
        context.shared["file"], _own_block(context, caller) * context.number("io"), context.number("io")
    )


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    return Demand(int(parameters["size"]) * clients, clients, clients)


def _needs_block(parameters: Mapping[str, Scalar], _clients: int, _callers: int) -> Iterable[Least]:
    yield Least("size", int(parameters["size"]), int(parameters["io"]), "the file has one block of io bytes")


def _needs_own_blocks(parameters: Mapping[str, Scalar], _clients: int, callers: int) -> Iterable[Least]:
    yield Least(
        "size",
        int(parameters["size"]),
        int(parameters["io"]) * callers,
        "each caller has its own block of io bytes",
    )


_BOUNDS = {"size": SIZE, "io": STEP}


_PREPARED = (preparation("file", _make), preparation("open", _open))
_AFTER = (preparation("close", _close), preparation("compare", compare_all))
register(
    Workload(
        name="seqread",
        about="reads a file from its beginning to its end, again and again",
        source=f"{STUDY}, section 4.1",
        is_spread=True,
        defaults={"size": 64 << 20, "io": 1 << 20},
        demand=_demand,
        bounds=_BOUNDS,
        needs_least=_needs_block,
        phases=_PREPARED,
        unit=_seqread,
        size=1 << 20,
    ),
    Workload(
        name="randread",
        about="reads at random places of a file",
        source=f"{STUDY}, section 4.1",
        is_spread=True,
        defaults={"size": 64 << 20, "io": 4096},
        demand=_demand,
        bounds=_BOUNDS,
        needs_least=_needs_block,
        phases=_PREPARED,
        unit=_randread,
    ),
    Workload(
        name="seqwrite",
        about="writes a file from its beginning to its end, again and again, stable; then compares it",
        source=f"{STUDY}, section 4.1",
        is_spread=True,
        defaults={"size": 64 << 20, "io": 1 << 20},
        demand=_demand,
        bounds=_BOUNDS,
        needs_least=_needs_own_blocks,
        phases=_PREPARED,
        unit=_seqwrite,
        after=_AFTER,
        size=1 << 20,
        stable="file-sync",
    ),
    Workload(
        name="randwrite",
        about="writes at random places of a file, stable; then compares it",
        source=f"{STUDY}, section 4.1",
        is_spread=True,
        defaults={"size": 64 << 20, "io": 4096},
        demand=_demand,
        bounds=_BOUNDS,
        needs_least=_needs_own_blocks,
        phases=_PREPARED,
        unit=_randwrite,
        after=_AFTER,
        stable="file-sync",
    ),
)
