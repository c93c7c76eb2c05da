# SPDX-License-Identifier: MIT
"""What replies show, in the same form for NFSv3 and NFSv4."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from nfsclient.xdr import XdrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Attributes of an object. None: absent, or not in a form that can be compared."""

    kind: str | None
    size: int | None
    nlink: int | None
    mode: int | None
    uid: int | None
    gid: int | None
    fileid: tuple[t.Any, int] | None
    """With the fsid: a file id is unique within its file system."""
    mtime: int | None
    """In nanoseconds, as all times here."""
    ctime: int | None
    change: int | None = None
    """NFSv4 only."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a directory listing."""

    name: bytes
    cookie: int
    fileid: int | None
    attributes: Seen | None
    verifier: bytes = b""
    """Of the page, in NFSv4: there a position is a cookie with its verifier (RFC 5661 section 18.23.3)."""


@dataclass(frozen=True, slots=True)
class Info:
    """An atomic change_info4 of a directory, or the wcc_data of a file."""

    before: t.Any
    after: t.Any


@dataclass(slots=True)
class Answer:
    """A reply. `attributes` are those of the object that the call was about, if it has them."""

    status: XdrEnum
    reply: t.Any
    handle: bytes | None = None
    attributes: Seen | None = None
    before: tuple[int, int, int] | None = None
    """wcc_data.before of a file: size, mtime, ctime."""
    infos: tuple[Info | None, ...] = ()
    """change_info4 of the directories that the call changes: of RENAME the old one first. None: not atomic."""
    count: int = 0
    is_stable: bool = True
    data: bytes = b""
    is_end: bool = False
    set: frozenset[str] | None = None
    """What SETATTR says that it has set (NFSv4); None: all of it."""
    entries: list[Entry] = field(default_factory=list)

    def has_set(self, name: str) -> bool:
        """Whether SETATTR says that it has set an attribute, by its name in NFSv4."""
        return self.set is None or name in self.set

    @property
    def is_ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status == 0
