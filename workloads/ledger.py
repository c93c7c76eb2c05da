# SPDX-License-Identifier: MIT
"""What is in the directory of a run, as the calls of its programs have made it: names, sizes, data.

Results are compared with it. A comparison is made only where nothing that overlaps in time may have changed the object:
`changes` counts, for each directory, what began and ended.
"""

from __future__ import annotations

import typing as t
from collections import Counter

from nfsclient.files import FileType
from workloads.calls import parent_of
from workloads.contents import Contents, FileState, Ticks
from workloads.trouble import WrongAnswer


class Item:
    """One object, by whatever names: what is known of its attributes."""

    __slots__ = (
        "changing", "fileid", "handles", "is_gone", "mode", "modified", "names", "path", "quiet_since", "requested",
        "seen", "state", "type",
    )  # fmt: skip

    def __init__(self, path: str, kind: FileType, state: FileState | None = None) -> None:
        self.path = path
        """One of its names."""
        self.type = kind
        self.state = state
        self.names = 1
        self.requested: int | None = None
        """The mode that it was made with, if this worker made it."""
        self.mode: int | None = None
        """That it has; None: not known."""
        self.fileid: int | None = None
        """As it was seen last."""
        self.changing = 0
        """Changes of its mode and its names that are under way."""
        self.quiet_since = 0
        """The tick of the end of the last one."""
        self.is_gone = False
        self.handles: list[bytes] = []
        self.modified: tuple[int, int] | None = None
        """(when its data was modified last, the tick of the reply that said so while nothing was changing it)."""
        self.seen: tuple[int, int, int] | None = None
        """(times of the last modification and the last change, the tick of the reply that said so)."""

    def is_quiet(self, since: int) -> bool:
        """Whether mode and names were what they are now from this tick on."""
        return not self.changing and self.quiet_since <= since


class Ledger:
    """The names and the files of one run, in one process. Paths are relative to the directory of the run."""

    def __init__(self, contents: Contents, writer: int = 0) -> None:
        self.contents = contents
        self.writer = writer
        """The number of this worker, which its data has."""
        self.files: dict[str, FileState] = {}
        self.children: dict[str, set[str]] = {"": set()}
        """The names in each directory."""
        self.links: dict[str, str] = {}
        """The text of each symbolic link."""
        self.ticks = Ticks()
        self.items: dict[str, Item] = {"": Item("", FileType.DIRECTORY)}
        """All objects by their names."""
        self.losses = 0
        """Connections that ended: each time the server may have been restarted."""
        self.changes: Counter[str] = Counter()
        """How often a change of a directory began or ended."""
        self.reads = 0
        """Reads that were compared."""
        self.read_bytes = 0

    def enter(self, path: str) -> None:
        """A name is there."""
        parent, _, name = path.rpartition("/")
        self.children.setdefault(parent, set()).add(name)

    def leave(self, path: str) -> None:
        """A name is gone."""
        parent, _, name = path.rpartition("/")
        self.children.get(parent, set()).discard(name)

    def _add(self, path: str, kind: FileType, state: FileState | None = None) -> Item:
        self._drop(path)
        item = self.items[path] = Item(path, kind, state)
        item.quiet_since = self.ticks.next()
        return item

    def _drop(self, path: str) -> None:
        """The object has one name less."""
        item = self.items.pop(path, None)
        if item is not None:
            item.names -= 1
            item.is_gone = not item.names
            item.quiet_since = self.ticks.next()

    def mkdir(self, path: str, mode: int | None = None) -> None:
        """A new directory; `mode`: that it was made with. Again: others have made it, and now it is known."""
        self.enter(path)
        if self.children.setdefault(path, set()) or path in self.items:
            self.items.setdefault(path, Item(path, FileType.DIRECTORY))
            return
        self._add(path, FileType.DIRECTORY).requested = mode

    def rmdir(self, path: str) -> None:
        self.leave(path)
        self.children.pop(path, None)
        self._drop(path)

    def create(self, path: str, mode: int | None = None) -> FileState:
        """A new empty file; `mode`: that it was made with."""
        state = self.files[path] = FileState(path, ticks=self.ticks)
        self._add(path, FileType.REGULAR, state).requested = mode
        self.enter(path)
        return state

    def symlink(self, path: str, text: str) -> None:
        """A new symbolic link."""
        self.links[path] = text
        self._add(path, FileType.LINK)
        self.enter(path)

    def adopt(self, paths: t.Sequence[str], state: FileState) -> None:
        """Another worker says what a file is, and all its names."""
        item = next(
            (self.items[path] for path in paths if self.files.get(path) is state and path in self.items), None
        )
        if item is None:
            item = Item(paths[0], FileType.REGULAR, state)
        for path in paths:
            if self.items.get(path) is not item:
                self._drop(path)
                self.items[path] = item
            self.files[path] = state
            self.enter(path)
        item.names, item.is_gone, item.mode = len(paths), False, None
        item.quiet_since = self.ticks.next()

    def file(self, path: str) -> FileState:
        """The file of a name. Raises KeyError: the program is wrong."""
        return self.files[path]

    def assume(self, path: str, size: int) -> FileState:
        """Another worker has written the file, as version 1 of writer 0."""
        state = self.files.get(path)
        if state is None:
            state = self.create(path)
        state.assume(size)
        return state

    def remove(self, path: str) -> None:
        self.files.pop(path, None)
        self.links.pop(path, None)
        self._drop(path)
        self.leave(path)

    def rename(self, path: str, to: str) -> None:
        if path in self.files:
            self.files[to] = self.files.pop(path)
        if path in self.links:
            self.links[to] = self.links.pop(path)
        item = self.items.pop(path, None)
        self._drop(to)
        if item is not None:
            item.path, item.fileid = to, None
            self.items[to] = item
        self.leave(path)
        self.enter(to)

    def link(self, path: str, to: str) -> None:
        self.files[to] = self.files[path]
        item = self.items[to] = self.items[path]
        item.names += 1
        item.quiet_since = self.ticks.next()
        self.enter(to)

    def begin_change(self, *paths: str) -> list[Item]:
        """Names, or what they have, are about to change: the objects."""
        self.changes.update(map(parent_of, paths))
        items = [self.items[path] for path in paths if path in self.items]
        for item in items:
            item.changing += 1
        return items

    def end_change(self, items: t.Iterable[Item], *paths: str) -> None:
        """They have changed, or not."""
        self.changes.update(map(parent_of, paths))
        for item in items:
            item.changing -= 1
            item.quiet_since = self.ticks.next()

    def lost(self) -> None:
        """A connection ended: what a crash may undo is not known any more."""
        self.losses += 1
        for item in self.items.values():
            item.mode = item.fileid = item.requested = item.modified = item.seen = None
            item.quiet_since = self.ticks.next()

    # ------------------------------------------------------------ comparisons

    def check_names(self, path: str, before: int, seen: t.Iterable[str]) -> None:
        """Compare a listing that began at `before` (of `changes`). Raises `WrongAnswer`."""
        if self.changes[path] != before:
            return
        counted = Counter(seen)
        expected = self.children.get(path, set())
        missing = sorted(expected - counted.keys())
        foreign = sorted(counted.keys() - expected)
        twice = sorted(name for name, count in counted.items() if count > 1)
        where = path or "the directory of the run"
        for what, names in (("lacks", missing), ("has, and nobody made,", foreign), ("has twice", twice)):
            if names:
                more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                raise WrongAnswer(f"{where}: its listing {what} {', '.join(names[:3])}{more}")
