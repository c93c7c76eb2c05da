# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path

from nfstargets.namespace import file_system_of

MOUNTS = [
    "22 1 254:0 / / rw,relatime - overlay overlay rw",
    "23 22 0:21 / /tmp rw - tmpfs tmpfs rw",
    "24 23 254:1 / /tmp/with\\040blank rw - ext4 /dev/vdb rw",
    "25 23 0:22 / /tmp/twice rw - ext4 /dev/vdc rw",
    "26 25 0:23 / /tmp/twice rw shared:1 - xfs /dev/vdd rw",
]


def test_the_innermost_mount_counts() -> None:
    assert file_system_of(Path("/etc/hosts"), MOUNTS) == "overlay"
    assert file_system_of(Path("/tmp/x"), MOUNTS) == "tmpfs"


def test_a_name_that_only_begins_alike_is_another() -> None:
    assert file_system_of(Path("/tmpx"), MOUNTS) == "overlay"


def test_blanks_are_decoded() -> None:
    assert file_system_of(Path("/tmp/with blank/x"), MOUNTS) == "ext4"


def test_a_later_mount_hides_an_earlier_one() -> None:
    assert file_system_of(Path("/tmp/twice/x"), MOUNTS) == "xfs"


def test_this_machine_has_one(tmp_path: Path) -> None:
    assert file_system_of(tmp_path)
