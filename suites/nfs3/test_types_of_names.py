# SPDX-License-Identifier: MIT
"""Names of objects of every type: what is made over them, moved, linked and removed (RFC 1813 section 3.3.8 ff.)."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from suites.nfs3.by_name import CALLS, MAKING, Place
from suites.nfs3.creating import EXIST_IS_MEANT, NOTDIR_IS_MEANT
from suites.nfs3.kinds import KINDS, SPECIAL, make
from suites.nfs3.preserved import EVERYTHING, expect_preserved

OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a name is one of a directory: an object of another type has no names in it, and can be given none",
)
LINKS_ARE_NOT_FOLLOWED = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle is that of one object: the directory that a symbolic link points to is another",
)
NEW_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.9",
    gist="what creates a name (MKDIR, SYMLINK, MKNOD, LINK) does not succeed on one that exists, nor harm it",
)
GUARDED_CREATES_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED fails with EXIST when the name exists, and the create is not performed",
)
EXCLUSIVE_IS_EXCLUSIVE = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE creates, with the verifier as the proof of it: what exists for another reason is not taken",
)
CREATES_FILES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # UNCHECKED on a name that exists is hardly spoken of
    gist="CREATE creates a regular file: an object of another type is not replaced by one, nor taken for one",
)
REMOVES_THE_ENTRY = Requirement(
    rfc="RFC 1813", section="3.3.12", gist="REMOVE removes the entry from the directory"
)
OF_SUBDIRECTORIES = Requirement(
    rfc="RFC 1813", section="3.3.13", gist="the name that RMDIR takes is that of a subdirectory, nothing else"
)
RENAMES = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="RENAME gives the object of one name another name, in any directory",
)
REPLACES = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="a target that is compatible with the source is removed: its name then stands for the source",
)
COMPATIBLE = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.MUST,
    gist="source and target must both be directories or both none",
)
RENAME_EXIST_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    gist="a target that is not compatible, or not empty, is refused with EXIST",
)
LINKS = Requirement(
    rfc="RFC 1813", section="3.3.15", gist="LINK creates a hard link: another name for the same object"
)

_OTHERS = ("symlink", *SPECIAL)
"""Neither files nor directories."""
_PAIRS = [
    *(("regular", kind) for kind in SPECIAL),
    *((kind, "regular") for kind in _OTHERS),
    *((kind, kind) for kind in _OTHERS),
]
"""Source and target of a RENAME that are both no directories; a file over a file, or a link, stands with RENAME."""
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
"""What is made over which type; the rest stands with the procedures."""
_VERIFIER = b"\x31\x41\x59\x26\x53\x58\x97\x93"


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """Where names are tried."""
    return Place(scratch)


def _identity(nfs3: Nfs3, directory: bytes, name: bytes) -> tuple[int, str]:
    """fileid and type of what a name stands for."""
    found = expect(nfs3.lookup(directory, name)).ok()
    attributes = expect(nfs3.getattr(found.object)).ok().obj_attributes
    return attributes.fileid, attributes.type.name


# ---------------------------------------------------------------- in the place of a directory


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("procedure", CALLS)
@proves(OF_A_DIRECTORY, killed_by="names3-look-into-special-files")
def test_only_directories_have_names(nfs3: Nfs3, place: Place, procedure: str, kind: str) -> None:
    handle = make(nfs3, place.scratch, kind)
    reply = CALLS[procedure](nfs3, place, handle, b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@pytest.mark.parametrize("procedure", CALLS)
@proves(LINKS_ARE_NOT_FOLLOWED, killed_by="names3-follow-links-to-directories", needs="symlink")
def test_a_link_to_a_directory_is_no_directory(nfs3: Nfs3, place: Place, procedure: str) -> None:
    link = place.scratch.symlink("link", b"here")
    if procedure not in MAKING:
        place.put(procedure, b"name")
    known = place.names()
    reply = CALLS[procedure](nfs3, place, link, b"name")
    expect(place.names(), "the names in the directory that the link points to").equals(known)
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


# ---------------------------------------------------------------- over what exists


@pytest.mark.parametrize(("procedure", "kind"), _OVER)
@proves(NEW_ONLY, killed_by="names3-make-over-others")
def test_nothing_is_made_over_what_exists(nfs3: Nfs3, place: Place, procedure: str, kind: str) -> None:
    there = make(nfs3, place.scratch, kind, b"there", directory=place.here)
    known = place.scratch.attributes(there)
    reply = MAKING[procedure](nfs3, place, place.here, b"there")
    expect_preserved(place.scratch.attributes(there), known)
    expect(_identity(nfs3, place.here, b"there"), "fileid and type").equals((known.fileid, KINDS[kind].name))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@pytest.mark.parametrize("kind", KINDS)
@proves(GUARDED_CREATES_ONLY, killed_by="create3-guarded-sets-the-mode")
def test_guarded_touches_nothing_that_exists(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    there = make(nfs3, scratch, kind, b"there")
    known = scratch.attributes(there)
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.GUARDED, Sattr3(mode=0o600, size=0))
    expect_preserved(scratch.attributes(there), known, EVERYTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_CREATES_ONLY)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(EXCLUSIVE_IS_EXCLUSIVE, killed_by="create3-exclusive-takes-others", needs="exclusive_create")
def test_exclusive_takes_nothing_that_exists(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    there = make(nfs3, scratch, kind, b"there")
    known = scratch.attributes(there)
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    expect_preserved(scratch.attributes(there), known, EVERYTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(CREATES_FILES, killed_by="create3-unchecked-replaces-others")
def test_unchecked_replaces_nothing_but_files(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    known = scratch.attributes(make(nfs3, scratch, kind, b"there"))
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.UNCHECKED, Sattr3())
    observe(f"UNCHECKED over an object of type {KINDS[kind].name}", reply.status)
    expect(_identity(nfs3, scratch.handle, b"there"), "fileid and type").equals(
        (known.fileid, KINDS[kind].name)
    )


@pytest.mark.parametrize("mode", [CreateMode3.UNCHECKED, CreateMode3.GUARDED, CreateMode3.EXCLUSIVE])
@proves(CREATES_FILES, killed_by="create3-follows-links", needs="symlink")
def test_nothing_is_created_where_a_link_points_to(nfs3: Nfs3, scratch: Scratch, mode: CreateMode3) -> None:
    scratch.symlink("link", b"nobody-made-this")
    reply = nfs3.create(scratch.handle, b"link", mode, Sattr3(mode=0o644), _VERIFIER)
    observe(f"{mode.name} over a symbolic link", reply.status)
    expect(scratch.names(), "the names in the directory").equals([b"link"])


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK


@pytest.mark.parametrize("kind", ["block", "character", "socket"])
@proves(REMOVES_THE_ENTRY, killed_by="remove3-keeps-special-files")
def test_remove_removes_it(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    make(nfs3, scratch, kind)
    expect(nfs3.remove(scratch.handle, b"object")).ok()
    expect(scratch.names(), "the names in the directory").equals([])


@pytest.mark.parametrize("kind", SPECIAL)
@proves(OF_SUBDIRECTORIES, killed_by="rmdir3-removes-special-files")
def test_rmdir_keeps_it(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    make(nfs3, scratch, kind)
    reply = nfs3.rmdir(scratch.handle, b"object")
    expect(scratch.names(), "the names in the directory").equals([b"object"])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@pytest.mark.parametrize("kind", SPECIAL)
@proves(LINKS, killed_by="link3-makes-files-of-special-files", needs="hardlink")
def test_link_names_the_same_object(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
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
@proves(RENAMES, killed_by="rename3-loses-special-files")
def test_rename_moves_the_object(nfs3: Nfs3, place: Place, kind: str) -> None:
    known = place.scratch.attributes(make(nfs3, place.scratch, kind, b"old", directory=place.here))
    expect(nfs3.rename(place.here, b"old", place.elsewhere, b"new")).ok()
    expect(place.names(), "the names in the directory that it left").equals([])
    expect(_identity(nfs3, place.elsewhere, b"new"), "fileid and type").equals(
        (known.fileid, known.type.name)
    )


@pytest.mark.parametrize(("source", "target"), _PAIRS)
@proves(REPLACES, killed_by="rename3-replaces-only-files-by-files")
def test_rename_replaces_it(nfs3: Nfs3, scratch: Scratch, source: str, target: str) -> None:
    known = scratch.attributes(make(nfs3, scratch, source, b"source"))
    make(nfs3, scratch, target, b"target", data=b"other")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    # What was replaced may be kept under a name of the server's own while it is in use.
    expect(scratch.names(), "the names in the directory").lacks(b"source")
    expect(_identity(nfs3, scratch.handle, b"target"), "fileid and type").equals(
        (known.fileid, known.type.name)
    )


@pytest.mark.parametrize(("source", "target"), _MIXED)
@proves(COMPATIBLE, killed_by="rename3-mixes-directories-with-others")
def test_rename_does_not_mix_directories_with_others(
    nfs3: Nfs3, scratch: Scratch, source: str, target: str
) -> None:
    known = [scratch.attributes(make(nfs3, scratch, source, b"source"))]
    known.append(scratch.attributes(make(nfs3, scratch, target, b"target")))
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    seen = [_identity(nfs3, scratch.handle, name) for name in (b"source", b"target")]
    expect(seen, "fileid and type of source and target").equals(
        [(attributes.fileid, attributes.type.name) for attributes in known]
    )
    expect(reply).refused(*_INCOMPATIBLE, because=RENAME_EXIST_IS_MEANT)
