# SPDX-License-Identifier: MIT
"""Random programs of two clients by NFSv3: after each call the other client sees what a model of RFC 1813 allows."""

from __future__ import annotations

import time
import typing as t


from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.target import TargetView
from nfsjudge import proves
from suites.model.campaign import Campaign
from suites.model.claims import V3, Property
from suites.model.grounds import Ground3


MUTANTS: t.Final = {
    Property.NAMES: "lookup3-remembers-names-by-connection",
    Property.LISTED: "readdir3-lists-removed-entries",
    Property.COOKIES: "readdir3-gives-two-entries-a-cookie",
    Property.TYPE: "getattr3-reports-empty-files-as-fifos",
    Property.SIZE: "getattr3-caches-files-by-connection",
    Property.DATA: "write3-large-unaligned-loses-a-byte",
    Property.GAP: "write3-fills-gap",
    Property.EXTENSION: "setattr3-extends-with-garbage",
    Property.TEXT: "symlink3-adds-a-byte",
    Property.NLINK: "rename3-keeps-nlink-of-replaced-files",
    Property.FILEID: "create3-reuses-the-fileid-of-a-linked-file",
    Property.SET: "setattr3-size-drops-the-mode",
    Property.MTIME_SET: "setattr3-mode-drops-the-mtime",
    Property.WRITE_MOVES_MTIME: "write3-second-unstable-keeps-mtime",
    Property.SIZE_MOVES_MTIME: "setattr3-size-leaves-mtime",
    Property.TIMES_GO_ON: "link3-sets-ctime-to-mtime",
    Property.BEFORE: "write3-before-is-after",
    Property.GUARDED: "create3-guarded-accepts-existing",
    Property.EXCLUSIVE: "create3-exclusive-accepts-any-verifier",
}
"""For each property one that breaks it. Attributes in listings have a mutant more."""


@proves(
    *dict.fromkeys(V3.values()), killed_by=(*MUTANTS.values(), "readdirplus3-attributes-by-connection")
)
def test_two_clients(v3: Nfs3Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both see what the model of RFC 1813 allows."""
    Campaign(Ground3(v3), time.monotonic, name="v3", seed=seed, is_root=target.has("root")).judge()
