# SPDX-License-Identifier: MIT
"""Whether the attributes in a reply agree with those that GETATTR gave."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator

from nfsclient.protocol.nfs3 import Fattr3, Ftype3
from nfsjudge import expect
from nfsjudge.expect import StatusReply
from nfsjudge.requirement import Level, Requirement

STEADY: t.Final = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
"""Fields of fattr3 that stay as they are while nobody changes the object. `used` and the times may drift.

Neither is `rdev` among them: for all but devices it may carry whatever the server likes (RFC 1813 section 2.5).
"""

OF_DIRECTORIES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    # Defined for files alone: some systems add up what is below, by and by, or simulate either (2.5 allows that).
    level=Level.SHOULD,
    gist="size and nlink of a directory do not change while nobody changes it",
)
_OPEN_OF_DIRECTORIES: t.Final = frozenset({"size", "nlink"})


def _fields(
    names: Iterable[str], known: Fattr3, because: Requirement | None
) -> Iterator[tuple[str, Requirement | None]]:
    """Fields with what a difference breaks: those that the text defines for this type of object first."""
    is_open = _OPEN_OF_DIRECTORIES if known.type is Ftype3.NF3DIR else frozenset()
    for name in sorted(names, key=is_open.__contains__):
        yield name, OF_DIRECTORIES if name in is_open else because


def expect_same_attributes(seen: Fattr3, known: Fattr3, *, because: Requirement | None = None) -> None:
    """Attributes that a list has of an object agree with what GETATTR said, in every field that cannot drift."""
    __tracebackhide__ = True
    for name, broken in _fields(STEADY, known, because):
        expect(getattr(seen, name), name, because=broken).equals(getattr(known, name))


def expect_same_object(
    reply: StatusReply, path: str, known: Fattr3, *, because: Requirement | None = None
) -> None:
    """The fattr3 at `path` of a reply agrees with what GETATTR said, in every field that cannot drift."""
    __tracebackhide__ = True
    for name, broken in _fields(STEADY, known, because):
        expect(reply, because=broken).field(f"{path}.{name}").equals(getattr(known, name))


def expect_before(
    reply: StatusReply, path: str, known: Fattr3, *, because: Requirement | None = None
) -> None:
    """The wcc_attr at `path` of a reply is what GETATTR said before, of an object that was left alone since."""
    __tracebackhide__ = True
    for name, broken in _fields(("size", "mtime", "ctime"), known, because):
        expect(reply, because=broken).field(f"{path}.{name}").equals(getattr(known, name))
