# SPDX-License-Identifier: MIT
"""The requests of NFSv4 that checks replay: those of the catalogue that change something, and more forms of some."""

from __future__ import annotations

from suites.faults.changes import CHANGES, PAIRS, VISIBLE
from suites.nfs4.calls import CALLS

OPERATIONS = {
    *("CLOSE", "CREATE", "FREE_STATEID", "LINK", "LOCK", "LOCKU", "OPEN", "OPEN_DOWNGRADE", "REMOVE"),
    *("RENAME", "SETATTR", "WRITE"),
}
"""Operations of NFSv4.1 that the catalogue arranges, and whose second execution shows."""
NAMES = {"mkdir": "CREATE", "unlock": "LOCKU"}
FORMS = {"open-guarded", "open-exclusive", "open-more", "symlink", "rmdir", "truncate"}


def test_they_are_those_of_the_catalogue() -> None:
    found = {NAMES.get(name, name.upper().replace("-", "_")) for name in set(CHANGES) - FORMS}
    assert found == OPERATIONS
    assert {name.lower() for name in OPERATIONS} <= set(CALLS)


def test_what_others_see_and_what_is_paired_is_among_them() -> None:
    assert set(VISIBLE) | set(PAIRS) <= set(CHANGES)
    assert len(VISIBLE) == len(set(VISIBLE))
