# SPDX-License-Identifier: MIT
"""Handles of another export (RFC 1813 sections 3.3.3, 3.3.14, 3.3.15): names and links stay in one file system."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, unsupported
from suites.nfs3.exporting import exported
from suites.nfs3.naming import NLINK_COUNTS

RENAME_STAYS_IN_FILE_SYSTEM = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.MUST,
    gist="RENAME fails unless from.dir and to.dir are on the same file system",
)
LINK_STAYS_IN_FILE_SYSTEM = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    level=Level.MUST,
    gist="LINK fails unless file and link.dir are on the same file system",
)
RENAME_RETURNS_XDEV = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="RENAME from one file system to another fails with NFS3ERR_XDEV",
)
LINK_RETURNS_XDEV = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="LINK from one file system to another fails with NFS3ERR_XDEV, as RENAME does",
)
LOOKUP_SEARCHES_ITS_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.3", gist="LOOKUP searches the directory of its handle and no other"
)
# Many servers check permissions and read-only exports first.
NOT_ALLOWED = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS)


@pytest.fixture
def elsewhere(nfs3: Nfs3, scratch: Scratch, mount_client: Mount) -> bytes:
    """The root of another export, on another file system. UNSUPPORTED if this client can mount none."""
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


def _remove_if_created(nfs3: Nfs3, elsewhere: bytes, name: bytes, status: Nfsstat3) -> None:
    """Remove what the server created although it should have refused to."""
    if status == Nfsstat3.NFS3_OK:
        observe("REMOVE of it", nfs3.remove(elsewhere, name).status)


@proves(
    RENAME_STAYS_IN_FILE_SYSTEM,
    RENAME_RETURNS_XDEV,
    killed_by=("rename3-loses-across-exports", "rename3-across-exports-is-io"),
)
def test_a_file_is_not_renamed_into_another_export(nfs3: Nfs3, scratch: Scratch, elsewhere: bytes) -> None:
    """RENAME into an export on another file system fails and keeps the old name."""
    scratch.file("f", b"data")
    name = scratch.name + b"-renamed"
    reply = nfs3.rename(scratch.handle, b"f", elsewhere, name)
    _remove_if_created(nfs3, elsewhere, name, reply.status)
    expect(reply).refused()
    expect(scratch.lookup("f"), "the file under its old name").is_present()
    expect(reply).refused(Nfsstat3.NFS3ERR_XDEV, *NOT_ALLOWED, because=RENAME_RETURNS_XDEV)


@proves(
    LINK_STAYS_IN_FILE_SYSTEM,
    LINK_RETURNS_XDEV,
    killed_by=("link3-copies-across-exports", "link3-across-exports-is-io"),
    needs="hardlink",
)
def test_a_file_is_not_linked_into_another_export(nfs3: Nfs3, scratch: Scratch, elsewhere: bytes) -> None:
    """LINK into an export on another file system fails and makes no link."""
    file = scratch.file("f", b"data")
    known = scratch.attributes(file).nlink
    name = scratch.name + b"-linked"
    reply = nfs3.link(file, elsewhere, name)
    _remove_if_created(nfs3, elsewhere, name, reply.status)
    expect(reply).refused()
    expect(scratch.attributes(file).nlink, "nlink", because=NLINK_COUNTS).equals(known)
    expect(reply).refused(Nfsstat3.NFS3ERR_XDEV, *NOT_ALLOWED, because=LINK_RETURNS_XDEV)


@proves(LOOKUP_SEARCHES_ITS_DIRECTORY, killed_by="lookup3-looks-into-the-first-export")
def test_another_export_has_names_of_its_own(nfs3: Nfs3, scratch: Scratch, elsewhere: bytes) -> None:
    """LOOKUP in another export does not find a directory of this one."""
    reply = nfs3.lookup(elsewhere, scratch.name)
    if reply.resok is None:
        expect(reply).refused()
        return
    # One directory may be exported twice, with a different fsid in each export.
    found = expect(nfs3.getattr(reply.resok.object)).ok().obj_attributes
    home = scratch.attributes()
    expect((found.fsid, found.fileid), "fsid and fileid of the name in the other export").differs_from(
        (home.fsid, home.fileid)
    )
