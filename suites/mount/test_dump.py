# SPDX-License-Identifier: MIT
"""DUMP (RFC 1813 section 5.2.2, RFC 1094 A.5.3): the list of mounts."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.mounting import MakeMounting, Mounting
from nfsjudge import Part, Requirement, expect, expect_once, observe, proves, should, skip
from suites.mount.clauses import (
    DUMP_HAS_ONE_ENTRY,
    DUMP_LISTS_MOUNTS,
    DUMP_LISTS_MOUNTS_V1,
    LISTS_RESPECT_LIMITS,
    OLD_VERSIONS,
    V1_AND_V3,
)

MNT_ADDS_ENTRY = should(
    "RFC 1813",
    "5.2.1",
    "MNT adds an entry for the directory to the list that DUMP returns",
    part=Part.IMPLEMENTATION,
)


@pytest.mark.exclusive
@OLD_VERSIONS
@proves(DUMP_LISTS_MOUNTS_V1, killed_by="mnt1-records-nothing")
def test_lists_mount_old(mounting: MakeMounting, version: int) -> None:
    """DUMP of MOUNT versions 1 and 2 lists a directory that was mounted."""
    _expect_listed(mounting(version), DUMP_LISTS_MOUNTS_V1)


def _expect_listed(mount: Mounting, rule: Requirement) -> None:
    __tracebackhide__ = True
    mount.list_mount(mount.export, [])
    hosts = mount.mounts(mount.export)
    expect(len(hosts), "entries of DUMP for the mounted directory", because=rule).at_least(1)


@pytest.mark.exclusive
@V1_AND_V3
@proves(DUMP_HAS_ONE_ENTRY, killed_by="dump-lists-entries-twice")
def test_one_entry_per_host(mounting: MakeMounting, version: int) -> None:
    """DUMP lists a directory once per host, although the host mounted it twice."""
    mount = mounting(version)
    mount.need(mount.export)
    mount.list_mount(mount.export, [])
    hosts = mount.mounts(mount.export)
    observe("entries", len(hosts))
    what = "hosts in DUMP for the mounted directory"
    expect_once(hosts, what=what)


@pytest.mark.exclusive
@V1_AND_V3
@proves(DUMP_LISTS_MOUNTS_V1, DUMP_LISTS_MOUNTS, killed_by="mnt-records-refused-mounts")
def test_refused_mount_absent(mounting: MakeMounting, version: int) -> None:
    """DUMP does not list a path that MNT refused."""
    mount = mounting(version)
    path = mount.below(b"nfsproof-never-made-this")
    before = mount.mounts(mount.export)
    if mount.handle(path) is not None:
        skip("MNT of a path that does not exist succeeded; another check judges that")
    mount.list_mount(mount.export, before)  # a list that has this mount is not older than the refusal
    entries = len(mount.mounts(path))
    rule = DUMP_LISTS_MOUNTS if version == 3 else DUMP_LISTS_MOUNTS_V1
    expect(entries, "entries of DUMP for the refused path", because=rule).equals(0)


@pytest.mark.exclusive
@V1_AND_V3
@proves(LISTS_RESPECT_LIMITS, killed_by="dump-lists-an-overlong-name")
def test_well_formed(mounting: MakeMounting, version: int, scratch: Nfs3Scratch) -> None:
    """DUMP returns a list that decodes within the limits for names and paths."""
    scratch.directory(b"l" * 200)
    mount = mounting(version)
    mount.need(mount.export)
    mount.mnt(mount.below(scratch.name, b"l" * 200))
    entries = mount.client.dump()
    mount.client.umntall()
    observe("entries", len(entries))
    observe("hosts", "addresses" if any(b"." in entry.ml_hostname for entry in entries) else "names")


@pytest.mark.exclusive
@proves(MNT_ADDS_ENTRY, killed_by="mnt3-records-nothing", needs="mount")
def test_lists_mount(mounting: MakeMounting) -> None:
    """DUMP lists a directory that was mounted."""
    _expect_listed(mounting(3), MNT_ADDS_ENTRY)
