# SPDX-License-Identifier: MIT
"""Objects of every type (RFC 1813 section 2.5) in calls about the file system, or about a name in a directory."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Harm, expect, expect_names, expect_unchanged, proves, stated
from suites.nfs3.attributes import EVERYTHING, identity_of
from suites.nfs3.calls import ON_NAMES, Place, call_on
from suites.nfs3.clauses import RETURNS_EXIST, RETURNS_NOTDIR
from suites.nfs3.file_types import KINDS, SAMPLE, SPECIAL, make

FS_INFO_FOR_ANY_OBJECT = stated(
    "RFC 1813",
    "3.3.18",
    "FSSTAT, FSINFO (3.3.19) and PATHCONF (3.3.20) accept the handle of any object of the file system",
)
ONLY_DIRECTORIES_HAVE_NAMES = stated(
    "RFC 1813",
    "2.5",
    "only a directory has entries: an object of another type has no names, and none can be created in it",
    harm=Harm.OBJECT,
)
SYMLINK_IS_NOT_ITS_TARGET = stated(
    "RFC 1813",
    "2.5",
    "a handle refers to one object: that of a symbolic link is not that of the directory it points to",
    harm=Harm.OBJECT,
)
CREATING_REPLACES_NOTHING = stated(
    "RFC 1813",
    "3.3.9",
    "MKDIR, SYMLINK, MKNOD and LINK fail if the name exists, and leave the existing object unchanged",
    harm=Harm.OBJECT,
)
OVER_EXISTING = [
    *(("mkdir", kind) for kind in KINDS if kind not in {"regular", "directory"}),
    *(("symlink", kind) for kind in KINDS if kind != "regular"),
    *(("mknod", kind) for kind in KINDS if kind != "regular"),
    *(("link", kind) for kind in KINDS if kind not in {"regular", "directory"}),
]
"""Procedure and type of the existing object; the files of the procedures have the other pairs."""
OF_OBJECTS = [
    *(("fsstat", kind) for kind in SAMPLE),
    *(("fsinfo", kind) for kind in ("directory", "symlink")),
    ("pathconf", "symlink"),
]
"""Pairs that servers failed on, and one of PATHCONF; the files of FSSTAT and FSINFO have the regular file."""
IN_A_SPECIAL_FILE = [
    *((procedure, "fifo") for procedure in ON_NAMES),
    *(("lookup", kind) for kind in SPECIAL if kind != "fifo"),
    ("link", "socket"),
]
"""Every procedure in a FIFO, and LOOKUP in every type; LINK in a socket too, since one server failed there."""


# ---------------------------------------------------------------- calls about the file system


@pytest.mark.parametrize(("procedure", "kind"), OF_OBJECTS)
@proves(FS_INFO_FOR_ANY_OBJECT, killed_by="info3-refuses-non-files")
def test_fs_info(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, kind: str) -> None:
    """FSSTAT, FSINFO and PATHCONF accept handles of objects that are not regular files."""
    expect(call_on(nfs3, procedure, make(nfs3, scratch, kind))).ok()


# ---------------------------------------------------------------- names in an object that is not a directory


@pytest.mark.parametrize(("procedure", "kind"), IN_A_SPECIAL_FILE)
@proves(ONLY_DIRECTORIES_HAVE_NAMES, killed_by="names3-succeed-in-special-files")
def test_not_a_directory(nfs3: Nfs3, place: Place, procedure: str, kind: str) -> None:
    """An operation on a name in a special file fails with NFS3ERR_NOTDIR."""
    handle = make(nfs3, place.scratch, kind)
    reply = place.call(nfs3, procedure, b"name", handle)
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@pytest.mark.parametrize("procedure", ON_NAMES)
@proves(SYMLINK_IS_NOT_ITS_TARGET, killed_by="names3-follow-links-to-directories", needs="symlink")
def test_symlink_as_directory(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """An operation on a name in a symbolic link to a directory fails with NFS3ERR_NOTDIR."""
    link = place.scratch.symlink("link", b"here")
    place.arrange(procedure, b"name")
    known = place.names()
    reply = place.call(nfs3, procedure, b"name", link)
    expect_names(place.names(), known, "names in the directory that the link points to")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


# ---------------------------------------------------------------- creating over existing objects


@pytest.mark.parametrize(("procedure", "kind"), OVER_EXISTING)
@proves(CREATING_REPLACES_NOTHING, killed_by="names3-create-over-existing")
def test_nothing_replaced(nfs3: Nfs3, place: Place, procedure: str, kind: str) -> None:
    """MKDIR, SYMLINK, MKNOD and LINK do not replace an existing object."""
    there = make(nfs3, place.scratch, kind, b"there", directory=place.here)
    known = place.scratch.attributes(there)
    reply = place.call(nfs3, procedure, b"there")
    expect_unchanged(known, place.scratch.attributes(there), EVERYTHING)
    expect(identity_of(nfs3, place.here, b"there"), "fileid and type of the existing name").equals(
        (known.fileid, KINDS[kind].name)
    )
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)
