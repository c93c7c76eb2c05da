# SPDX-License-Identifier: MIT
"""Files of several pages, with uncommitted data, and operations that must not change it (RFC 5661 section 18.32.3)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.rpc.auth import AuthSys
from nfsjudge import Harm, Part, Requirement, proves, should, stated
from suites.clauses import DATA_IS_CURRENT, NAMES_ARE_CURRENT, NEW_BYTES_ARE_ZERO
from suites.common_client import Sync
from suites.kept_data import (
    ATTRIBUTES,
    COMMITS,
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
from suites.nfs3.contents import pattern
from suites.nfs3.permissions import STRANGER
from suites.nfs4.common import CommonNfs4, OpenNfs4
from suites.nfs4.opens import another_client
from suites.nfs4.test_open import UNCHECKED_TAKES_THE_EXISTING
from suites.nfs4.test_setattr import SETS_THE_SIZE
from suites.nfs4.test_write import GROWS_BY_ZEROS, WRITES_DATA

NOTHING_IS_DESTROYED = stated(
    "RFC 5661",
    "18.32.3",
    "the server does not destroy uncommitted data without changing writeverf",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
READ_MAKES_PROGRESS = should(
    "RFC 5661",
    "18.22.4",
    "a READ without eof returns some data, so that further READs get the rest",
    part=Part.IMPLEMENTATION,
    also={"4.0": ("RFC 7530", "16.23.5")},
)
_LARGE: t.Final = 12_000
"""Bytes in one WRITE: more than two pages, and less than nearly all servers take."""


def clauses_of(current: Requirement, zeros: Requirement) -> Clauses:
    """Those of NFSv4, of which two differ by the change."""
    return Clauses(current, NOTHING_IS_DESTROYED, zeros, NAMES_ARE_CURRENT, READ_MAKES_PROGRESS)


def _file(
    compounds: Compounds,
    other: Compounds,
    scratch: Nfs4Scratch,
    current: Requirement = DATA_IS_CURRENT,
    zeros: Requirement = NEW_BYTES_ARE_ZERO,
) -> KeptFile:
    return KeptFile(CommonNfs4(compounds), CommonNfs4(other), scratch, clauses_of(current, zeros))


@pytest.mark.parametrize("change", NAMES)
@proves(
    NOTHING_IS_DESTROYED,
    DATA_IS_CURRENT,
    killed_by=("names4-drop-uncommitted-pages", "names4-keep-one-page", "close4-drops-uncommitted-pages"),
)
def test_names(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """A file with uncommitted data keeps all of its data when it gets, changes or loses a name."""
    keeps(_file(compounds, another_client(v4), scratch), NAMES[change])


@pytest.mark.parametrize("change", ATTRIBUTES)
@proves(
    NOTHING_IS_DESTROYED,
    DATA_IS_CURRENT,
    killed_by=("setattr4-drops-uncommitted-pages", "setattr4-keeps-one-page"),
)
def test_attributes(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """A file with uncommitted data keeps all of its data when SETATTR changes none of it."""
    keeps(_file(compounds, another_client(v4), scratch), ATTRIBUTES[change])


@pytest.mark.parametrize("change", SIZES)
@proves(
    SETS_THE_SIZE,
    NOTHING_IS_DESTROYED,
    killed_by=(
        "setattr4-size-keeps-one-page",
        "setattr4-size-drops-uncommitted-pages",
    ),
)
def test_sizes(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """SETATTR of the size of a file with uncommitted data keeps what is below both sizes, and adds zeros."""
    keeps(_file(compounds, another_client(v4), scratch, SETS_THE_SIZE, SETS_THE_SIZE), SIZES[change])


@pytest.mark.parametrize("change", LAST_PAGE)
@proves(NEW_BYTES_ARE_ZERO, killed_by="setattr4-truncation-within-a-page-keeps-it")
def test_last_page(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """What SETATTR of the size cuts off the last page of a file reads as zeros when the file grows."""
    keeps(_file(compounds, another_client(v4), scratch, SETS_THE_SIZE), LAST_PAGE[change])


@pytest.mark.parametrize("change", WRITES)
@proves(NOTHING_IS_DESTROYED, killed_by="write4-drops-uncommitted-pages")
def test_writes(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """A further WRITE keeps uncommitted data outside of its range."""
    keeps(_file(compounds, another_client(v4), scratch, WRITES_DATA, GROWS_BY_ZEROS), WRITES[change])


@pytest.mark.parametrize("change", OVERLAPS)
@proves(
    NOTHING_IS_DESTROYED,
    killed_by=("write4-keeps-the-older-data", "commit4-flushes-the-newest-first"),
)
def test_overlap(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """Of two uncommitted WRITEs of the same bytes the later one is the data."""
    keeps(_file(compounds, another_client(v4), scratch, WRITES_DATA), OVERLAPS[change])


@proves(NOTHING_IS_DESTROYED, killed_by=("commit4-flushes-by-offset", "commit4-flushes-the-farthest-first"))
def test_overlap_both(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Of uncommitted WRITEs of one OPEN that overlap an earlier one at both ends the later ones are the data."""
    clauses = clauses_of(WRITES_DATA, NEW_BYTES_ARE_ZERO)
    keeps(KeptFile(OpenNfs4(compounds), CommonNfs4(another_client(v4)), scratch, clauses), OVERLAP_BOTH)


