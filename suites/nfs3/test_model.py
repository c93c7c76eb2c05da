# SPDX-License-Identifier: MIT
"""Random programs of two clients by NFSv3: after each call the other client sees what a model of RFC 1813 allows."""

from __future__ import annotations

import time

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.target import TargetView
from nfsjudge import proves
from suites.model.campaign import Campaign
from suites.model.claims import V3, claims_of
from suites.model.grounds import Ground3, lacking


def _judge(v3: Nfs3Dialect, target: TargetView, seed: int, group: str) -> None:
    __tracebackhide__ = True
    Campaign(
        Ground3(v3),
        time.monotonic,
        name="v3",
        group=group,
        seed=seed,
        is_root=target.has("root"),
        lacks=lacking(target, "v3"),
    ).judge()


@proves(
    *claims_of("names", V3),
    killed_by=(
        "lookup3-remembers-names-by-connection",
        "readdir3-lists-removed-entries",
        "readdir3-gives-two-entries-a-cookie",
        "create3-guarded-accepts-existing",
        "create3-exclusive-accepts-any-verifier",
    ),
)
def test_names(v3: Nfs3Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both find the names that there are, each once."""
    _judge(v3, target, seed, "names")


@proves(
    *claims_of("data", V3),
    killed_by=(
        "getattr3-caches-files-by-connection",
        "readdirplus3-attributes-by-connection",
        "write3-large-unaligned-loses-a-byte",
        "write3-fills-gap",
        "setattr3-extends-with-garbage",
        "symlink3-adds-a-byte",
    ),
)
def test_data(v3: Nfs3Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both read the data and the size that it has left."""
    _judge(v3, target, seed, "data")


@proves(
    *claims_of("attributes", V3),
    killed_by=(
        "getattr3-reports-empty-files-as-fifos",
        "rename3-keeps-nlink-of-replaced-files",
        "create3-reuses-the-fileid-of-a-linked-file",
        "getattr3-fileid-changes-with-nlink",
        "setattr3-size-drops-the-mode",
        "setattr3-ignores-the-clients-mtime",
        "setattr3-mode-drops-the-mtime",
        "write3-second-unstable-keeps-mtime",
        "setattr3-size-leaves-mtime",
        "link3-sets-ctime-to-mtime",
    ),
)
def test_attributes(v3: Nfs3Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both see the attributes that it has left."""
    _judge(v3, target, seed, "attributes")


@proves(*claims_of("change", V3), killed_by="write3-before-is-after")
def test_before(v3: Nfs3Dialect, target: TargetView, seed: int) -> None:
    """In random programs of two clients, wcc_data.before of a file has what both saw before the call."""
    _judge(v3, target, seed, "change")
