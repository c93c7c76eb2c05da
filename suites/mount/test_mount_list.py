# SPDX-License-Identifier: MIT
"""DUMP, UMNT, UMNTALL and EXPORT (RFC 1813 sections 5.2.2 to 5.2.5).

The mount list is advice only (RFC 1094 A.1: it may be incomplete or stale), so what is wrong with it is
NONSTRICT. It has one entry for a client and a directory, whoever asks: these checks keep other workers away.
"""

from __future__ import annotations

import pytest

from fixtures.checks import TargetView
from nfsclient.clients import Mount, Nfs3
from nfsjudge import Level, Part, Requirement, expect, observe, proves

DUMP_HAS_MOUNTS = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="MNT adds an entry for the directory to the list that DUMP returns",
)
UMNT_REMOVES = Requirement(
    rfc="RFC 1813",
    section="5.2.3",
    level=Level.SHOULD,
    gist="UMNT removes the entry of this client for the directory",
)
UMNT_KEEPS_HANDLES = Requirement(
    rfc="RFC 1813",
    section="5.2.3",
    level=Level.SHOULD,
    gist="UMNT removes an entry of a list: file handles go on working",
)
UMNTALL_REMOVES = Requirement(
    rfc="RFC 1813",
    section="5.2.4",
    level=Level.SHOULD,
    gist="UMNTALL removes all entries of this client",
)
EXPORT_LISTS = Requirement(
    rfc="RFC 1813",
    section="5.2.5",
    level=Level.SHOULD,
    gist="EXPORT returns a list of all exported file systems",
)

pytestmark = pytest.mark.exclusive


def _mounted(mount_client: Mount, path: bytes) -> int:
    """Entries of DUMP for a directory."""
    entries = mount_client.dump()
    observe("entries of DUMP", len(entries))
    return sum(1 for entry in entries if entry.ml_directory.rstrip(b"/") == path.rstrip(b"/"))


@proves(DUMP_HAS_MOUNTS, killed_by="mnt3-records-nothing", needs="mount")
def test_dump_has_what_was_mounted(mount_client: Mount, target: TargetView) -> None:
    path = target.address.export.encode()
    expect(mount_client.mnt(path), because=DUMP_HAS_MOUNTS).ok()
    expect(_mounted(mount_client, path), "entries of DUMP for the mounted directory").at_least(1)


@proves(UMNT_REMOVES, killed_by="umnt3-removes-nothing", needs="mount")
def test_umnt_removes_the_entry(mount_client: Mount, target: TargetView) -> None:
    path = target.address.export.encode()
    mount_client.umntall()
    others = _mounted(mount_client, path)
    expect(mount_client.mnt(path)).ok()
    mount_client.umnt(path)
    expect(_mounted(mount_client, path), "entries of DUMP for the unmounted directory").at_most(others)


@proves(UMNT_KEEPS_HANDLES, killed_by="umnt3-revokes-handles", needs="mount")
def test_umnt_leaves_handles_valid(mount_client: Mount, nfs3: Nfs3, target: TargetView) -> None:
    path = target.address.export.encode()
    handle = expect(mount_client.mnt(path)).ok().fhandle
    mount_client.umnt(path)
    expect(nfs3.getattr(handle)).ok()


@proves(UMNTALL_REMOVES, killed_by="umntall3-removes-nothing", needs="mount")
def test_umntall_removes_the_entries_of_this_client(mount_client: Mount, target: TargetView) -> None:
    path = target.address.export.encode()
    mount_client.umntall()
    others = _mounted(mount_client, path)
    expect(mount_client.mnt(path)).ok()
    mount_client.umntall()
    expect(_mounted(mount_client, path), "entries of DUMP after UMNTALL").at_most(others)


@proves(EXPORT_LISTS, killed_by="export3-omits-the-first-export", needs="mount")
def test_export_lists_what_can_be_mounted(mount_client: Mount, target: TargetView) -> None:
    path = target.address.export.encode()
    exports = [entry.ex_dir for entry in mount_client.export()]
    observe("exports", len(exports))
    above = [
        path[:length] or b"/" for length in range(len(path) + 1) if path[length : length + 1] in (b"/", b"")
    ]
    listed = {export.rstrip(b"/") or b"/" for export in exports} & set(above)
    expect(sorted(listed), "the exports at or above the directory that was mounted").differs_from([])
