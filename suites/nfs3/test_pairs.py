# SPDX-License-Identifier: MIT
"""Two changes in a row, in every pair of `suites.pairs`, by NFSv3."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsjudge import Harm, proves, stated
from suites.changes import CHANGES, PAIRS, WHOLE, Clauses, World
from suites.clauses import FILEID_STAYS, MTIME_IS_OF_DATA, MTIME_STAYS, NAMES_ARE_CURRENT, NAMES_THAT_ARE_GONE
from suites.nfs3.clauses import (
    EXTENSION_READS_AS_ZEROS,
    HANDLE_IS_OF_ONE_FILE,
    NLINK_COUNTS,
    READ_RETURNS_CURRENT_DATA,
    READDIR_LISTS_ENTRIES,
    SETATTR_SETS_ATTRIBUTES,
)
from suites.nfs3.common import CommonNfs3
from suites.nfs3.test_setattr_size import SIZE_CHANGE_UPDATES_MTIME
from suites.pairs import every_change, every_pair

ATTRIBUTES_ARE_CURRENT = stated(
    "RFC 1813",
    "3.3.1",
    "the attributes of an object show every change that was answered before, to every client",
)
CHANGES_FOLLOW_ONE_ANOTHER = stated(
    "RFC 1813",
    "1.6",
    "a modifying call is complete when it returns: a call that needs its effect succeeds",
    harm=Harm.SUCCESS,
)
CLAUSES: t.Final = Clauses(
    data=READ_RETURNS_CURRENT_DATA,
    zeros=EXTENSION_READS_AS_ZEROS,
    attributes=ATTRIBUTES_ARE_CURRENT,
    sets=SETATTR_SETS_ATTRIBUTES,
    mtime_moves=MTIME_IS_OF_DATA,
    size_moves_mtime=SIZE_CHANGE_UPDATES_MTIME,
    mtime_stays=MTIME_STAYS,
    fileid_stays=FILEID_STAYS,
    counts_links=NLINK_COUNTS,
    finds=NAMES_ARE_CURRENT,
    misses=NAMES_THAT_ARE_GONE,
    lists=READDIR_LISTS_ENTRIES,
    one_file=HANDLE_IS_OF_ONE_FILE,
    works=CHANGES_FOLLOW_ONE_ANOTHER,
)


@proves(
    ATTRIBUTES_ARE_CURRENT,
    NAMES_ARE_CURRENT,
    READ_RETURNS_CURRENT_DATA,
    killed_by=(
        "getattr3-remembers-attributes-by-connection",
        "readdirplus3-remembers-attributes-by-connection",
        "lookup3-remembers-names-by-connection",
        "read3-caches-data-by-connection",
        "names3-keep-one-page",
    ),
)
def test_single(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """After each of the changes that programs make, two clients see what it made."""
    clients = CommonNfs3(nfs3), CommonNfs3(second_client)
    every_change(World(*clients, scratch, CLAUSES, target.has("hardlink"), size=WHOLE))


@pytest.mark.parametrize("first", CHANGES)
@proves(ATTRIBUTES_ARE_CURRENT, killed_by="setattr3-after-a-change-is-lost")
def test_after(
    nfs3: Nfs3,
    second_client: Nfs3,
    scratch: Nfs3Scratch,
    target: TargetView,
    budget: Budget,
    first: str,
) -> None:
    """After each pair of changes that begins with this one, two clients see what both changes made."""
    clients = CommonNfs3(nfs3), CommonNfs3(second_client)
    world = World(*clients, scratch, CLAUSES, target.has("hardlink"))
    every_pair(world, first, budget.of(len(CHANGES), ours=PAIRS))
