# SPDX-License-Identifier: MIT
"""MNT (RFC 1813 section 5.2.1): from a path to a file handle."""

from __future__ import annotations

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.mount import MountStat3
from nfsclient.protocol.nfs3 import Ftype3
from nfsjudge import Level, Part, Requirement, expect, observe, proves

NULL_ANSWERS = Requirement(rfc="RFC 1813", section="5.2.0", gist="NULL of MOUNT does nothing and is answered")
MAPS_A_PATH = Requirement(
    rfc="RFC 1813", section="5.2.1", gist="MNT maps the path of a directory to a file handle for NFSv3"
)
SAME_OBJECT = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    gist="the handle from MNT is one of the directory that the path describes",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,  # servers for diskless clients hand out files, such as those to swap in
    gist="the path that MNT takes describes a directory on the server",
)
MAPS_A_PATH_1 = Requirement(
    rfc="RFC 1094",
    section="A.5.2",
    gist="with status 0, MNT returns the file handle of the directory of the path",
)
FLAVORS = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    gist="auth_flavors names the flavors that the server takes with the handle",
)
NOENT_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="a path that does not exist is refused as such, or as not permitted",
)
NOTDIR_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="5.1.5",
    level=Level.SHOULD,
    gist="MNT3ERR_NOTDIR is the error for what is no directory",
)

AUTH_SYS = 1


@proves(NULL_ANSWERS, killed_by="mount3-null-returns-results", needs="mount")
def test_null_is_answered_without_results(mount_client: Mount) -> None:
    mount_client.null()


@proves(MAPS_A_PATH, killed_by="mnt3-gives-an-unusable-handle", needs="mount")
def test_gives_a_handle_that_works(mount_client: Mount, nfs3: Nfs3, target: TargetView) -> None:
    for _ in range(2):  # mounting again is as good as the first time
        resok = expect(mount_client.mnt(target.address.export.encode())).ok()
        attributes = expect(nfs3.getattr(resok.fhandle)).ok().obj_attributes
        expect(attributes.type, "type of what was mounted").equals(Ftype3.NF3DIR)
        observe("handle", f"{len(resok.fhandle)} bytes")


@proves(SAME_OBJECT, killed_by="mnt3-mounts-another-directory", needs="mount")
def test_gives_the_same_directory_each_time(
    mount_client: Mount, nfs3: Nfs3, target: TargetView, scratch: Scratch
) -> None:
    del scratch  # with it the export is not empty: there is another directory to mount by mistake
    path = target.address.export.encode()
    first, second = (expect(mount_client.mnt(path)).ok().fhandle for _ in range(2))
    one = expect(nfs3.getattr(first)).ok().obj_attributes
    other = expect(nfs3.getattr(second)).ok().obj_attributes
    expect((other.fsid, other.fileid), "fsid and fileid behind the second handle").equals(
        (one.fsid, one.fileid)
    )


@proves(FLAVORS, killed_by="mnt3-names-no-flavors", needs="mount")
def test_names_the_flavor_that_works(mount_client: Mount, nfs3: Nfs3, target: TargetView) -> None:
    reply = mount_client.mnt(target.address.export.encode())
    resok = expect(reply).ok()
    expect(nfs3.getattr(resok.fhandle)).ok()
    observe("auth_flavors", resok.auth_flavors)
    expect(reply).field("mountinfo.auth_flavors").contains(AUTH_SYS)


@proves(MAPS_A_PATH, killed_by="mnt3-mounts-what-is-not-there", needs="mount")
def test_refuses_a_path_that_does_not_exist(mount_client: Mount, target: TargetView) -> None:
    path = target.address.export.rstrip("/").encode() + b"/nfsproof-never-made-this"
    reply = mount_client.mnt(path)
    expect(reply).refused(MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES, because=NOENT_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="mnt3-mounts-a-file", needs="mount")
def test_refuses_a_file(mount_client: Mount, target: TargetView, scratch: Scratch) -> None:
    scratch.file("file")
    path = b"/".join([target.address.export.rstrip("/").encode(), scratch.name, b"file"])
    reply = mount_client.mnt(path)
    # A server that mounts exports only does not look at what lies below them.
    below = (MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES)
    expect(reply).refused(MountStat3.MNT3ERR_NOTDIR, *below, because=NOTDIR_IS_MEANT)


@proves(MAPS_A_PATH_1, killed_by="mnt1-mounts-what-is-not-there", needs="mount1")
def test_version_1_refuses_a_path_that_does_not_exist(mount1_client: Mount, target: TargetView) -> None:
    path = target.address.export.rstrip("/").encode() + b"/nfsproof-never-made-this"
    reply = mount1_client.mnt1(path)
    expect(int(reply.status), "status of MNT version 1").differs_from(0)
