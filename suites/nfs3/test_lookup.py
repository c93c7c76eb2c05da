# SPDX-License-Identifier: MIT
"""LOOKUP (RFC 1813 section 3.3.3): the handle of the object with a given name."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_attributes,
    expect_that,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.clauses import (
    DOTDOT_IS_THE_PARENT,
    LONG_NAMES_RETURN_NAMETOOLONG,
    RETURNS_NAMETOOLONG,
    RETURNS_NOENT,
    RETURNS_NOTDIR,
)
from suites.nfs3.exports import exported
from suites.nfs3.file_types import KINDS, make
from suites.nfs3.limits import name_limit_of

LOOKUP_RETURNS_HANDLE = stated(
    "RFC 1813", "3.3.3", "LOOKUP returns the file handle of the object with the given name", harm=Harm.DATA
)
LOOKUP_RETURNS_ATTRIBUTES = stated(
    "RFC 1813",
    "3.3.3",
    "LOOKUP returns the attributes of the object (obj_attributes) and of the directory (dir_attributes)",
)
LOOKUP_NEEDS_AN_ENTRY = stated(
    "RFC 1813", "3.3.3", "LOOKUP returns no handle for a name that is not in the directory"
)
LOOKUP_NEEDS_A_DIRECTORY = stated(
    "RFC 1813", "3.3.3", "LOOKUP searches a directory: other objects have no entries"
)
DOT_IS_THE_DIRECTORY = should("RFC 1813", "3.2", 'the name "." refers to the directory itself')
EXPORT_HAS_ONE_ROOT = should(
    "RFC 1813",
    "3.3.3",
    'an export is a single-rooted tree: ".." of the root does not lead out of it',
    part=Part.IMPLEMENTATION,
)
LOOKUP_DOES_NOT_FOLLOW_SYMLINKS = should(
    "RFC 1813", "3.3.3", "LOOKUP does not follow symbolic links", part=Part.IMPLEMENTATION
)
LOOKUP_SEARCHES_ITS_DIRECTORY = stated(
    "RFC 1813", "3.3.3", "LOOKUP searches the directory of its handle and no other", harm=Harm.OBJECT
)


@proves(LOOKUP_RETURNS_HANDLE, killed_by="lookup3-returns-another-entry")
def test_finds_object(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP returns the handle of the object with the given name."""
    known = scratch.attributes(scratch.file("wanted"))
    scratch.file("other")
    resok = expect(nfs3.lookup(scratch.handle, b"wanted")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found).field("fileid", "fileid of the object found").equals(known.fileid)


@proves(LOOKUP_RETURNS_ATTRIBUTES, killed_by="lookup3-attributes-of-the-directory")
def test_object_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP returns the attributes of the object in obj_attributes."""
    known = scratch.attributes(scratch.file("file", b"data", mode=0o640))
    reply = nfs3.lookup(scratch.handle, b"file")
    if expect(reply).ok().obj_attributes is None:
        unsupported("LOOKUP returns no obj_attributes")
    for name in ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid"):
        expect(reply).field(f"resok.obj_attributes.{name}").equals(getattr(known, name))


@proves(LOOKUP_RETURNS_ATTRIBUTES, killed_by="lookup3-dir-attributes-of-the-object")
def test_dir_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP returns the attributes of the directory in dir_attributes."""
    scratch.file("file")
    known = scratch.attributes()
    reply = nfs3.lookup(scratch.handle, b"file")
    if expect(reply).ok().dir_attributes is None:
        unsupported("LOOKUP returns no dir_attributes")
    for name in ("type", "fsid", "fileid"):
        expect(reply).field(f"resok.dir_attributes.{name}").equals(getattr(known, name))


