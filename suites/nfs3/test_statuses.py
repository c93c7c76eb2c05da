# SPDX-License-Identifier: MIT
"""Errors (RFC 1813 section 2.6) of calls that change names and attributes, caused by the state of the server.

Knobs put the server into that state; on a server without knobs the checks are UNSUPPORTED.
"""

from __future__ import annotations

import pytest

from fixtures.checks import KnobsView
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import FSF3_LINK, FSF3_SYMLINK, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.nfs3.by_name import CALLS, MAKING, TAKING, Place
from suites.nfs3.preserved import LONG_AGO, at_client_time, expect_preserved, with_mode

RETURNS_ROFS = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_ROFS reports a modifying operation on a read-only file system",
)
READ_ONLY_IS_UNCHANGED = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="a read-only file system is not modified",
)
RETURNS_NOSPC = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NOSPC reports that the operation would exceed the limit of the file system",
)
NOSPC_LEAVES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # a failed call returns wcc_data because it may have changed the directory
    gist="an operation that fails with NFS3ERR_NOSPC should leave nothing behind",
)
RETURNS_NOTSUPP = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NOTSUPP reports an operation that the server does not support",
)
PROPERTIES_CLAIM_SUPPORTED_LINKS = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="properties has FSF3_LINK and FSF3_SYMLINK only if the file system supports such links",
)
RETURNS_NAMETOOLONG = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NAMETOOLONG reports a name or path that is too long",
)
SQUASHED_ROOT_IS_NOBODY = Requirement(
    rfc="RFC 1813",
    section="4.4",
    level=Level.SHOULD,
    gist="root that the server maps to nobody has no more rights than nobody",
)

NO_PERMISSION = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM)
_CHANGING = [name for name in CALLS if name != "lookup"]
_CREATING = ("create", "mkdir", "symlink", "mknod")
_FEW = ("create", "link", "rename_to", "remove")
"""Stand for all procedures where a server decides in one place: one creates, one removes, two have two handles."""
_ATTRIBUTES = {
    "mode": Sattr3(mode=0o711),
    "uid": Sattr3(uid=4242),
    "size": Sattr3(size=1),
    "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
}


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """The directory in which the checks use names."""
    return Place(scratch)


# ---------------------------------------------------------------- ROFS


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(RETURNS_ROFS, killed_by="names3-read-only-is-io")
def test_a_read_only_file_system_refuses_names_as_such(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    """Calls that change names on a read-only file system fail with ROFS."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    knobs.set(read_only=True)
    reply = CALLS[procedure](nfs3, place, place.here, b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=RETURNS_ROFS)


@pytest.mark.parametrize("procedure", _FEW)
@proves(READ_ONLY_IS_UNCHANGED, killed_by="names3-read-only-is-no-matter")
def test_a_read_only_file_system_keeps_its_names(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    """Calls that change names leave a read-only file system unchanged."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    known = place.names()
    knobs.set(read_only=True)
    observe("the refusal", CALLS[procedure](nfs3, place, place.here, b"name").status)
    expect(place.names(), "the names in the directory").equals(known)


@pytest.mark.parametrize("what", _ATTRIBUTES)
@proves(READ_ONLY_IS_UNCHANGED, killed_by=("setattr3-read-only-is-no-matter", "setattr3-read-only-is-io"))
def test_a_read_only_file_system_keeps_its_attributes(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, what: str
) -> None:
    """SETATTR on a read-only file system fails with ROFS and changes nothing."""
    file = scratch.file("f", b"data")
    known = scratch.attributes(file)
    knobs.set(read_only=True)
    reply = nfs3.setattr(file, _ATTRIBUTES[what])
    expect_preserved(scratch.attributes(file), known)
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=RETURNS_ROFS)


# ---------------------------------------------------------------- NOSPC, NAMETOOLONG


