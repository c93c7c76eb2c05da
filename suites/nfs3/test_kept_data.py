# SPDX-License-Identifier: MIT
"""Files of several pages, with uncommitted data, and calls that must not change it (RFC 1813 section 3.3.7)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsjudge import Harm, Requirement, proves, should
from suites.clauses import NAMES_ARE_CURRENT
from suites.common_client import Sync
from suites.kept_data import (
    ATTRIBUTES,
    CREATE_AGAIN,
    EMPTIED,
    EMPTY,
    LAST_PAGE,
    NAMES,
    OVERLAP_BOTH,
    OVERLAPS,
    SIZES,
    WRITES,
    Clauses,
    KeptFile,
    keeps,
    need_reader,
)
from suites.nfs3.clauses import (
    EXTENSION_READS_AS_ZEROS,
    READ_RETURNS_CURRENT_DATA,
    SIZE_CHANGE_KEEPS_DATA,
    VERIFIER_CHANGES_ON_LOSS,
    WRITE_CHANGES_ONLY_ITS_RANGE,
    WRITE_GAP_IS_ZERO,
    WRITES_COUNT_BYTES,
)
from suites.nfs3.common import CommonNfs3
from suites.nfs3.contents import pattern
from suites.nfs3.limits import fsinfo
from suites.nfs3.permissions import STRANGER
from suites.nfs3.test_create import UNCHECKED_KEEPS_DATA
from suites.nfs3.test_read import READ_MAKES_PROGRESS

TRUNCATES_ALL_ALIKE = should(
    # the text leaves open whether the attributes are for a file that exists already
    "RFC 1813",
    "3.3.8",
    "if CREATE UNCHECKED with a size of 0 truncates files that exist, it should truncate those of any size",
    harm=Harm.SUCCESS,
)
_LARGE: t.Final = 12_000
"""Bytes in one WRITE: more than two pages, and less than nearly all servers take."""


def clauses_of(current: Requirement, zeros: Requirement) -> Clauses:
    """Those of NFSv3, of which two differ by the change. Checks of NFSv4 look at files by NFSv3, too."""
    return Clauses(current, VERIFIER_CHANGES_ON_LOSS, zeros, NAMES_ARE_CURRENT.of("3"), READ_MAKES_PROGRESS)


def _file(
    nfs3: Nfs3,
    second_client: Nfs3,
    scratch: Nfs3Scratch,
    current: Requirement = READ_RETURNS_CURRENT_DATA,
    zeros: Requirement = EXTENSION_READS_AS_ZEROS,
) -> KeptFile:
    clauses = clauses_of(current, zeros)
    return KeptFile(CommonNfs3(nfs3), CommonNfs3(second_client), scratch, clauses)


@pytest.mark.parametrize("change", NAMES)
@proves(
    VERIFIER_CHANGES_ON_LOSS,
    READ_RETURNS_CURRENT_DATA,
    killed_by=("names3-drop-uncommitted-pages", "names3-keep-one-page"),
)
def test_names(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """A file with uncommitted data keeps all of its data when it gets, changes or loses a name."""
    keeps(_file(nfs3, second_client, scratch), NAMES[change])


@pytest.mark.parametrize("change", ATTRIBUTES)
@proves(VERIFIER_CHANGES_ON_LOSS, READ_RETURNS_CURRENT_DATA, killed_by="setattr3-drops-uncommitted-pages")
def test_attributes(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """A file with uncommitted data keeps all of its data when SETATTR changes none of it."""
    keeps(_file(nfs3, second_client, scratch), ATTRIBUTES[change])


@pytest.mark.parametrize("change", SIZES)
@proves(
    SIZE_CHANGE_KEEPS_DATA,
    VERIFIER_CHANGES_ON_LOSS,
    EXTENSION_READS_AS_ZEROS,
    WRITE_GAP_IS_ZERO,
    killed_by=("setattr3-size-drops-uncommitted-pages"),
)
def test_sizes(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """SETATTR of the size of a file with uncommitted data keeps what is below both sizes, and adds zeros."""
    zeros = WRITE_GAP_IS_ZERO if change == "shrink-write" else EXTENSION_READS_AS_ZEROS
    keeps(_file(nfs3, second_client, scratch, SIZE_CHANGE_KEEPS_DATA, zeros), SIZES[change])


@pytest.mark.parametrize("change", LAST_PAGE)
@proves(EXTENSION_READS_AS_ZEROS, WRITE_GAP_IS_ZERO, killed_by="setattr3-truncation-within-a-page-keeps-it")
def test_last_page(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """What SETATTR of the size cuts off the last page of a file reads as zeros when the file grows."""
    zeros = WRITE_GAP_IS_ZERO if change == "write" else EXTENSION_READS_AS_ZEROS
    keeps(_file(nfs3, second_client, scratch, SIZE_CHANGE_KEEPS_DATA, zeros), LAST_PAGE[change])


@pytest.mark.parametrize("change", WRITES)
@proves(
    WRITE_CHANGES_ONLY_ITS_RANGE,
    VERIFIER_CHANGES_ON_LOSS,
    WRITE_GAP_IS_ZERO,
    killed_by="write3-drops-uncommitted-pages",
)
def test_writes(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """A further WRITE keeps uncommitted data outside of its range."""
    keeps(
        _file(nfs3, second_client, scratch, WRITE_CHANGES_ONLY_ITS_RANGE, WRITE_GAP_IS_ZERO), WRITES[change]
    )


@pytest.mark.parametrize("change", OVERLAPS)
@proves(
    VERIFIER_CHANGES_ON_LOSS,
    WRITES_COUNT_BYTES,
    killed_by=("write3-keeps-the-older-data", "commit3-flushes-the-newest-first"),
)
def test_overlap(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """Of two uncommitted WRITEs of the same bytes the later one is the data."""
    keeps(_file(nfs3, second_client, scratch, WRITES_COUNT_BYTES), OVERLAPS[change])


@proves(
    VERIFIER_CHANGES_ON_LOSS,
    WRITES_COUNT_BYTES,
    killed_by=("commit3-flushes-by-offset", "commit3-flushes-the-farthest-first"),
)
def test_overlap_both(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """Of uncommitted WRITEs that overlap an earlier one at both ends the later ones are the data."""
    keeps(_file(nfs3, second_client, scratch, WRITES_COUNT_BYTES), OVERLAP_BOTH)


@proves(WRITES_COUNT_BYTES, killed_by="write3-data-sync-ends-at-8-kib")
def test_data_sync(nfs3: Nfs3, second_client: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """One WRITE of 12,000 bytes with DATA_SYNC over uncommitted data stores all that it counts."""
    file = _file(nfs3, second_client, scratch, WRITES_COUNT_BYTES)
    file.dirty()
    size = min(_LARGE, fsinfo(nfs3, root).wtmax)
    file.put(0, pattern(size, salt=5), Sync.DATA_SYNC, in_one_call=True)
    file.expect_kept("WRITE with DATA_SYNC")


# ---------------------------------------------------------------- CREATE


@proves(UNCHECKED_KEEPS_DATA, VERIFIER_CHANGES_ON_LOSS, killed_by="create3-unchecked-drops-uncommitted-pages")
def test_created_again(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE UNCHECKED without a size keeps all data of a file with uncommitted data."""
    keeps(_file(nfs3, second_client, scratch, UNCHECKED_KEEPS_DATA), CREATE_AGAIN)


