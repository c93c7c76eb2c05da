# SPDX-License-Identifier: MIT
"""`fileserver`, `webserver`, `mailserver`: mixes of operations (NFSv4.1 study, section 5).

Each client has its set of files, and each caller goes through the units of the mix in turn:

    fileserver   create and write a file; open and append up to 16 KB; open and read all; remove; stat
    webserver    open and read all, ten times; append 16 KB to the log of the client
    mailserver   remove; create, append, fsync; open, read all, append, fsync; open and read all

A file is used by one unit at a time; a unit that finds none waits. Names of files that do not exist are kept, so that
removing and creating balance, and neither the number of files nor their bytes grow beyond what was announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import STUDY
from workloads.rates.fileset import (
    WIDTH,
    FileSet,
    compare_all,
    count_directories,
    make_directories,
    paths,
    preparation,
    read_whole,
    side_by_side,
    sizes,
    write_new,
)
from workloads.shape import Scalar
from workloads.spec import COUNT, SIZE, STEP, Context, Demand, Least, Workload

_THERE = 0.8
"""Share of the files that exist at the beginning, where files are created and removed."""
_LARGEST_APPEND = 16 << 10
_LOG = 64 << 20
"""Bytes at which a log begins again, if the user does not say it."""
Unit = Callable[[Context], c.Program[None]]


def _set(context: Context) -> FileSet:
    known: FileSet = context.shared["set"]
    return known


def _names(context: Context) -> tuple[list[str], list[str]]:
    return paths(f"c{context.client}", context.number("files"), context.number("width"))


def _make_directories(context: Context) -> Iterable[c.Program[None]]:
    yield make_directories(_names(context)[0])


def _make_files(share: float) -> Callable[[Context], Iterable[c.Program[None]]]:
    def make(context: Context) -> Iterable[c.Program[None]]:
        files = _names(context)[1]
        whole = sizes(len(files), context.number("mean"), f"{context.seed} sizes {context.client}")
        is_even = not context.parameters["varies"]
        context.shared["set"] = made = FileSet(context.random, _most_bytes(context.parameters))
        there = list[tuple[str, int]]()
        for number, (path, size) in enumerate(zip(files, whole, strict=True)):
            exists = number < len(files) * share
            made.add(path, exists=exists)
            if exists:
                there.append((path, made.grow(context.number("mean") if is_even else size)))
        yield from side_by_side(there)

    return make


def _size(context: Context) -> int:
    mean = context.number("mean")
    if not context.parameters["varies"]:
        return mean
    return max(1, min(round(context.random.gammavariate(1.5, mean / 1.5)), 16 * mean))


# ---------------------------------------------------------------- units


def _create(context: Context, *, syncs: bool = False) -> c.Program[None]:
    """A new file; if all names are in use, one of them is removed before."""
    files = _set(context)
    path, exists = yield from files.take_any()
    if exists:
        yield from _remove_file(context, path)
    size = files.grow(_size(context))
    if syncs:
        file = yield c.Create(path)
        if size:
            yield c.Write(file, 0, size)
        yield c.Fsync(file)
        yield c.Close(file)
    else:
        yield from write_new(path, size)
    files.add(path, exists=True)


def _create_and_sync(context: Context) -> c.Program[None]:
    yield from _create(context, syncs=True)


def _remove_file(context: Context, path: str) -> c.Program[None]:
    size = context.ledger.file(path).size
    yield c.Remove(path)
    _set(context).shrink(size)


def _remove(context: Context) -> c.Program[None]:
    path = yield from _set(context).take()
    yield from _remove_file(context, path)
    _set(context).add(path, exists=False)


def _append(context: Context) -> c.Program[None]:
    """Up to 16 KB more. Where the set may not grow, the file begins again, so that it stays bounded."""
    files = _set(context)
    path = yield from files.take()
    wanted = context.random.randint(1, _LARGEST_APPEND)
    size = context.ledger.file(path).size
    count = files.grow(wanted)
    if count:
        file = yield c.Open(path, writes=True)
        yield c.Write(file, size, count)
    else:
        file = yield c.Open(path, writes=True, truncates=True)
        files.shrink(size)
        count = files.grow(wanted)
        if count:
            yield c.Write(file, 0, count)
    yield c.Close(file)
    files.add(path, exists=True)


def _read(context: Context) -> c.Program[None]:
    path = yield from _set(context).take()
    yield from read_whole(path, context.ledger.file(path).size)
    _set(context).add(path, exists=True)


def _read_append_and_sync(context: Context) -> c.Program[None]:
    files = _set(context)
    path = yield from files.take()
    file = yield c.Open(path, writes=True)
    size = file.state.size
    yield c.Read(file, 0, max(size, 1))
    if size < 16 * context.number("mean"):
        count = files.grow(context.random.randint(1, _LARGEST_APPEND))
        if count:
            yield c.Write(file, size, count)
    yield c.Fsync(file)
    yield c.Close(file)
    files.add(path, exists=True)


def _stat(context: Context) -> c.Program[None]:
    path = yield from _set(context).take()
    yield c.Stat(path)
    _set(context).add(path, exists=True)


def _make_log(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        context.shared["log"] = yield c.Create(f"c{context.client}/log")

    yield program()


def _close_log(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.Close(context.shared["log"])

    yield program()


def _append_to_log(context: Context) -> c.Program[None]:
    step = context.number("append")
    at = context.shared.get("log at", 0)
    # At its largest size the log begins again, so that it stays bounded.
    context.shared["log at"] = (at + step) % _log_bytes(context.parameters)
    yield c.Write(context.shared["log"], at, step)


def _log_bytes(parameters: Mapping[str, Scalar]) -> int:
    """The largest size of a log: a whole number of appends."""
    step = int(parameters["append"])
    return max(int(parameters["log"]) // step * step, step)


def _in_turn(units: Sequence[Unit]) -> Callable[[Context, int], c.Program[None]]:
    """The units of a mix, one after the other; each caller begins at another one."""

    def unit(context: Context, caller: int) -> c.Program[None]:
        number = int(context.shared.get(f"turn {caller}", caller))
        context.shared[f"turn {caller}"] = number + 1
        return units[number % len(units)](context)

    return unit


def _most_bytes(parameters: Mapping[str, Scalar]) -> int:
    """Of the files of a client: room for files that are larger than the mean, and for what is appended."""
    mean = int(parameters["mean"])
    return int(parameters["files"]) * (mean + max(mean, _LARGEST_APPEND))


def _needs_files(parameters: Mapping[str, Scalar], _clients: int, callers: int) -> Iterable[Least]:
    # Of each caller one file may be in use, and one more may have been removed than created.
    yield Least("files", int(parameters["files"]), 2 * callers + 1, f"for {callers} callers of each client")


def _needs_file_each(parameters: Mapping[str, Scalar], _clients: int, callers: int) -> Iterable[Least]:
    yield Least("files", int(parameters["files"]), callers, f"for {callers} callers of each client")


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    files, width = int(parameters["files"]), int(parameters["width"])
    return Demand(
        _most_bytes(parameters) * clients, files * clients, count_directories(files, width) * clients
    )


def _demand_of_web(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    """Files are only read: nothing is appended to them."""
    files, width = int(parameters["files"]), int(parameters["width"])
    data = _most_bytes(parameters) if parameters["varies"] else files * int(parameters["mean"])
    return Demand(
        (data + _log_bytes(parameters)) * clients,
        (files + 1) * clients,
        count_directories(files, width) * clients,
    )


_BOUNDS = {"files": COUNT, "mean": STEP, "width": WIDTH}
register(
    Workload(
        name="fileserver",
        about="creates, appends to, reads, removes and looks at files of 128 KB on average",
        source=f"{STUDY}, section 5.1",
        is_spread=True,
        defaults={"files": 1000, "mean": 128 << 10, "width": 20, "varies": True},
        demand=_demand,
        bounds=_BOUNDS,
        needs_least=_needs_files,
        phases=(preparation("directories", _make_directories), preparation("files", _make_files(_THERE))),
        unit=_in_turn([_create, _append, _read, _remove, _stat]),
        after=(preparation("compare", compare_all),),
        callers=50,
        size=1 << 20,
    ),
    Workload(
        name="webserver",
        about="reads files of 16 KB, ten for each append to a log",
        source=f"{STUDY}, section 5.2",
        is_spread=True,
        defaults={
            "files": 1000,
            "mean": 16 << 10,
            "width": 20,
            "varies": False,
            "append": 16 << 10,
            "log": _LOG,
        },
        demand=_demand_of_web,
        bounds={**_BOUNDS, "append": STEP, "log": SIZE},
        needs_least=_needs_file_each,
        phases=(
            preparation("directories", _make_directories),
            preparation("files", _make_files(1.0)),
            preparation("log", _make_log),
        ),
        unit=_in_turn([*([_read] * 10), _append_to_log]),
        after=(preparation("close", _close_log), preparation("compare", compare_all)),
        callers=100,
    ),
    Workload(
        name="mailserver",
        about="removes, creates, reads and appends to files of 16 KB, each change with fsync",
        source=f"{STUDY}, section 5.3",
        is_spread=True,
        defaults={"files": 1000, "mean": 16 << 10, "width": 1_000_000, "varies": False},
        demand=_demand,
        bounds=_BOUNDS,
        needs_least=_needs_files,
        phases=(preparation("directories", _make_directories), preparation("files", _make_files(_THERE))),
        unit=_in_turn([_remove, _create_and_sync, _read_append_and_sync, _read]),
        after=(preparation("compare", compare_all),),
        callers=16,
    ),
)