@pytest.mark.parametrize("procedure", _CREATING)
@proves(NOSPC_LEAVES_NOTHING, killed_by=("creations3-no-room-is-io", "creations3-no-room-leaves-a-file"))
def test_without_room_for_objects_none_is_made(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    """Calls that create objects without room for one fail with NOSPC and leave nothing."""
    knobs.set(free_files=0)
    reply = MAKING[procedure](nfs3, place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, because=RETURNS_NOSPC)


@proves(RETURNS_NOSPC, killed_by="creations3-no-room-is-io", needs="symlink")
def test_without_room_for_its_data_no_link_is_made(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """SYMLINK without room for the target fails with NOSPC and leaves nothing."""
    knobs.set(free_bytes=0, path_max=1000)
    reply = nfs3.symlink(place.here, b"name", b"t" * 1000)
    expect(place.names(), "the names in the directory", because=NOSPC_LEAVES_NOTHING).equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, because=RETURNS_NOSPC)


@proves(RETURNS_NAMETOOLONG, killed_by="symlink3-too-long-is-io", needs="symlink")
def test_data_of_a_link_that_is_too_long_is_told_as_such(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """SYMLINK with a target that is too long fails with NAMETOOLONG or INVAL."""
    knobs.set(path_max=10)
    reply = nfs3.symlink(place.here, b"name", b"t" * 11)
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_INVAL, because=RETURNS_NAMETOOLONG)


@pytest.mark.parametrize("procedure", ["create", "rename_to", "lookup", "remove"])
@proves(RETURNS_NAMETOOLONG, killed_by="names3-too-long-is-io")
def test_name_max_may_be_small(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """A name longer than the file system's limit is refused with NAMETOOLONG."""
    knobs.set(name_max=25)
    reply = CALLS[procedure](nfs3, place, place.here, b"n" * 26)
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=RETURNS_NAMETOOLONG)


# ---------------------------------------------------------------- NOTSUPP


@proves(RETURNS_NOTSUPP, killed_by="link3-unsupported-is-io", needs="hardlink")
def test_without_hard_links_link_is_not_supported(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """LINK fails with NOTSUPP where the server has no hard links."""
    knobs.set(hard_links=False)
    reply = MAKING["link"](nfs3, place, place.here, b"link")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).status(Nfsstat3.NFS3ERR_NOTSUPP)


@proves(RETURNS_NOTSUPP, killed_by="symlink3-unsupported-is-io", needs="symlink")
def test_without_symbolic_links_symlink_is_not_supported(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """SYMLINK fails with NOTSUPP where the server has no symbolic links."""
    knobs.set(symlinks=False)
    reply = MAKING["symlink"](nfs3, place, place.here, b"link")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).status(Nfsstat3.NFS3ERR_NOTSUPP)


@pytest.mark.parametrize(
    ("knob", "bit"), [("hard_links", FSF3_LINK), ("symlinks", FSF3_SYMLINK)], ids=["hard-links", "symlinks"]
)
@proves(PROPERTIES_CLAIM_SUPPORTED_LINKS, killed_by="fsinfo3-always-claims-links")
def test_links_that_are_not_there_are_not_claimed(
    nfs3: Nfs3, root: bytes, knobs: KnobsView, knob: str, bit: int
) -> None:
    """FSINFO does not claim links that the server does not support."""
    knobs.set(**{knob: False})
    properties = expect(nfs3.fsinfo(root)).ok().properties
    expect(properties & bit, f"the bit of {knob.replace('_', ' ')} in properties").equals(0)


# ---------------------------------------------------------------- root squash


@pytest.mark.parametrize("procedure", _FEW)
@proves(SQUASHED_ROOT_IS_NOBODY, killed_by="names3-squash-nobody", needs="root")
def test_squashed_root_does_not_change_others_directories(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    """Squashed root cannot change the entries of another user's directory."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    with_mode(nfs3, place.here, 0o755)
    known = place.names()
    knobs.set(root_squash=True)
    reply = CALLS[procedure](nfs3, place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals(known)
    expect(reply).refused(*NO_PERMISSION, because=SQUASHED_ROOT_IS_NOBODY)


@pytest.mark.parametrize("what", _ATTRIBUTES)
@proves(SQUASHED_ROOT_IS_NOBODY, killed_by="setattr3-squashes-nobody", needs="root")
def test_squashed_root_does_not_change_others_attributes(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, what: str
) -> None:
    """Squashed root cannot change the attributes of another user's file."""
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o644)
    known = scratch.attributes(file)
    knobs.set(root_squash=True)
    reply = nfs3.setattr(file, _ATTRIBUTES[what])
    expect_preserved(scratch.attributes(file), known)
    expect(reply).refused(*NO_PERMISSION, because=SQUASHED_ROOT_IS_NOBODY)


@pytest.mark.parametrize("procedure", ["create", "mkdir"])
@proves(SQUASHED_ROOT_IS_NOBODY, killed_by="names3-squash-nobody", needs="root")
def test_what_squashed_root_makes_is_not_roots(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    """An object that squashed root creates does not belong to uid 0."""
    knobs.set(root_squash=True)
    expect(MAKING[procedure](nfs3, place, place.here, b"name")).ok()
    found = expect(nfs3.lookup(place.here, b"name")).ok()
    made = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect(made.uid, "uid").differs_from(0)
