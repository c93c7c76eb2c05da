# SPDX-License-Identifier: MIT
"""MOUNT over UDP works like MOUNT over TCP (RFC 1813 section 5.1.3, RFC 1094 A.2)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.mounting import MakeMounting
from nfsjudge import expect, expect_names, expect_that, proves, show
from suites.mount.calls import need_listed, path_to_mount
from suites.mount.clauses import EVERY_VERSION, SAME_OVER_TCP_AND_UDP, V1_AND_V3


@EVERY_VERSION
@proves(SAME_OVER_TCP_AND_UDP, killed_by="mnt-over-udp-is-refused")
def test_mnt_over_udp(mounting: MakeMounting, version: int) -> None:
    """MNT over UDP mounts an export that MNT over TCP mounts."""
    streams, datagrams = mounting(version), mounting(version, proto="udp")
    streams.need(streams.export)
    status = datagrams.mnt(datagrams.export).status
    expect_that(status == 0, "success", show(status), "status of MNT over UDP")


@EVERY_VERSION
@proves(SAME_OVER_TCP_AND_UDP, killed_by="mnt-over-udp-returns-another-directory")
def test_same_directory(mounting: MakeMounting, version: int, scratch: Nfs3Scratch) -> None:
    """MNT over UDP returns the same directory as over TCP."""
    streams, datagrams = mounting(version), mounting(version, proto="udp")
    handle = datagrams.need(datagrams.export)
    found = streams.finds(streams.need(streams.export), scratch.name)
    same = datagrams.finds(handle, scratch.name) == found
    expect_that(same, "the directory that TCP returns", "another directory", "MNT over UDP")


@EVERY_VERSION
@proves(SAME_OVER_TCP_AND_UDP, killed_by="export-is-empty-over-udp")
def test_same_exports(mounting: MakeMounting, version: int) -> None:
    """EXPORT over UDP lists the same exports as over TCP."""
    lists = [
        {entry.ex_dir for entry in mounting(version, proto=proto).client.export()} for proto in ("tcp", "udp")
    ]
    expect_names(lists[1], lists[0], "exports over UDP")


@pytest.mark.exclusive
@V1_AND_V3
@proves(SAME_OVER_TCP_AND_UDP, killed_by="dump-is-empty-over-udp")
def test_same_mounts(mounting: MakeMounting, version: int) -> None:
    """DUMP over UDP lists the same mounts as over TCP."""
    streams, datagrams = mounting(version), mounting(version, proto="udp")
    streams.list_mount(streams.export, [])
    found: list[bytes] = []

    def is_same(hosts: list[bytes]) -> bool:
        found[:] = streams.mounts(streams.export)
        return len(hosts) == len(found)

    hosts = datagrams.mounts_when(streams.export, is_same, lambda: None)
    expect(len(hosts), "entries of DUMP over UDP").equals(len(found))


@pytest.mark.exclusive
@V1_AND_V3
@proves(SAME_OVER_TCP_AND_UDP, killed_by="umnt-removes-nothing-over-udp")
def test_umnt_over_udp(mounting: MakeMounting, version: int, request: pytest.FixtureRequest) -> None:
    """UMNT over UDP removes the entry of a mount made over TCP."""
    streams, datagrams = mounting(version), mounting(version, proto="udp")
    streams.client.umntall()
    path = path_to_mount(streams, request)
    before = streams.mounts(path)
    need_listed(streams, path, before)

    def unmount() -> None:
        datagrams.client.umnt(path)

    unmount()
    after = streams.mounts_when(path, lambda hosts: len(hosts) <= len(before), unmount)
    expect(len(after), "entries of DUMP after UMNT over UDP").at_most(len(before))
