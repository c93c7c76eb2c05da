# SPDX-License-Identifier: MIT
"""UMNTALL (RFC 1813 section 5.2.4, RFC 1094 A.5.5): removes all entries of a client."""

from __future__ import annotations

import pytest

from fixtures.checks.mounting import MakeMounting, Mounting
from nfsjudge import expect, proves, skip
from suites.mount.calls import Names, need_listed, path_to_mount
from suites.mount.clauses import EVERY_VERSION, OLD_VERSIONS, UMNTALL_HAS_NO_ERRORS, UMNTALL_REMOVES_ENTRIES


@pytest.mark.exclusive
@EVERY_VERSION
@proves(UMNTALL_HAS_NO_ERRORS, killed_by="umntall-fails-without-mounts")
def test_without_mounts(mounting: MakeMounting, version: int) -> None:
    """UMNTALL is answered when the client has mounted nothing."""
    mount = mounting(version)
    for _ in range(2):
        mount.client.umntall()


@pytest.mark.exclusive
@OLD_VERSIONS
@proves(UMNTALL_REMOVES_ENTRIES, killed_by="umntall1-removes-nothing")
def test_removes_entries_old(mounting: MakeMounting, version: int, request: pytest.FixtureRequest) -> None:
    """UMNTALL of MOUNT versions 1 and 2 removes the client's entries from the mount list."""
    _expect_entries_removed(mounting(version), request)


def _expect_entries_removed(mount: Mounting, request: pytest.FixtureRequest) -> None:
    __tracebackhide__ = True
    mount.client.umnt(mount.export)
    path = path_to_mount(mount, request)
    before = mount.mounts(path)
    need_listed(mount, path, before)
    mount.client.umntall()
    after = mount.mounts_when(path, lambda hosts: len(hosts) <= len(before), mount.client.umntall)
    rule = UMNTALL_REMOVES_ENTRIES
    expect(len(after), "entries of DUMP after UMNTALL", because=rule).at_most(len(before))


@pytest.mark.exclusive
@EVERY_VERSION
@proves(UMNTALL_REMOVES_ENTRIES, killed_by="umntall-keeps-the-last-entry")
def test_removes_every_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
    """UMNTALL removes the entries of all directories that the client mounted."""
    mount = mounting(version)
    mount.client.umntall()
    paths = (mount.export, mount.below(*inner))
    before = [mount.mounts(path) for path in paths]
    listed = [
        mount.handle(path) is not None and mount.list_mount(path, once)
        for path, once in zip(paths, before, strict=True)
    ]
    if not any(listed):
        skip("DUMP does not list the mounts; another check judges that")
    mount.client.umntall()
    more = sum(
        _count_more(mount, path, len(once), inner[0]) for path, once in zip(paths, before, strict=True)
    )
    expect(more, "entries of DUMP that UMNTALL left").equals(0)


def _count_more(mount: Mounting, path: bytes, most: int, another: bytes) -> int:
    """The number of entries of a directory above `most`. Mounts of another one make the server read its list again."""

    def change_list() -> None:
        if mount.handle(mount.below(another)) is not None:
            mount.client.umnt(mount.below(another))

    return max(0, len(mount.mounts_when(path, lambda hosts: len(hosts) <= most, change_list)) - most)


@pytest.mark.exclusive
@proves(UMNTALL_REMOVES_ENTRIES, killed_by="umntall3-removes-nothing", needs="mount")
def test_removes_entries(mounting: MakeMounting, request: pytest.FixtureRequest) -> None:
    """UMNTALL removes the client's entries from the mount list."""
    _expect_entries_removed(mounting(3), request)
