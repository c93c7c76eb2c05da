# SPDX-License-Identifier: MIT
"""`andrew`: the five phases of the Andrew benchmark, as Spritely NFS has them (section 5.2).

The tree of the paper is not published; this one is generated from a seed. `manifest` lists it, and
``nfsproof workload list andrew`` prints it.

    MakeDir   a tree of directories like that of the source
    Copy      every file of the source is read and written into the new tree
    ScanDir   stat of every object of the new tree
    ReadAll   every byte of it is read
    Make      for each module: its source and headers are read, a temporary is written, read and removed, an object
              is written; at the end all objects are read and a program is written. What still waits in the client
              is written, too: in the paper the next run pays for it, and each run has one before it

Compiling itself is not here: `think` is the time in seconds that it would take for each module, `compute` what passes
before each call of the program. `tmp=0` says that temporaries are on a disk of the client: nothing of them is seen
here. `pace` is what passes on the clock of a client for each call of the program; 0: the real time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import SPRITELY
from workloads.rates.fileset import preparation, read_whole, write_new
from workloads.shape import Scalar
from workloads.spec import COUNT, SIZE, VERSIONS, Bounds, Context, Demand, Least, PhaseDef, Programs, Workload
from workloads.spec import SPRITELY as SNFS

_DIRECTORIES = ("", "/include", "/lib", "/lib/net", "/lib/fs", "/tools", "/doc")
_HEADERS = 18
_OBJECT = 0.8
"""Bytes of an object for each byte of its source."""
_TEMPORARY = 1.6
"""Bytes of a temporary, which has the text of the headers."""
_STEP = 8192


def manifest(files: int, total: int, seed: int) -> list[tuple[str, int]]:
    """(path below the tree, bytes) of every file: headers, modules in C, and texts. The sum is `total`."""
    draw = Random(f"andrew {seed}")
    headers = min(_HEADERS, files // 3)
    weights = [draw.lognormvariate(0.0, 0.8) for _ in range(files)]
    names = [f"/include/h{number:02}.h" for number in range(headers)]
    places = [each for each in _DIRECTORIES if each not in {"/include", "/doc"}]
    for number in range(files - headers):
        is_text = number % 10 == 9
        place = "/doc" if is_text else draw.choice(places)
        names.append(f"{place}/{'t' if is_text else 'm'}{number:02}.{'txt' if is_text else 'c'}")
    whole = sum(weights)
    sizes = [max(1, int(total * weight / whole)) for weight in weights]
    sizes[-1] += max(0, total - sum(sizes))
    return list(zip(names, sizes, strict=True))


def _manifest(context: Context) -> list[tuple[str, int]]:
    return manifest(context.number("files"), context.number("bytes"), context.seed)


def manifest_lines(parameters: Mapping[str, Scalar], seed: int) -> list[str]:
    """The manifest for people."""
    found = manifest(int(parameters["files"]), int(parameters["bytes"]), seed)
    return [f"{size:8} {path.removeprefix('/')}" for path, size in sorted(found)]


def _top(context: Context) -> str:
    return f"c{context.client}"


def _for_each_client(program: Callable[[Context], c.Program[None]]) -> Programs:
    def programs(context: Context) -> Iterable[c.Program[None]]:
        yield _slowly(program(context), context.real("compute"))

    return programs


def _slowly(program: c.Program[None], seconds: float) -> c.Program[None]:
    """The same, on a slower machine: before each call it computes for so long."""
    if not seconds:
        yield from program
        return
    result = None
    while True:
        try:
            call = program.send(result)
        except StopIteration:
            return
        yield c.Think(seconds)
        result = yield call


def _make_source(context: Context) -> c.Program[None]:
    yield c.Mkdir(_top(context))
    for path in _DIRECTORIES:
        yield c.Mkdir(f"{_top(context)}/source{path}")
    for path, size in _manifest(context):
        yield from write_new(f"{_top(context)}/source{path}", size)
    yield c.DropCaches(everything=True)


def _make_dir(context: Context) -> c.Program[None]:
    for path in _DIRECTORIES:
        yield c.Mkdir(f"{_top(context)}/target{path}")


def _copy(context: Context) -> c.Program[None]:
    for path, size in _manifest(context):
        yield from read_whole(f"{_top(context)}/source{path}", size, _STEP)
        yield from _write(f"{_top(context)}/target{path}", size)


def _write(path: str, size: int) -> c.Program[None]:
    file = yield c.Create(path)
    for offset in range(0, size, _STEP):
        yield c.Write(file, offset, min(_STEP, size - offset))
    yield c.Close(file)


def _scan_dir(context: Context) -> c.Program[None]:
    names = [path for path, _ in _manifest(context)]
    for directory in _DIRECTORIES:
        where = f"{_top(context)}/target{directory}"
        yield c.Readdir(where)
        for path in names:
            if path.rpartition("/")[0] == directory:
                yield c.Stat(f"{_top(context)}/target{path}")


def _read_all(context: Context) -> c.Program[None]:
    for path, size in _manifest(context):
        yield from read_whole(f"{_top(context)}/target{path}", size, _STEP)


def _make(context: Context) -> c.Program[None]:
    target = f"{_top(context)}/target"
    headers = [(path, size) for path, size in _manifest(context) if path.endswith(".h")]
    modules = [(path, size) for path, size in _manifest(context) if path.endswith(".c")]
    draw, is_remote = Random(f"make {context.seed}"), bool(context.number("tmp"))
    for path, size in modules:
        yield from read_whole(target + path, size, _STEP)
        for header, length in draw.sample(headers, min(len(headers), 6)):
            yield from read_whole(target + header, length, _STEP)
        temporary = f"{target}/cc.tmp"
        if is_remote:
            yield from _write(temporary, max(1, int(size * _TEMPORARY)))
            yield from read_whole(temporary, max(1, int(size * _TEMPORARY)), _STEP)
        yield c.Think(context.real("think"))
        yield from _write(_object(target + path), max(1, int(size * _OBJECT)))
        if is_remote:
            yield c.Remove(temporary)
    for path, size in modules:
        yield from read_whole(_object(target + path), max(1, int(size * _OBJECT)), _STEP)
    yield from _write(f"{target}/a.out", max(1, sum(int(size * _OBJECT) for _, size in modules)))
    yield c.Sync()


def _object(path: str) -> str:
    return path.removesuffix(".c") + ".o"


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    files = 3 * int(parameters["files"]) + 2
    return Demand(5 * int(parameters["bytes"]) * clients, files * clients, 2 * len(_DIRECTORIES) * clients)


def _needs(parameters: Mapping[str, Scalar], _clients: int, _callers: int) -> Iterable[Least]:
    yield Least("bytes", int(parameters["bytes"]), int(parameters["files"]), "each file has a byte")


register(
    Workload(
        name="andrew",
        about="makes, copies, scans, reads and compiles a small tree of sources",
        source=f"{SPRITELY}, section 5.2",
        versions=(*VERSIONS, SNFS),
        is_spread=True,
        defaults={"files": 70, "bytes": 200 << 10, "think": 0.0, "compute": 0.0, "tmp": 1, "pace": 0.0},
        bounds={
            "files": COUNT,
            "bytes": SIZE,
            "think": Bounds(0, 3600),
            "compute": Bounds(0, 60),
            "tmp": Bounds(0, 1),
            "pace": Bounds(0, 3600),
        },
        needs_least=_needs,
        demand=_demand,
        phases=(
            preparation("source", _for_each_client(_make_source)),
            PhaseDef("MakeDir", _for_each_client(_make_dir), pace="pace"),
            PhaseDef("Copy", _for_each_client(_copy), pace="pace"),
            PhaseDef("ScanDir", _for_each_client(_scan_dir), pace="pace"),
            PhaseDef("ReadAll", _for_each_client(_read_all), pace="pace"),
            PhaseDef("Make", _for_each_client(_make), pace="pace"),
        ),
        policy="like",
        size=4096,
        window=4,
        is_drawn=True,
        manifest=manifest_lines,
    )
)
