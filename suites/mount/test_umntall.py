# SPDX-License-Identifier: MIT
"""UMNTALL (RFC 1813 section 5.2.4, RFC 1094 A.5.5): removes all entries of a client."""

from __future__ import annotations

import pytest

from fixtures.checks.mounting import MakeMounting
from fixtures.checks.target import TargetView
from nfsclient.clients import Mount
from nfsjudge import expect, proves
from suites.mount.calls import Names, count_entries
from suites.mount.clauses import EVERY_VERSION, OLD_VERSIONS, UMNTALL_HAS_NO_ERRORS, UMNTALL_REMOVES_ENTRIES


@pytest.mark.exclusive
@EVERY_VERSION
@proves(*UMNTALL_HAS_NO_ERRORS, killed_by="umntall-fails-without-mounts")
def test_without_mounts(mounting: MakeMounting, version: int) -> None:
    """UMNTALL is answered when the client has mounted nothing."""
    mount = mounting(version)
    for _ in range(2):
        mount.client.umntall()


@pytest.mark.exclusive
@OLD_VERSIONS
@proves(*UMNTALL_REMOVES_ENTRIES, killed_by="umntall1-removes-nothing")
def test_removes_entries_old(mounting: MakeMounting, version: int) -> None:
    """UMNTALL of MOUNT versions 1 and 2 removes the client's entries from the mount list."""
    mount = mounting(version)
    mount.client.umnt(mount.export)
    before = len(mount.mounts(mount.export))
    mount.need(mount.export)
    mount.client.umntall()
    after = len(mount.mounts(mount.export))
    expect(after, "entries of DUMP after UMNTALL", because=UMNTALL_REMOVES_ENTRIES.of(version)).at_most(
        before
    )


@pytest.mark.exclusive
@EVERY_VERSION
@proves(*UMNTALL_REMOVES_ENTRIES, killed_by="umntall-keeps-the-last-entry")
def test_removes_every_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
    """UMNTALL removes the entries of all directories that the client mounted."""
    mount = mounting(version)
    mount.client.umntall()
    nested = mount.below(*inner)
    before = [len(mount.mounts(path)) for path in (mount.export, nested)]
    for path in (mount.export, nested):
        mount.mnt(path)
    mount.client.umntall()
    after = [len(mount.mounts(path)) for path in (mount.export, nested)]
    rule = UMNTALL_REMOVES_ENTRIES.of(version)
    more = sum(max(0, now - once) for once, now in zip(before, after, strict=True))
    expect(more, "entries of DUMP that UMNTALL left", because=rule).equals(0)


@pytest.mark.exclusive
@proves(UMNTALL_REMOVES_ENTRIES.new, killed_by="umntall3-removes-nothing", needs="mount")
def test_removes_entries(mount3: Mount, target: TargetView) -> None:
    """UMNTALL removes the client's entries from the mount list."""
    path = target.address.export.encode()
    mount3.umntall()
    others = count_entries(mount3, path)
    expect(mount3.mnt(path)).ok()
    mount3.umntall()
    expect(count_entries(mount3, path), "entries of DUMP after UMNTALL").at_most(others)
