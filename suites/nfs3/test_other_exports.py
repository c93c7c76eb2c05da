# SPDX-License-Identifier: MIT
"""Handles of another export (RFC 1813 sections 3.3.3, 3.3.14, 3.3.15): names and links do not cross file systems."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, unsupported
from suites.nfs3.exporting import exported
from suites.nfs3.naming import NLINK_COUNTS

RENAME_STAYS = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.MUST,
    gist="from.dir and to.dir must be on the same file system, or RENAME fails",
)
LINK_STAYS = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    level=Level.MUST,
    gist="file and link.dir must be on the same file system",
)
XDEV_OF_RENAME = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="RENAME from one file system to another is refused with XDEV",
)
XDEV_OF_LINK = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="LINK from one file system to another is refused with XDEV, as RENAME is",
)
IN_THE_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.3", gist="LOOKUP searches the directory of the handle, and no other one"
)
# Permission, and what may not be written, are looked at first by many.
NOT_ALLOWED = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS)


@pytest.fixture
def elsewhere(nfs3: Nfs3, scratch: Scratch, mount_client: Mount) -> bytes:
    """The root of another export, on another file system. UNSUPPORTED where there is none for this client."""
    home, roots = scratch.attributes().fsid, []
    for path in exported(mount_client):
        mounted = mount_client.mnt(path)
        if mounted.resok is None:
            continue
        reply = nfs3.getattr(mounted.resok.fhandle)
        if reply.resok is not None and reply.resok.obj_attributes.fsid != home:
            roots.append(mounted.resok.fhandle)
    if not roots:
        unsupported("the target has no other export on another file system")
    return roots[0]


def _leave_nothing(nfs3: Nfs3, elsewhere: bytes, name: bytes, status: Nfsstat3) -> None:
    """Take away what a server has made that it should have refused to make."""
    if status == Nfsstat3.NFS3_OK:
        observe("REMOVE of it", nfs3.remove(elsewhere, name).status)


@proves(
    RENAME_STAYS, XDEV_OF_RENAME, killed_by=("rename3-loses-across-exports", "rename3-across-exports-is-io")
)
def test_a_file_is_not_renamed_into_another_export(nfs3: Nfs3, scratch: Scratch, elsewhere: bytes) -> None:
    scratch.file("f", b"data")
    name = scratch.name + b"-renamed"
    reply = nfs3.rename(scratch.handle, b"f", elsewhere, name)
    _leave_nothing(nfs3, elsewhere, name, reply.status)
    expect(reply).refused()
    expect(scratch.lookup("f"), "the file under its old name").is_present()
    expect(reply).refused(Nfsstat3.NFS3ERR_XDEV, *NOT_ALLOWED, because=XDEV_OF_RENAME)


@proves(
    LINK_STAYS,
    XDEV_OF_LINK,
    killed_by=("link3-copies-across-exports", "link3-across-exports-is-io"),
    needs="hardlink",
)
def test_a_file_is_not_linked_into_another_export(nfs3: Nfs3, scratch: Scratch, elsewhere: bytes) -> None:
    file = scratch.file("f", b"data")
    known = scratch.attributes(file).nlink
    name = scratch.name + b"-linked"
    reply = nfs3.link(file, elsewhere, name)
    _leave_nothing(nfs3, elsewhere, name, reply.status)
    expect(reply).refused()
    expect(scratch.attributes(file).nlink, "nlink", because=NLINK_COUNTS).equals(known)
    expect(reply).refused(Nfsstat3.NFS3ERR_XDEV, *NOT_ALLOWED, because=XDEV_OF_LINK)


@proves(IN_THE_DIRECTORY, killed_by="lookup3-looks-into-the-first-export")
def test_another_export_has_names_of_its_own(nfs3: Nfs3, scratch: Scratch, elsewhere: bytes) -> None:
    reply = nfs3.lookup(elsewhere, scratch.name)
    if reply.resok is None:
        expect(reply).refused()
        return
    # One directory may be exported twice, with a number of its own for each export.
    found = expect(nfs3.getattr(reply.resok.object)).ok().obj_attributes
    home = scratch.attributes()
    expect((found.fsid, found.fileid), "fsid and fileid of the name in the other export").differs_from(
        (home.fsid, home.fileid)
    )
