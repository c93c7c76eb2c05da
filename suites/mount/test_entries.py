# SPDX-License-Identifier: MIT
"""The mount list in every version of MOUNT (RFC 1813 sections 5.2.2 to 5.2.5, RFC 1094 A.5.3 to A.5.6).

The list is for information only: a server may key it by host name or address, let it become stale, or not keep it at
all (RFC 1094 A.1). So errors in it are NONSTRICT. These checks do not run in parallel with others, because all clients
on this machine share one list.
"""

from __future__ import annotations

import pytest

from fixtures.mounting import ANOTHER_CLIENT, MakeMounting
from fixtures.scratch import Scratch
from nfsjudge import expect, observe, proves, skip
from suites.mount.clauses import (
    DUMP_HAS_ONE_ENTRY,
    DUMP_LISTS_MOUNTS,
    EVERY_VERSION,
    EXPORT_LISTS_ALL,
    LISTS_RESPECT_LIMITS,
    OLD_VERSIONS,
    UMNT_HAS_NO_ERRORS,
    UMNT_REMOVES_ENTRY,
    UMNTALL_HAS_NO_ERRORS,
    UMNTALL_REMOVES_ENTRIES,
    UNMOUNT_KEEPS_HANDLES,
    V1_AND_V3,
)

pytestmark = pytest.mark.exclusive

Names = tuple[bytes, bytes]


@OLD_VERSIONS
@proves(*DUMP_LISTS_MOUNTS, killed_by="mnt1-records-nothing")
def test_old_versions_list_what_was_mounted(mounting: MakeMounting, version: int) -> None:
    """DUMP of MOUNT versions 1 and 2 lists a directory that was mounted."""
    mount = mounting(version)
    mount.need(mount.export)
    hosts = mount.mounts(mount.export)
    expect(len(hosts), "entries for what was mounted", because=DUMP_LISTS_MOUNTS.of(version)).at_least(1)


@V1_AND_V3
@proves(*DUMP_HAS_ONE_ENTRY, killed_by="dump-has-entries-twice")
def test_mounting_twice_makes_one_entry(mounting: MakeMounting, version: int) -> None:
    """DUMP lists a directory once per host, although the host mounted it twice."""
    mount = mounting(version)
    for _ in range(2):
        mount.need(mount.export)
    hosts = mount.mounts(mount.export)
    observe("entries", len(hosts))
    once = len(hosts) == len(set(hosts))
    expect(
        once, "that each host is listed once for the directory", because=DUMP_HAS_ONE_ENTRY.of(version)
    ).is_true()


@V1_AND_V3
@proves(*DUMP_LISTS_MOUNTS, killed_by="mnt-records-what-is-refused")
def test_a_refused_mount_is_not_listed(mounting: MakeMounting, version: int) -> None:
    """DUMP does not list a path that MNT refused."""
    mount = mounting(version)
    path = mount.below(b"nfsproof-never-made-this")
    if mount.handle(path) is not None:
        skip("a path that does not exist was mounted")
    entries = len(mount.mounts(path))
    expect(entries, "entries for what was refused", because=DUMP_LISTS_MOUNTS.of(version)).equals(0)


@OLD_VERSIONS
@proves(*UMNT_REMOVES_ENTRY, killed_by="umnt1-removes-nothing")
def test_old_versions_remove_an_entry(mounting: MakeMounting, version: int) -> None:
    """UMNT of MOUNT versions 1 and 2 removes the entry from the mount list."""
    mount = mounting(version)
    mount.client.umntall()
    before = len(mount.mounts(mount.export))
    mount.need(mount.export)
    mount.client.umnt(mount.export)
    after = len(mount.mounts(mount.export))
    expect(after, "entries for what was unmounted", because=UMNT_REMOVES_ENTRY.of(version)).at_most(before)


@EVERY_VERSION
@proves(*UMNT_HAS_NO_ERRORS, killed_by="umnt-fails-for-what-was-not-mounted")
def test_umnt_of_what_was_not_mounted_is_answered(mounting: MakeMounting, version: int) -> None:
    """UMNT of a path that was not mounted is answered without an error."""
    mount = mounting(version)
    for path in (mount.below(b"nfsproof-never-made-this"), b"/", b"/" + b"n" * 1023):
        mount.client.umnt(path)


@V1_AND_V3
@proves(*UMNT_REMOVES_ENTRY, killed_by="umnt-removes-every-entry")
def test_umnt_leaves_other_directories(mounting: MakeMounting, version: int, inner: Names) -> None:
    """UMNT keeps the entries of other directories."""
    mount = mounting(version)
    mount.need(mount.export)
    nested = mount.below(*inner)
    if mount.handle(nested) is None or not mount.mounts(mount.export):
        skip("directories below the export are not mounted, or mounts are not listed")
    mount.client.umnt(nested)
    left = len(mount.mounts(mount.export))
    expect(left, "entries for the other directory", because=UMNT_REMOVES_ENTRY.of(version)).at_least(1)


