# SPDX-License-Identifier: MIT
"""LOOKUP (RFC 1813 section 3.3.3): from a name in a directory to a handle."""

from __future__ import annotations

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.exporting import exported

FINDS_THE_OBJECT = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    gist="LOOKUP returns the file handle of the object that the name stands for",
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    gist="obj_attributes are those of the object, dir_attributes of the directory",
)
ONLY_WHAT_IS_THERE = Requirement(
    rfc="RFC 1813", section="3.3.3", gist="a name that does not stand in the directory has no handle"
)
NOENT_IS_MEANT = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="NOENT says that the name does not exist"
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.3", gist="LOOKUP searches a directory: another object has no names in it"
)
NOTDIR_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NOTDIR is the error for a directory operation on an object that is no directory",
)
DOT = Requirement(
    rfc="RFC 1813", section="3.2", level=Level.SHOULD, gist="the name . is handled as the directory itself"
)
DOTDOT = Requirement(
    rfc="RFC 1813", section="3.2", level=Level.SHOULD, gist="the name .. is handled as the parent directory"
)
SINGLE_ROOT = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="an export is a single-rooted tree: .. of its root does not lead out of it",
)
NO_FOLLOWING = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="LOOKUP does not follow symbolic links",
)
TOO_LONG = Requirement(
    rfc="RFC 1813",
    section="3.2",
    # Such a name does not exist either, and errors have no order of precedence (section 2.5).
    level=Level.SHOULD,
    gist="with no_trunc, an operation on a name longer than name_max fails with NAMETOOLONG",
)


@proves(FINDS_THE_OBJECT, killed_by="lookup3-finds-another-object")
def test_finds_the_object_of_the_name(nfs3: Nfs3, scratch: Scratch) -> None:
    known = scratch.attributes(scratch.file("wanted"))
    scratch.file("other")
    resok = expect(nfs3.lookup(scratch.handle, b"wanted")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.fileid, "fileid behind the handle").equals(known.fileid)


@proves(ATTRIBUTES, killed_by="lookup3-attributes-of-the-directory")
def test_attributes_are_those_of_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    known = scratch.attributes(scratch.file("file", b"data", mode=0o640))
    reply = nfs3.lookup(scratch.handle, b"file")
    if expect(reply).ok().obj_attributes is None:
        unsupported("the server withholds the attributes of the object")
    for name in ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid"):
        expect(reply).field(f"resok.obj_attributes.{name}").equals(getattr(known, name))


@proves(ATTRIBUTES, killed_by="lookup3-dir-attributes-of-the-object")
def test_dir_attributes_are_those_of_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file")
    known = scratch.attributes()
    reply = nfs3.lookup(scratch.handle, b"file")
    if expect(reply).ok().dir_attributes is None:
        unsupported("the server withholds the attributes of the directory")
    for name in ("type", "fsid", "fileid"):
        expect(reply).field(f"resok.dir_attributes.{name}").equals(getattr(known, name))


@proves(ONLY_WHAT_IS_THERE, killed_by="lookup3-finds-what-is-not-there")
def test_finds_nothing_where_nothing_is(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.lookup(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(ONLY_WHAT_IS_THERE, killed_by="lookup3-finds-removed-names")
def test_does_not_find_what_was_removed(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("removed")
    expect(nfs3.remove(scratch.handle, b"removed")).ok()
    reply = nfs3.lookup(scratch.handle, b"removed")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="lookup3-looks-into-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.lookup(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@proves(DOT, killed_by="lookup3-does-not-know-dot")
def test_dot_is_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    resok = expect(nfs3.lookup(scratch.handle, b".")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.fileid, "fileid of .").equals(scratch.attributes().fileid)


@proves(DOTDOT, killed_by="lookup3-takes-dotdot-for-dot")
def test_dotdot_is_the_parent(nfs3: Nfs3, scratch: Scratch) -> None:
    resok = expect(nfs3.lookup(scratch.directory("child"), b"..")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.fileid, "fileid of ..").equals(scratch.attributes().fileid)


@proves(SINGLE_ROOT, killed_by="lookup3-leaves-the-export", needs="mount")
def test_dotdot_of_the_root_does_not_leave_the_export(
    nfs3: Nfs3, mount_client: Mount, target: TargetView, scratch: Scratch
) -> None:
    del scratch  # with it the export has another directory to reach by mistake
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


@proves(NO_FOLLOWING, killed_by="lookup3-follows-symlinks", needs="symlink")
def test_does_not_follow_a_symbolic_link(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file")
    scratch.symlink("link", b"file")
    resok = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    found = expect(nfs3.getattr(resok.object)).ok().obj_attributes
    expect(found.type, "type of what the name stands for").equals(Ftype3.NF3LNK)


@proves(TOO_LONG, killed_by="lookup3-long-names-do-not-exist", needs="no_trunc")
def test_a_name_that_is_too_long_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    longest = expect(nfs3.pathconf(scratch.handle)).ok().name_max
    observe("name_max", longest)
    if longest > 4096:
        skip(f"name_max is {longest}: no length to try")
    reply = nfs3.lookup(scratch.handle, b"n" * (longest + 1))
    expect(reply).status(Nfsstat3.NFS3ERR_NAMETOOLONG)