@proves(WRITES_DATA, killed_by="write4-data-sync-ends-at-4-kib")
def test_data_sync(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """One WRITE of 12,000 bytes with DATA_SYNC4 over uncommitted data stores all that it counts."""
    file = _file(compounds, another_client(v4), scratch, WRITES_DATA)
    file.dirty()
    most = scratch.attributes(file.handle, "maxwrite").maxwrite or _LARGE
    file.put(0, pattern(min(_LARGE, most), salt=5), Sync.DATA_SYNC, in_one_call=True)
    file.expect_kept("WRITE with DATA_SYNC4")


@pytest.mark.parametrize("change", COMMITS)
@proves(NOTHING_IS_DESTROYED, killed_by="commit4-drops-other-pages")
def test_commits(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """COMMIT of a part of a file keeps the uncommitted data of other parts."""
    keeps(_file(compounds, another_client(v4), scratch), COMMITS[change])


# ---------------------------------------------------------------- OPEN with CREATE


@proves(
    UNCHECKED_TAKES_THE_EXISTING,
    NOTHING_IS_DESTROYED,
    killed_by=("open4-unchecked-keeps-one-page", "open4-unchecked-drops-uncommitted-pages"),
)
def test_created_again(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """UNCHECKED4 without a size keeps all data of a file with uncommitted data."""
    keeps(_file(compounds, another_client(v4), scratch, UNCHECKED_TAKES_THE_EXISTING), CREATE_AGAIN)


@pytest.mark.parametrize("change", EMPTY)
@proves(UNCHECKED_TAKES_THE_EXISTING, killed_by="open4-unchecked-truncates-one-page")
def test_emptied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """UNCHECKED4 with a size of 0 truncates a file of several pages, if it truncates a small one."""
    keeps(_file(compounds, another_client(v4), scratch, UNCHECKED_TAKES_THE_EXISTING), EMPTY[change])


@pytest.mark.parametrize("change", EMPTIED)
@proves(NEW_BYTES_ARE_ZERO, killed_by="open4-size-zero-frees-nothing")
def test_emptied_then(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """What UNCHECKED4 with a size of 0 has truncated does not come back when the file grows."""
    keeps(_file(compounds, another_client(v4), scratch), EMPTIED[change])


# ---------------------------------------------------------------- other readers


@proves(DATA_IS_CURRENT, killed_by="read4-shows-uncommitted-data-to-its-writer", needs="nfs4_other_users")
def test_other_user(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Another user, who has read the file before, reads uncommitted data."""
    stranger = v4.new_compounds(v4.connections.connect("nfs"), AuthSys(*STRANGER))
    file = _file(compounds, stranger, scratch)
    need_reader(file)
    file.dirty()
    file.expect_kept("WRITE")
