# SPDX-License-Identifier: MIT
"""MNT of MOUNT version 3 (RFC 1813 section 5.2.1)."""

from __future__ import annotations

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.mount import MountStat3
from nfsclient.protocol.nfs3 import Ftype3
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.mount.clauses import MNT_MOUNTS_DIRECTORIES, MNT_RETURNS_HANDLE, NULL_RETURNS_NOTHING

MNT_LISTS_ACCEPTED_FLAVORS = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    gist="auth_flavors lists the flavors that the server accepts with the handle",
)
MNT_RETURNS_NOENT = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="MNT returns MNT3ERR_NOENT or MNT3ERR_ACCES for a path that does not exist",
)
MNT_RETURNS_NOTDIR = Requirement(
    rfc="RFC 1813",
    section="5.1.5",
    level=Level.SHOULD,
    gist="MNT3ERR_NOTDIR reports a path that is not a directory",
)

AUTH_SYS = 1


@proves(NULL_RETURNS_NOTHING.new, killed_by="mount3-null-returns-results", needs="mount")
def test_null_is_answered_without_results(mount_client: Mount) -> None:
    """MOUNT answers NULL without results."""
    mount_client.null()


@proves(MNT_RETURNS_HANDLE.new, killed_by="mnt3-gives-an-unusable-handle", needs="mount")
def test_gives_a_handle_that_works(mount_client: Mount, nfs3: Nfs3, target: TargetView) -> None:
    """MNT returns a usable handle of a directory."""
    for _ in range(2):  # a second MNT of the same path works like the first
        resok = expect(mount_client.mnt(target.address.export.encode())).ok()
        attributes = expect(nfs3.getattr(resok.fhandle)).ok().obj_attributes
        expect(attributes.type, "type of what was mounted").equals(Ftype3.NF3DIR)
        observe("handle", f"{len(resok.fhandle)} bytes")


@proves(MNT_RETURNS_HANDLE.new, killed_by="mnt3-mounts-another-directory", needs="mount")
def test_gives_the_same_directory_each_time(
    mount_client: Mount, nfs3: Nfs3, target: TargetView, scratch: Scratch
) -> None:
    """MNT returns the same directory every time."""
    del scratch  # it makes the export contain a directory that a server could mount by mistake
    path = target.address.export.encode()
    first, second = (expect(mount_client.mnt(path)).ok().fhandle for _ in range(2))
    one = expect(nfs3.getattr(first)).ok().obj_attributes
    other = expect(nfs3.getattr(second)).ok().obj_attributes
    expect((other.fsid, other.fileid), "fsid and fileid behind the second handle").equals(
        (one.fsid, one.fileid)
    )


@proves(MNT_LISTS_ACCEPTED_FLAVORS, killed_by="mnt3-names-no-flavors", needs="mount")
def test_names_the_flavor_that_works(mount_client: Mount, nfs3: Nfs3, target: TargetView) -> None:
    """MNT lists AUTH_SYS where the server accepts it."""
    reply = mount_client.mnt(target.address.export.encode())
    resok = expect(reply).ok()
    expect(nfs3.getattr(resok.fhandle)).ok()
    observe("auth_flavors", resok.auth_flavors)
    expect(reply).field("mountinfo.auth_flavors").contains(AUTH_SYS)


@proves(MNT_RETURNS_HANDLE.new, killed_by="mnt3-mounts-what-is-not-there", needs="mount")
def test_refuses_a_path_that_does_not_exist(mount_client: Mount, target: TargetView) -> None:
    """MNT refuses a path that does not exist."""
    path = target.address.export.rstrip("/").encode() + b"/nfsproof-never-made-this"
    reply = mount_client.mnt(path)
    expect(reply).refused(MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES, because=MNT_RETURNS_NOENT)


@proves(MNT_MOUNTS_DIRECTORIES.new, killed_by="mnt3-mounts-a-file", needs="mount")
def test_refuses_a_file(mount_client: Mount, target: TargetView, scratch: Scratch) -> None:
    """MNT refuses a regular file."""
    scratch.file("file")
    path = b"/".join([target.address.export.rstrip("/").encode(), scratch.name, b"file"])
    reply = mount_client.mnt(path)
    # A server that only mounts exports does not look at paths below them.
    below = (MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES)
    expect(reply).refused(MountStat3.MNT3ERR_NOTDIR, *below, because=MNT_RETURNS_NOTDIR)


@proves(MNT_RETURNS_HANDLE.old, killed_by="mnt1-mounts-what-is-not-there", needs="mount1")
def test_version_1_refuses_a_path_that_does_not_exist(mount1_client: Mount, target: TargetView) -> None:
    """MNT of MOUNT version 1 refuses a path that does not exist."""
    path = target.address.export.rstrip("/").encode() + b"/nfsproof-never-made-this"
    reply = mount1_client.mnt1(path)
    expect(int(reply.status), "status of MNT version 1").differs_from(0)
