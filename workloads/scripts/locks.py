# SPDX-License-Identifier: MIT
"""`lockedreads` and `recall`: locks and delegations of many clients (NFSv4.1 study, sections 4.2 and 4.4).

lockedreads   each client, for each of the shared files, ten times: open, lock, read all, unlock, close. With the policy
              `v4-like` each of them is a call; `delegated` asks the server once for each file
recall        the first half of the clients open all files to read them, and hold their delegations; then the other half
              open the same files to write. The time is that of the writers
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import STUDY
from workloads.rates.fileset import make_directories, read_whole, side_by_side
from workloads.shape import Scalar
from workloads.spec import COUNT, STEP, Context, Demand, Least, PhaseDef, Workload
from workloads.trouble import WrongAnswer

_TOP = "shared"
_NLM = "locks of this version are calls of the lock manager (NLM), which is not here yet"
_NO_STATE = "this version has neither opens nor delegations"


def _paths(context: Context) -> list[str]:
    return [f"{_TOP}/f{number}" for number in range(context.number("files"))]


def _make_directory(context: Context) -> Iterable[c.Program[None]]:
    if context.client == 0:
        yield make_directories([_TOP])


def _make_files(context: Context) -> Iterable[c.Program[None]]:
    if context.client == 0:
        yield from side_by_side([(path, context.number("size")) for path in _paths(context)])


def _learn(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        context.ledger.mkdir(_TOP)
        for path in _paths(context):
            if path not in context.ledger.files:
                context.ledger.assume(path, context.number("size"))
        yield c.DropCaches(everything=True)

    yield program()


def _locked_reads(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        size = context.number("size")
        for path in _paths(context):
            for _ in range(context.number("rounds")):
                file = yield c.Open(path)
                yield c.Lock(file, is_exclusive=False)
                got = yield c.Read(file, 0, size)
                if got != size:
                    raise WrongAnswer(f"{path}: a read gave {got} bytes, and it has {size}")
                yield c.Unlock(file)
                yield c.Close(file)

    yield program()


def _is_reader(context: Context) -> bool:
    return context.client < (context.clients + 1) // 2


def _hold(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        opened = context.shared.setdefault("opened", [])
        for path in _paths(context):
            opened.append((yield c.Open(path)))
            yield c.Read(opened[-1], 0, context.number("size"))

    if _is_reader(context):
        yield program()


def _recall(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        for path in _paths(context):
            file = yield c.Open(path, writes=True)
            yield c.Close(file)

    if not _is_reader(context):
        yield program()


def _release(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        for file in context.shared.pop("opened", []):
            yield c.Close(file)

    yield program()


def _compare(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        for path in _paths(context):
            yield from read_whole(path, context.number("size"))

    yield program()


def _demand(parameters: Mapping[str, Scalar], _clients: int) -> Demand:
    return Demand(int(parameters["files"]) * int(parameters["size"]), int(parameters["files"]), 1)


def _needs_writers(_parameters: Mapping[str, Scalar], clients: int, _callers: int) -> Iterable[Least]:
    yield Least("--clients", clients, 2, "one half holds delegations, and the other half writes")


_PREPARED = (
    PhaseDef("directory", _make_directory, is_measured=False),
    PhaseDef("files", _make_files, is_measured=False),
    PhaseDef("learn", _learn, is_measured=False),
)
register(
    Workload(
        name="lockedreads",
        about="opens, locks, reads, unlocks and closes 1,000 shared files, ten times each, by five clients",
        source=f"{STUDY}, section 4.2",
        is_spread=True,
        defaults={"files": 1000, "size": 4096, "rounds": 10},
        bounds={"files": COUNT, "size": STEP, "rounds": COUNT},
        demand=_demand,
        phases=(*_PREPARED, PhaseDef("locked reads", _locked_reads)),
        versions=("4.1", "4.2"),
        needs={"2": _NLM, "3": _NLM},
        policy="like",
        clients=5,
    ),
    Workload(
        name="recall",
        about="clients open files for writing whose delegations others hold",
        source=f"{STUDY}, section 4.4",
        is_spread=True,
        defaults={"files": 1000, "size": 4096},
        bounds={"files": COUNT, "size": STEP},
        needs_least=_needs_writers,
        demand=_demand,
        phases=(
            *_PREPARED,
            PhaseDef("hold", _hold, is_measured=False),
            PhaseDef("recall", _recall),
            PhaseDef("release", _release, is_measured=False),
            PhaseDef("compare", _compare, is_measured=False),
        ),
        versions=("4.1", "4.2"),
        needs={"2": _NO_STATE, "3": _NO_STATE},
        works_mounted=False,
        policy="delegated",
        clients=2,
    ),
)
