# SPDX-License-Identifier: MIT
"""Random programs of two clients by NFSv4.1, of one by NFSv3 and one by NFSv4.1, and of one by each version.

No file stays open.

After each call the other client sees what a model of the RFCs allows.
"""

from __future__ import annotations

import time

from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.target import TargetView
from nfsjudge import proves
from suites.model.campaign import Campaign
from suites.model.claims import V2, V3, V4, Property, claims_of
from suites.model.grounds import Ground4, Ground34, Ground234, lacking


def _judge(v4: Nfs4Dialect, target: TargetView, seed: int, group: str) -> None:
    __tracebackhide__ = True
    lacks = lacking(target, "v4")
    Campaign(Ground4(v4), time.monotonic, name="v4", group=group, seed=seed, lacks=lacks).judge()


@proves(
    *claims_of("names", V4),
    killed_by=(
        "lookup4-remembers-what-it-found",
        "readdir4-skips-the-last",
        "readdir4-repeats-a-cookie",
        "open4-unchecked-keeps-the-data",
        "open4-guarded-is-unchecked",
        "open4-exclusive-forgets-the-verifier",
    ),
)
def test_names(v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both find the names that there are, each once."""
    _judge(v4, target, seed, "names")


@proves(
    *claims_of("data", V4),
    killed_by=(
        "readdir4-all-sizes-are-zero",
        "getattr4-rounds-large-sizes-up",
        "write4-large-unaligned-loses-a-byte",
        "read4-ends-large-data-with-a-zero",
        "write4-gap-repeats-the-data",
        "setattr4-extension-restores-old-data",
        "readlink4-cuts-the-text",
    ),
)
def test_data(v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both read the data and the size that it has left."""
    _judge(v4, target, seed, "data")


@proves(
    *claims_of("attributes", V4),
    killed_by=(
        "getattr4-empty-files-are-fifos",
        "rename4-over-a-link-keeps-numlinks",
        "getattr4-fileid-of-files-is-short",
        "setattr4-size-drops-the-mode",
        "setattr4-sets-times-of-the-server",
        "write4-second-unstable-keeps-time-modify",
        "setattr4-size-keeps-time-modify",
        "link4-sets-time-metadata-to-time-modify",
    ),
)
def test_attributes(v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """After each call of random programs of two clients, both see the attributes that it has left."""
    _judge(v4, target, seed, "attributes")


@proves(*claims_of("change", V4), killed_by=("getattr4-change-comes-again", "remove4-before-is-older"))
def test_change(v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """In random programs of two clients, each change of an object gives its attribute change a new value."""
    _judge(v4, target, seed, "change")


# ---------------------------------------------------------------- with NFSv3


def _judge_with(v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int, group: str) -> None:
    __tracebackhide__ = True
    lacks, ground = lacking(target, "v3", "v4"), Ground34(v3, v4)
    Campaign(ground, time.monotonic, name="v3 v4", group=group, seed=seed, lacks=lacks).judge()


@proves(V3[Property.NAMES], killed_by="lookup3-remembers-names-by-connection")
def test_names_with_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """After each call of a client by NFSv3 or of one by NFSv4.1, both find the names that there are, each once."""
    _judge_with(v3, v4, target, seed, "names")


@proves(V3[Property.SIZE], killed_by="getattr3-size-is-that-of-nfs3")
def test_data_with_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """After each call of a client by NFSv3 or of one by NFSv4.1, both read the data and the size that it has left."""
    _judge_with(v3, v4, target, seed, "data")


@proves(V4[Property.NLINK], killed_by="rename4-over-a-link-keeps-numlinks")
def test_attributes_with_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int) -> None:
    """After each call of a client by NFSv3 or of one by NFSv4.1, both see the attributes that it has left."""
    _judge_with(v3, v4, target, seed, "attributes")


# ---------------------------------------------------------------- with NFSv2 and NFSv3


def _judge_all(
    v2: Nfs2Dialect, v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int, group: str
) -> None:
    __tracebackhide__ = True
    lacks, ground = lacking(target, "v2", "v3", "v4"), Ground234(v2, v3, v4)
    Campaign(ground, time.monotonic, name="v2 v3 v4", group=group, seed=seed, lacks=lacks).judge()


@proves(
    V2[Property.NAMES],
    V2[Property.LISTED],
    killed_by=("lookup2-remembers-names-by-connection", "readdir2-lists-removed-entries"),
)
def test_names_by_all(
    v2: Nfs2Dialect, v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int
) -> None:
    """After each call of a client by NFSv2, NFSv3 or NFSv4.1, all three find the names that there are, each once."""
    _judge_all(v2, v3, v4, target, seed, "names")


@proves(
    *(V2[each] for each in (Property.SIZE, Property.DATA)),
    killed_by=("getattr2-rounds-the-size", "write2-zeroes-the-last-byte", "read2-inverts-the-data"),
)
def test_data_by_all(
    v2: Nfs2Dialect, v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int
) -> None:
    """After each call of a client by NFSv2, NFSv3 or NFSv4.1, all three read the data and the size that it has left."""
    _judge_all(v2, v3, v4, target, seed, "data")


@proves(
    *(V2[each] for each in (Property.SET, Property.NLINK, Property.MTIME_STAYS, Property.WRITE_MOVES_MTIME)),
    killed_by=(
        "getattr2-reports-one-link-too-many",
        "setattr2-sets-only-the-first-field",
        "getattr2-keeps-old-mtime",
    ),
)
def test_attributes_by_all(
    v2: Nfs2Dialect, v3: Nfs3Dialect, v4: Nfs4Dialect, target: TargetView, seed: int
) -> None:
    """After each call of a client by NFSv2, NFSv3 or NFSv4.1, all three see the attributes that it has left."""
    _judge_all(v2, v3, v4, target, seed, "attributes")
