# SPDX-License-Identifier: MIT
"""DUMP, UMNT, UMNTALL and EXPORT of MOUNT version 3 (RFC 1813 sections 5.2.2 to 5.2.5).

The mount list is for information only (RFC 1094 A.1: it may be incomplete or stale), so errors in it are NONSTRICT.
All clients on this machine share its entries, so these checks do not run in parallel with others.
"""

from __future__ import annotations

import pytest

from fixtures.checks import TargetView
from nfsclient.clients import Mount, Nfs3
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.mount.clauses import (
    EXPORT_LISTS_ALL,
    UMNT_REMOVES_ENTRY,
    UMNTALL_REMOVES_ENTRIES,
    UNMOUNT_KEEPS_HANDLES,
)

MNT_ADDS_ENTRY = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="MNT adds an entry for the directory to the list that DUMP returns",
)
pytestmark = pytest.mark.exclusive


def _mounted(mount_client: Mount, path: bytes) -> int:
    """The number of entries that DUMP lists for a directory."""
    entries = mount_client.dump()
    observe("entries of DUMP", len(entries))
    return sum(1 for entry in entries if entry.ml_directory.rstrip(b"/") == path.rstrip(b"/"))


@proves(MNT_ADDS_ENTRY, killed_by="mnt3-records-nothing", needs="mount")
def test_dump_has_what_was_mounted(mount_client: Mount, target: TargetView) -> None:
    """DUMP lists a directory that was mounted."""
    path = target.address.export.encode()
    expect(mount_client.mnt(path), because=MNT_ADDS_ENTRY).ok()
    expect(_mounted(mount_client, path), "entries of DUMP for the mounted directory").at_least(1)


@proves(UMNT_REMOVES_ENTRY.new, killed_by="umnt3-removes-nothing", needs="mount")
def test_umnt_removes_the_entry(mount_client: Mount, target: TargetView) -> None:
    """UMNT removes the entry from the mount list."""
    path = target.address.export.encode()
    mount_client.umntall()
    others = _mounted(mount_client, path)
    expect(mount_client.mnt(path)).ok()
    mount_client.umnt(path)
    expect(_mounted(mount_client, path), "entries of DUMP for the unmounted directory").at_most(others)


@proves(UNMOUNT_KEEPS_HANDLES.new, killed_by="umnt3-revokes-handles", needs="mount")
def test_umnt_leaves_handles_valid(mount_client: Mount, nfs3: Nfs3, target: TargetView) -> None:
    """A file handle of NFSv3 stays usable after UMNT."""
    path = target.address.export.encode()
    handle = expect(mount_client.mnt(path)).ok().fhandle
    mount_client.umnt(path)
    expect(nfs3.getattr(handle)).ok()


@proves(UMNTALL_REMOVES_ENTRIES.new, killed_by="umntall3-removes-nothing", needs="mount")
def test_umntall_removes_the_entries_of_this_client(mount_client: Mount, target: TargetView) -> None:
    """UMNTALL removes the client's entries from the mount list."""
    path = target.address.export.encode()
    mount_client.umntall()
    others = _mounted(mount_client, path)
    expect(mount_client.mnt(path)).ok()
    mount_client.umntall()
    expect(_mounted(mount_client, path), "entries of DUMP after UMNTALL").at_most(others)


@proves(EXPORT_LISTS_ALL.new, killed_by="export3-omits-the-first-export", needs="mount")
def test_export_lists_what_can_be_mounted(mount_client: Mount, target: TargetView) -> None:
    """EXPORT lists the export that can be mounted."""
    path = target.address.export.encode()
    exports = [entry.ex_dir for entry in mount_client.export()]
    observe("exports", len(exports))
    above = [
        path[:length] or b"/" for length in range(len(path) + 1) if path[length : length + 1] in (b"/", b"")
    ]
    listed = {export.rstrip(b"/") or b"/" for export in exports} & set(above)
    expect(sorted(listed), "the exports at or above the directory that was mounted").differs_from([])
