# SPDX-License-Identifier: MIT
"""Sets of files that the units of a rate share: each file is used by one unit at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from random import Random

from workloads import calls as c
from workloads.spec import Bounds, Context, PhaseDef, Programs

MAKERS = 8
"""Programs of each client that make files side by side."""
_STEP = 1 << 20
WIDTH = Bounds(2, 10_000_000)
"""Of a tree."""
_GAMMA = 1.5
"""Shape of the distribution of sizes, as filebench has it for its file sets."""


class FileSet:
    """Names of files, those that exist and those that do not; who uses one takes it out and puts it back.

    The bytes of all files together are bounded, too: whoever makes a file longer asks how far.
    """

    def __init__(self, draw: Random, most_bytes: int) -> None:
        self._draw = draw
        self._there: list[str] = []
        self._free: list[str] = []
        self._room = most_bytes

    def add(self, path: str, *, exists: bool) -> None:
        (self._there if exists else self._free).append(path)

    def take(self) -> c.Program[str]:
        """A file that exists and that nobody uses; waits until there is one."""
        return self._taken(self._there)

    def take_any(self) -> c.Program[tuple[str, bool]]:
        """A name that does not exist, or else a file that nobody uses: (path, whether it exists)."""
        while not (self._free or self._there):
            yield c.Think(c.PAUSE)
        exists = not self._free
        return (yield from self._taken(self._there if exists else self._free)), exists

    def take_free(self) -> c.Program[str]:
        """A name that does not exist; waits until there is one."""
        return self._taken(self._free)

    def _taken(self, names: list[str]) -> c.Program[str]:
        while not names:
            yield c.Think(c.PAUSE)
        at = self._draw.randrange(len(names))
        names[at], names[-1] = names[-1], names[at]
        return names.pop()

    def grow(self, wanted: int) -> int:
        """How many of these bytes a file may become longer now."""
        granted = min(wanted, self._room)
        self._room -= granted
        return granted

    def shrink(self, count: int) -> None:
        """These bytes are no more."""
        self._room += count


def sizes(count: int, mean: int, seed: str) -> list[int]:
    """Sizes with about this mean, as of a gamma distribution; the same for the same seed."""
    draw = Random(seed)
    return [max(1, min(round(draw.gammavariate(_GAMMA, mean / _GAMMA)), 16 * mean)) for _ in range(count)]


def paths(top: str, count: int, width: int) -> tuple[list[str], list[str]]:
    """(directories, parents first; files): a tree with at most `width` files or directories in a directory.

    `width` is 2 at least, unless there is one file: with 1 no level has more directories than the one above.
    """
    _require_width(count, width)
    if count <= width:
        return [top], [f"{top}/f{number}" for number in range(count)]
    directories, level = [top], [top]
    while len(level) * width < count:
        wanted = math.ceil(count / width)
        level = [f"{parent}/d{number}" for parent in level for number in range(width)][:wanted]
        directories += level
    files = [f"{parent}/f{number}" for number in range(width) for parent in level]
    return directories, files[:count]


def count_directories(count: int, width: int) -> int:
    """How many directories `paths` gives."""
    _require_width(count, width)
    directories = level = 1
    while count > width and level * width < count:
        level = min(level * width, math.ceil(count / width))
        directories += level
    return directories


def _require_width(count: int, width: int) -> None:
    if width < min(count, 2):
        raise ValueError(f"expected a width of 2 at least, got {width}")


def make_directories(directories: Iterable[str]) -> c.Program[None]:
    for path in directories:
        yield c.Mkdir(path)


def write_new(path: str, size: int) -> c.Program[None]:
    """Create a file of this size, and close it."""
    file = yield c.Create(path)
    for offset in range(0, size, _STEP):
        yield c.Write(file, offset, min(_STEP, size - offset))
    yield c.Close(file)


def write_all(files: Iterable[tuple[str, int]]) -> c.Program[None]:
    for path, size in files:
        yield from write_new(path, size)


def read_whole(path: str, size: int, step: int = _STEP) -> c.Program[None]:
    """Open a file, read all of it, and close it."""
    file = yield c.Open(path)
    for offset in range(0, max(size, 1), step):
        yield c.Read(file, offset, min(step, max(size - offset, 1)))
    yield c.Close(file)


def side_by_side(files: list[tuple[str, int]], makers: int = MAKERS) -> Iterable[c.Program[None]]:
    """Programs that make these files."""
    for number in range(min(makers, len(files))):
        yield write_all(files[number::makers])


def preparation(name: str, programs: Programs) -> PhaseDef:
    return PhaseDef(name, programs, is_measured=False)


def compare_all(context: Context) -> Iterable[c.Program[None]]:
    """Reads all files of a client, to compare them at the end."""

    def program() -> c.Program[None]:
        yield c.DropCaches()
        for path, state in list(context.ledger.files.items()):
            if path.startswith(f"c{context.client}/"):
                yield from read_whole(path, state.size)

    yield program()
