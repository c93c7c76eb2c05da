# SPDX-License-Identifier: MIT
"""Compares attributes in a reply with those that GETATTR returned."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator

from nfsclient.protocol.nfs3 import Fattr3, Ftype3
from nfsjudge import expect
from nfsjudge.expect import StatusReply
from nfsjudge.requirement import Level, Requirement

STEADY: t.Final = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
"""Fields of fattr3 that stay the same while nobody changes the object; `used` and the times may change.

`rdev` is not among them: except for devices, the server may return anything (RFC 1813 section 2.5).
"""

DIRECTORY_SIZE_AND_NLINK_ARE_STEADY = Requirement(
    rfc="RFC 1813",
    section="2.5",
    # Section 2.5 defines both for files only: some systems simulate them, or update them later.
    level=Level.SHOULD,
    gist="size and nlink of a directory should stay the same while nobody changes the directory",
)
_UNDEFINED_FOR_DIRECTORIES: t.Final = frozenset({"size", "nlink"})


def _fields(
    names: Iterable[str], known: Fattr3, because: Requirement | None
) -> Iterator[tuple[str, Requirement | None]]:
    """The fields, each with the clause that a difference breaks; those defined for this type of object come first."""
    undefined = _UNDEFINED_FOR_DIRECTORIES if known.type is Ftype3.NF3DIR else frozenset()
    for name in sorted(names, key=undefined.__contains__):
        yield name, DIRECTORY_SIZE_AND_NLINK_ARE_STEADY if name in undefined else because


def expect_same_attributes(seen: Fattr3, known: Fattr3, *, because: Requirement | None = None) -> None:
    """Attributes from a directory listing agree with GETATTR in every steady field."""
    __tracebackhide__ = True
    for name, broken in _fields(STEADY, known, because):
        expect(getattr(seen, name), name, because=broken).equals(getattr(known, name))


def expect_same_object(
    reply: StatusReply, path: str, known: Fattr3, *, because: Requirement | None = None
) -> None:
    """The fattr3 at `path` of a reply agrees with GETATTR in every steady field."""
    __tracebackhide__ = True
    for name, broken in _fields(STEADY, known, because):
        expect(reply, because=broken).field(f"{path}.{name}").equals(getattr(known, name))


def expect_before(
    reply: StatusReply, path: str, known: Fattr3, *, because: Requirement | None = None
) -> None:
    """The wcc_attr at `path` of a reply agrees with a GETATTR before the call. Nobody changed the object in between."""
    __tracebackhide__ = True
    for name, broken in _fields(("size", "mtime", "ctime"), known, because):
        expect(reply, because=broken).field(f"{path}.{name}").equals(getattr(known, name))
