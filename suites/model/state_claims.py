# SPDX-License-Identifier: MIT
"""What a program of opens and locks claims: each property with its clause."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Mapping

from nfsjudge import Harm, Requirement, stated
from suites.model.claims import V3, V4, Property
from suites.nfs4 import test_delegated, test_delegation, test_lock, test_lockt, test_wants, test_write
from suites.nfs4.conflicts import OTHERS_GO_ON_SOON
from suites.nfs4.delegations import CONFLICT_RECALLS
from suites.nfs4.other_versions import OTHERS_WAIT, READS_CONFLICT


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
    EXCLUDES = "excludes"
    """What a delegation of another client is in the way of is not done before that is returned."""
    ENDS = "ends"
    """After its return it is done, or refused for other reasons."""
    GRANTS = "grants"
    """No delegation is granted that opens or delegations of others contradict."""
    SERVED = "served"
    """READ and WRITE with the stateid of a delegation."""
    READ_ONLY = "read only"
    """WRITE with the stateid of a read delegation fails."""
    FLUSHED = "flushed"
    """The same while it is recalled."""
    CLAIMED = "claimed"
    """OPEN by the claim of a delegation that is recalled."""
    RETURNED = "returned"
    """DELEGRETURN of a delegation that is out."""
    EXCLUDES_NFS3 = "excludes NFSv3"
    EXCLUDES_READ3 = "excludes READ of NFSv3"
    ENDS_NFS3 = "ends for NFSv3"
    """After the return, a call that JUKEBOX has put off goes on soon."""
    DATA_NFS3 = "data by NFSv3"
    NAMES_NFS3 = "names by NFSv3"
    NAMES = "names"


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
    StateProperty.EXCLUDES: CONFLICT_RECALLS,
    StateProperty.ENDS: CONFLICT_RECALLS,
    StateProperty.GRANTS: test_wants.NONE_AGAINST_OTHERS,
    StateProperty.SERVED: test_delegated.STATEID_IS_FOR_IO,
    StateProperty.READ_ONLY: test_write.NEEDS_WRITE_ACCESS,
    StateProperty.FLUSHED: test_delegated.FLUSH_UNDER_RECALL,
    StateProperty.CLAIMED: test_delegated.CLAIMS_UNDER_RECALL,
    StateProperty.RETURNED: test_delegation.RETURNED_IS_BAD,
    StateProperty.EXCLUDES_NFS3: OTHERS_WAIT,
    StateProperty.EXCLUDES_READ3: READS_CONFLICT,
    StateProperty.ENDS_NFS3: OTHERS_GO_ON_SOON,
    StateProperty.DATA_NFS3: V3[Property.DATA],
    StateProperty.NAMES_NFS3: V3[Property.NAMES],
    StateProperty.NAMES: V4[Property.NAMES],
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
    "delegations": frozenset(
        {
            *(StateProperty.EXCLUDES, StateProperty.ENDS, StateProperty.GRANTS, StateProperty.RETURNED),
            *(StateProperty.SERVED, StateProperty.FLUSHED, StateProperty.CLAIMED, StateProperty.READ_ONLY),
            *(StateProperty.STATE_STAYS, StateProperty.DATA),
        }
    ),
    "with NFSv3": frozenset(
        {
            *(StateProperty.EXCLUDES_NFS3, StateProperty.EXCLUDES_READ3, StateProperty.ENDS_NFS3),
            *(StateProperty.DATA_NFS3, StateProperty.DATA),
            *(StateProperty.NAMES_NFS3, StateProperty.NAMES),
        }
    ),
}


def claims_of(group: str) -> tuple[Requirement, ...]:
    """The clauses that a check proves."""
    return tuple(dict.fromkeys(CLAIMS[each] for each in StateProperty if each in GROUPS[group]))