@pytest.mark.parametrize("change", EMPTY)
@proves(TRUNCATES_ALL_ALIKE, killed_by="create3-unchecked-truncates-one-page")
def test_emptied(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """CREATE UNCHECKED with a size of 0 truncates a file of several pages, if it truncates a small one."""
    keeps(_file(nfs3, second_client, scratch, TRUNCATES_ALL_ALIKE), EMPTY[change])


@pytest.mark.parametrize("change", EMPTIED)
@proves(EXTENSION_READS_AS_ZEROS, WRITE_GAP_IS_ZERO, killed_by="create3-size-zero-frees-nothing")
def test_emptied_then(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """What CREATE with a size of 0 has truncated does not come back when the file grows."""
    zeros = WRITE_GAP_IS_ZERO if change == "write" else EXTENSION_READS_AS_ZEROS
    keeps(_file(nfs3, second_client, scratch, zeros=zeros), EMPTIED[change])


# ---------------------------------------------------------------- other readers


@proves(
    READ_RETURNS_CURRENT_DATA, killed_by="read3-shows-uncommitted-data-to-its-writer", needs="other_users"
)
def test_other_user(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """Another user, who has read the file before, reads uncommitted data."""
    file = _file(nfs3, as_user(*STRANGER), scratch)
    need_reader(file)
    file.dirty()
    file.expect_kept("WRITE")
