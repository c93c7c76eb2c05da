# SPDX-License-Identifier: MIT
"""New objects: expectations shared by the checks of CREATE, MKDIR, SYMLINK and MKNOD, and their initial attributes."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Fattr3, Ftype3, Nfsstat3, Sattr3
from nfsjudge import expect, expect_attributes, expect_data, expect_that, show, skip, unsupported
from suites.catalogue import Call, Operands
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.calls import CALLS, create_arguments
from suites.nfs3.clauses import RETURNS_NOTDIR

VERIFIER = b"\x11\x22\x33\x44\x55\x66\x77\x01"
"""Of an EXCLUSIVE CREATE."""
OTHER_VERIFIER = b"\xee\xdd\xcc\xbb\xaa\x99\x88\x7e"
"""Differs from `VERIFIER` in every byte: a server may store only some of the bits."""


def expect_type(nfs3: Nfs3, scratch: Nfs3Scratch, name: bytes, kind: Ftype3) -> None:
    """Expect an object of this type with this name, by LOOKUP and GETATTR."""
    expect(_attributes_of(nfs3, scratch.handle, name)).field("type", f"type of {show(name)}").equals(kind)


def expect_object(nfs3: Nfs3, directory: bytes, name: bytes, fileid: int, kind: Ftype3) -> None:
    """Expect an object with this fileid and type to have this name, by LOOKUP and GETATTR."""
    __tracebackhide__ = True
    expect_attributes(_attributes_of(nfs3, directory, name), show(name), fileid=fileid, type=kind)


def _attributes_of(nfs3: Nfs3, directory: bytes, name: bytes) -> Fattr3:
    __tracebackhide__ = True
    found = expect(nfs3.lookup(directory, name)).ok()
    return expect(nfs3.getattr(found.object)).ok().obj_attributes


def expect_found(scratch: Nfs3Scratch, name: bytes) -> bytes:
    """Expect LOOKUP to find this name, and return the handle."""
    __tracebackhide__ = True
    handle = scratch.lookup(name)
    expect_that(handle is not None, "a handle", show(Nfsstat3.NFS3ERR_NOENT), f"LOOKUP of {show(name)}")
    assert handle is not None
    return handle


def expect_own_attributes(nfs3: Nfs3, scratch: Nfs3Scratch, name: bytes, reply: t.Any) -> None:
    """Expect the attributes in the reply, if present, to be those that GETATTR returns next."""
    if expect(reply).ok().obj_attributes is None:
        unsupported("the reply has no obj_attributes of the new object")
    known = _attributes_of(nfs3, scratch.handle, name)
    expect_same_object(reply, "resok.obj_attributes", known)


def expect_own_handle(nfs3: Nfs3, scratch: Nfs3Scratch, name: bytes, reply: t.Any) -> None:
    """Expect the handle in the reply, if present, to refer to the object with this name."""
    handle = expect(reply).ok().obj
    if handle is None:
        unsupported("the reply has no handle of the new object")
    known = _attributes_of(nfs3, scratch.handle, name)
    reached = expect(nfs3.getattr(handle)).ok().obj_attributes
    expect(reached).field("fileid", "fileid by GETATTR of obj").equals(known.fileid)


def expect_file(scratch: Nfs3Scratch, name: bytes, data: bytes) -> None:
    """Expect a file with this name and data."""
    __tracebackhide__ = True
    handle = expect_found(scratch, name)
    expect(scratch.attributes(handle)).field("type", f"type of {show(name)}").equals(Ftype3.NF3REG)
    expect_data(scratch.read(handle), data, f"data of {show(name)}")


def expect_not_a_directory(reply: t.Any) -> None:
    """Expect a refusal, because the call names an entry of an object that is not a directory."""
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


NEW_NAME: t.Final = b"initial"
CREATIONS: t.Final[dict[str, Call]] = {
    "unchecked": CALLS["create"]._replace(arguments=lambda on: create_arguments(on, CreateMode3.UNCHECKED)),
    "guarded": CALLS["create"],
    "mkdir": CALLS["mkdir"],
    "mknod": CALLS["mknod"],
}
"""Calls with initial attributes, except SYMLINK: the attributes of symbolic links vary too much."""


def new_attributes(nfs3: Nfs3, scratch: Nfs3Scratch, creation: str, asked: Sattr3) -> Fattr3:
    """The attributes of a new object. UNSUPPORTED or SKIP if it cannot be created with the requested ones."""
    operands = Operands(directory=scratch.handle, name=NEW_NAME, attributes=asked)
    reply = CREATIONS[creation].make(nfs3, operands)
    if reply.status in {Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_FBIG}:
        unsupported(f"the server creates no object with these attributes: {reply.status}", reply)
    if reply.status in {Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ACCES}:
        skip(f"the user of the run may not create an object with these attributes: {reply.status}", reply)
    expect(reply).ok()
    return _attributes_of(nfs3, scratch.handle, NEW_NAME)
