# SPDX-License-Identifier: MIT
"""RENAME (RFC 1813 section 3.3.14) of every type of object, by invalid handles, across exports, and its wcc_data."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, WccAttr
from nfsjudge import (
    Part,
    expect,
    expect_names,
    expect_that,
    must,
    proves,
    should,
    unsupported,
)
from suites.clauses import RENAME_MOVES_ALL
from suites.moved import expect_entries_moved, expect_parent_of_now
from suites.nfs3.attributes import expect_before, identity_of
from suites.nfs3.calls import Place
from suites.nfs3.clauses import (
    BAD_HANDLE_REACHES_NOTHING,
    RENAME_NEEDS_COMPATIBLE_TARGET,
    RENAME_REPLACES_TARGET,
    RENAME_RETURNS_EXIST,
    RENAME_WCC,
    RENAMES_THE_OBJECT,
    RETURNS_BADHANDLE,
)
from suites.nfs3.common import CommonNfs3
from suites.nfs3.contents import pattern
from suites.nfs3.exports import remove_if_created
from suites.nfs3.file_types import SPECIAL, make
from suites.nfs3.statuses import INCOMPATIBLE, NOT_A_HANDLE, NOT_ALLOWED
from suites.nfs3.times import make_old
from suites.nfs3.wcc import wcc_of

RENAME_STAYS_IN_FILE_SYSTEM = must(
    "RFC 1813", "3.3.14", "RENAME fails unless from.dir and to.dir are on the same file system"
)
RENAME_RETURNS_XDEV = should(
    "RFC 1813",
    "3.3.14",
    "RENAME from one file system to another fails with NFS3ERR_XDEV",
    part=Part.IMPLEMENTATION,
)
PARENT_IS_WHERE_IT_IS = should(  # "commonly used"
    "RFC 1813",
    "3.2",
    'the name ".." refers to the directory that a directory is in now, not to one that it was in before',
)
OTHERS = ("symlink", *SPECIAL)
"""Types that are neither regular files nor directories."""
COMPATIBLE_PAIRS = [
    *(("regular", kind) for kind in SPECIAL),
    *((kind, "regular") for kind in OTHERS),
    *((kind, kind) for kind in OTHERS),
]
"""Source and target of RENAME, neither of them a directory; test_rename has a file over a file or a symbolic link."""
MIXED_PAIRS = [*(("directory", kind) for kind in OTHERS), *((kind, "directory") for kind in OTHERS)]


# ---------------------------------------------------------------- invalid handles


@pytest.mark.parametrize("which", ["from", "to"])
@proves(BAD_HANDLE_REACHES_NOTHING, killed_by="nfs3-bad-handle-is-inval")
def test_bad_handle(nfs3: Nfs3, place: Place, which: str) -> None:
    """RENAME with one invalid directory handle fails and renames nothing."""
    place.arrange("rename_from", b"name")
    nonsense = pattern(len(place.here), salt=77)
    source, target = (nonsense, place.elsewhere) if which == "from" else (place.here, nonsense)
    reply = nfs3.rename(source, b"name", target, b"new")
    expect_names(place.names(), [b"name"], "names in the directory")
    expect_names(place.scratch.names(place.elsewhere), [b"source"], "names in the other directory")
    expect(reply).refused(*NOT_A_HANDLE, because=RETURNS_BADHANDLE)


# ---------------------------------------------------------------- another file system


@proves(
    RENAME_STAYS_IN_FILE_SYSTEM,
    RENAME_RETURNS_XDEV,
    killed_by=("rename3-across-exports-removes-the-file", "rename3-across-exports-is-io"),
)
def test_across_exports(nfs3: Nfs3, scratch: Nfs3Scratch, elsewhere: bytes) -> None:
    """RENAME into an export on another file system fails and keeps the old name."""
    scratch.file("f", b"data")
    name = scratch.name + b"-renamed"
    reply = nfs3.rename(scratch.handle, b"f", elsewhere, name)
    remove_if_created(nfs3, elsewhere, name, reply.status)
    expect(reply).refused()
    expect_that(
        scratch.lookup("f") is not None,
        "success",
        "NFS3ERR_NOENT",
        "status of LOOKUP of the old name",
        operation="LOOKUP",
    )
    expect(reply).refused(Nfsstat3.NFS3ERR_XDEV, *NOT_ALLOWED, because=RENAME_RETURNS_XDEV)


# ---------------------------------------------------------------- types of objects


@pytest.mark.parametrize("kind", SPECIAL)
@proves(RENAMES_THE_OBJECT, killed_by="rename3-removes-special-files")
def test_special_file(nfs3: Nfs3, place: Place, kind: str) -> None:
    """RENAME moves a special file to another directory."""
    known = place.scratch.attributes(make(nfs3, place.scratch, kind, b"old", directory=place.here))
    expect(nfs3.rename(place.here, b"old", place.elsewhere, b"new")).ok()
    expect_names(place.names(), [], "names in the old directory")
    expect(identity_of(nfs3, place.elsewhere, b"new"), "fileid and type of the new name").equals(
        (known.fileid, known.type.name)
    )


@pytest.mark.parametrize(("source", "target"), COMPATIBLE_PAIRS)
@proves(RENAME_REPLACES_TARGET, killed_by="rename3-over-other-types-does-nothing")
def test_replaces_target(nfs3: Nfs3, scratch: Nfs3Scratch, source: str, target: str) -> None:
    """RENAME replaces a target that is not a directory if the source is not one either."""
    known = scratch.attributes(make(nfs3, scratch, source, b"source"))
    make(nfs3, scratch, target, b"target", data=b"other")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    # A server may keep the replaced object under a temporary name while it is in use.
    expect(scratch.names(), "names in the directory", field="entries").lacks(b"source")
    expect(identity_of(nfs3, scratch.handle, b"target"), "fileid and type of 'target'").equals(
        (known.fileid, known.type.name)
    )


@pytest.mark.parametrize(("source", "target"), MIXED_PAIRS)
@proves(RENAME_NEEDS_COMPATIBLE_TARGET, killed_by="rename3-replaces-other-types")
def test_mixed_types(nfs3: Nfs3, scratch: Nfs3Scratch, source: str, target: str) -> None:
    """RENAME does not replace a directory by an object of another type, or the reverse."""
    known = [scratch.attributes(make(nfs3, scratch, source, b"source"))]
    known.append(scratch.attributes(make(nfs3, scratch, target, b"target")))
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    seen = [identity_of(nfs3, scratch.handle, name) for name in (b"source", b"target")]
    for name, now, before in zip(("source", "target"), seen, known, strict=True):
        expect(now, f"fileid and type of {name!r}").equals((before.fileid, before.type.name))
    expect(reply).refused(*INCOMPATIBLE, because=RENAME_RETURNS_EXIST)


# ---------------------------------------------------------------- wcc_data


@pytest.mark.parametrize("arm", ["fromdir_wcc", "todir_wcc"], ids=["fromdir", "todir"])
@proves(RENAME_WCC, killed_by="rename3-before-is-of-the-other-directory")
def test_wcc_before_two_directories(nfs3: Nfs3, scratch: Nfs3Scratch, arm: str) -> None:
    """RENAME returns wcc_data.before of the old and of the new directory."""
    scratch.file("file")
    elsewhere = scratch.directory("elsewhere")
    make_old(nfs3, elsewhere)  # so that the two differ at least in their times
    known, other = scratch.attributes(), scratch.attributes(elsewhere)
    if arm == "todir_wcc":
        known, other = other, known
    reply = nfs3.rename(scratch.handle, b"file", elsewhere, b"file")
    before = wcc_of(reply, arm).before
    if before is None:
        unsupported("RENAME returned no wcc_data.before, which is optional")
    # Times of a directory may be updated later: that they are of the other one is worse.
    expect_that(
        before != WccAttr(other.size, other.mtime, other.ctime),
        "attributes of this directory",
        "those of the other directory",
        f"{arm}.before",
        reply=reply,
        field=f"resok.{arm}.before",
    )
    expect_before(reply, f"resok.{arm}.before", known)


@proves(RENAME_WCC, killed_by="rename3-returns-two-sizes-before")
def test_wcc_before_same_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME within one directory returns the same before in both wcc_data."""
    scratch.file("file")
    reply = nfs3.rename(scratch.handle, b"file", scratch.handle, b"new")
    known = wcc_of(reply, "fromdir_wcc").before
    if known is None or wcc_of(reply, "todir_wcc").before is None:
        unsupported("RENAME returned no wcc_data.before, which is optional")
    for name in ("size", "mtime", "ctime"):
        expect(reply).field(f"resok.todir_wcc.before.{name}").equals(getattr(known, name))


# ---------------------------------------------------------------- moved directories


@proves(PARENT_IS_WHERE_IT_IS, killed_by="lookup3-finds-the-first-parent")
def test_parent_of_now(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """After RENAME to another directory, LOOKUP of ".." in the moved directory finds that one."""
    expect_parent_of_now([CommonNfs3(nfs3), CommonNfs3(second_client)], scratch, PARENT_IS_WHERE_IT_IS)


@proves(RENAME_MOVES_ALL, killed_by="rename3-loses-an-entry")
def test_moved_for_others(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """A directory that RENAME has moved has its entries for a client that has listed it before, too."""
    expect_entries_moved([CommonNfs3(nfs3), CommonNfs3(second_client)], scratch, RENAME_MOVES_ALL)
