# SPDX-License-Identifier: MIT
"""The work that clients do: steps of `program`, what the export has before, and what it must have afterwards.

Each step has objects that no other step touches, so that an error of one says nothing about another.
"""

from __future__ import annotations

import functools
import hashlib
import typing as t
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from fixtures.clients.trial import data_of
from nfsclient import NfsClient
from nfsclient.files import FileType

_SIZE: t.Final = 262_144
"""Bytes of a file: eight WRITEs with the wtmax of the server."""
_NAMES: t.Final = 300
_TURNS: t.Final = 10
Wrong: t.TypeAlias = str
"""What is wrong, in words; empty if nothing is."""


@dataclass(frozen=True)
class Step:
    """One call of a program, or a few that belong together."""

    do: str
    """A function of `program.DOES`."""
    values: dict[str, t.Any]
    wrong: Callable[[NfsClient, t.Any], Wrong]
    """(the export, what the step gave) -> what is not as a step that ended without an error leaves it."""
    prepare: Callable[[NfsClient], object] = lambda _: None
    """What the export has before the client mounts it."""

    @property
    def order(self) -> dict[str, t.Any]:
        """For `program`."""
        return {"do": self.do, **self.values}

    def __str__(self) -> str:
        return f"{self.do} {self.values['path']}"


@dataclass(frozen=True)
class Work:
    """Steps in one directory, and what they show."""

    name: str
    gist: str
    steps: tuple[Step, ...]
    needs: str = ""
    """ "locks": of a client that has them."""

    def of_steps(self, does: Collection[str]) -> Work:
        """The same with the steps that a client can do; it may have none."""
        return replace(self, steps=tuple(step for step in self.steps if step.do in does))

    def prepare(self, nfs: NfsClient) -> None:
        """Make what the steps begin with."""
        nfs.mkdir(self.name, mode=0o777)
        for step in self.steps:
            step.prepare(nfs)


