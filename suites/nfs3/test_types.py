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
    gist="type is the file type of the object, one of the seven of ftype3",
)
RDEV_IS_MAJOR_MINOR = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="rdev of a device has its major number in specdata1, its minor number in specdata2",
)
LOOKUP_RETURNS_HANDLE = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    gist="LOOKUP returns the file handle of the object with the given name",
)
SETATTR_SETS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="after a successful SETATTR the attributes have the requested values",
)
SETATTR_SETS_NOTHING_ELSE = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="SETATTR changes only the attributes that new_attributes sets",
)
SETATTR_SIZE_IS_OF_FILES = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="SETATTR of the size is for regular files",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
GUARD_MISMATCH_FAILS = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="if the guard differs from the ctime of the object, SETATTR changes nothing and fails with NFS3ERR_NOT_SYNC",
    level=Level.MUST,
)
ACCESS_RETURNS_REQUESTED_BITS = Requirement(
    rfc="RFC 1813",
    section="3.3.4",
    gist="ACCESS returns those of the requested permissions that the caller has, and no others",
    level=Level.SHOULD,
)
ACCESS_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.4",
    gist="obj_attributes of ACCESS are the attributes of the object, if present",
)
READLINK_NEEDS_A_SYMLINK = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="READLINK is allowed only on symbolic links, and returns NFS3ERR_INVAL for other objects",
)
READLINK_FAILURE_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    gist="if READLINK fails, symlink_attributes are those of the object, if present",
)

A_TIME = Nfstime3(1_000_000_000)
"""A date in 2001, far from the time of any run."""
_HAS_NO_DATA = (*SPECIAL, "symlink")


# ---------------------------------------------------------------- GETATTR and LOOKUP


@pytest.mark.parametrize("kind", ["block", "character", "socket"])
@proves(TYPE, killed_by="getattr3-calls-special-files-regular")
def test_type_is_that_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """GETATTR returns the type of a device or socket."""
    reply = nfs3.getattr(make(nfs3, scratch, kind, is_trusted=True))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.type").equals(KINDS[kind])


@pytest.mark.parametrize("kind", ["block", "character"])
@proves(RDEV_IS_MAJOR_MINOR, killed_by="getattr3-has-no-device-numbers", needs="device")
def test_rdev_has_the_numbers_of_the_device(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """GETATTR returns the major and minor number of a device in rdev."""
    reply = nfs3.getattr(make(nfs3, scratch, kind))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.rdev.specdata1").equals(DEVICE.specdata1)
    expect(reply).field("resok.obj_attributes.rdev.specdata2").equals(DEVICE.specdata2)


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_RETURNS_HANDLE, killed_by="lookup3-has-another-type")
def test_lookup_has_the_attributes_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """LOOKUP returns the attributes of an object of any type."""
    handle = make(nfs3, scratch, kind, b"found")
    reply = nfs3.lookup(scratch.handle, b"found")
    found = expect(reply).ok()
    if found.obj_attributes is None:
        unsupported("LOOKUP withholds the attributes of the object")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_RETURNS_HANDLE, killed_by="lookup3-finds-another-one")
def test_lookup_finds_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """LOOKUP returns the handle of an object of any type."""
    known = scratch.attributes(make(nfs3, scratch, kind, b"wanted"))
    found = expect(nfs3.lookup(scratch.handle, b"wanted")).ok()
    seen = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect((seen.fileid, seen.type), "fileid and type behind the handle").equals((known.fileid, KINDS[kind]))


# ---------------------------------------------------------------- SETATTR


