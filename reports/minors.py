# SPDX-License-Identifier: MIT
"""Which checks run in which minor version of NFSv4.

No text distinguishes NFSv4.1 from 4.2 in what most checks claim, and no server that we know does. So a run has each
of them once, in the highest minor version that the server has. A tenth runs in the others as well: enough to see a
server that treats a minor version differently as such. Which tenth it is follows from the id and from `SEED`. It is the
same in every run, so a baseline stays valid, and a new check moves no other one. `--minor all` runs all.
"""

from __future__ import annotations

import re
import typing as t
import zlib
from collections import defaultdict
from collections.abc import Iterable

SEED: t.Final = 1
"""What the tenth is drawn by."""
ONE_OF: t.Final = 10
EACH: t.Final = ("nfs4/COMPOUND/",)
"""Beginnings of ids of checks that always run in each minor version: they are about the form that names it."""
ALL: t.Final = "all"
ONCE: t.Final = "once"
_OF_NFS4: t.Final = ("nfs4/", "recovery/", "faults/")
"""Beginnings of ids that may name a minor version."""
_MINOR: t.Final = re.compile(r"(?<=[\[-])4\.(\d+)(?=[\]-])")
_NAMED: t.Final = re.compile(r"\[[^\]]*\b4\.\d")


def minor_of(check_id: str) -> int | None:
    """The minor version that an id of a check of NFSv4 names; None if it names none."""
    found = _MINOR.search(check_id) if check_id.startswith(_OF_NFS4) else None
    return None if found is None else int(found[1])


def names_a_minor(word: str) -> bool:
    """Whether a word of a command line is an id, or a pattern of ids, in one minor version."""
    return _NAMED.search(word) is not None


def claim_of(check_id: str) -> str:
    """The id without the minor version: the same for a check in all of them."""
    return _MINOR.sub("4.*", check_id, count=1)


def is_drawn(claim: str) -> bool:
    """Whether a claim belongs to the tenth that runs in every minor version."""
    return zlib.crc32(f"{SEED} {claim}".encode()) % ONE_OF == 0


def left_out(ids: Iterable[str], highest: int) -> frozenset[str]:
    """Those of some ids that a run leaves out on a server whose highest minor version is this; 0: none."""
    if not highest:
        return frozenset()
    claims: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for check_id in ids:
        minor = minor_of(check_id)
        if minor is not None and not check_id.startswith(EACH):
            claims[claim_of(check_id)][minor] = check_id
    found = set[str]()
    for claim, variants in claims.items():
        chosen = max([minor for minor in variants if minor <= highest] or variants)
        if not is_drawn(claim):
            found |= {check_id for minor, check_id in variants.items() if minor != chosen}
    return frozenset(found)
