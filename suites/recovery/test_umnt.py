# SPDX-License-Identifier: MIT
"""UMNT after a crash or a restart (RFC 1813 section 5.2.3, RFC 1094 appendix A.5.4)."""

from __future__ import annotations

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.mounting import MakeMounting
from nfsjudge import expect_names, observe, proves
from suites.mount.clauses import UMNT_HAS_NO_ERRORS, UMNT_REMOVES_ENTRY, V1_AND_V3
from suites.recovery.either import ENDINGS


@V1_AND_V3
@ENDINGS
@across("ending")
@proves(UMNT_REMOVES_ENTRY, UMNT_HAS_NO_ERRORS, killed_by="umnt-keeps-mounts-of-before-a-restart")
def test_earlier_mount(mounting: MakeMounting, scratch: Nfs3Scratch, version: int, ending: str) -> Steps:
    """UMNT works for a directory that was mounted before a crash or a restart.

    The list of mounts may be lost, because no clause makes it stable. An entry that is kept must be removed.
    """
    mount = mounting(version)
    path = mount.below(scratch.name)
    before = mount.mounts(path)
    if mount.handle(path) is None:  # a server may mount whole exports only
        path = mount.export
        before = mount.mounts(path)
    mount.list_mount(path, before)
    mine = set(mount.mounts(path)) - set(before)
    yield Pause(ending)
    mount = mounting(version)
    kept = mine & set(mount.mounts(path))
    observe(f"entry of the mount after a {ending}", "kept" if kept else "gone or unknown")
    mount.client.umnt(path)
    if kept:
        left = mount.mounts_when(path, lambda hosts: not kept & set(hosts), lambda: mount.client.umnt(path))
        rule = UMNT_REMOVES_ENTRY
        expect_names(sorted(kept & set(left)), [], "hosts of this client in DUMP after UMNT", because=rule)