@pytest.mark.parametrize("kind", SPECIAL)
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-changes-only-files")
def test_mode_is_set(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """SETATTR sets the mode of a special file."""
    handle = make(nfs3, scratch, kind)
    for mode in (0o600, 0o751):
        expect_change(nfs3.setattr(handle, Sattr3(mode=mode)))
        expect(oct(scratch.attributes(handle).mode & PROTECTION), "mode").equals(oct(mode))


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-changes-only-files")
def test_owner_and_group_are_set(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """SETATTR sets owner and group of a directory or special file."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    expect_change(nfs3.setattr(handle, Sattr3(uid=known.uid ^ 17, gid=known.gid ^ 18)))
    seen = scratch.attributes(handle)
    expect((seen.uid, seen.gid), "uid and gid").equals((known.uid ^ 17, known.gid ^ 18))


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-changes-only-files", needs="cansettime")
def test_times_are_set(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """SETATTR sets atime and mtime of a directory or special file."""
    handle = make(nfs3, scratch, kind)
    time = at_client_time(A_TIME)
    expect_change(nfs3.setattr(handle, Sattr3(atime=time, mtime=time)))
    # The tolerance allows for a time_delta of more than a second.
    seen = scratch.attributes(handle)
    for name, value in (("mtime", seen.mtime), ("atime", seen.atime)):
        expect(value.seconds, f"seconds of {name}").between(A_TIME.seconds - 10, A_TIME.seconds + 10)


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETATTR_SETS_NOTHING_ELSE, killed_by="setattr3-mode-touches-all-else")
def test_mode_leaves_all_else_alone(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """SETATTR of the mode does not change other attributes of a directory or special file."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    expect_change(nfs3.setattr(handle, Sattr3(mode=0o710)))
    expect_preserved(scratch.attributes(handle), known, but("mode"))


@pytest.mark.parametrize("kind", [kind for kind in _HAS_NO_DATA if kind != "fifo"])
@proves(SETATTR_SIZE_IS_OF_FILES, killed_by="setattr3-takes-sizes-of-special-files")
def test_size_is_refused_where_there_is_no_data(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """SETATTR refuses a size for an object without data."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    reply = nfs3.setattr(handle, Sattr3(size=100))
    observe(f"SETATTR of the size of an object of type {KINDS[kind].name}", reply.status)
    expect_preserved(scratch.attributes(handle), known, ("type", "mode", "nlink", "uid", "gid", "size"))
    expect(reply).refused()


@pytest.mark.parametrize("kind", _HAS_NO_DATA)
@proves(GUARD_MISMATCH_FAILS, killed_by="setattr3-guards-no-special-files")
def test_wrong_guard_preserves_every_attribute(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """SETATTR with a wrong guard changes nothing and returns NFS3ERR_NOT_SYNC."""
    handle = make(nfs3, scratch, kind)
    # The mode of a symbolic link has no meaning: a server may find nothing to set and ignore the guard.
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
@proves(ACCESS_RETURNS_REQUESTED_BITS, killed_by="access3-grants-more-than-asked")
def test_access_grants_nothing_that_was_not_asked_about(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """ACCESS grants no permission that was not requested."""
    handle = make(nfs3, scratch, kind)
    for bit in (1 << number for number in range(6)):
        granted = expect(nfs3.access(handle, bit)).ok().access
        expect(granted & ~bit, f"what is granted besides {bit:#x}").equals(0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(ACCESS_RETURNS_ATTRIBUTES, killed_by="access3-calls-everything-regular")
def test_access_has_the_attributes_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """ACCESS returns the attributes of an object of any type."""
    handle = make(nfs3, scratch, kind)
    reply = nfs3.access(handle, 0x3F)
    if expect(reply).ok().obj_attributes is None:
        unsupported("ACCESS withholds the attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(READLINK_NEEDS_A_SYMLINK, killed_by="readlink3-reads-anything")
def test_readlink_refuses_what_is_no_link(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """READLINK of an object that is not a symbolic link fails with NFS3ERR_INVAL."""
    reply = nfs3.readlink(make(nfs3, scratch, kind))
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READLINK_NEEDS_A_SYMLINK)


@pytest.mark.parametrize("kind", ["regular", "directory", *SPECIAL])
@proves(READLINK_FAILURE_RETURNS_ATTRIBUTES, killed_by="readlink3-refusals-show-a-link")
def test_readlink_refuses_with_the_attributes_of_the_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """A READLINK that fails returns the attributes of the object."""
    handle = make(nfs3, scratch, kind)
    reply = nfs3.readlink(handle)
    if reply.resfail is None or reply.resfail.symlink_attributes is None:
        unsupported("READLINK withholds the attributes, or does not refuse")
    expect_same_object(reply, "resfail.symlink_attributes", scratch.attributes(handle))
