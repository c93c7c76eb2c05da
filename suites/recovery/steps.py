# SPDX-License-Identifier: MIT
"""Sequences of calls by two clients: as data, in plain words, and drawn at random.

A sequence works in a separate, empty directory. Each of its steps is possible after those before it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from nfsjudge.survival import Level, Node, Tree
from suites.nfs3.contents import pattern

Verb: t.TypeAlias = t.Literal[
    "CREATE", "MKDIR", "SYMLINK", "LINK", "REMOVE", "RMDIR", "RENAME", "WRITE", "COMMIT", "SIZE", "MODE"
]
NAMES: t.Final = ("a", "b", "c")
"""In each directory."""
DEEPEST: t.Final = 2
LONGEST: t.Final = 14
"""Steps in a sequence."""
OFFSETS: t.Final = (0, 1, 100, 4095, 4096, 5000, 8192, 12_000)
SIZES: t.Final = (1, 100, 4096, 4097, 8000)
MODES: t.Final = (0o600, 0o640, 0o755)
NEW_MODE: t.Final = {"CREATE": 0o644, "MKDIR": 0o755}
EMPHASIS: t.Final[dict[str, Sequence[Verb]]] = {
    "names": (
        *("CREATE", "CREATE", "CREATE", "MKDIR", "MKDIR", "SYMLINK", "LINK", "LINK", "WRITE"),
        *("REMOVE", "RMDIR", "RENAME", "RENAME", "RENAME", "RENAME", "MODE"),
    ),
    "data": (
        *("CREATE", "CREATE", "LINK", "RENAME", "WRITE", "WRITE", "WRITE", "WRITE", "WRITE", "WRITE"),
        *("COMMIT", "COMMIT", "SIZE", "SIZE", "MODE"),
    ),
}
"""Verbs by how often they come."""
TEXT: t.Final = b"where/to"


@dataclass(frozen=True, slots=True)
class Step:
    """One call."""

    client: int
    """1 or 2."""
    verb: Verb
    path: str
    other: str = ""
    """The new path, for LINK and RENAME."""
    offset: int = 0
    size: int = 0
    level: Level = Level.FILE_SYNC
    salt: int = 0
    """Which bytes WRITE sends."""
    mode: int = 0

    @property
    def data(self) -> bytes:
        """What WRITE sends."""
        return pattern(self.size, self.salt)

    def words(self) -> str:
        """For people: ``client 2: WRITE 100 bytes at 4096 of a/b, UNSTABLE``."""
        match self.verb:
            case "RENAME" | "LINK":
                what = (
                    f"{self.path} to {self.other}"
                    if self.verb == "RENAME"
                    else f"{self.other} to {self.path}"
                )
            case "WRITE":
                what = f"{self.size} bytes at {self.offset} of {self.path}, {self.level.name}"
            case "COMMIT":
                part = f"{self.size} bytes at {self.offset}" if self.offset or self.size else "all"
                what = f"{part} of {self.path}"
            case "SIZE":
                return f"client {self.client}: SETATTR size {self.size} of {self.path}"
            case "MODE":
                return f"client {self.client}: SETATTR mode 0{self.mode:o} of {self.path}"
            case _:
                what = self.path
        return f"client {self.client}: {self.verb} {what}"

    # ------------------------------------------------------------ on the tree

    def is_possible(self, tree: Tree) -> bool:
        """Whether a server has no reason to refuse it, in this state."""
        return (self.path, self.other) in places(tree, self.verb)

    def acknowledge(self, tree: Tree, *, count: int | None = None, level: Level | None = None) -> None:
        """Report it to the tree as done. `count`, `level`: what WRITE has answered."""
        match self.verb:
            case "CREATE":
                tree.create(self.path, NEW_MODE["CREATE"])
            case "MKDIR":
                tree.mkdir(self.path, NEW_MODE["MKDIR"])
            case "SYMLINK":
                tree.symlink(self.path, TEXT)
            case "LINK":
                tree.link(self.path, self.other)
            case "REMOVE" | "RMDIR":
                tree.remove(self.path)
            case "RENAME":
                tree.rename(self.path, self.other)
            case "WRITE":
                data = self.data if count is None else self.data[:count]
                tree.content(self.path).write(self.offset, data, self.level if level is None else level)
            case "COMMIT":
                tree.content(self.path).commit(self.offset, self.size)
            case "SIZE":
                tree.content(self.path).resize(self.size)
            case "MODE":
                tree.chmod(self.path, self.mode)


Script: t.TypeAlias = tuple[Step, ...]


def possible(steps: Iterable[Step], *, is_lossy: bool) -> Script:
    """The steps without those that are not possible after the ones before them."""
    tree, kept = Tree(is_lossy=is_lossy), []
    for step in steps:
        if step.is_possible(tree):
            step.acknowledge(tree)
            kept.append(step)
    return tuple(kept)


# ---------------------------------------------------------------- what is possible


def places(tree: Tree, verb: Verb) -> list[tuple[str, str]]:
    """The paths with which a call is possible, each with a second path or an empty one."""
    nodes = dict(tree.walk())
    match verb:
        case "CREATE" | "MKDIR" | "SYMLINK":
            return [(path, "") for path in _free(tree, nodes)]
        case "LINK":
            return [(path, new) for path in _files(nodes) for new in _free(tree, nodes)]
        case "REMOVE":
            return [(path, "") for path, node in nodes.items() if node.kind != "directory"]
        case "RMDIR":
            return [(path, "") for path, node in nodes.items() if _is_empty_directory(node)]
        case "RENAME":
            return [
                (path, new)
                for path in nodes
                for new in (*_free(tree, nodes), *nodes)
                if _renames(nodes, path, new)
            ]
        case _:
            return [(path, "") for path in _files(nodes)]


def _files(nodes: dict[str, Node]) -> list[str]:
    return [path for path, node in nodes.items() if node.kind == "file"]


def _free(tree: Tree, nodes: dict[str, Node]) -> Iterator[str]:
    directories = ["", *(path for path, node in nodes.items() if node.kind == "directory")]
    for directory in directories:
        for name in NAMES:
            path = f"{directory}/{name}" if directory else name
            if path not in nodes and path.count("/") < DEEPEST:
                yield path


def _is_empty_directory(node: Node) -> bool:
    return node.kind == "directory" and not node.entries


def _renames(nodes: dict[str, Node], path: str, new: str) -> bool:
    """Whether RENAME is possible. Not between two names of one file: a server may do nothing then."""
    if new == path or new.startswith(f"{path}/"):
        return False
    moved, there = nodes[path], nodes.get(new)
    if moved.kind == "directory" and moved.entries and new.count("/"):
        return False  # it would be too deep
    if there is None:
        return True
    if moved is there:
        return False
    return _is_empty_directory(there) if moved.kind == "directory" else there.kind != "directory"


# ---------------------------------------------------------------- at random


def draw_script(draw: Random, verbs: Sequence[Verb], *, is_lossy: bool, limit: int) -> Script:
    """A sequence. In NFSv2 (not lossy) all is synchronous and there is no COMMIT; `limit`: bytes in a WRITE."""
    tree, steps = Tree(is_lossy=is_lossy), list[Step]()
    for salt in range(1, draw.randint(1, LONGEST) + 1):
        found = {verb: places(tree, verb) for verb in dict.fromkeys(verbs)}
        wanted = [verb for verb in verbs if found[verb] and (is_lossy or verb != "COMMIT")]
        verb = draw.choice(wanted)
        path, other = draw.choice(found[verb])
        step = Step(draw.randint(1, 2), verb, path, other, salt=salt)
        step = _with_values(draw, step, levels=[*Level] if is_lossy else [Level.FILE_SYNC], limit=limit)
        step.acknowledge(tree)
        steps.append(step)
    return tuple(steps)


def _with_values(draw: Random, step: Step, *, levels: Sequence[Level], limit: int) -> Step:
    match step.verb:
        case "WRITE":
            size = min(draw.choice(SIZES), limit)
            return replace(step, offset=draw.choice(OFFSETS), size=size, level=draw.choice(levels))
        case "COMMIT" if draw.random() < 0.5:
            return replace(step, offset=draw.choice(OFFSETS), size=draw.choice(SIZES))
        case "SIZE":
            return replace(step, size=draw.choice((0, *OFFSETS)))
        case "MODE":
            return replace(step, mode=draw.choice(MODES))
    return step


# ---------------------------------------------------------------- shorter


def shorter(script: Script, *, is_lossy: bool) -> list[Script]:
    """Simpler sequences, the simplest first: without some steps, with smaller numbers, with one client."""
    found: dict[Script, None] = {}
    half = len(script) // 2
    cuts = [script[half:], script[:half]] if half else []
    cuts += [script[:at] + script[at + 1 :] for at in range(len(script))]
    cuts += [
        (*script[:at], step, *script[at + 1 :]) for at, each in enumerate(script) for step in _simpler(each)
    ]
    for cut in cuts:
        kept = possible(cut, is_lossy=is_lossy)
        if kept and kept != script:
            found[kept] = None
    return sorted(found, key=len)


def _simpler(step: Step) -> Iterator[Step]:
    if step.client == 2:
        yield replace(step, client=1)
    if step.verb == "WRITE":
        yield from (replace(step, size=size) for size in SIZES if size < step.size)
        yield from (replace(step, offset=offset) for offset in OFFSETS if offset < step.offset)
    if step.verb in {"COMMIT", "SIZE"} and (step.offset or step.size):
        yield replace(step, offset=0, size=0)
