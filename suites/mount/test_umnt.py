# SPDX-License-Identifier: MIT
"""UMNT (RFC 1813 section 5.2.3, RFC 1094 A.5.4): removes an entry from the list of mounts."""

from __future__ import annotations

import pytest

from fixtures.checks.mounting import MakeMounting, Mounting
from nfsjudge import expect, expect_names, proves, skip
from suites.mount.calls import Names, need_listed, path_to_mount
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
@proves(UMNT_REMOVES_ENTRY, killed_by="umnt1-removes-nothing")
def test_removes_entry_old(mounting: MakeMounting, version: int, request: pytest.FixtureRequest) -> None:
    """UMNT of MOUNT versions 1 and 2 removes the entry from the mount list."""
    _expect_entry_removed(mounting(version), request)


def _expect_entry_removed(mount: Mounting, request: pytest.FixtureRequest) -> None:
    __tracebackhide__ = True
    mount.client.umntall()
    path = path_to_mount(mount, request)
    before = mount.mounts(path)
    need_listed(mount, path, before)
    after = _mounts_after_umnt(mount, path, len(before))
    rule = UMNT_REMOVES_ENTRY
    expect(after, "entries of DUMP for the unmounted directory", because=rule).at_most(len(before))


def _mounts_after_umnt(mount: Mounting, path: bytes, most: int) -> int:
    """The number of entries after UMNT, which is at most `most` if UMNT works."""

    def unmount() -> None:
        mount.client.umnt(path)

    unmount()
    return len(mount.mounts_when(path, lambda hosts: len(hosts) <= most, unmount))


@pytest.mark.exclusive
@EVERY_VERSION
@proves(UMNT_HAS_NO_ERRORS, killed_by="umnt-fails-for-unknown-mounts")
def test_not_mounted(mounting: MakeMounting, version: int) -> None:
    """UMNT of a path that was not mounted is answered without an error."""
    mount = mounting(version)
    for path in (mount.below(b"nfsproof-never-made-this"), b"/", b"/" + b"n" * 1023):
        mount.client.umnt(path)


@pytest.mark.exclusive
@V1_AND_V3
@proves(UMNT_REMOVES_ENTRY, killed_by="umnt-removes-every-entry")
def test_keeps_other_directories(mounting: MakeMounting, version: int, inner: Names) -> None:
    """UMNT keeps the entries of other directories."""
    mount = mounting(version)
    mount.need(mount.export)
    nested = mount.below(*inner)
    if mount.handle(nested) is None:
        skip("MNT refuses directories below the export")
    need_listed(mount, nested, [])
    if not mount.mounts(mount.export):
        skip("DUMP does not list the other mount")
    _mounts_after_umnt(mount, nested, 0)
    left = len(mount.mounts(mount.export))
    expect(left, "entries of DUMP for the other directory").at_least(1)


@pytest.mark.exclusive
@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(UMNT_REMOVES_ENTRY, UMNTALL_REMOVES_ENTRIES, killed_by="umnt-and-umntall-remove-other-clients")
def test_keeps_other_clients(
    mounting: MakeMounting, version: int, name: str, request: pytest.FixtureRequest
) -> None:
    """UMNT and UMNTALL keep the entries of other clients."""
    other = mounting(version, as_other_client=True)
    mount = mounting(version)
    mount.client.umntall()
    other.client.umntall()
    path = path_to_mount(mount, request)
    if mount.mounts(path):
        skip("DUMP lists the directory before it is mounted; another check judges that")
    other.list_mount(path, [])
    before = mount.mounts(path)
    if not before or not mount.list_mount(path, before):
        skip("DUMP does not distinguish the two clients")

    def unmount() -> None:
        if name == "umnt":
            mount.client.umnt(path)
        else:
            mount.client.umntall()

    unmount()
    left = mount.mounts_when(path, lambda hosts: len(hosts) <= len(before), unmount)
    rule = UMNT_REMOVES_ENTRY if name == "umnt" else UMNTALL_REMOVES_ENTRIES
    other.client.umntall()
    expect_names(left, before, f"hosts in DUMP after {name.upper()} by another", others=True, because=rule)


@pytest.mark.exclusive
@proves(UMNT_REMOVES_ENTRY, killed_by="umnt3-removes-nothing", needs="mount")
def test_removes_entry(mounting: MakeMounting, request: pytest.FixtureRequest) -> None:
    """UMNT removes the entry from the mount list."""
    _expect_entry_removed(mounting(3), request)
