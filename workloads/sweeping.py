# SPDX-License-Identifier: MIT
"""Makes the directory of a run, and removes it with all that is in it, whoever made that."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.errors import NfsStatusError
from nfsclient.files import Files, NewAttributes, Position
from nfsclient.replies import AlreadyExists, NotFound
from workloads.clients import Link
from workloads.engine import Drain, Engine, Pool, Room, Start, Work
from workloads.trouble import Refused, Stopped

PREFIX: t.Final = "nfsproof-workload-"
"""Of the name of the directory of each run."""
MODE: t.Final = 0o755
"""Of that directory."""
_SIDE_BY_SIDE: t.Final = 16
_MOST_PASSES: t.Final = 1000
_DEEPEST: t.Final = 100
_LONGEST: t.Final = 280.0
"""Seconds for all of it."""
_DOTS: t.Final = frozenset({b".", b".."})


def make_directory(link: Link, root: bytes, name: str) -> bytes:
    """The handle of a new directory in the export. Raises `Refused` if the name is there, or it cannot be made."""
    try:
        return link.do(link.files.mkdir(root, name.encode(), NewAttributes(mode=MODE))).handle
    except AlreadyExists as error:
        raise Refused(f"{name} exists in the export; a run works in a directory that it has made") from error
    except NfsStatusError as error:
        raise Refused(f"cannot make the directory {name} in the export: {error}") from error


def find_directory(link: Link, root: bytes, name: str) -> bytes:
    """The handle of the directory of the run, which another worker has made."""
    return link.do(link.files.lookup(root, name.encode())).handle


def sweep(files: Files, directory: bytes, above: tuple[bytes, ...] = ()) -> Work[None]:
    """Remove all that is in a directory. What somebody else removes meanwhile is no error.

    `above` are the handles of the directories above it: a server that gives one of them for a name in it is wrong, and
    nothing is removed there.
    """
    if len(above) > _DEEPEST:
        raise Stopped("no progress", f"the directory of the run is more than {_DEEPEST} levels deep")
    if directory in above:
        raise Stopped("no progress", "a directory of the run has itself, or one above it, as an entry")
    for _ in range(_MOST_PASSES):
        names = yield from _names(files, directory)
        if not names:
            return
        pool = Pool(_SIDE_BY_SIDE)
        for name in names:
            yield Room(pool)
            yield Start(_remove(files, directory, name, above), pool)
        yield Drain(pool)
    raise Stopped("no progress", "the directory of the run does not become empty")


def _names(files: Files, directory: bytes) -> Work[list[bytes]]:
    position, names = Position(), list[bytes]()
    while True:
        page = yield from files.readdir(directory, position)
        names += [bytes(entry.name) for entry in page.entries if bytes(entry.name) not in _DOTS]
        if page.eof or not page.entries or len(names) > 10_000:
            return names
        position = page.next


def _remove(files: Files, directory: bytes, name: bytes, above: tuple[bytes, ...]) -> Work[None]:
    with contextlib.suppress(NotFound):
        found = yield from files.lookup(directory, name)
        attributes = found.attributes
        if attributes is None:
            attributes = yield from files.getattr(found.handle)
        if attributes.is_directory:
            yield from sweep(files, found.handle, (*above, directory))
            yield from files.rmdir(directory, name)
        else:
            yield from files.remove(directory, name)


def remove_directory(
    link: Link, root: bytes, handle: bytes, name: str, engine: Engine, channel: t.Any
) -> None:
    """Remove the directory of a run with all that is in it. Raises `NfsClientError`, `Stopped`."""
    task = engine.start(sweep(link.files, handle, (root,)), channel)
    engine.run([task], until=engine.clock() + _LONGEST)
    if not task.done:
        raise Stopped("too slow", f"it could not be removed within {_LONGEST:.0f} s")
    with contextlib.suppress(NotFound):
        link.do(link.files.rmdir(root, name.encode()))
