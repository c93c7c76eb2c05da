# SPDX-License-Identifier: MIT
"""A directory with all that is in it, as calls have made it, and what of it must be there after a crash.

All changes of names are synchronous (RFC 1813 section 1.6, RFC 1094 section 2.2), so exactly the acknowledged names are
there. Paths are names with ``/`` between them.
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from nfsjudge.differences import difference_of_names
from nfsjudge.showing import show
from nfsjudge.survival.content import Content
from nfsjudge.survival.promises import Promise, Violation

Kind = t.Literal["file", "directory", "symbolic link"]


@dataclass(frozen=True, slots=True)
class SeenNode:
    """An object that LOOKUP finds."""

    kind: str
    fileid: int = 0
    nlink: int = 1
    mode: int = 0
    data: bytes = b""
    """Of a file all bytes, of a symbolic link its text."""
    entries: t.Mapping[str, SeenNode] = field(default_factory=dict)
    trouble: str = ""
    """Why its data or its entries cannot be read: ``READ answers NFS3ERR_IO (5)``."""


@dataclass(eq=False, slots=True)
class Node:
    """An object that calls have made. A file may have several names."""

    kind: Kind
    modes: list[int]
    """All modes that it had."""
    content: Content | None = None
    text: bytes = b""
    entries: dict[str, Node] = field(default_factory=dict)
    is_mode_known: bool = True
    """False: the server has given it another mode before the crash."""
    is_nlink_known: bool = True
    is_fileid_known: bool = True
    """False: its names had several before the crash."""


class Tree:
    """The directory of one sequence of calls. `is_lossy`: SETATTR may be lost in a crash (NFSv3)."""

    def __init__(self, *, is_lossy: bool) -> None:
        self.is_lossy = is_lossy
        self.root = Node("directory", [])

    # ------------------------------------------------------------ what there is

    def find(self, path: str) -> Node | None:
        """The object of a path; the directory itself for an empty one."""
        node: Node | None = self.root
        for name in path.split("/") if path else ():
            node = node.entries.get(name) if node is not None else None
        return node

    def walk(self, node: Node | None = None, path: str = "") -> Iterator[tuple[str, Node]]:
        """Each path with its object, those of a directory after itself, without the directory of the sequence."""
        for name, child in (node or self.root).entries.items():
            inside = f"{path}/{name}" if path else name
            yield inside, child
            if child.kind == "directory":
                yield from self.walk(child, inside)

    def _names_of(self) -> dict[Node, list[str]]:
        names: dict[Node, list[str]] = defaultdict(list)
        for path, node in self.walk():
            names[node].append(path)
        return names

    def _place(self, path: str) -> tuple[dict[str, Node], str]:
        parent, _, name = path.rpartition("/")
        found = self.find(parent)
        assert found is not None, path
        return found.entries, name

    # ------------------------------------------------------------ what is acknowledged

    def create(self, path: str, mode: int) -> None:
        """CREATE."""
        self._add(path, Node("file", [mode], Content(is_lossy=self.is_lossy)))

    def mkdir(self, path: str, mode: int) -> None:
        """MKDIR."""
        self._add(path, Node("directory", [mode]))

    def symlink(self, path: str, text: bytes) -> None:
        """SYMLINK."""
        self._add(path, Node("symbolic link", [], text=text, is_mode_known=False))

    def _add(self, path: str, node: Node) -> None:
        entries, name = self._place(path)
        assert name not in entries, path
        entries[name] = node

    def link(self, path: str, new: str) -> None:
        """LINK."""
        node = self.find(path)
        assert node is not None
        self._add(new, node)

    def remove(self, path: str) -> None:
        """REMOVE, or RMDIR."""
        entries, name = self._place(path)
        del entries[name]

    def rename(self, path: str, new: str) -> None:
        """RENAME; what had the new name is replaced."""
        entries, name = self._place(path)
        node = entries.pop(name)
        others, other = self._place(new)
        others[other] = node

    def content(self, path: str) -> Content:
        """The content of a file, to report WRITE, COMMIT and SETATTR of the size."""
        node = self.find(path)
        assert node is not None, path
        assert node.content is not None, path
        return node.content

    def chmod(self, path: str, mode: int) -> None:
        """SETATTR of the mode."""
        node = self.find(path)
        assert node is not None
        node.modes.append(mode)

    # ------------------------------------------------------------ what is there

    def is_now(self, seen: SeenNode) -> bool:
        """Whether this is what the calls have made. Modes and link counts that differ are not judged later."""
        names = self._names_of()
        if not self._is_same(self.root, seen):
            return False
        for path, node in self.walk():
            there = _seen_at(seen, path)
            node.is_mode_known = node.is_mode_known and there.mode == node.modes[-1]
            node.is_nlink_known = node.is_nlink_known and there.nlink == len(names[node])
            first = _seen_at(seen, names[node][0])
            node.is_fileid_known = node.is_fileid_known and there.fileid == first.fileid
        return True

    def _is_same(self, node: Node, seen: SeenNode) -> bool:
        if node.kind != seen.kind or seen.trouble or {*node.entries} != {*seen.entries}:
            return False
        if node.kind != "directory":
            return seen.data == (node.text if node.content is None else node.content.now)
        return all(self._is_same(child, seen.entries[name]) for name, child in node.entries.items())

    def judge(self, seen: SeenNode) -> Violation | None:
        """The worst that is wrong after a crash."""
        weak: Violation | None = None
        for found in self._violations(seen):
            if not found.is_weak:
                return found
            weak = weak or found
        return weak

    def _violations(self, seen: SeenNode) -> Iterator[Violation]:
        directories: list[tuple[str, Node]] = [("", self.root), *self.walk()]
        for path, node in directories:
            if node.kind == "directory":
                there = _seen_at(seen, path)
                found = _trouble(there) or _wrong_names(node, there, path)
                if found is not None:
                    yield found
                    return  # the rest is about objects that are not there
        names = self._names_of()
        for node, paths in names.items():
            for path in paths:
                there = _seen_at(seen, path)
                found = _trouble(there) or self._wrong_data(node, there)
                if found is not None:
                    yield found.inside(path)
            there = _seen_at(seen, paths[0])
            yield from (each.inside(paths[0]) for each in self._wrong_attributes(node, there, len(paths)))
            for other in paths[1:]:
                if node.is_fileid_known and _seen_at(seen, other).fileid != there.fileid:
                    same = f"that of {paths[0]}"
                    yield Violation(Promise.NAMES, f"object of {other}", same, "another one", field="object")

    @staticmethod
    def _wrong_data(node: Node, seen: SeenNode) -> Violation | None:
        if node.content is not None:
            return node.content.judge(seen.data)
        if node.kind == "symbolic link" and seen.data != node.text:
            return Violation(Promise.NAMES, "text", show(node.text), show(seen.data), field="text")
        return None

    def _wrong_attributes(self, node: Node, seen: SeenNode, names: int) -> Iterator[Violation]:
        if node.kind == "file" and node.is_nlink_known and seen.nlink != names:
            yield Violation(Promise.NAMES, "nlink", str(names), str(seen.nlink), field="nlink")
        if node.is_mode_known and seen.mode != node.modes[-1]:
            is_set = len(node.modes) > 1
            is_weak = self.is_lossy and seen.mode in node.modes
            promise = Promise.SETATTR if is_set else Promise.NAMES
            texts = show(node.modes[-1], "mode"), show(seen.mode, "mode")
            yield Violation(promise, "mode", *texts, is_weak, "mode")


def _seen_at(seen: SeenNode, path: str) -> SeenNode:
    for name in path.split("/") if path else ():
        seen = seen.entries[name]
    return seen


def _trouble(seen: SeenNode) -> Violation | None:
    if not seen.trouble:
        return None
    return Violation(Promise.NAMES, "object", "one that can be read", seen.trouble, field="object")


def _wrong_names(node: Node, seen: SeenNode, path: str) -> Violation | None:
    what = f"names in {path}" if path else "names"
    found = difference_of_names([*seen.entries], [*node.entries], what)
    if found is not None:
        return Violation(Promise.NAMES, found.what, found.expected, found.observed, field="names")
    for name, child in node.entries.items():
        kind = seen.entries[name].kind
        if kind != child.kind:
            inside = f"{path}/{name}" if path else name
            return Violation(Promise.NAMES, f"type of {inside}", f"a {child.kind}", f"a {kind}", field="type")
    return None