@EVERY_VERSION
@proves(*UMNTALL_HAS_NO_ERRORS, killed_by="umntall-fails-without-mounts")
def test_umntall_is_answered_without_mounts(mounting: MakeMounting, version: int) -> None:
    """UMNTALL is answered when the client has mounted nothing."""
    mount = mounting(version)
    for _ in range(2):
        mount.client.umntall()


@OLD_VERSIONS
@proves(*UMNTALL_REMOVES_ENTRIES, killed_by="umntall1-removes-nothing")
def test_old_versions_remove_all_entries(mounting: MakeMounting, version: int) -> None:
    """UMNTALL of MOUNT versions 1 and 2 removes the client's entries from the mount list."""
    mount = mounting(version)
    mount.client.umnt(mount.export)
    before = len(mount.mounts(mount.export))
    mount.need(mount.export)
    mount.client.umntall()
    after = len(mount.mounts(mount.export))
    expect(after, "entries after UMNTALL", because=UMNTALL_REMOVES_ENTRIES.of(version)).at_most(before)


@EVERY_VERSION
@proves(*UMNTALL_REMOVES_ENTRIES, killed_by="umntall-keeps-the-last-entry")
def test_umntall_removes_every_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
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
    expect(more, "entries for two directories that outlived UMNTALL", because=rule).at_most(0)


@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(*UMNT_REMOVES_ENTRY, *UMNTALL_REMOVES_ENTRIES, killed_by="umnt-and-umntall-forget-every-client")
def test_entries_of_other_clients_stay(mounting: MakeMounting, version: int, name: str) -> None:
    """UMNT and UMNTALL keep the entries of other clients."""
    other = mounting(version, source_host=ANOTHER_CLIENT)
    mount = mounting(version)
    mount.client.umntall()
    other.need(mount.export)
    before = mount.mounts(mount.export)
    mount.need(mount.export)
    if not before or set(mount.mounts(mount.export)) == set(before):
        skip("the list does not tell clients from one another")
    if name == "umnt":
        mount.client.umnt(mount.export)
    else:
        mount.client.umntall()
    rule = (UMNT_REMOVES_ENTRY if name == "umnt" else UMNTALL_REMOVES_ENTRIES).of(version)
    left = set(mount.mounts(mount.export)) >= set(before)
    other.client.umntall()
    expect(left, "that the entry of another client is still there", because=rule).is_true()


@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(*UNMOUNT_KEEPS_HANDLES, killed_by="umnt-and-umntall-revoke-handles")
def test_handles_outlive_the_entry(mounting: MakeMounting, version: int, name: str) -> None:
    """A file handle stays usable after UMNT and UMNTALL."""
    mount = mounting(version)
    handle = mount.need(mount.export)
    if name == "umnt":
        mount.client.umnt(mount.export)
    else:
        mount.client.umntall()
    rule = UNMOUNT_KEEPS_HANDLES.of(version)
    expect(mount.is_directory(handle), f"that the handle works after {name.upper()}", because=rule).is_true()


@V1_AND_V3
@proves(*LISTS_RESPECT_LIMITS, killed_by="dump-has-names-that-are-too-long")
def test_dump_is_a_list_of_names_and_paths(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    """DUMP returns a list that decodes within the limits for names and paths."""
    scratch.directory(b"l" * 200)
    mount = mounting(version)
    mount.need(mount.export)
    mount.mnt(mount.below(scratch.name, b"l" * 200))
    entries = mount.client.dump()
    mount.client.umntall()
    observe("entries", len(entries))
    observe("hosts", "addresses" if any(b"." in entry.ml_hostname for entry in entries) else "names")


@EVERY_VERSION
@proves(*LISTS_RESPECT_LIMITS, killed_by="export-has-paths-that-are-too-long")
def test_export_is_a_list_of_paths_and_groups(mounting: MakeMounting, version: int) -> None:
    """EXPORT returns a list that decodes within the limits for names and paths."""
    exports = mounting(version).client.export()
    observe("exports", len(exports))
    observe("groups", sum(len(entry.ex_groups) for entry in exports))


@OLD_VERSIONS
@proves(*EXPORT_LISTS_ALL, killed_by="export1-omits-the-first-export")
def test_old_versions_list_what_can_be_mounted(mounting: MakeMounting, version: int) -> None:
    """EXPORT of MOUNT versions 1 and 2 lists the export that can be mounted."""
    mount = mounting(version)
    mount.need(mount.export)
    names = mount.export.strip(b"/").split(b"/")
    above = {b"/" + b"/".join(names[:length]) for length in range(len(names) + 1)}
    listed = above & {entry.ex_dir.rstrip(b"/") or b"/" for entry in mount.client.export()}
    expect(
        sorted(listed), "exports at or above what was mounted", because=EXPORT_LISTS_ALL.of(version)
    ).differs_from([])
