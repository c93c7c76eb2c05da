# SPDX-License-Identifier: MIT
"""`find`: visits a tree, and needs the attributes of every entry (NFSv3 paper, table 2).

For each directory: go there, open it, ask for the file system, list it, and look at every entry; at last at `.` and
`..`. The calls of the table follow: with NFSv2, or READDIR, there is a LOOKUP for each entry (9612 files, 154
directories) and two for `.` and `..` of each directory, 10076 in all; with READDIRPLUS only `..` is left, 155. NFSv4
has no names `.` and `..`: LOOKUPP stands for the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import DESIGN
from workloads.scripts.tree import Tree, find_tree, make_files
from workloads.shape import Scalar
from workloads.spec import COUNT, Bounds, Context, Demand, Least, PhaseDef, Workload

_MAKERS = 8


def _tree(context: Context) -> Tree:
    known: Tree | None = context.shared.get("tree")
    if known is None:
        number = context.number
        known = find_tree(number("files"), number("directories"), number("levels"), context.seed)
        context.shared["tree"] = known
    return known


def _make_directories(context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        for path in _tree(context).directories:
            yield c.Mkdir(path)

    if context.client == 0:
        yield program()


def _make(context: Context) -> Iterable[c.Program[None]]:
    if context.client == 0:
        files = list(_tree(context).files)
        for number in range(_MAKERS):
            yield make_files(files[number::_MAKERS])


def _forget(_context: Context) -> Iterable[c.Program[None]]:
    def program() -> c.Program[None]:
        yield c.DropCaches(everything=True)
        yield c.Stat("find")

    yield program()


def _find(context: Context) -> Iterable[c.Program[None]]:
    yield _visit("find", _tree(context), context.version)


def _visit(path: str, tree: Tree, version: str) -> c.Program[None]:
    yield c.Chdir(path)
    names = yield c.Readdir(path, attributes=True)
    yield c.Statfs(path)
    for name in names:
        yield c.Stat(f"{path}/{name}")
    if not version.startswith("4"):
        yield c.Stat(f"{path}/.")
    yield c.Stat(f"{path}/..")
    for each in tree.below(path):
        yield from _visit(each, tree, version)


def _demand(parameters: Mapping[str, Scalar], _clients: int) -> Demand:
    return Demand(0, int(parameters["files"]), int(parameters["directories"]))


def _needs(parameters: Mapping[str, Scalar], _clients: int, _callers: int) -> Iterable[Least]:
    if int(parameters["directories"]) > 1:
        yield Least("levels", int(parameters["levels"]), 2, "all directories but one are below another one")


register(
    Workload(
        name="find",
        about="visits a tree of 9,612 files in 155 directories and looks at every entry",
        source=f"{DESIGN}, table 2",
        is_spread=True,
        defaults={"files": 9612, "directories": 155, "levels": 7},
        bounds={"files": COUNT, "directories": COUNT, "levels": Bounds(1, 64)},
        needs_least=_needs,
        demand=_demand,
        phases=(
            PhaseDef("directories", _make_directories, is_measured=False),
            PhaseDef("files", _make, is_measured=False),
            PhaseDef("forget", _forget, is_measured=False),
            PhaseDef("find", _find),
        ),
        policy="like",
        size=8192,
        is_drawn=True,
    )
)
