# SPDX-License-Identifier: MIT
"""Trees of directories and files that scripts make: the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from workloads import calls as c


@dataclass(frozen=True, slots=True)
class Tree:
    """Paths of directories, parents first, and of files, all below one directory."""

    directories: tuple[str, ...]
    files: tuple[str, ...]

    def below(self, path: str) -> list[str]:
        """The directories in a directory."""
        return [each for each in self.directories if each and c.parent_of(each) == path and each != path]


def find_tree(files: int, directories: int, levels: int, seed: int) -> Tree:
    """A tree as of a directory of sources: most directories are small, a few are large, `levels` deep at most.

    The root is one of the directories. Each is a child of a random one that is not too deep.
    """
    draw = random.Random(f"tree {seed}")
    paths, depth = ["find"], {"find": 1}
    for number in range(1, directories):
        parent = draw.choice([path for path in paths if depth[path] < levels])
        path = f"{parent}/d{number:03}"
        paths.append(path)
        depth[path] = depth[parent] + 1
    # A lognormal distribution whose large directories give listings about as many pages as in the paper.
    weights = [draw.lognormvariate(0.0, 1.8) for _ in paths]
    counts = _shares(files, weights)
    names = [
        f"{path}/{_name(draw, number)}"
        for path, count in zip(paths, counts, strict=True)
        for number in range(count)
    ]
    return Tree(tuple(paths), tuple(names))


def _shares(total: int, weights: list[float]) -> list[int]:
    """Whole numbers with this sum, in proportion to weights."""
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    counts = [int(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda at: counts[at] - exact[at])
    for at in by_rest[: total - sum(counts)]:
        counts[at] += 1
    return counts


def _name(draw: random.Random, number: int) -> str:
    letters = "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(2, 8)))
    return f"{letters}{number}.c"


def make(tree: Tree) -> c.Program[None]:
    """Make the directories and the files, empty."""
    for path in tree.directories:
        yield c.Mkdir(path)
    for path in tree.files:
        file = yield c.Create(path)
        yield c.Close(file)


def make_files(paths: list[str]) -> c.Program[None]:
    """Make empty files."""
    for path in paths:
        file = yield c.Create(path)
        yield c.Close(file)
