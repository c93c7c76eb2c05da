# SPDX-License-Identifier: MIT
"""Two changes in a row, in every pair of `suites.pairs`, by NFSv2."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2
from nfsjudge import Harm, proves, should, stated
from suites.changes import CHANGES, PAIRS, WHOLE, Clauses, World
from suites.clauses import (
    DATA_IS_CURRENT,
    FILEID_STAYS,
    LISTS_ARE_CURRENT,
    MTIME_IS_OF_DATA,
    MTIME_STAYS,
    NAMES_ARE_CURRENT,
    NAMES_THAT_ARE_GONE,
    NEW_BYTES_ARE_ZERO,
    SETATTR_SETS,
)
from suites.nfs2.clauses import NLINK_COUNTS_NAMES
from suites.nfs2.common import CommonNfs2
from suites.pairs import every_change, every_pair

ATTRIBUTES_ARE_CURRENT = stated(
    "RFC 1094",
    "2.2.2",
    "the attributes of a file show every change that was answered before, to every client",
)
CHANGES_FOLLOW_ONE_ANOTHER = stated(
    "RFC 1094",
    "2.2",
    "when a procedure returns, the operation is complete: a call that needs its effect succeeds",
    harm=Harm.SUCCESS,
)
SIZE_MOVES_MTIME = should(  # no sentence says what SETATTR of the size does to times
    "RFC 1094", "2.3.5", "SETATTR that changes the size of a file should update its mtime"
)
ONE_FILE = stated(
    "RFC 1094",
    "2.3.3",
    "a handle is of one file: that of a removed file does not reach another one",
    harm=Harm.DATA,
)
CLAUSES: t.Final = Clauses(
    data=DATA_IS_CURRENT,
    zeros=NEW_BYTES_ARE_ZERO,
    attributes=ATTRIBUTES_ARE_CURRENT,
    sets=SETATTR_SETS,
    mtime_moves=MTIME_IS_OF_DATA,
    size_moves_mtime=SIZE_MOVES_MTIME,
    mtime_stays=MTIME_STAYS,
    fileid_stays=FILEID_STAYS,
    counts_links=NLINK_COUNTS_NAMES,
    finds=NAMES_ARE_CURRENT,
    misses=NAMES_THAT_ARE_GONE,
    lists=LISTS_ARE_CURRENT,
    one_file=ONE_FILE,
    works=CHANGES_FOLLOW_ONE_ANOTHER,
)


@proves(
    ATTRIBUTES_ARE_CURRENT,
    NAMES_ARE_CURRENT,
    killed_by=(
        "getattr2-remembers-attributes-by-connection",
        "lookup2-remembers-names-by-connection",
        "names2-keep-one-page",
    ),
)
def test_single(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, target: TargetView) -> None:
    """After each of the changes that programs make, two clients see what it made."""
    clients = CommonNfs2(nfs2), CommonNfs2(second_client)
    every_change(World(*clients, scratch, CLAUSES, target.has("nfs2_hardlink"), size=WHOLE))


@pytest.mark.parametrize("first", CHANGES)
@proves(ATTRIBUTES_ARE_CURRENT, killed_by="setattr2-after-a-change-is-lost")
def test_after(
    nfs2: Nfs2,
    second_client: Nfs2,
    scratch: Nfs2Scratch,
    target: TargetView,
    budget: Budget,
    first: str,
) -> None:
    """After each pair of changes that begins with this one, two clients see what both changes made."""
    clients = CommonNfs2(nfs2), CommonNfs2(second_client)
    world = World(*clients, scratch, CLAUSES, target.has("nfs2_hardlink"))
    every_pair(world, first, budget.of(len(CHANGES), ours=PAIRS))
