# SPDX-License-Identifier: MIT
"""The list of mounts in every version of MOUNT (RFC 1813 sections 5.2.2 to 5.2.5, RFC 1094 A.5.3 to A.5.6).

The list is advice only: it may be kept by name or address, be stale, or not be kept at all (RFC 1094 A.1). So what
is wrong with it is NONSTRICT. These checks keep other workers away, as the list is one for all who call from here.
"""

from __future__ import annotations

import pytest

from fixtures.mounting import ANOTHER_CLIENT, MakeMounting
from fixtures.scratch import Scratch
from nfsjudge import expect, observe, proves, skip
from suites.mount.clauses import (
    DUMP_HAS_MOUNTS,
    EVERY_VERSION,
    EXPORT_LISTS,
    HANDLES_STAY,
    LISTS_HAVE_FORM,
    OLD_VERSIONS,
    ONE_ENTRY,
    UMNT_ANSWERS,
    UMNT_REMOVES,
    UMNTALL_ANSWERS,
    UMNTALL_REMOVES,
)

pytestmark = pytest.mark.exclusive

Names = tuple[bytes, bytes]


@OLD_VERSIONS
@proves(*DUMP_HAS_MOUNTS, killed_by="mnt1-records-nothing")
def test_old_versions_list_what_was_mounted(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    mount.need(mount.export)
    hosts = mount.mounts(mount.export)
    expect(len(hosts), "entries for what was mounted", because=DUMP_HAS_MOUNTS.of(version)).at_least(1)


@EVERY_VERSION
@proves(*ONE_ENTRY, killed_by="dump-has-entries-twice")
def test_mounting_twice_makes_one_entry(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    for _ in range(2):
        mount.need(mount.export)
    hosts = mount.mounts(mount.export)
    observe("entries", len(hosts))
    once = len(hosts) == len(set(hosts))
    expect(once, "that each host is listed once for the directory", because=ONE_ENTRY.of(version)).is_true()


@EVERY_VERSION
@proves(*DUMP_HAS_MOUNTS, killed_by="mnt-records-what-is-refused")
def test_a_refused_mount_is_not_listed(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    path = mount.below(b"nfsproof-never-made-this")
    if mount.handle(path) is not None:
        skip("a path that does not exist was mounted")
    entries = len(mount.mounts(path))
    expect(entries, "entries for what was refused", because=DUMP_HAS_MOUNTS.of(version)).equals(0)


@OLD_VERSIONS
@proves(*UMNT_REMOVES, killed_by="umnt1-removes-nothing")
def test_old_versions_remove_an_entry(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    mount.client.umntall()
    before = len(mount.mounts(mount.export))
    mount.need(mount.export)
    mount.client.umnt(mount.export)
    after = len(mount.mounts(mount.export))
    expect(after, "entries for what was unmounted", because=UMNT_REMOVES.of(version)).at_most(before)


@EVERY_VERSION
@proves(*UMNT_ANSWERS, killed_by="umnt-fails-for-what-was-not-mounted")
def test_umnt_of_what_was_not_mounted_is_answered(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    for path in (mount.below(b"nfsproof-never-made-this"), b"/", b"/" + b"n" * 1023):
        mount.client.umnt(path)


@EVERY_VERSION
@proves(*UMNT_REMOVES, killed_by="umnt-removes-every-entry")
def test_umnt_leaves_other_directories(mounting: MakeMounting, version: int, inner: Names) -> None:
    mount = mounting(version)
    mount.need(mount.export)
    nested = mount.below(*inner)
    if mount.handle(nested) is None or not mount.mounts(mount.export):
        skip("directories below the export are not mounted, or mounts are not listed")
    mount.client.umnt(nested)
    left = len(mount.mounts(mount.export))
    expect(left, "entries for the other directory", because=UMNT_REMOVES.of(version)).at_least(1)


@EVERY_VERSION
@proves(*UMNTALL_ANSWERS, killed_by="umntall-fails-without-mounts")
def test_umntall_is_answered_without_mounts(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    for _ in range(2):
        mount.client.umntall()


@OLD_VERSIONS
@proves(*UMNTALL_REMOVES, killed_by="umntall1-removes-nothing")
def test_old_versions_remove_all_entries(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    mount.client.umnt(mount.export)
    before = len(mount.mounts(mount.export))
    mount.need(mount.export)
    mount.client.umntall()
    after = len(mount.mounts(mount.export))
    expect(after, "entries after UMNTALL", because=UMNTALL_REMOVES.of(version)).at_most(before)


@EVERY_VERSION
@proves(*UMNTALL_REMOVES, killed_by="umntall-keeps-the-last-entry")
def test_umntall_removes_every_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
    mount = mounting(version)
    mount.client.umntall()
    nested = mount.below(*inner)
    before = [len(mount.mounts(path)) for path in (mount.export, nested)]
    for path in (mount.export, nested):
        mount.mnt(path)
    mount.client.umntall()
    after = [len(mount.mounts(path)) for path in (mount.export, nested)]
    rule = UMNTALL_REMOVES.of(version)
    more = sum(max(0, now - once) for once, now in zip(before, after, strict=True))
    expect(more, "entries for two directories that outlived UMNTALL", because=rule).at_most(0)


@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(*UMNT_REMOVES, *UMNTALL_REMOVES, killed_by="umnt-and-umntall-forget-every-client")
def test_entries_of_other_clients_stay(mounting: MakeMounting, version: int, name: str) -> None:
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
    rule = (UMNT_REMOVES if name == "umnt" else UMNTALL_REMOVES).of(version)
    left = set(mount.mounts(mount.export)) >= set(before)
    other.client.umntall()
    expect(left, "that the entry of another client is still there", because=rule).is_true()


@EVERY_VERSION
@pytest.mark.parametrize("name", ["umnt", "umntall"])
@proves(*HANDLES_STAY, killed_by="umnt-and-umntall-revoke-handles")
def test_handles_outlive_the_entry(mounting: MakeMounting, version: int, name: str) -> None:
    mount = mounting(version)
    handle = mount.need(mount.export)
    if name == "umnt":
        mount.client.umnt(mount.export)
    else:
        mount.client.umntall()
    rule = HANDLES_STAY.of(version)
    expect(mount.is_directory(handle), f"that the handle works after {name.upper()}", because=rule).is_true()


@EVERY_VERSION
@proves(*LISTS_HAVE_FORM, killed_by="dump-has-names-that-are-too-long")
def test_dump_is_a_list_of_names_and_paths(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    scratch.directory(b"l" * 200)
    mount = mounting(version)
    mount.need(mount.export)
    mount.mnt(mount.below(scratch.name, b"l" * 200))
    entries = mount.client.dump()
    mount.client.umntall()
    observe("entries", len(entries))
    observe("hosts", "addresses" if any(b"." in entry.ml_hostname for entry in entries) else "names")


@EVERY_VERSION
@proves(*LISTS_HAVE_FORM, killed_by="export-has-paths-that-are-too-long")
def test_export_is_a_list_of_paths_and_groups(mounting: MakeMounting, version: int) -> None:
    exports = mounting(version).client.export()
    observe("exports", len(exports))
    observe("groups", sum(len(entry.ex_groups) for entry in exports))


@OLD_VERSIONS
@proves(*EXPORT_LISTS, killed_by="export1-omits-the-first-export")
def test_old_versions_list_what_can_be_mounted(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    mount.need(mount.export)
    names = mount.export.strip(b"/").split(b"/")
    above = {b"/" + b"/".join(names[:length]) for length in range(len(names) + 1)}
    listed = above & {entry.ex_dir.rstrip(b"/") or b"/" for entry in mount.client.export()}
    expect(
        sorted(listed), "exports at or above what was mounted", because=EXPORT_LISTS.of(version)
    ).differs_from([])
