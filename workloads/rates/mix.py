# SPDX-License-Identifier: MIT
"""`sfs-like`: a fixed mix of procedures on files whose amount grows with the load (NFS Sensitivity, section 2.1).

A unit is one procedure with a handle that was found before (the policy `direct`): no client is imitated. The procedures
come from shuffled decks with one card for each per cent of the mix, so that shares are exact after each deck.

What must stay true:

- The files of a run are drawn for the run, and then divided among its clients: how much is touched does not depend on
  the number of clients. (A benchmark that this one imitates drew them for each process. With many operations a second
  for each process its working set shrank, and its results were withdrawn.)
- All files together have `load` times `bytes` bytes, of which the share `touched` is in files that units use. Those are
  drawn from all.
- Units that change a file use one that no other unit is changing; names that are created and removed are separate.

The mixes of NFSv2 and NFSv3 are those of the benchmarks of 1997, as far as is known without their text; that of NFSv3
has 99 per cent. NFSv4 is beyond them: the mix of NFSv3, each procedure in a compound. CREATE is an OPEN and a CLOSE;
files that are read and written stay open.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from workloads import calls as c
from workloads.catalog import register
from workloads.policies.table import DIRECT, SENSITIVITY
from workloads.rates.fileset import (
    WIDTH,
    FileSet,
    count_directories,
    make_directories,
    paths,
    preparation,
    side_by_side,
    write_new,
)
from workloads.shape import Scalar
from workloads.spec import STEP, Bounds, Context, Demand, Least, Workload

_MIX_3: t.Final[Mapping[str, int]] = {
    "lookup": 27, "read": 18, "getattr": 11, "write": 9, "readdirplus": 9, "readlink": 7, "access": 7, "commit": 5,
    "readdir": 2, "create": 1, "remove": 1, "fsstat": 1, "setattr": 1,
}  # fmt: skip
MIXES: t.Final[Mapping[str, Mapping[str, int]]] = {
    "2": {
        "lookup": 36, "getattr": 26, "read": 14, "write": 7, "readlink": 7, "readdir": 6, "create": 1, "remove": 1,
        "fsstat": 1, "setattr": 1,
    },
    "3": _MIX_3,
    "4.1": _MIX_3,
    "4.2": _MIX_3,
}  # fmt: skip
"""By version: cards of a deck, about per cent."""
_SIZES: t.Final = (
    (1, 33),
    (2, 21),
    (4, 13),
    (8, 10),
    (16, 8),
    (32, 5),
    (64, 4),
    (128, 3),
    (256, 2),
    (1024, 1),
)
"""(KiB, how many of 100 files)."""
DECK: t.Final = sum(kib * count for kib, count in _SIZES) << 10
"""Bytes of 100 files."""
_FILES_OF_A_DECK: t.Final = 100
_LARGEST: t.Final = 1 << 20
_NAMES: t.Final = 16
"""Names of each client that are created and removed; half of them exist at the beginning."""
_LINKS: t.Final = 20
"""Symbolic links of each client."""
_MAKERS: t.Final = 32
"""Programs that make, open and compare files side by side: many, because a study is over long latencies, too."""
_TRIES: t.Final = 8


@dataclass(frozen=True, slots=True)
class Drawn:
    """The files of a run: their sizes, and the numbers of those that units use."""

    sizes: tuple[int, ...]
    touched: tuple[int, ...]

    def of_client(self, client: int, clients: int) -> Iterator[tuple[int, bool]]:
        """(size, whether it is touched) of the files of one client."""
        known = set(self.touched)
        for number in self.touched[client::clients]:
            yield self.sizes[number], True
        rest = [number for number in range(len(self.sizes)) if number not in known]
        for number in rest[client::clients]:
            yield self.sizes[number], False


def draw_files(total: int, share: float, clients: int, seed: int) -> Drawn:
    """Files of `total` bytes, of which `share` is touched, whoever uses them.

    Only where very little is touched, `clients` matters: then large files are left out, so that each client has some.
    """
    draw = Random(f"{seed} sfs-like")
    sizes, left = list[int](), total
    while left > 0:
        deck = [kib << 10 for kib, count in _SIZES for _ in range(count)]
        draw.shuffle(deck)
        for size in deck:
            if left > 0:
                sizes.append(min(size, left))
                left -= sizes[-1]
    wanted = round(total * share)
    largest = _LARGEST if wanted >= 1.2 * _LARGEST * clients else wanted // (2 * clients)
    order = list(range(len(sizes)))
    draw.shuffle(order)
    touched = list[int]()
    for number in order:
        if sizes[number] <= min(wanted, largest):
            touched.append(number)
            wanted -= sizes[number]
    return Drawn(tuple(sizes), tuple(touched))


def _total(parameters: Mapping[str, Scalar]) -> int:
    return round(float(parameters["load"]) * int(parameters["bytes"]))


def _drawn(context: Context) -> Drawn:
    known: Drawn | None = context.shared.get("drawn")
    if known is None:
        known = draw_files(_total(context.parameters), context.real("touched"), context.clients, context.seed)
        context.shared["drawn"] = known
    return known


def _top(context: Context) -> str:
    return f"c{context.client}"


def _files(context: Context) -> tuple[list[str], list[tuple[str, int, bool]]]:
    """(directories, (path, size, whether it is touched) of each file) of a client."""
    mine = list(_drawn(context).of_client(context.client, context.clients))
    directories, names = paths(f"{_top(context)}/data", len(mine), context.number("width"))
    return directories, [(path, *each) for path, each in zip(names, mine, strict=True)]


# ---------------------------------------------------------------- preparation


def _make_directories(context: Context) -> Iterable[c.Program[None]]:
    top = _top(context)
    directories = context.shared["directories"] = _files(context)[0]
    yield make_directories([top, f"{top}/links", f"{top}/names", *directories])


def _make_files(context: Context) -> Iterable[c.Program[None]]:
    yield from side_by_side([(path, size) for path, size, _ in _files(context)[1]], _MAKERS)
    yield _make_links(context)
    yield _make_names(context)


def _make_links(context: Context) -> c.Program[None]:
    for number in range(_LINKS):
        yield c.Symlink(f"target/{'x' * number}/{number}", f"{_top(context)}/links/l{number}")


def _make_names(context: Context) -> c.Program[None]:
    names = context.shared["names"] = FileSet(context.random, 0)
    for number in range(_NAMES):
        path = f"{_top(context)}/names/f{number}"
        if number % 2:
            yield from write_new(path, 0)
        names.add(path, exists=bool(number % 2))


def _open(context: Context) -> Iterable[c.Program[None]]:
    """Opens what is touched, which finds its handle. Nothing is read before the rate begins."""
    opened: list[c.OpenFile] = context.shared.setdefault("open", [])
    touched = [path for path, _, is_touched in _files(context)[1] if is_touched]

    def program(names: list[str]) -> c.Program[None]:
        for path in names:
            file = yield c.Open(path, writes=True)
            opened.append(file)

    for number in range(min(_MAKERS, len(touched))):
        yield program(touched[number::_MAKERS])


def _compare(context: Context) -> Iterable[c.Program[None]]:
    """Reads all that was touched, and closes it."""

    def program(files: list[c.OpenFile]) -> c.Program[None]:
        for file in files:
            yield c.Read(file, 0, max(file.state.size, 1))
            yield c.Close(file)

    for number in range(_MAKERS):
        yield program(context.shared["open"][number::_MAKERS])


# ---------------------------------------------------------------- units


def _any_file(context: Context) -> c.OpenFile:
    files: list[c.OpenFile] = context.shared["open"]
    return context.random.choice(files)


def _exclusively(
    context: Context, change: Callable[[c.OpenFile], c.Call], prefer: set[c.OpenFile] | None = None
) -> c.Program[c.OpenFile]:
    """Change a file that no other unit is changing; one of `prefer`, if there is one."""
    busy: set[c.OpenFile] = context.shared.setdefault("busy", set())
    file = next((each for each in prefer or () if each not in busy), None)
    while file is None:
        drawn = [_any_file(context) for _ in range(_TRIES)]
        file = next((each for each in drawn if each not in busy), None)
        if file is None:
            yield c.Think(c.PAUSE)
    busy.add(file)
    yield change(file)
    busy.discard(file)
    return file


def _unstable(context: Context) -> set[c.OpenFile]:
    """Files that were written since their last COMMIT."""
    found: set[c.OpenFile] = context.shared.setdefault("unstable", set())
    return found


def _block(context: Context, file: c.OpenFile) -> tuple[int, int]:
    """(offset, bytes) of a block of the file, drawn."""
    step = context.number("io")
    offset = context.random.randrange(-(-file.state.size // step)) * step
    return offset, min(step, file.state.size - offset)


def _read(context: Context) -> c.Program[None]:
    file = _any_file(context)
    yield c.Read(file, *_block(context, file))


def _write(context: Context) -> c.Program[None]:
    file = yield from _exclusively(context, lambda file: c.Write(file, *_block(context, file)))
    _unstable(context).add(file)


def _commit(context: Context) -> c.Program[None]:
    """Of a file that was written and not committed, if there is one."""
    file = yield from _exclusively(context, c.Commit, _unstable(context))
    _unstable(context).discard(file)


def _setattr(context: Context) -> c.Program[None]:
    mode = context.random.choice((0o600, 0o640, 0o644))
    yield from _exclusively(context, lambda file: c.Chmod(file.path, mode))


def _readlink(context: Context) -> c.Program[None]:
    yield c.Readlink(f"{_top(context)}/links/l{context.random.randrange(_LINKS)}")


def _list(context: Context, *, attributes: bool) -> c.Program[None]:
    yield c.Readdir(context.random.choice(context.shared["directories"]), attributes=attributes)


def _create(context: Context) -> c.Program[None]:
    names: FileSet = context.shared["names"]
    path = yield from names.take_free()
    file = yield c.Create(path)
    yield c.Close(file)
    names.add(path, exists=True)


def _remove(context: Context) -> c.Program[None]:
    names: FileSet = context.shared["names"]
    path = yield from names.take()
    yield c.Remove(path)
    names.add(path, exists=False)


def _by_name(call: Callable[[str], c.Call]) -> Callable[[Context], c.Program[None]]:
    def unit(context: Context) -> c.Program[None]:
        yield call(_any_file(context).path)

    return unit


def _fsstat(context: Context) -> c.Program[None]:
    yield c.Statfs(_top(context))


_UNITS: t.Final[Mapping[str, Callable[[Context], c.Program[None]]]] = {
    "lookup": _by_name(c.Lookup),
    "getattr": _by_name(c.Stat),
    "access": _by_name(c.Access),
    "read": _read,
    "write": _write,
    "commit": _commit,
    "setattr": _setattr,
    "readlink": _readlink,
    "readdir": lambda context: _list(context, attributes=False),
    "readdirplus": lambda context: _list(context, attributes=True),
    "create": _create,
    "remove": _remove,
    "fsstat": _fsstat,
}


def _unit(context: Context, _caller: int) -> c.Program[None]:
    """The next card."""
    deck: list[str] = context.shared.setdefault("deck", [])
    if not deck:
        deck += [name for name, cards in MIXES[context.version].items() for _ in range(cards)]
        context.random.shuffle(deck)
    return _UNITS[deck.pop()](context)


# ---------------------------------------------------------------- what it makes


def _demand(parameters: Mapping[str, Scalar], clients: int) -> Demand:
    total = _total(parameters)
    # How many files there are is drawn: the last deck may begin with its small ones.
    files = (total // DECK + 1) * _FILES_OF_A_DECK
    directories = count_directories(-(-files // clients), int(parameters["width"])) + 3
    links = clients * _LINKS * (_LINKS + len("target//00"))
    return Demand(total + links, files + clients * (_NAMES + _LINKS), clients * directories)


def _needs_deck(parameters: Mapping[str, Scalar], clients: int, _callers: int) -> Iterable[Least]:
    yield Least(
        "load times bytes",
        _total(parameters),
        clients * DECK,
        "each client has files of all sizes, some touched",
    )


register(
    Workload(
        name="sfs-like",
        about="a mix of procedures, most of them small, on files that grow in number with the load",
        source=f"{SENSITIVITY}, section 2.1; the mix from guides of benchmarks of 1997, that of NFSv4 from nfsproof",
        is_spread=True,
        works_mounted=False,
        why_not_mounted="it imitates no client, and sends procedures with handles",
        defaults={"load": 10.0, "bytes": 10 << 20, "touched": 0.1, "io": 8192, "width": 30},
        load="load",
        demand=_demand,
        bounds={
            "load": Bounds(0.001, 1_000_000),
            "bytes": Bounds(1, 1 << 40),
            "touched": Bounds(0.01, 1.0),
            "io": STEP,
            "width": WIDTH,
        },
        needs_least=_needs_deck,
        phases=(
            preparation("directories", _make_directories),
            preparation("files", _make_files),
            preparation("open", _open),
        ),
        unit=_unit,
        after=(preparation("compare", _compare),),
        callers=8,
        size=8192,
        policy=DIRECT,
    )
)
