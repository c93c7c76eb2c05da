# SPDX-License-Identifier: MIT
"""What the checks of CREATE, MKDIR, SYMLINK and MKNOD judge alike."""

from __future__ import annotations

import typing as t

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import Level, Requirement, expect, unsupported
from suites.nfs3.agreement import expect_same_object

EXIST_IS_MEANT = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="EXIST says that the name exists already"
)
NOTDIR_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NOTDIR is the error for a directory operation on an object that is no directory",
)


def expect_type(nfs3: Nfs3, scratch: Scratch, name: bytes, kind: Ftype3) -> None:
    """The name stands for an object of this type, by LOOKUP and GETATTR."""
    resok = expect(nfs3.lookup(scratch.handle, name)).ok()
    attributes = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(attributes.type, "type of the new object").equals(kind)


def expect_own_attributes(nfs3: Nfs3, scratch: Scratch, name: bytes, reply: t.Any) -> None:
    """The attributes in the reply, where they are given, are those that GETATTR gives next."""
    if expect(reply).ok().obj_attributes is None:
        unsupported("the server withholds the attributes of what it made")
    found = expect(nfs3.lookup(scratch.handle, name)).ok()
    known = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect_same_object(reply, "resok.obj_attributes", known)


def expect_own_handle(nfs3: Nfs3, scratch: Scratch, name: bytes, reply: t.Any) -> None:
    """The handle in the reply, where it is given, leads to what the name stands for."""
    handle = expect(reply).ok().obj
    if handle is None:
        unsupported("the server withholds the handle of what it made")
    found = expect(nfs3.lookup(scratch.handle, name)).ok()
    known = expect(nfs3.getattr(found.object)).ok().obj_attributes
    reached = expect(nfs3.getattr(handle)).ok().obj_attributes
    expect(reached.fileid, "fileid behind the handle of the reply").equals(known.fileid)


def expect_kept(scratch: Scratch, name: bytes, data: bytes) -> None:
    """A file is still there with its data."""
    handle = scratch.lookup(name)
    expect(handle, f"the handle of {name.decode()}").is_present()
    assert handle is not None
    expect(scratch.attributes(handle).type, f"type of {name.decode()}").equals(Ftype3.NF3REG)
    expect(scratch.read(handle), f"the data of {name.decode()}").equals(data)


def expect_not_a_directory(reply: t.Any) -> None:
    """Nothing can be made in what is no directory."""
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)
