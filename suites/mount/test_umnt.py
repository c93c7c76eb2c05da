# SPDX-License-Identifier: MIT
"""UMNT (RFC 1813 section 5.2.3, RFC 1094 A.5.4): removes an entry from the list of mounts."""

from __future__ import annotations

import pytest

from fixtures.checks.mounting import ANOTHER_CLIENT, MakeMounting
from fixtures.checks.target import TargetView
from nfsclient.clients import Mount
from nfsjudge import expect, expect_names, proves, skip
from suites.mount.calls import Names, count_entries
from suites.mount.clauses import (
    EVERY_VERSION,
    OLD_VERSIONS,
    UMNT_HAS_NO_ERRORS,
    UMNT_REMOVES_ENTRY,
    UMNTALL_REMOVES_ENTRIES,
    V1_AND_V3,
)


@pytest.mark.exclusive
@OLD_VERSIONS
@proves(*UMNT_REMOVES_ENTRY, killed_by="umnt1-removes-nothing")
def test_removes_entry_old(mounting: MakeMounting, version: int) -> None:
    """UMNT of MOUNT versions 1 and 2 removes the entry from the mount list."""
    mount = mounting(version)
    mount.client.umntall()
    before = len(mount.mounts(mount.export))
    mount.need(mount.export)
    mount.client.umnt(mount.export)
    after = len(mount.mounts(mount.export))
    expect(
        after, "entries of DUMP for the unmounted directory", because=UMNT_REMOVES_ENTRY.of(version)
    ).at_most(before)


@pytest.mark.exclusive
@EVERY_VERSION
@proves(*UMNT_HAS_NO_ERRORS, killed_by="umnt-fails-for-unknown-mounts")
def test_not_mounted(mounting: MakeMounting, version: int) -> None:
    """UMNT of a path that was not mounted is answered without an error."""
    mount = mounting(version)
    for path in (mount.below(b"nfsproof-never-made-this"), b"/", b"/" + b"n" * 1023):
        mount.client.umnt(path)


@pytest.mark.exclusive
@V1_AND_V3
@proves(*UMNT_REMOVES_ENTRY, killed_by="umnt-removes-every-entry")
def test_keeps_other_directories(mounting: MakeMounting, version: int, inner: Names) -> None:
    """UMNT keeps the entries of other directories."""
    mount = mounting(version)
    mount.need(mount.export)
    nested = mount.below(*inner)
    if mount.handle(nested) is None or not mount.mounts(mount.export):
        skip("MNT refuses directories below the export, or DUMP lists no mounts")
    mount.client.umnt(nested)
    left = len(mount.mounts(mount.export))
    expect(left, "entries of DUMP for the other directory", because=UMNT_REMOVES_ENTRY.of(version)).at_least(
        1
    )


@pytest.mark.exclusive
@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(*UMNT_REMOVES_ENTRY, *UMNTALL_REMOVES_ENTRIES, killed_by="umnt-and-umntall-remove-other-clients")
def test_keeps_other_clients(mounting: MakeMounting, version: int, name: str) -> None:
    """UMNT and UMNTALL keep the entries of other clients."""
    other = mounting(version, source_host=ANOTHER_CLIENT)
    mount = mounting(version)
    mount.client.umntall()
    other.need(mount.export)
    before = mount.mounts(mount.export)
    mount.need(mount.export)
    if not before or set(mount.mounts(mount.export)) == set(before):
        skip("DUMP does not distinguish the two clients")
    if name == "umnt":
        mount.client.umnt(mount.export)
    else:
        mount.client.umntall()
    rule = (UMNT_REMOVES_ENTRY if name == "umnt" else UMNTALL_REMOVES_ENTRIES).of(version)
    left = mount.mounts(mount.export)
    other.client.umntall()
    expect_names(left, before, f"hosts in DUMP after {name.upper()} by another", others=True, because=rule)


@pytest.mark.exclusive
@proves(UMNT_REMOVES_ENTRY.new, killed_by="umnt3-removes-nothing", needs="mount")
def test_removes_entry(mount3: Mount, target: TargetView) -> None:
    """UMNT removes the entry from the mount list."""
    path = target.address.export.encode()
    mount3.umntall()
    others = count_entries(mount3, path)
    expect(mount3.mnt(path)).ok()
    mount3.umnt(path)
    expect(count_entries(mount3, path), "entries of DUMP for the unmounted directory").at_most(others)
