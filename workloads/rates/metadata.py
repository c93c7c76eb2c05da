# SPDX-License-Identifier: MIT
"""`smallread`, `create`, `dirlist`: many small files (NFSv4.1 study, sections 4.2 and 4.3).

smallread   a unit opens a file at random, reads all of it, closes it; all clients share the files
create      a unit makes a file in the directory of its client; from the `files`th on it removes the oldest first, so
            that the number stays bounded
dirlist     a unit lists a directory at random; all clients share the tree
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import STUDY
from workloads.rates.fileset import (
    WIDTH,
    count_directories,
    make_directories,
    paths,
    preparation,
    read_whole,
    side_by_side,
    write_new,
)
from workloads.shape import Scalar
from workloads.spec import COUNT, SIZE, Bounds, Context, Demand, Least, Workload


def _files(context: Context) -> tuple[list[str], list[str]]:
    known: tuple[list[str], list[str]] | None = context.shared.get("paths")
    if known is None:
        known = paths("shared", context.number("files"), context.number("width"))
        context.shared["paths"] = known
    return known


def _make_directories(context: Context) -> Iterable[c.Program[None]]:
    if context.client == 0:
        yield make_directories(_files(context)[0])


def _make_files(context: Context) -> Iterable[c.Program[None]]:
    if context.client == 0:
        size = context.number("size")
        yield from side_by_side([(path, size) for path in _files(context)[1]])


def _learn(context: Context) -> Iterable[c.Program[None]]:
    """What client 0 has made, perhaps on another worker."""

    def program() -> c.Program[None]:
        directories, files = _files(context)
        for path in directories:
            context.ledger.mkdir(path)
        for path in files:
            if path not in context.ledger.files:
                context.ledger.assume(path, context.number("size"))
        yield c.DropCaches(everything=True)

    yield program()


def _smallread(context: Context, _caller: int) -> c.Program[None]:
    path = context.random.choice(_files(context)[1])
    yield from read_whole(path, context.number("size"))


def _dirlist(context: Context, _caller: int) -> c.Program[None]:
    path = context.random.choice(_files(context)[0])
    yield c.Readdir(path, attributes=bool(context.parameters["attributes"]))


def _begin_create(context: Context) -> Iterable[c.Program[None]]:
    yield make_directories([f"c{context.client}"])


def _create(context: Context, _caller: int) -> c.Program[None]:
    made: deque[str] = context.shared.setdefault("made", deque())
    making: set[str] = context.shared.setdefault("making", set())
    # No more than `files` at a time, those that others are making included.
    while not made and len(making) >= context.number("files"):
        yield c.Think(c.PAUSE)
    number = context.shared.get("number", 0)
    context.shared["number"] = number + 1
    path = f"c{context.client}/f{number}"
    oldest = made.popleft() if len(made) + len(making) >= context.number("files") else None
    making.add(path)
    if oldest is not None:
        yield c.Remove(oldest)
    yield from write_new(path, context.number("size"))
    making.remove(path)
    made.append(path)


def _needs_file_each(parameters: Mapping[str, Scalar], _clients: int, callers: int) -> Iterable[Least]:
    yield Least("files", int(parameters["files"]), callers, f"for {callers} callers of each client")


def _demand_shared(parameters: Mapping[str, Scalar], _clients: int) -> Demand:
    files = int(parameters["files"])
    return Demand(int(parameters["size"]) * files, files, count_directories(files, int(parameters["width"])))


def _demand_create(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    files = int(parameters["files"]) * clients
    return Demand(files * int(parameters["size"]), files, clients)


_SIZE_OR_EMPTY = Bounds(0, SIZE.most)
_BOUNDS = {"files": COUNT, "size": _SIZE_OR_EMPTY, "width": WIDTH}
_SHARED = (
    preparation("directories", _make_directories),
    preparation("files", _make_files),
    preparation("learn", _learn),
)
register(
    Workload(
        name="smallread",
        about="reads small files at random: open, read all, close",
        source=f"{STUDY}, section 4.2",
        is_spread=True,
        defaults={"files": 10_000, "size": 4096, "width": 10_000},
        demand=_demand_shared,
        bounds=_BOUNDS,
        phases=_SHARED,
        unit=_smallread,
    ),
    Workload(
        name="create",
        about="creates files of one size in a directory of each client",
        source=f"{STUDY}, section 4.3",
        is_spread=True,
        defaults={"files": 10_000, "size": 0},
        demand=_demand_create,
        bounds={"files": COUNT, "size": _SIZE_OR_EMPTY},
        needs_least=_needs_file_each,
        phases=(preparation("directory", _begin_create),),
        unit=_create,
    ),
    Workload(
        name="dirlist",
        about="lists directories at random, of a tree of 50,000 empty files and a width of 5",
        source=f"{STUDY}, section 4.3",
        is_spread=True,
        defaults={"files": 50_000, "size": 0, "width": 5, "attributes": False},
        demand=_demand_shared,
        bounds=_BOUNDS,
        phases=_SHARED,
        unit=_dirlist,
    ),
)
