# SPDX-License-Identifier: MIT
"""The file handles that MNT returns, and to whom (RFC 1813 section 5.2.1, RFC 1094 A.2, A.4 and A.5.2)."""

from __future__ import annotations

import pytest

from fixtures.checks.mounting import MakeMounting
from fixtures.checks.target import TargetView
from nfsclient.clients import Mount, Nfs3
from nfsjudge import expect, expect_that, proves
from suites.mount.calls import NO_DIRECTORY
from suites.mount.clauses import EVERY_VERSION, UNMOUNT_KEEPS_HANDLES


@pytest.mark.exclusive
@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(UNMOUNT_KEEPS_HANDLES, killed_by="umnt-and-umntall-revoke-handles")
def test_usable_after_unmount(mounting: MakeMounting, version: int, name: str) -> None:
    """A file handle stays usable after UMNT and UMNTALL."""
    mount = mounting(version)
    handle = mount.need(mount.export)
    if name == "umnt":
        mount.client.umnt(mount.export)
    else:
        mount.client.umntall()
    what = f"GETATTR of the handle after {name.upper()}"
    expect_that(mount.is_directory(handle), "a directory", NO_DIRECTORY, what)


@pytest.mark.exclusive
@proves(UNMOUNT_KEEPS_HANDLES, killed_by="umnt3-revokes-handles", needs="mount")
def test_usable_after_umnt(mount3: Mount, nfs3: Nfs3, target: TargetView) -> None:
    """A file handle of NFSv3 stays usable after UMNT."""
    path = target.address.export.encode()
    handle = expect(mount3.mnt(path)).ok().fhandle
    mount3.umnt(path)
    expect(nfs3.getattr(handle)).ok()