def _same(nfs: NfsClient, path: str, expected: bytes) -> Wrong:
    try:
        seen = nfs.read_file(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        return f"{path}: expected {len(expected)} bytes, seen {type(error).__name__}"
    if seen == expected:
        return ""
    if len(seen) != len(expected):
        return f"{path}: expected {len(expected)} bytes, seen {len(seen)}"
    first = next(at for at, (byte, other) in enumerate(zip(seen, expected, strict=True)) if byte != other)
    return f"{path}: expected other data at offset {first}, seen {seen[first : first + 8].hex()}"


def _type(nfs: NfsClient, path: str, expected: FileType | None) -> Wrong:
    seen: FileType | None
    try:
        seen = nfs.lstat(path).type
    except FileNotFoundError:
        seen = None
    if seen is expected:
        return ""
    wanted, found = (kind.name if kind is not None else "nothing" for kind in (expected, seen))
    return f"{path}: expected {wanted}, seen {found}"


def _first(*found: Wrong) -> Wrong:
    return next(filter(None, found), "")


def _written(path: str, size: int) -> Step:
    data = data_of(path, size)
    return Step("write", {"path": path, "seed": path, "size": size}, lambda nfs, _: _same(nfs, path, data))


def _patched(path: str) -> Step:
    """Ranges that overlap, so that their order shows."""
    ranges = [((number * 37) % 29 * 8192, 16_384 + number, f"{path} {number}") for number in range(30)]
    data = bytearray(data_of(path, _SIZE))
    for offset, size, seed in ranges:
        data[offset : offset + size] = data_of(seed, size)
    values = {"path": path, "ranges": ranges, "sync_after": 10}
    return Step(
        "patch", values, lambda nfs, _: _same(nfs, path, bytes(data)), _with(path, data_of(path, _SIZE))
    )


def _with(path: str, data: bytes) -> Callable[[NfsClient], object]:
    return lambda nfs: nfs.write_file(path, data, mode=0o666)


def _appended(path: str) -> Step:
    lines = [f"line {number} of {path}\n" for number in range(30)]
    data = b"begin\n" + "".join(lines).encode()
    return Step(
        "append",
        {"path": path, "lines": lines},
        lambda nfs, _: _same(nfs, path, data),
        _with(path, b"begin\n"),
    )


def _read(path: str, size: int) -> Step:
    data = data_of(path, size)
    expected = f"{size} bytes, {hashlib.sha256(data).hexdigest()}"

    def wrong(_: NfsClient, seen: t.Any) -> Wrong:
        return "" if seen == expected else f"{path}: expected {expected}, read {seen}"

    return Step("read", {"path": path}, wrong, _with(path, data))


def _listed(path: str) -> Step:
    names = sorted(f"entry {number:03} of this directory" for number in range(_NAMES))

    def prepare(nfs: NfsClient) -> None:
        nfs.mkdir(path)
        for name in names:
            nfs.symlink(name, f"{path}/{name}")

    def wrong(_: NfsClient, seen: t.Any) -> Wrong:
        if seen == names:
            return ""
        found = seen if isinstance(seen, list) else []
        missing, doubled = len(set(names) - set(found)), len(found) - len(set(found))
        return f"{path}: expected {_NAMES} names, listed {len(found)}: {missing} missing, {doubled} twice"

    return Step("names", {"path": path}, wrong, prepare)


def _names(number: int) -> tuple[Step, ...]:
    """One call each that is not idempotent."""

    def at(name: str) -> str:
        return f"names/{name} {number}"

    def there(path: str, kind: FileType | None) -> Callable[[NfsClient, t.Any], Wrong]:
        return lambda nfs, _: _type(nfs, path, kind)

    def renamed(nfs: NfsClient, _: t.Any) -> Wrong:
        return _first(_type(nfs, at("old"), None), _same(nfs, at("new"), b"renamed"))

    def linked(nfs: NfsClient, _: t.Any) -> Wrong:
        return _first(_same(nfs, at("one"), b"linked"), _same(nfs, at("other"), b"linked"))

    def to(nfs: NfsClient, _: t.Any) -> Wrong:
        return _first(_type(nfs, at("symlink"), FileType.LINK))

    return (
        Step("create", {"path": at("exclusive")}, there(at("exclusive"), FileType.REGULAR)),
        Step("mkdir", {"path": at("directory")}, there(at("directory"), FileType.DIRECTORY)),
        Step("symlink", {"path": at("symlink"), "target": "some where"}, to),
        Step("rename", {"path": at("old"), "to": at("new")}, renamed, _with(at("old"), b"renamed")),
        Step("link", {"path": at("one"), "to": at("other")}, linked, _with(at("one"), b"linked")),
        Step("remove", {"path": at("removed")}, there(at("removed"), None), _with(at("removed"), b"")),
        Step("rmdir", {"path": at("empty")}, there(at("empty"), None), lambda nfs: nfs.mkdir(at("empty"))),
    )


def _attributes(number: int) -> tuple[Step, ...]:
    short, mode = f"attributes/short {number}", f"attributes/mode {number}"
    data = data_of(short, 50_000)

    def changed(nfs: NfsClient, _: t.Any) -> Wrong:
        seen = nfs.stat(mode).mode
        return "" if seen == 0o640 else f"{mode}: expected 0640, seen {seen or 0:04o}"

    return (
        Step(
            "truncate",
            {"path": short, "size": 12_345},
            lambda nfs, _: _same(nfs, short, data[:12_345]),
            _with(short, data),
        ),
        Step("chmod", {"path": mode, "mode": 0o640}, changed, _with(mode, b"")),
    )


def _counted(path: str) -> Step:
    expected = b"%09d\n" % (2 * _TURNS)
    return Step(
        "count",
        {"path": path, "turns": _TURNS},
        lambda nfs, _: _same(nfs, path, expected),
        _with(path, b"%09d\n" % 0),
    )


@functools.cache
def all_works() -> dict[str, Work]:
    """The works by name, in the order in which clients do them."""
    works = (
        Work(
            "write",
            "files of eight WRITEs, stable when they are closed",
            tuple(_written(f"write/file {number}", _SIZE) for number in range(4)),
        ),
        Work("patch", "ranges that overlap are written in their order", (_patched("patch/file 1"),)),
        Work(
            "append", "lines at the end of a file, each stable before the next", (_appended("append/log 1"),)
        ),
        Work("read", "files are read", tuple(_read(f"read/file {number}", _SIZE) for number in range(4))),
        Work("list", "a directory is listed", (_listed("list/directory 1"),)),
        Work(
            "names",
            "objects are made, renamed and removed",
            tuple(step for number in range(3) for step in _names(number)),
        ),
        Work(
            "attributes",
            "files are truncated, modes changed",
            tuple(step for number in range(4) for step in _attributes(number)),
        ),
        Work(
            "locks", "two processes count in one file, under a lock", (_counted("locks/number 1"),), "locks"
        ),
    )
    return {work.name: work for work in works}
