# SPDX-License-Identifier: MIT
"""The change attribute: it moves with every change of an object, and never back (RFC 5661 section 5.8.1.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from nfsserver.fs import NOW, SUPERUSER, Changes, FileSystem, Inode, Limits, ManualClock, Stability


@dataclass
class Scene:
    """Objects of every sort; the clock stands still, and times are coarse."""

    fs: FileSystem = field(
        default_factory=lambda: FileSystem(clock=ManualClock(), limits=Limits(time_granularity=10**9))
    )

    def __post_init__(self) -> None:
        self.root = self.fs.root
        self.file = self.fs.create(SUPERUSER, self.root, b"file")
        self.fs.write(SUPERUSER, self.file, 0, b"text", Stability.FILE_SYNC)
        self.other = self.fs.create(SUPERUSER, self.root, b"other")
        self.directory = self.fs.mkdir(SUPERUSER, self.root, b"directory")

    def write(self, stability: Stability = Stability.FILE_SYNC, data: bytes = b"more") -> None:
        self.fs.write(SUPERUSER, self.file, 0, data, stability)

    def set(self, changes: Changes) -> None:
        self.fs.setattr(SUPERUSER, self.file, changes)

    def rename(self, name: bytes, directory: Inode, to: bytes) -> None:
        self.fs.rename(SUPERUSER, self.root, name, directory, to)


CHANGES: dict[str, tuple[Callable[[Scene], object], tuple[str, ...]]] = {
    "write": (lambda s: s.write(), ("file",)),
    "write-the-same": (lambda s: s.write(data=b"text"), ("file",)),
    "write-unstable": (lambda s: s.write(Stability.UNSTABLE), ("file",)),
    "truncate": (lambda s: s.set(Changes(size=1)), ("file",)),
    "same-size": (lambda s: s.set(Changes(size=4)), ("file",)),
    "mode": (lambda s: s.set(Changes(mode=0o600)), ("file",)),
    "owner": (lambda s: s.set(Changes(uid=7, gid=7)), ("file",)),
    "times": (lambda s: s.set(Changes(atime=NOW, mtime=1)), ("file",)),
    "create": (lambda s: s.fs.create(SUPERUSER, s.root, b"new"), ("root",)),
    "mkdir": (lambda s: s.fs.mkdir(SUPERUSER, s.root, b"new"), ("root",)),
    "symlink": (lambda s: s.fs.symlink(SUPERUSER, s.root, b"new", b"file"), ("root",)),
    "link": (lambda s: s.fs.link(SUPERUSER, s.file, s.directory, b"new"), ("file", "directory")),
    "remove": (lambda s: s.fs.remove(SUPERUSER, s.root, b"other"), ("root", "other")),
    "rmdir": (lambda s: s.fs.rmdir(SUPERUSER, s.root, b"directory"), ("root", "directory")),
    "rename": (lambda s: s.rename(b"file", s.root, b"new"), ("root", "file")),
    "rename-over": (lambda s: s.rename(b"file", s.root, b"other"), ("root", "file", "other")),
    "move": (lambda s: s.rename(b"file", s.directory, b"new"), ("root", "file", "directory")),
}
NO_CHANGES: dict[str, Callable[[Scene], object]] = {
    "read": lambda s: s.fs.read(SUPERUSER, s.file, 0, 9),
    "readdir": lambda s: list(s.fs.readdir(SUPERUSER, s.root)),
    "lookup": lambda s: s.fs.lookup(SUPERUSER, s.root, b"file"),
    "write-nothing": lambda s: s.write(data=b""),
    "set-nothing": lambda s: s.set(Changes()),
    "rename-to-itself": lambda s: s.rename(b"file", s.root, b"file"),
    "commit": lambda s: s.fs.commit(s.file),
    "crash": lambda s: s.fs.crash(),
    "restart": lambda s: s.fs.commit_all(),
}


def values(scene: Scene) -> dict[str, int]:
    objects = {"root": scene.root, "file": scene.file, "other": scene.other, "directory": scene.directory}
    return {name: inode.change for name, inode in objects.items()}


@pytest.mark.parametrize("name", CHANGES)
def test_it_moves_for_the_changed_objects_alone(name: str) -> None:
    scene, (act, changed) = Scene(), CHANGES[name]
    before = values(scene)
    act(scene)
    after = values(scene)
    assert {each for each in before if after[each] > before[each]} == set(changed)
    assert all(after[each] >= before[each] for each in before)


@pytest.mark.parametrize("name", NO_CHANGES)
def test_it_stays_without_a_change(name: str) -> None:
    scene = Scene()
    before = values(scene)
    NO_CHANGES[name](scene)
    assert values(scene) == before


@pytest.mark.parametrize("stability", [Stability.UNSTABLE, Stability.DATA_SYNC])
def test_a_crash_that_loses_something_moves_it(stability: Stability) -> None:
    scene = Scene()
    scene.write(stability)
    written = scene.file.change
    scene.fs.crash()
    lost = scene.file.change
    assert lost > written
    scene.write()
    assert scene.file.change > lost


def test_it_survives_a_restart() -> None:
    scene = Scene()
    scene.write(Stability.UNSTABLE)
    before = values(scene)
    scene.fs.commit_all()
    scene.fs.crash()
    assert values(scene) == before
