# SPDX-License-Identifier: MIT
"""Names of objects of every type: creating over them, RENAME, LINK, REMOVE and RMDIR (RFC 1813 section 3.3.8 ff.)."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from suites.nfs3.by_name import CALLS, MAKING, Place
from suites.nfs3.creating import RETURNS_EXIST, RETURNS_NOTDIR
from suites.nfs3.kinds import KINDS, SPECIAL, make
from suites.nfs3.preserved import EVERYTHING, expect_preserved

ONLY_DIRECTORIES_HAVE_NAMES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="only a directory has entries: an object of another type has no names, and none can be created in it",
)
SYMLINK_IS_NOT_ITS_TARGET = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle refers to one object: that of a symbolic link is not that of the directory it points to",
)
CREATING_REPLACES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="3.3.9",
    gist="MKDIR, SYMLINK, MKNOD and LINK fail if the name exists, and leave the existing object unchanged",
)
GUARDED_KEEPS_EXISTING = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED does not change an existing object: the create is not performed",
)
GUARDED_RETURNS_EXIST = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED fails with NFS3ERR_EXIST if the name exists",
)
EXCLUSIVE_NEEDS_ITS_VERIFIER = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE succeeds only for a file created with its verifier, never for any other existing object",
)
CREATE_KEEPS_OTHER_TYPES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # the text says little about UNCHECKED on an existing name
    gist="CREATE creates a regular file: it does not replace or use an object of another type",
)
REMOVE_REMOVES_THE_ENTRY = Requirement(
    rfc="RFC 1813", section="3.3.12", gist="REMOVE removes the entry from the directory"
)
RMDIR_REMOVES_ONLY_DIRECTORIES = Requirement(
    rfc="RFC 1813", section="3.3.13", gist="RMDIR removes only subdirectories, not objects of other types"
)
RENAMES_THE_OBJECT = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="RENAME gives an object a new name, in the same directory or in another one",
)
RENAME_REPLACES_TARGET = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="RENAME removes a target that is compatible with the source; its name then refers to the source",
)
RENAME_NEEDS_COMPATIBLE_TARGET = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.MUST,
    gist="source and target are both directories or both not, and a target directory is empty",
)
RENAME_RETURNS_EXIST = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    gist="RENAME to a target that is incompatible or not empty returns NFS3ERR_EXIST",
)
LINK_CREATES_A_HARD_LINK = Requirement(
    rfc="RFC 1813", section="3.3.15", gist="LINK creates a hard link: another name for the same object"
)

_OTHERS = ("symlink", *SPECIAL)
"""Types that are neither regular files nor directories."""
_PAIRS = [
    *(("regular", kind) for kind in SPECIAL),
    *((kind, "regular") for kind in _OTHERS),
    *((kind, kind) for kind in _OTHERS),
]
"""Source and target of RENAME, neither of them a directory; test_rename has a file over a file or a symbolic link."""
_MIXED = [*(("directory", kind) for kind in _OTHERS), *((kind, "directory") for kind in _OTHERS)]
_INCOMPATIBLE = (
    Nfsstat3.NFS3ERR_EXIST,
    Nfsstat3.NFS3ERR_NOTEMPTY,
    Nfsstat3.NFS3ERR_ISDIR,
    Nfsstat3.NFS3ERR_NOTDIR,
)
_OVER = [
    *(("mkdir", kind) for kind in KINDS if kind not in {"regular", "directory"}),
    *(("symlink", kind) for kind in KINDS if kind != "regular"),
    *(("mknod", kind) for kind in KINDS if kind != "regular"),
    *(("link", kind) for kind in KINDS if kind not in {"regular", "directory"}),
]
"""Procedure and type of the existing object; the files of the procedures have the other pairs."""
_IN_A_SPECIAL_FILE = [
    *((procedure, "fifo") for procedure in CALLS),
    *(("lookup", kind) for kind in SPECIAL if kind != "fifo"),
    ("link", "socket"),
]
"""Every procedure in a FIFO, and LOOKUP in every type; LINK in a socket too, since one server failed there."""
_VERIFIER = b"\x31\x41\x59\x26\x53\x58\x97\x93"


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """The directories to try names in."""
    return Place(scratch)


def _identity(nfs3: Nfs3, directory: bytes, name: bytes) -> tuple[int, str]:
    """fileid and type of the object with this name."""
    found = expect(nfs3.lookup(directory, name)).ok()
    attributes = expect(nfs3.getattr(found.object)).ok().obj_attributes
    return attributes.fileid, attributes.type.name


# ---------------------------------------------------------------- operations in an object that is not a directory


@pytest.mark.parametrize(("procedure", "kind"), _IN_A_SPECIAL_FILE)
@proves(ONLY_DIRECTORIES_HAVE_NAMES, killed_by="names3-look-into-special-files")
def test_only_directories_have_names(nfs3: Nfs3, place: Place, procedure: str, kind: str) -> None:
    """An operation on a name in a special file fails with NFS3ERR_NOTDIR."""
    handle = make(nfs3, place.scratch, kind)
    reply = CALLS[procedure](nfs3, place, handle, b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@pytest.mark.parametrize("procedure", CALLS)
@proves(SYMLINK_IS_NOT_ITS_TARGET, killed_by="names3-follow-links-to-directories", needs="symlink")
def test_a_link_to_a_directory_is_no_directory(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """An operation on a name in a symbolic link to a directory fails with NFS3ERR_NOTDIR."""
    link = place.scratch.symlink("link", b"here")
    if procedure not in MAKING:
        place.put(procedure, b"name")
    known = place.names()
    reply = CALLS[procedure](nfs3, place, link, b"name")
    expect(place.names(), "the names in the directory that the link points to").equals(known)
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


# ---------------------------------------------------------------- creating over existing objects


@pytest.mark.parametrize(("procedure", "kind"), _OVER)
@proves(CREATING_REPLACES_NOTHING, killed_by="names3-make-over-others")
def test_nothing_is_made_over_what_exists(nfs3: Nfs3, place: Place, procedure: str, kind: str) -> None:
    """MKDIR, SYMLINK, MKNOD and LINK do not replace an existing object."""
    there = make(nfs3, place.scratch, kind, b"there", directory=place.here)
    known = place.scratch.attributes(there)
    reply = MAKING[procedure](nfs3, place, place.here, b"there")
    expect_preserved(place.scratch.attributes(there), known)
    expect(_identity(nfs3, place.here, b"there"), "fileid and type").equals((known.fileid, KINDS[kind].name))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@pytest.mark.parametrize("kind", KINDS)
@proves(GUARDED_KEEPS_EXISTING, killed_by="create3-guarded-sets-the-mode")
def test_guarded_touches_nothing_that_exists(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """CREATE GUARDED does not change an existing object of any type."""
    there = make(nfs3, scratch, kind, b"there")
    known = scratch.attributes(there)
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.GUARDED, Sattr3(mode=0o600, size=0))
    expect_preserved(scratch.attributes(there), known, EVERYTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_RETURNS_EXIST)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-takes-others", needs="exclusive_create")
def test_exclusive_takes_nothing_that_exists(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """CREATE EXCLUSIVE does not use or change an existing object of another type."""
    there = make(nfs3, scratch, kind, b"there")
    known = scratch.attributes(there)
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    expect_preserved(scratch.attributes(there), known, EVERYTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(CREATE_KEEPS_OTHER_TYPES, killed_by="create3-unchecked-replaces-others")
def test_unchecked_replaces_nothing_but_files(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """CREATE UNCHECKED does not replace an existing object of another type."""
    known = scratch.attributes(make(nfs3, scratch, kind, b"there"))
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.UNCHECKED, Sattr3())
    observe(f"UNCHECKED over an object of type {KINDS[kind].name}", reply.status)
    expect(_identity(nfs3, scratch.handle, b"there"), "fileid and type").equals(
        (known.fileid, KINDS[kind].name)
    )


@pytest.mark.parametrize(
    "mode",
    [CreateMode3.UNCHECKED, CreateMode3.GUARDED, CreateMode3.EXCLUSIVE],
    ids=["unchecked", "guarded", "exclusive"],
)
@proves(CREATE_KEEPS_OTHER_TYPES, killed_by="create3-follows-links", needs="symlink")
def test_nothing_is_created_where_a_link_points_to(nfs3: Nfs3, scratch: Scratch, mode: CreateMode3) -> None:
    """CREATE with the name of a dangling symbolic link does not create its target."""
    scratch.symlink("link", b"nobody-made-this")
    reply = nfs3.create(scratch.handle, b"link", mode, Sattr3(mode=0o644), _VERIFIER)
    observe(f"{mode.name} over a symbolic link", reply.status)
    expect(scratch.names(), "the names in the directory").equals([b"link"])


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK


@pytest.mark.parametrize("kind", ["block", "character", "socket"])
@proves(REMOVE_REMOVES_THE_ENTRY, killed_by="remove3-keeps-special-files")
def test_remove_removes_it(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """REMOVE removes a device or socket."""
    make(nfs3, scratch, kind)
    expect(nfs3.remove(scratch.handle, b"object")).ok()
    expect(scratch.names(), "the names in the directory").equals([])


@pytest.mark.parametrize("kind", SPECIAL)
@proves(RMDIR_REMOVES_ONLY_DIRECTORIES, killed_by="rmdir3-removes-special-files")
def test_rmdir_keeps_it(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """RMDIR does not remove a special file."""
    make(nfs3, scratch, kind)
    reply = nfs3.rmdir(scratch.handle, b"object")
    expect(scratch.names(), "the names in the directory").equals([b"object"])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@pytest.mark.parametrize("kind", SPECIAL)
@proves(LINK_CREATES_A_HARD_LINK, killed_by="link3-makes-files-of-special-files", needs="hardlink")
def test_link_names_the_same_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """LINK creates another name for a special file."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    reply = nfs3.link(handle, scratch.handle, b"link")
    if reply.status != Nfsstat3.NFS3_OK:
        unsupported(f"the server gives no second name to {known.type.name}: {expect(reply).refused()}")
    expect(_identity(nfs3, scratch.handle, b"link"), "fileid and type").equals(
        (known.fileid, known.type.name)
    )