@proves(LOOKUP_NEEDS_AN_ENTRY, killed_by="lookup3-finds-every-name")
def test_missing_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP of a name that does not exist fails with NFS3ERR_NOENT."""
    reply = nfs3.lookup(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(LOOKUP_NEEDS_AN_ENTRY, killed_by="lookup3-finds-removed-names")
def test_removed_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP does not find a file that was removed."""
    scratch.file("removed")
    expect(nfs3.remove(scratch.handle, b"removed")).ok()
    reply = nfs3.lookup(scratch.handle, b"removed")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(LOOKUP_NEEDS_A_DIRECTORY, killed_by="lookup3-finds-names-in-files")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    reply = nfs3.lookup(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(DOT_IS_THE_DIRECTORY, killed_by="lookup3-does-not-find-dot")
def test_dot(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP of "." returns the directory itself."""
    resok = expect(nfs3.lookup(scratch.handle, b".")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found).field("fileid", "fileid of '.'").equals(scratch.attributes().fileid)


@proves(DOTDOT_IS_THE_PARENT, killed_by="lookup3-dotdot-is-the-directory-itself")
def test_dotdot(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP of ".." returns the parent directory."""
    resok = expect(nfs3.lookup(scratch.directory("child"), b"..")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found).field("fileid", "fileid of '..'").equals(scratch.attributes().fileid)


@proves(EXPORT_HAS_ONE_ROOT, killed_by="lookup3-leaves-the-export", needs="mount")
def test_dotdot_of_root(nfs3: Nfs3, mount3: Mount, target: TargetView, scratch: Nfs3Scratch) -> None:
    """LOOKUP of ".." in the root of the export does not leave the export."""
    del scratch  # it only gives the export a second directory that the server could return by mistake
    path = target.address.export.encode()
    if path not in exported(mount3):
        skip("EXPORT does not list the mounted path, which may be a subdirectory of an export")
    root = expect(mount3.mnt(path)).ok().fhandle
    reply = nfs3.lookup(root, b"..")
    observe("LOOKUP of '..' in the root", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    found = expect(nfs3.getattr(reply.resok.object)).ok().obj_attributes
    known = expect(nfs3.getattr(root)).ok().obj_attributes
    expect_attributes(found, "'..' in the root", fsid=known.fsid, fileid=known.fileid)


@proves(LOOKUP_DOES_NOT_FOLLOW_SYMLINKS, killed_by="lookup3-follows-symlinks", needs="symlink")
def test_symlink_not_followed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP of a symbolic link returns the link, not its target."""
    scratch.file("file")
    scratch.symlink("link", b"file")
    resok = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found).field("type", "type of the object found").equals(Ftype3.NF3LNK)


@proves(
    LONG_NAMES_RETURN_NAMETOOLONG,
    RETURNS_NAMETOOLONG,
    killed_by="lookup3-too-long-is-noent",
    needs="no_trunc",
)
def test_name_too_long(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP of a name longer than name_max fails with NFS3ERR_NAMETOOLONG."""
    limit = name_limit_of(nfs3, scratch.handle)
    reply = nfs3.lookup(scratch.handle, b"n" * (limit.name_max + 1))
    expect(reply, because=limit.status).status(Nfsstat3.NFS3ERR_NAMETOOLONG)


# ---------------------------------------------------------------- another export


@proves(LOOKUP_SEARCHES_ITS_DIRECTORY, killed_by="lookup3-finds-names-of-the-first-export")
def test_across_exports(nfs3: Nfs3, scratch: Nfs3Scratch, elsewhere: bytes) -> None:
    """LOOKUP in another export does not find a directory of this one."""
    reply = nfs3.lookup(elsewhere, scratch.name)
    if reply.resok is None:
        expect(reply).refused()
        return
    # One directory may be exported twice, with a different fsid in each export.
    attributes = nfs3.getattr(reply.resok.object)
    found = expect(attributes).ok().obj_attributes
    home = scratch.attributes()
    expect_that(
        (found.fsid, found.fileid) != (home.fsid, home.fileid),
        "another object than in the first export",
        f"the same one (fsid {found.fsid}, fileid {found.fileid})",
        "object found in the other export",
        reply=attributes,
        field="resok.obj_attributes.fileid",
    )


# ---------------------------------------------------------------- objects of every type


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_RETURNS_HANDLE, killed_by="lookup3-returns-another-type")
def test_attributes_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """LOOKUP returns the attributes of an object of any type."""
    handle = make(nfs3, scratch, kind, b"found")
    reply = nfs3.lookup(scratch.handle, b"found")
    found = expect(reply).ok()
    if found.obj_attributes is None:
        unsupported("LOOKUP returns no obj_attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_RETURNS_HANDLE, killed_by="lookup3-returns-the-directory")
def test_finds_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """LOOKUP returns the handle of an object of any type."""
    known = scratch.attributes(make(nfs3, scratch, kind, b"wanted"))
    found = expect(nfs3.lookup(scratch.handle, b"wanted")).ok()
    seen = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect_attributes(seen, "the object found", fileid=known.fileid, type=KINDS[kind])
