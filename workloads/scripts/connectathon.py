# SPDX-License-Identifier: MIT
"""`connectathon-basic`: the basic tests 1 to 9 of the NFSv3 paper (table 1), each as a phase.

    1   create 155 files and 62 directories, 5 levels deep: 5 files and 2 directories in each of 31 directories
    2   remove them
    3   500 getwd and stat: getwd is local, stat is of the directory of the test
    4   1000 chmod and 1000 stat on 10 files, 50 rounds of two modes
    5a  write a file of 1 MB ten times, 8 KiB a write
    5b  read it ten times, with the caches of the client dropped before each
    6   200 listings of a directory of 200 files, one of which is removed after each: 20,500 entries with `.` and `..`
    7   200 renames and 200 links on 10 files
    8   200 symbolic links and 200 readlinks on 10 files
    9   1500 statfs

Between the tests are preparations, which are not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import DESIGN
from workloads.shape import Scalar
from workloads.spec import COUNT, SIZE, STEP, Bounds, Context, Demand, Least, PhaseDef, Programs, Workload
from workloads.trouble import WrongAnswer

_LEVELS, _FILES, _DIRECTORIES = 5, 5, 2
_MODES = (0o000, 0o666)


def _home(context: Context) -> str:
    return f"c{context.client}"


def _for_each_client(program: Callable[[Context], c.Program[None]]) -> Programs:
    """A phase with one program for each client."""

    def programs(context: Context) -> Iterable[c.Program[None]]:
        yield program(context)

    return programs


def _levels(context: Context) -> int:
    return context.number("levels")


def _begin(context: Context) -> c.Program[None]:
    yield c.Mkdir(_home(context))


# ---------------------------------------------------------------- 1 and 2


def _create_tree(context: Context) -> c.Program[None]:
    yield c.Mkdir(f"{_home(context)}/t1")
    yield from _create_level(f"{_home(context)}/t1", _levels(context))


def _create_level(path: str, levels: int) -> c.Program[None]:
    if not levels:
        return
    for number in range(_FILES):
        file = yield c.Create(f"{path}/file.{number}")
        yield c.Close(file)
    for number in range(_DIRECTORIES):
        yield c.Mkdir(f"{path}/dir.{number}")
        yield from _create_level(f"{path}/dir.{number}", levels - 1)


def _remove_tree(context: Context) -> c.Program[None]:
    yield from _remove_level(f"{_home(context)}/t1", _levels(context))
    yield c.Rmdir(f"{_home(context)}/t1")


def _remove_level(path: str, levels: int) -> c.Program[None]:
    if not levels:
        return
    for number in range(_FILES):
        yield c.Remove(f"{path}/file.{number}")
    for number in range(_DIRECTORIES):
        yield from _remove_level(f"{path}/dir.{number}", levels - 1)
        yield c.Rmdir(f"{path}/dir.{number}")


# ---------------------------------------------------------------- 3 and 4


def _stat_home(context: Context) -> c.Program[None]:
    for _ in range(context.number("stats")):
        found = yield c.Stat(_home(context))
        if not found.is_directory:
            raise WrongAnswer(f"stat of {_home(context)}: it is a directory, and its type is {found.type}")


def _paths(context: Context, test: int, count: int) -> list[str]:
    return [f"{_home(context)}/t{test}.{number}" for number in range(count)]


def _create(test: int, parameter: str) -> Programs:
    def program(context: Context) -> c.Program[None]:
        for path in _paths(context, test, context.number(parameter)):
            file = yield c.Create(path)
            yield c.Close(file)

    return _for_each_client(program)


def _remove(test: int, parameter: str) -> Programs:
    def program(context: Context) -> c.Program[None]:
        for path in _paths(context, test, context.number(parameter)):
            yield c.Remove(path)

    return _for_each_client(program)


def _chmod(context: Context) -> c.Program[None]:
    files = _paths(context, 4, context.number("files"))
    for _ in range(context.number("chmods") // (len(_MODES) * len(files))):
        for path in files:
            for mode in _MODES:
                yield c.Chmod(path, mode)
                found = yield c.Stat(path)
                if found.mode != mode:
                    raise WrongAnswer(f"{path}: the mode was set to {mode:o}, and is {found.mode:o}")


# ---------------------------------------------------------------- 5


def _write(context: Context) -> c.Program[None]:
    path, size, step = f"{_home(context)}/t5", context.number("size"), context.number("write")
    for round_number in range(context.number("rounds")):
        if round_number:
            file = yield c.Open(path, writes=True, truncates=True)
        else:
            file = yield c.Create(path)
        for offset in range(0, size, step):
            yield c.Write(file, offset, min(step, size - offset))
        yield c.Close(file)


def _read(context: Context) -> c.Program[None]:
    path, size, step = f"{_home(context)}/t5", context.number("size"), context.number("write")
    for _ in range(context.number("rounds")):
        yield c.DropCaches()
        file = yield c.Open(path)
        for offset in range(0, size, step):
            yield c.Read(file, offset, min(step, size - offset))
        yield c.Close(file)


# ---------------------------------------------------------------- 6


def _six(context: Context) -> str:
    return f"{_home(context)}/t6"


def _prepare_listing(context: Context) -> c.Program[None]:
    yield c.Mkdir(_six(context))
    for number in range(context.number("entries")):
        file = yield c.Create(f"{_six(context)}/file.{number}")
        yield c.Close(file)


def _list(context: Context) -> c.Program[None]:
    for number in range(context.number("entries")):
        yield c.Readdir(_six(context))
        yield c.Remove(f"{_six(context)}/file.{number}")


def _end_listing(context: Context) -> c.Program[None]:
    yield c.Rmdir(_six(context))


# ---------------------------------------------------------------- 7 to 9


def _links(context: Context) -> c.Program[None]:
    for path in _paths(context, 7, context.number("files")):
        other = f"{path}.new"
        for _ in range(context.number("renames") // context.number("files")):
            yield c.Rename(path, other)
            yield c.Absent(path)
            yield c.Stat(other)
            yield c.Link(other, path)
            for name in (other, path):
                yield from _require_links(name, 2)
            yield c.Remove(other)
            yield from _require_links(path, 1)


def _require_links(path: str, count: int) -> c.Program[None]:
    found = yield c.Stat(path)
    if found.nlink != count:
        raise WrongAnswer(f"{path}: it has {count} names, and its number of links is {found.nlink}")


def _symlinks(context: Context) -> c.Program[None]:
    for number, path in enumerate(_paths(context, 8, context.number("files"))):
        for _ in range(context.number("symlinks") // context.number("files")):
            yield c.Symlink(f"text of link {number}", path)
            yield c.Stat(path)
            yield c.Readlink(path)
            yield c.Remove(path)


def _statfs(context: Context) -> c.Program[None]:
    for _ in range(context.number("statfs")):
        yield c.Statfs(_home(context))


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    levels = int(parameters["levels"])
    nodes = (1 << levels) - 1
    files = nodes * _FILES + int(parameters["entries"]) + 3 * int(parameters["files"]) + 1
    return Demand(int(parameters["size"]) * clients, files * clients, (2 * nodes + 3) * clients)


def _needs(parameters: Mapping[str, Scalar], _clients: int, _callers: int) -> Iterable[Least]:
    files = int(parameters["files"])
    yield Least("chmods", int(parameters["chmods"]), len(_MODES) * files, "each file gets each mode")
    for name in ("renames", "symlinks"):
        yield Least(name, int(parameters[name]), files, "each of the files gets one")


def _setup(name: str, programs: Programs) -> PhaseDef:
    return PhaseDef(name, programs, is_measured=False)


register(
    Workload(
        name="connectathon-basic",
        about="the nine basic tests of the paper: names, attributes, data, listings, links",
        source=f"{DESIGN}, table 1",
        is_spread=True,
        defaults={
            "levels": _LEVELS,
            "stats": 500,
            "files": 10,
            "chmods": 1000,
            "size": 1 << 20,
            "write": 8192,
            "rounds": 10,
            "entries": 200,
            "renames": 200,
            "symlinks": 200,
            "statfs": 1500,
        },
        bounds={
            "levels": Bounds(1, 16),
            "size": SIZE,
            "write": STEP,
            **dict.fromkeys(
                ("stats", "files", "chmods", "rounds", "entries", "renames", "symlinks", "statfs"), COUNT
            ),
        },
        needs_least=_needs,
        demand=_demand,
        phases=(
            _setup("begin", _for_each_client(_begin)),
            PhaseDef("1 create", _for_each_client(_create_tree)),
            PhaseDef("2 remove", _for_each_client(_remove_tree)),
            PhaseDef("3 stat", _for_each_client(_stat_home)),
            _setup("files of 4", _create(4, "files")),
            PhaseDef("4 chmod", _for_each_client(_chmod)),
            _setup("end of 4", _remove(4, "files")),
            PhaseDef("5a write", _for_each_client(_write)),
            PhaseDef("5b read", _for_each_client(_read)),
            _setup("files of 6", _for_each_client(_prepare_listing)),
            PhaseDef("6 readdir", _for_each_client(_list)),
            _setup("end of 6", _for_each_client(_end_listing)),
            _setup("files of 7", _create(7, "files")),
            PhaseDef("7 link", _for_each_client(_links)),
            PhaseDef("8 symlink", _for_each_client(_symlinks)),
            PhaseDef("9 statfs", _for_each_client(_statfs)),
        ),
        window=7,
        size=8192,
    )
)
