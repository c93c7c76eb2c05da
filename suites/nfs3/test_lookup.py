# SPDX-License-Identifier: MIT
"""LOOKUP (RFC 1813 section 3.3.3): the handle of the object with a given name."""

from __future__ import annotations

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.creating import RETURNS_NOTDIR
from suites.nfs3.exporting import exported
from suites.nfs3.naming import RETURNS_NOENT

LOOKUP_RETURNS_HANDLE = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    gist="LOOKUP returns the file handle of the object with the given name",
)
LOOKUP_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    gist="LOOKUP returns the attributes of the object (obj_attributes) and of the directory (dir_attributes)",
)
LOOKUP_NEEDS_AN_ENTRY = Requirement(
    rfc="RFC 1813", section="3.3.3", gist="LOOKUP returns no handle for a name that is not in the directory"
)
LOOKUP_NEEDS_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.3", gist="LOOKUP searches a directory: other objects have no entries"
)
DOT_IS_THE_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.2", level=Level.SHOULD, gist='the name "." refers to the directory itself'
)
DOTDOT_IS_THE_PARENT = Requirement(
    rfc="RFC 1813", section="3.2", level=Level.SHOULD, gist='the name ".." refers to the parent directory'
)
EXPORT_HAS_ONE_ROOT = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist='an export is a single-rooted tree: ".." of the root does not lead out of it',
)
LOOKUP_DOES_NOT_FOLLOW_SYMLINKS = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="LOOKUP does not follow symbolic links",
)
LONG_NAMES_RETURN_NAMETOOLONG = Requirement(
    rfc="RFC 1813",
    section="3.2",
    # Such a name does not exist either, and errors have no order of precedence (section 2.5).
    level=Level.SHOULD,
    gist="with no_trunc, an operation on a name longer than name_max returns NFS3ERR_NAMETOOLONG",
)


@proves(LOOKUP_RETURNS_HANDLE, killed_by="lookup3-finds-another-object")
def test_finds_the_object_of_the_name(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP returns the handle of the object with the given name."""
    known = scratch.attributes(scratch.file("wanted"))
    scratch.file("other")
    resok = expect(nfs3.lookup(scratch.handle, b"wanted")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.fileid, "fileid behind the handle").equals(known.fileid)


@proves(LOOKUP_RETURNS_ATTRIBUTES, killed_by="lookup3-attributes-of-the-directory")
def test_attributes_are_those_of_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP returns the attributes of the object in obj_attributes."""
    known = scratch.attributes(scratch.file("file", b"data", mode=0o640))
    reply = nfs3.lookup(scratch.handle, b"file")
    if expect(reply).ok().obj_attributes is None:
        unsupported("the server withholds the attributes of the object")
    for name in ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid"):
        expect(reply).field(f"resok.obj_attributes.{name}").equals(getattr(known, name))


@proves(LOOKUP_RETURNS_ATTRIBUTES, killed_by="lookup3-dir-attributes-of-the-object")
def test_dir_attributes_are_those_of_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP returns the attributes of the directory in dir_attributes."""
    scratch.file("file")
    known = scratch.attributes()
    reply = nfs3.lookup(scratch.handle, b"file")
    if expect(reply).ok().dir_attributes is None:
        unsupported("the server withholds the attributes of the directory")
    for name in ("type", "fsid", "fileid"):
        expect(reply).field(f"resok.dir_attributes.{name}").equals(getattr(known, name))


@proves(LOOKUP_NEEDS_AN_ENTRY, killed_by="lookup3-finds-what-is-not-there")
def test_finds_nothing_where_nothing_is(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP of a name that does not exist fails with NFS3ERR_NOENT."""
    reply = nfs3.lookup(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(LOOKUP_NEEDS_AN_ENTRY, killed_by="lookup3-finds-removed-names")
def test_does_not_find_what_was_removed(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP does not find a file that was removed."""
    scratch.file("removed")
    expect(nfs3.remove(scratch.handle, b"removed")).ok()
    reply = nfs3.lookup(scratch.handle, b"removed")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(LOOKUP_NEEDS_A_DIRECTORY, killed_by="lookup3-looks-into-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    reply = nfs3.lookup(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(DOT_IS_THE_DIRECTORY, killed_by="lookup3-does-not-know-dot")
def test_dot_is_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP of "." returns the directory itself."""
    resok = expect(nfs3.lookup(scratch.handle, b".")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.fileid, "fileid of .").equals(scratch.attributes().fileid)


@proves(DOTDOT_IS_THE_PARENT, killed_by="lookup3-takes-dotdot-for-dot")
def test_dotdot_is_the_parent(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP of ".." returns the parent directory."""
    resok = expect(nfs3.lookup(scratch.directory("child"), b"..")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.fileid, "fileid of ..").equals(scratch.attributes().fileid)


@proves(EXPORT_HAS_ONE_ROOT, killed_by="lookup3-leaves-the-export", needs="mount")
def test_dotdot_of_the_root_does_not_leave_the_export(
    nfs3: Nfs3, mount_client: Mount, target: TargetView, scratch: Scratch
) -> None:
    """LOOKUP of ".." in the root of the export does not leave the export."""
    del scratch  # it only gives the export a second directory that the server could return by mistake
    path = target.address.export.encode()
    if path not in exported(mount_client):
        skip("the mounted path does not stand in the list of exports: it may lie inside one")
    root = expect(mount_client.mnt(path)).ok().fhandle
    reply = nfs3.lookup(root, b"..")
    observe(".. of the root", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    found = expect(nfs3.getattr(reply.resok.object)).ok().obj_attributes
    known = expect(nfs3.getattr(root)).ok().obj_attributes
    expect((found.fsid, found.fileid), "fsid and fileid of .. at the root").equals((known.fsid, known.fileid))


@proves(LOOKUP_DOES_NOT_FOLLOW_SYMLINKS, killed_by="lookup3-follows-symlinks", needs="symlink")
def test_does_not_follow_a_symbolic_link(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP of a symbolic link returns the link, not its target."""
    scratch.file("file")
    scratch.symlink("link", b"file")
    resok = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.type, "type of what the name stands for").equals(Ftype3.NF3LNK)


@proves(LONG_NAMES_RETURN_NAMETOOLONG, killed_by="lookup3-long-names-do-not-exist", needs="no_trunc")
def test_a_name_that_is_too_long_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP of a name longer than name_max fails with NFS3ERR_NAMETOOLONG."""
    longest = expect(nfs3.pathconf(scratch.handle)).ok().name_max
    observe("name_max", longest)
    if longest > 4096:
        skip(f"name_max is {longest}: no length to try")
    reply = nfs3.lookup(scratch.handle, b"n" * (longest + 1))
    expect(reply).status(Nfsstat3.NFS3ERR_NAMETOOLONG)
