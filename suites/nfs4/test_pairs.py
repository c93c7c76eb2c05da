# SPDX-License-Identifier: MIT
"""Two changes in a row, in every pair of `suites.pairs`, by NFSv4.1."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import Compounds
from nfsclient.protocol import nfs4 as p
from nfsjudge import Harm, must, proves, should, stated
from suites.changes import CHANGES, FEW, PAIRS, WHOLE, Clauses, World
from suites.clauses import (
    DATA_IS_CURRENT,
    FILEID_STAYS,
    LISTS_ARE_CURRENT,
    NAMES_ARE_CURRENT,
    NAMES_THAT_ARE_GONE,
    NEW_BYTES_ARE_ZERO,
    SETATTR_SETS,
)
from suites.nfs4.common import CommonNfs4
from suites.nfs4.opens import another_client
from suites.pairs import every_change, every_pair

ATTRIBUTES_ARE_CURRENT = stated(
    "RFC 5661",
    "18.7.3",
    "GETATTR obtains the attributes of the object, with every change that was answered before",
    also={"4.0": ("RFC 7530", "16.7.4")},
)
MTIME_MOVES = stated(
    "RFC 5661",
    "5.8.2.43",
    "time_modify is the time of the last modification to the object",
    also={"4.0": ("RFC 7530", "5.8.2.39")},
)
MTIME_STAYS = should(  # the text does not say what counts as a modification
    "RFC 5661",
    "5.8.2.43",
    "time_modify should stay as it was set while the data of the file does not change",
    also={"4.0": ("RFC 7530", "5.8.2.39")},
)
COUNTS_LINKS = stated(
    "RFC 5661",
    "5.8.2.25",
    "numlinks is the number of hard links to the object",
    also={"4.0": ("RFC 7530", "5.8.2.21")},
)
ONE_FILE = must(
    "RFC 5661",
    "4.2.1",
    "a filehandle is of one object: that of a removed file does not reach another one",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "4.2.1")},
)
CHANGES_FOLLOW_ONE_ANOTHER = must(
    "RFC 5661",
    "4.2.2",
    "a filehandle is accepted for the lifetime of its object: no earlier change makes an operation fail",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "4.2.2")},
)
CLAUSES: t.Final = Clauses(
    data=DATA_IS_CURRENT,
    zeros=NEW_BYTES_ARE_ZERO,
    attributes=ATTRIBUTES_ARE_CURRENT,
    sets=SETATTR_SETS,
    mtime_moves=MTIME_MOVES,
    size_moves_mtime=MTIME_MOVES,
    mtime_stays=MTIME_STAYS,
    fileid_stays=FILEID_STAYS,
    counts_links=COUNTS_LINKS,
    finds=NAMES_ARE_CURRENT,
    misses=NAMES_THAT_ARE_GONE,
    lists=LISTS_ARE_CURRENT,
    one_file=ONE_FILE,
    works=CHANGES_FOLLOW_ONE_ANOTHER,
)


def _world(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, target: TargetView, *, size: int = FEW
) -> World:
    clients = CommonNfs4(compounds), CommonNfs4(another_client(v4))
    kind = scratch.attributes(None, "fh_expire_type").fh_expire_type
    return World(
        *clients,
        scratch,
        CLAUSES,
        has_links=target.has("nfs4_hardlink"),
        handles_may_expire=kind != p.FH4_PERSISTENT,
        size=size,
    )


@proves(
    ATTRIBUTES_ARE_CURRENT,
    NAMES_ARE_CURRENT,
    killed_by=(
        "getattr4-remembers-attributes-by-session",
        "readdir4-remembers-attributes-by-session",
        "lookup4-remembers-names-by-session",
        "names4-keep-one-page",
    ),
)
def test_single(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, target: TargetView) -> None:
    """After each of the changes that programs make, two clients see what it made."""
    every_change(_world(v4, compounds, scratch, target, size=WHOLE))


@pytest.mark.parametrize("first", CHANGES)
@proves(ATTRIBUTES_ARE_CURRENT, killed_by="setattr4-after-a-change-is-lost")
def test_after(
    v4: Nfs4Dialect,
    compounds: Compounds,
    scratch: Nfs4Scratch,
    target: TargetView,
    budget: Budget,
    first: str,
) -> None:
    """After each pair of changes that begins with this one, two clients see what both changes made."""
    world = _world(v4, compounds, scratch, target)
    every_pair(world, first, budget.of(len(CHANGES), ours=PAIRS))
