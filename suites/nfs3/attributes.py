# SPDX-License-Identifier: MIT
"""Compares attributes: in a reply with those that GETATTR returned, and before and after an operation."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Fattr3, Ftype3, Nfsstat3, Sattr3
from nfsjudge import Requirement, expect, skip, unsupported
from nfsjudge.expect import StatusReply
from suites.nfs3.clauses import DIRECTORY_SIZE_AND_NLINK_ARE_STEADY, WCC_BEFORE_HAS_OLD_TIMES

STEADY: t.Final = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
"""Fields of fattr3 that stay the same while nobody changes the object; `used` and the times may change.

`rdev` is not among them: except for devices, the server may return anything (RFC 1813 section 2.5).
"""
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
        expect(seen, because=broken).field(name).equals(getattr(known, name))


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
        times = WCC_BEFORE_HAS_OLD_TIMES if known.type is Ftype3.NF3DIR and name != "size" else broken
        expect(reply, because=times).field(f"{path}.{name}").equals(getattr(known, name))


PROTECTION: t.Final = 0o7777
"""The defined bits of a mode (RFC 1813 section 2.5). A separate check proves that there are no others."""
EVERYTHING: t.Final = (*STEADY, "mtime", "ctime")
"""Fields of fattr3 that stay the same while nobody uses the object."""


def all_fields_except(*changed: str) -> list[str]:
    """`EVERYTHING` without some fields and without ctime, which any change may update."""
    return [name for name in EVERYTHING if name not in {*changed, "ctime"}]


def need_settable(nfs3: Nfs3, handle: bytes, asked: Sattr3) -> None:
    """Set attributes which the check then tries to set with a wrong guard. SKIP if that fails even without a guard."""
    status = nfs3.setattr(handle, asked).status
    if status != Nfsstat3.NFS3_OK:
        skip(f"SETATTR of these attributes answers {status} without a guard too")


def with_mode(nfs3: Nfs3, handle: bytes, mode: int) -> bytes:
    """Set the mode, which CREATE may have masked, and return the handle. SKIP if the mode cannot be set."""
    if _mode(nfs3, handle) != mode:
        nfs3.setattr(handle, Sattr3(mode=mode))
        if _mode(nfs3, handle) != mode:
            skip(f"SETATTR does not set the mode of the object to 0{mode:03o}")
    return handle


def _mode(nfs3: Nfs3, handle: bytes) -> int | None:
    reply = nfs3.getattr(handle)
    return None if reply.resok is None else reply.resok.obj_attributes.mode & PROTECTION


def expect_change(reply: StatusReply, *, because: Requirement | None = None) -> None:
    """SETATTR succeeded. Ends the check if the server cannot store the values, or does not permit the change.

    RFC 1813 defines neither which values a server can store (section 3.3.2: INVAL) nor who may set them (section 4.4).
    """
    __tracebackhide__ = True
    if reply.status in {Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_FBIG}:
        unsupported(f"the server cannot store these attributes: SETATTR answers {reply.status}", reply)
    if reply.status in {
        Nfsstat3.NFS3ERR_PERM,
        Nfsstat3.NFS3ERR_ACCES,
        Nfsstat3.NFS3ERR_NOSPC,
        Nfsstat3.NFS3ERR_DQUOT,
    }:
        skip(f"no permission or no space for this SETATTR: {reply.status}", reply)
    expect(reply, because=because).ok()


def identity_of(nfs3: Nfs3, directory: bytes, name: bytes) -> tuple[int, str]:
    """fileid and type of the object with this name."""
    found = expect(nfs3.lookup(directory, name)).ok()
    attributes = expect(nfs3.getattr(found.object)).ok().obj_attributes
    return attributes.fileid, attributes.type.name
