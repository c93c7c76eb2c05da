# SPDX-License-Identifier: MIT
"""Random programs of two clients by NFSv4.1, and of one by NFSv3 beside one by NFSv4.1, without opens that last.

After each call the other client sees what a model of the RFCs allows.
"""

from __future__ import annotations

import time
import typing as t

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsjudge import proves
from suites.model.campaign import Campaign
from suites.model.claims import V3, V4, Property
from suites.model.grounds import Ground4, Ground34


MUTANTS: t.Final = {
    Property.NAMES: "lookup4-remembers-what-it-found",
    Property.LISTED: "readdir4-skips-the-last",
    Property.COOKIES: "readdir4-repeats-a-cookie",
    Property.TYPE: "getattr4-empty-files-are-fifos",
    Property.SIZE: "readdir4-all-sizes-are-zero",
    Property.DATA: "write4-large-unaligned-loses-a-byte",
    Property.GAP: "write4-gap-repeats-the-data",
    Property.TEXT: "readlink4-cuts-the-text",
    Property.NLINK: "rename4-over-a-link-keeps-numlinks",
    Property.FILEID: "getattr4-fileid-of-files-is-short",
    Property.SET: "setattr4-size-drops-the-mode",
    Property.MTIME_SET: "setattr4-sets-times-of-the-server",
    Property.WRITE_MOVES_MTIME: "write4-second-unstable-keeps-time-modify",
    Property.SIZE_MOVES_MTIME: "setattr4-size-keeps-time-modify",
    Property.CHANGE: "getattr4-change-comes-again",
    Property.BEFORE: "create4-before-is-older",
    Property.TRUNCATES: "open4-unchecked-keeps-the-data",
    Property.GUARDED: "open4-guarded-is-unchecked",
    Property.EXCLUSIVE: "open4-exclusive-forgets-the-verifier",
}
"""For each property one that breaks it."""


@proves(*dict.fromkeys(V4.values()), killed_by=tuple(MUTANTS.values()))
def test_two_clients(v4: Nfs4Dialect, seed: int) -> None:
    """After each call of random programs of two clients, both see what the model of RFC 5661 allows."""
    Campaign(Ground4(v4), time.monotonic, name="v4", seed=seed, is_root=False).judge()


@proves(*dict.fromkeys((*V4.values(), *V3.values())), killed_by="getattr3-size-is-that-of-nfs3")
def test_beside_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, seed: int) -> None:
    """After each call of random programs of a client by NFSv3 and one by NFSv4.1, both see what the models allow."""
    Campaign(Ground34(v3, v4), time.monotonic, name="v3 v4", seed=seed, is_root=False).judge()
