# SPDX-License-Identifier: MIT
"""What a program of opens and locks claims: each property with its clause."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Mapping

from nfsjudge import Harm, Requirement, stated
from suites.nfs4 import test_lock, test_lockt


class StateProperty(enum.StrEnum):
    """What can be wrong."""

    SHARES = "shares"
    """An OPEN that a share reservation is in the way of fails."""
    SHARES_END = "shares end"
    """One that nothing is in the way of is not refused for share reservations."""
    LOCKS = "locks"
    """A LOCK that a lock of another owner is in the way of fails."""
    LOCKS_ARE_FOUND = "locks are found"
    """LOCKT finds it as well."""
    LOCKS_END = "locks end"
    """Bytes that nobody has locked are free."""
    STATE_STAYS = "state stays"
    """The stateid of an open or of locks is good until its owner ends it."""
    DATA = "data"


SHARES_LAST = stated(
    "RFC 5661",
    "9.7",
    "an OPEN is refused while the access or deny bits of another open are in the way",
    harm=Harm.DATA,
)
SHARES_END = stated(
    "RFC 5661",
    "9.7",
    "share reservations are in effect from OPEN until CLOSE or OPEN_DOWNGRADE removes them, and no longer",
)
LOCKED_DATA = stated(
    "RFC 5661",
    "18.22.3",
    "READ of an open file returns what was written last, by whichever open and in whatever order of locks",
    harm=Harm.DATA,
)
STATE_STAYS = stated(
    "RFC 5661",
    "8.2.1",
    "a stateid stands for the open, or the locks, of one owner: what others close and unlock does not end it",
    harm=Harm.SUCCESS,
)
CLAIMS: t.Final[Mapping[StateProperty, Requirement]] = {
    StateProperty.SHARES: SHARES_LAST,
    StateProperty.SHARES_END: SHARES_END,
    StateProperty.LOCKS: test_lock.CONFLICT_IS_DENIED,
    StateProperty.LOCKS_ARE_FOUND: test_lockt.FINDS_CONFLICTS,
    StateProperty.LOCKS_END: test_lockt.NOTHING_HELD_IS_OK,
    StateProperty.STATE_STAYS: STATE_STAYS,
    StateProperty.DATA: LOCKED_DATA,
}
GROUPS: t.Final[Mapping[str, frozenset[StateProperty]]] = {
    "shares": frozenset({StateProperty.SHARES, StateProperty.SHARES_END, StateProperty.STATE_STAYS}),
    "locks": frozenset(
        {
            *(StateProperty.LOCKS, StateProperty.LOCKS_ARE_FOUND, StateProperty.LOCKS_END),
            StateProperty.STATE_STAYS,
        }
    ),
    "data": frozenset({StateProperty.DATA}),
}


def claims_of(group: str) -> tuple[Requirement, ...]:
    """The clauses that a check proves."""
    return tuple(CLAIMS[each] for each in StateProperty if each in GROUPS[group])
