# SPDX-License-Identifier: MIT
"""MOUNT after a crash or a restart (RFC 1813 section 5.2, RFC 1094 appendix A).

Entries of the list of mounts may be stale, and no clause makes them stable: whether one survives is recorded, and is
never a failure.
"""

from __future__ import annotations

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.mounting import MakeMounting
from nfsjudge import expect, expect_once, expect_that, observe, proves, should, show, skip
from suites.mount.clauses import DUMP_HAS_ONE_ENTRY, EXPORT_LISTS_ALL, MNT_RETURNS_HANDLE, V1_AND_V3
from suites.recovery.either import EACH_VERSION, ENDINGS, Either

ROOT_NEEDS_NO_MOUNT = should(  # a server may revoke a handle at any time (section 2.5)
    "RFC 1813",
    "1.6",
    "the server needs no state of its clients: the handle of the root should work after it restarts",
)


@V1_AND_V3
@ENDINGS
@across("ending")
@proves(
    MNT_RETURNS_HANDLE,
    killed_by=("mnt-returns-an-unusable-handle-after-restart", "export-is-stale-after-a-restart"),
)
def test_again(mounting: MakeMounting, scratch: Nfs3Scratch, version: int, ending: str) -> Steps:
    """MNT after a crash or a restart returns a handle of the same directory."""
    mount = mounting(version)
    mount.need(mount.export)
    yield Pause(ending)
    mount = mounting(version)
    handle = mount.need(mount.export)
    is_there = mount.is_directory(handle)
    expect_that(is_there, "a directory", "none", f"object of the handle after the {ending}")
    if not _has(mounting, scratch):
        return
    found = mount.finds(handle, scratch.name)
    expect_that(found, show(scratch.name), "nothing", "LOOKUP in the mounted directory")


def _has(mounting: MakeMounting, scratch: Nfs3Scratch) -> bool:
    """Whether the directory of the check is directly in the export, and survived."""
    mount = mounting(3)
    return mount.finds(mount.need(mount.export), scratch.name)


@EACH_VERSION
@ENDINGS
@across("ending")
@proves(ROOT_NEEDS_NO_MOUNT, killed_by="root-is-stale-after-a-restart")
def test_root_handle(either: Either, ending: str) -> Steps:
    """The handle of the root works after a crash or a restart without another MNT."""
    root = either.target.root(either.kind)
    expect(either.client.getattr(root)).ok()
    yield Pause(ending)
    reply = either.client.getattr(root)
    observe(f"GETATTR of the root after a {ending}", reply.status)
    expect(reply).ok()


@V1_AND_V3
@ENDINGS
@across("ending")
@proves(DUMP_HAS_ONE_ENTRY, killed_by="dump-lists-mounts-of-before-a-restart-twice")
def test_dump(mounting: MakeMounting, version: int, ending: str) -> Steps:
    """DUMP lists a directory once per host, although it was mounted before and after a crash or a restart."""
    mount = mounting(version)
    mount.list_mount(mount.export, [])
    yield Pause(ending)
    mount = mounting(version)
    observe(f"entry of the mount after a {ending}", "kept" if mount.mounts(mount.export) else "gone")
    mount.list_mount(mount.export, [])
    hosts = mount.mounts(mount.export)
    what = "hosts in DUMP for the mounted directory"
    expect_once(hosts, what=what)


@V1_AND_V3
@ENDINGS
@across("ending")
@proves(EXPORT_LISTS_ALL, killed_by="export-is-empty-after-a-restart")
def test_export(mounting: MakeMounting, version: int, ending: str) -> Steps:
    """EXPORT lists the mounted directory after a crash or a restart, if it did before.

    Others may be gone: no clause makes the list stable.
    """
    mount = mounting(version)
    before = sorted(entry.ex_dir for entry in mount.client.export())
    if mount.export not in before:
        skip("EXPORT does not list the mounted directory even before, which another check judges")
    yield Pause(ending)
    after = sorted(entry.ex_dir for entry in mounting(version).client.export())
    expect(after, "directories in EXPORT").contains(mount.export)
