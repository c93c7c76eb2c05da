# SPDX-License-Identifier: MIT
"""Statuses (RFC 1813 section 2.6) of what changes names and attributes, where the state of the server is their cause.

Its knobs put the server into that state; where there are none, the checks are UNSUPPORTED.
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

ROFS_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="ROFS says that a modifying operation was attempted on a read-only file system",
)
READ_ONLY = Requirement(
    rfc="RFC 1813", section="2.6", gist="what is refused because the file system is read-only changes nothing"
)
NOSPC_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NOSPC says that the operation would have caused the file system to exceed its limit",
)
NOTHING_IS_LEFT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # wcc_data of a failure exists because it may have changed the directory
    gist="what is refused because there is no room leaves nothing behind",
)
NOTSUPP_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NOTSUPP says that the operation is not supported",
)
PROPERTIES = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="properties has FSF_LINK and FSF_SYMLINK where the file system supports such links",
)
NAMETOOLONG_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NAMETOOLONG says that what was given is too long",
)
SQUASHED = Requirement(
    rfc="RFC 1813",
    section="4.4",
    level=Level.SHOULD,
    gist="root that is taken for nobody has no more rights than nobody",
)

NO_PERMISSION = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM)
_CHANGING = [name for name in CALLS if name != "lookup"]
_CREATING = ("create", "mkdir", "symlink", "mknod")
_ATTRIBUTES = {
    "mode": Sattr3(mode=0o711),
    "uid": Sattr3(uid=4242),
    "gid": Sattr3(gid=4242),
    "size": Sattr3(size=1),
    "atime": Sattr3(atime=at_client_time(LONG_AGO)),
    "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
}


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """Where names are tried."""
    return Place(scratch)


# ---------------------------------------------------------------- ROFS


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(ROFS_IS_MEANT, killed_by="names3-read-only-is-io")
def test_a_read_only_file_system_refuses_names_as_such(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    if procedure in TAKING:
        place.put(procedure, b"name")
    knobs.set(read_only=True)
    reply = CALLS[procedure](nfs3, place, place.here, b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=ROFS_IS_MEANT)


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(READ_ONLY, killed_by="names3-read-only-is-no-matter")
def test_a_read_only_file_system_keeps_its_names(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    if procedure in TAKING:
        place.put(procedure, b"name")
    known = place.names()
    knobs.set(read_only=True)
    observe("the refusal", CALLS[procedure](nfs3, place, place.here, b"name").status)
    expect(place.names(), "the names in the directory").equals(known)


@pytest.mark.parametrize("what", _ATTRIBUTES)
@proves(READ_ONLY, killed_by=("setattr3-read-only-is-no-matter", "setattr3-read-only-is-io"))
def test_a_read_only_file_system_keeps_its_attributes(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, what: str
) -> None:
    file = scratch.file("f", b"data")
    known = scratch.attributes(file)
    knobs.set(read_only=True)
    reply = nfs3.setattr(file, _ATTRIBUTES[what])
    expect_preserved(scratch.attributes(file), known)
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=ROFS_IS_MEANT)


# ---------------------------------------------------------------- NOSPC, NAMETOOLONG


@pytest.mark.parametrize("procedure", _CREATING)
@proves(NOTHING_IS_LEFT, killed_by=("creations3-no-room-is-io", "creations3-no-room-leaves-a-file"))
def test_without_room_for_objects_none_is_made(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    knobs.set(free_files=0)
    reply = MAKING[procedure](nfs3, place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, because=NOSPC_IS_MEANT)


@proves(NOSPC_IS_MEANT, killed_by="creations3-no-room-is-io", needs="symlink")
def test_without_room_for_its_data_no_link_is_made(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    knobs.set(free_bytes=0, path_max=1000)
    reply = nfs3.symlink(place.here, b"name", b"t" * 1000)
    expect(place.names(), "the names in the directory", because=NOTHING_IS_LEFT).equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, because=NOSPC_IS_MEANT)


@proves(NAMETOOLONG_IS_MEANT, killed_by="symlink3-too-long-is-io", needs="symlink")
def test_data_of_a_link_that_is_too_long_is_told_as_such(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    knobs.set(path_max=10)
    reply = nfs3.symlink(place.here, b"name", b"t" * 11)
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_INVAL, because=NAMETOOLONG_IS_MEANT)


@pytest.mark.parametrize("procedure", CALLS)
@proves(NAMETOOLONG_IS_MEANT, killed_by="names3-too-long-is-io")
def test_name_max_may_be_small(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    knobs.set(name_max=25)
    reply = CALLS[procedure](nfs3, place, place.here, b"n" * 26)
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=NAMETOOLONG_IS_MEANT)


# ---------------------------------------------------------------- NOTSUPP


@proves(NOTSUPP_IS_MEANT, killed_by="link3-unsupported-is-io", needs="hardlink")
def test_without_hard_links_link_is_not_supported(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    knobs.set(hard_links=False)
    reply = MAKING["link"](nfs3, place, place.here, b"link")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).status(Nfsstat3.NFS3ERR_NOTSUPP)


@proves(NOTSUPP_IS_MEANT, killed_by="symlink3-unsupported-is-io", needs="symlink")
def test_without_symbolic_links_symlink_is_not_supported(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    knobs.set(symlinks=False)
    reply = MAKING["symlink"](nfs3, place, place.here, b"link")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).status(Nfsstat3.NFS3ERR_NOTSUPP)


@pytest.mark.parametrize(("knob", "bit"), [("hard_links", FSF3_LINK), ("symlinks", FSF3_SYMLINK)])
@proves(PROPERTIES, killed_by="fsinfo3-always-claims-links")
def test_links_that_are_not_there_are_not_claimed(
    nfs3: Nfs3, root: bytes, knobs: KnobsView, knob: str, bit: int
) -> None:
    knobs.set(**{knob: False})
    properties = expect(nfs3.fsinfo(root)).ok().properties
    expect(properties & bit, f"the bit of {knob.replace('_', ' ')} in properties").equals(0)


# ---------------------------------------------------------------- root squash


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(SQUASHED, killed_by="names3-squash-nobody", needs="root")
def test_squashed_root_does_not_change_others_directories(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    if procedure in TAKING:
        place.put(procedure, b"name")
    with_mode(nfs3, place.here, 0o755)
    known = place.names()
    knobs.set(root_squash=True)
    reply = CALLS[procedure](nfs3, place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals(known)
    expect(reply).refused(*NO_PERMISSION, because=SQUASHED)


@pytest.mark.parametrize("what", _ATTRIBUTES)
@proves(SQUASHED, killed_by="setattr3-squashes-nobody", needs="root")
def test_squashed_root_does_not_change_others_attributes(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, what: str
) -> None:
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o644)
    known = scratch.attributes(file)
    knobs.set(root_squash=True)
    reply = nfs3.setattr(file, _ATTRIBUTES[what])
    expect_preserved(scratch.attributes(file), known)
    expect(reply).refused(*NO_PERMISSION, because=SQUASHED)


@pytest.mark.parametrize("procedure", _CREATING)
@proves(SQUASHED, killed_by="names3-squash-nobody", needs="root")
def test_what_squashed_root_makes_is_not_roots(
    nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str
) -> None:
    knobs.set(root_squash=True)
    expect(MAKING[procedure](nfs3, place, place.here, b"name")).ok()
    found = expect(nfs3.lookup(place.here, b"name")).ok()
    made = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect(made.uid, "uid").differs_from(0)