# ---------------------------------------------------------------- RENAME


@pytest.mark.parametrize("kind", SPECIAL)
@proves(RENAMES_THE_OBJECT, killed_by="rename3-loses-special-files")
def test_rename_moves_the_object(nfs3: Nfs3, place: Place, kind: str) -> None:
    """RENAME moves a special file to another directory."""
    known = place.scratch.attributes(make(nfs3, place.scratch, kind, b"old", directory=place.here))
    expect(nfs3.rename(place.here, b"old", place.elsewhere, b"new")).ok()
    expect(place.names(), "the names in the directory that it left").equals([])
    expect(_identity(nfs3, place.elsewhere, b"new"), "fileid and type").equals(
        (known.fileid, known.type.name)
    )


@pytest.mark.parametrize(("source", "target"), _PAIRS)
@proves(RENAME_REPLACES_TARGET, killed_by="rename3-replaces-only-files-by-files")
def test_rename_replaces_it(nfs3: Nfs3, scratch: Scratch, source: str, target: str) -> None:
    """RENAME replaces a target that is not a directory if the source is not one either."""
    known = scratch.attributes(make(nfs3, scratch, source, b"source"))
    make(nfs3, scratch, target, b"target", data=b"other")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    # A server may keep the replaced object under a temporary name while it is in use.
    expect(scratch.names(), "the names in the directory").lacks(b"source")
    expect(_identity(nfs3, scratch.handle, b"target"), "fileid and type").equals(
        (known.fileid, known.type.name)
    )


@pytest.mark.parametrize(("source", "target"), _MIXED)
@proves(RENAME_NEEDS_COMPATIBLE_TARGET, killed_by="rename3-mixes-directories-with-others")
def test_rename_does_not_mix_directories_with_others(
    nfs3: Nfs3, scratch: Scratch, source: str, target: str
) -> None:
    """RENAME does not replace a directory by an object of another type, or the reverse."""
    known = [scratch.attributes(make(nfs3, scratch, source, b"source"))]
    known.append(scratch.attributes(make(nfs3, scratch, target, b"target")))
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    seen = [_identity(nfs3, scratch.handle, name) for name in (b"source", b"target")]
    expect(seen, "fileid and type of source and target").equals(
        [(attributes.fileid, attributes.type.name) for attributes in known]
    )
    expect(reply).refused(*_INCOMPATIBLE, because=RENAME_RETURNS_EXIST)
