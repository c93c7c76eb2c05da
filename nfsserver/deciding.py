# SPDX-License-Identifier: MIT
"""What knobs decide alike for several protocols: how much of a WRITE is accepted, and what is answered with "later"."""

from __future__ import annotations

import random
import typing as t
import zlib
from fnmatch import fnmatchcase

from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi
from nfsserver.settings import Settings

Name: t.TypeAlias = tuple[int, int, bytes]
"""Where a file is: identity of its directory, and its name there."""
ROOT: t.Final[Name] = (0, 0, b"/")
_MOST_REMEMBERED = 100_000


def accepted(server: ServerApi, size: int) -> int:
    """How many bytes of a WRITE of this size are written."""
    now = server.knobs.now
    taken = size if now.write_accepts is None else min(size, now.write_accepts)
    if now.write_accepts_random is not None and taken:
        source = server.knobs.memory.setdefault("write share", random.Random(now.write_accepts_random))
        taken = source.randint(1, taken)
    return taken


def accepts_less(now: Settings, size: int) -> bool:
    """Whether a WRITE of this size is accepted in part."""
    return size > (1 if now.write_accepts_random is not None else now.write_accepts or 0)


def place_of(inode: Inode) -> Name:
    """Where an object is, by the name that it was given last."""
    if inode.place is None:
        return ROOT
    directory, name = inode.place
    return directory.fileid, directory.generation, name


def is_early(server: ServerApi, place: Name) -> bool:
    """Whether a file is not available yet, as the knobs of JUKEBOX have it; counts the call."""
    now, memory = server.knobs.now, server.knobs.memory
    if not matches(place[2], now.jukebox_names):
        return False
    if len(memory) > _MOST_REMEMBERED:
        memory.clear()
    calls, first = memory.get(place, (0, server.backend.clock.now_ns()))
    memory[place] = (calls + 1, first)
    elapsed = server.backend.clock.now_ns() - first
    return bool(calls < now.jukebox_calls or elapsed < now.jukebox_seconds * 1e9)


_CHANCE: t.Final = 0.25
_TRIES_AT_RANDOM: t.Final = 2


def comes_too_early(server: ServerApi, *call: t.Hashable) -> bool:
    """Whether this try of a call is one that the knobs of tries refuse for now; counts it.

    `call` is what distinguishes it from others: its operation, its arguments, and what it is about.
    """
    now = server.knobs.now
    if not (now.jukebox_tries or now.jukebox_tries_random is not None):
        return False
    tries: dict[int, int] = server.knobs.memory.setdefault("tries", {})
    if len(tries) > _MOST_REMEMBERED:
        tries.clear()
    key = zlib.crc32(repr(call).encode())
    tried = tries[key] = tries.get(key, 0) + 1
    if tried <= now.jukebox_tries:
        return True
    is_drawn = now.jukebox_tries_random is not None and tried - now.jukebox_tries <= _TRIES_AT_RANDOM
    return is_drawn and random.Random(f"{now.jukebox_tries_random} {key} {tried}").random() < _CHANCE


def matches(name: bytes, glob: str) -> bool:
    """Whether a glob, if it is not empty, matches a name."""
    return bool(glob) and fnmatchcase(name, glob.encode())
