# SPDX-License-Identifier: MIT
"""Attributes of objects of every type: GETATTR, SETATTR, LOOKUP, ACCESS and READLINK (RFC 1813 section 3.3.1 ff.)."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Nfstime3, Sattr3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, unsupported
from suites.nfs3.agreement import expect_same_object
from suites.nfs3.kinds import DEVICE, KINDS, SPECIAL, make
from suites.nfs3.preserved import (
    EVERYTHING,
    PROTECTION,
    at_client_time,
    but,
    expect_change,
    expect_preserved,
    need_settable,
)

TYPE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="type is one of the seven of ftype3, and that of the object itself",
)
RDEV = Requirement(
    rfc="RFC 1813", section="2.5", gist="rdev of a device has its major and its minor number, in this order"
)
LOOKUP_FINDS = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    gist="LOOKUP returns the handle and the attributes of the object that the name stands for",
)
SETS = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="the attributes that a successful SETATTR was asked to set have the new values afterwards",
)
ONLY_WHAT_IS_ASKED = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="new_attributes says which attributes to set: the others stay as they are",
)
OF_A_FILE = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="new_attributes.size is for changes to the size of a file",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
GUARD = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="when the guard is not the object's ctime, attributes are preserved and the status is NOT_SYNC",
    level=Level.MUST,
)
ACCESS_ONLY_ASKED = Requirement(
    rfc="RFC 1813",
    section="3.3.4",
    gist="ACCESS returns those permissions, of the ones that are asked about, that the caller has, and no others",
    level=Level.SHOULD,
)
ACCESS_ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.4", gist="obj_attributes are the attributes of the object, if they are there"
)
OF_A_LINK = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="READLINK is only allowed on symbolic links; INVAL is the error for other objects",
)
READLINK_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    gist="symlink_attributes of a READLINK that failed are those of the object, if they are there",
)

A_TIME = Nfstime3(1_000_000_000)
"""In 2001."""
_HAS_NO_DATA = (*SPECIAL, "symlink")


# ---------------------------------------------------------------- GETATTR and LOOKUP


@pytest.mark.parametrize("kind", ["block", "character", "socket"])
@proves(TYPE, killed_by="getattr3-calls-special-files-regular")
def test_type_is_that_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    reply = nfs3.getattr(make(nfs3, scratch, kind, is_trusted=True))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.type").equals(KINDS[kind])


@pytest.mark.parametrize("kind", ["block", "character"])
@proves(RDEV, killed_by="getattr3-has-no-device-numbers", needs="device")
def test_rdev_has_the_numbers_of_the_device(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    reply = nfs3.getattr(make(nfs3, scratch, kind))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.rdev.specdata1").equals(DEVICE.specdata1)
    expect(reply).field("resok.obj_attributes.rdev.specdata2").equals(DEVICE.specdata2)


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_FINDS, killed_by="lookup3-has-another-type")
def test_lookup_has_the_attributes_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind, b"found")
    reply = nfs3.lookup(scratch.handle, b"found")
    found = expect(reply).ok()
    if found.obj_attributes is None:
        unsupported("LOOKUP withholds the attributes of the object")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_FINDS, killed_by="lookup3-finds-another-one")
def test_lookup_finds_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    known = scratch.attributes(make(nfs3, scratch, kind, b"wanted"))
    found = expect(nfs3.lookup(scratch.handle, b"wanted")).ok()
    seen = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect((seen.fileid, seen.type), "fileid and type behind the handle").equals((known.fileid, KINDS[kind]))


# ---------------------------------------------------------------- SETATTR


@pytest.mark.parametrize("kind", SPECIAL)
@proves(SETS, killed_by="setattr3-changes-only-files")
def test_mode_is_set(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    for mode in (0o600, 0o751):
        expect_change(nfs3.setattr(handle, Sattr3(mode=mode)))
        expect(oct(scratch.attributes(handle).mode & PROTECTION), "mode").equals(oct(mode))


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETS, killed_by="setattr3-changes-only-files")
def test_owner_and_group_are_set(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    expect_change(nfs3.setattr(handle, Sattr3(uid=known.uid ^ 17, gid=known.gid ^ 18)))
    seen = scratch.attributes(handle)
    expect((seen.uid, seen.gid), "uid and gid").equals((known.uid ^ 17, known.gid ^ 18))


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETS, killed_by="setattr3-changes-only-files", needs="cansettime")
def test_times_are_set(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    time = at_client_time(A_TIME)
    expect_change(nfs3.setattr(handle, Sattr3(atime=time, mtime=time)))
    # A time_delta of more than a second would allow for more.
    seen = scratch.attributes(handle)
    for name, value in (("mtime", seen.mtime), ("atime", seen.atime)):
        expect(value.seconds, f"seconds of {name}").between(A_TIME.seconds - 10, A_TIME.seconds + 10)


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(ONLY_WHAT_IS_ASKED, killed_by="setattr3-mode-touches-all-else")
def test_mode_leaves_all_else_alone(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    expect_change(nfs3.setattr(handle, Sattr3(mode=0o710)))
    expect_preserved(scratch.attributes(handle), known, but("mode"))


@pytest.mark.parametrize("kind", [kind for kind in _HAS_NO_DATA if kind != "fifo"])
@proves(OF_A_FILE, killed_by="setattr3-takes-sizes-of-special-files")
def test_size_is_refused_where_there_is_no_data(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    reply = nfs3.setattr(handle, Sattr3(size=100))
    observe(f"SETATTR of the size of an object of type {KINDS[kind].name}", reply.status)
    expect_preserved(scratch.attributes(handle), known, ("type", "mode", "nlink", "uid", "gid", "size"))
    expect(reply).refused()


@pytest.mark.parametrize("kind", _HAS_NO_DATA)
@proves(GUARD, killed_by="setattr3-guards-no-special-files")
def test_wrong_guard_preserves_every_attribute(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    # The mode of a symbolic link means nothing: a server may find that nothing is to be set, and compare nothing.
    before, asked = Sattr3(mode=0o700), Sattr3(mode=0o711)
    if kind == "symlink":
        before = Sattr3(mtime=at_client_time(A_TIME))
        asked = Sattr3(mtime=at_client_time(Nfstime3(A_TIME.seconds + 1000)))
    need_settable(nfs3, handle, before)
    known = scratch.attributes(handle)
    guard = Nfstime3(known.ctime.seconds ^ 1 << 18, known.ctime.nseconds)  # three days away
    reply = nfs3.setattr(handle, asked, guard=guard)
    expect_preserved(scratch.attributes(handle), known, EVERYTHING)
    expect(reply).status(Nfsstat3.NFS3ERR_NOT_SYNC)


# ---------------------------------------------------------------- ACCESS and READLINK


@pytest.mark.parametrize("kind", _HAS_NO_DATA)
@proves(ACCESS_ONLY_ASKED, killed_by="access3-grants-more-than-asked")
def test_access_grants_nothing_that_was_not_asked_about(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    for bit in (1 << number for number in range(6)):
        granted = expect(nfs3.access(handle, bit)).ok().access
        expect(granted & ~bit, f"what is granted besides {bit:#x}").equals(0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(ACCESS_ATTRIBUTES, killed_by="access3-calls-everything-regular")
def test_access_has_the_attributes_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    reply = nfs3.access(handle, 0x3F)
    if expect(reply).ok().obj_attributes is None:
        unsupported("ACCESS withholds the attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(OF_A_LINK, killed_by="readlink3-reads-anything")
def test_readlink_refuses_what_is_no_link(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    reply = nfs3.readlink(make(nfs3, scratch, kind))
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=OF_A_LINK)


@pytest.mark.parametrize("kind", ["regular", "directory", *SPECIAL])
@proves(READLINK_ATTRIBUTES, killed_by="readlink3-refusals-show-a-link")
def test_readlink_refuses_with_the_attributes_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = make(nfs3, scratch, kind)
    reply = nfs3.readlink(handle)
    if reply.resfail is None or reply.resfail.symlink_attributes is None:
        unsupported("READLINK withholds the attributes, or does not refuse")
    expect_same_object(reply, "resfail.symlink_attributes", scratch.attributes(handle))
