# SPDX-License-Identifier: MIT
"""SETATTR (RFC 5661 section 18.30) of several attributes at once: none of them is lost."""

from __future__ import annotations

import typing as t
from itertools import combinations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Harm, expect, proves, skip, stated

SETS_ALL_THAT_IT_SAYS = stated(
    "RFC 5661",
    "18.30.3",
    "the attributes in attrsset are those that were set: each has the value of the request",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.32.4")},
)
SECONDS: t.Final = 1_000_000_000
NEW: t.Final[dict[str, t.Any]] = {"size": 7, "mode": 0o604, "time_modify_set": p.client_time(SECONDS)}


@proves(
    SETS_ALL_THAT_IT_SAYS,
    killed_by=("setattr4-size-drops-the-mode", "setattr4-mode-drops-the-time-in-silence"),
)
def test_together(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of any two of size, mode and time sets both."""
    judged = 0
    for names in combinations(NEW, 2):
        file = scratch.file("+".join(names), b"0123456789", mode=0o640)
        reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(**{name: NEW[name] for name in names})))
        if reply.status in {Nfsstat4.NFS4ERR_ATTRNOTSUPP, Nfsstat4.NFS4ERR_INVAL}:
            continue
        result = expect(reply).of(p.SETATTR).ok()
        _expect_set(scratch, file, set(names) & set(p.names_of(result.attrsset)))
        judged += 1
    if not judged:
        skip("the server sets no two of these attributes at once")


def _expect_set(scratch: Nfs4Scratch, file: bytes, names: set[str]) -> None:
    __tracebackhide__ = True
    seen = scratch.attributes(file, "size", "mode", "time_modify", "time_delta")
    if "size" in names:
        expect(seen).field("size").equals(NEW["size"])
    if "mode" in names:
        expect(seen).field("mode").equals(NEW["mode"])
    if "time_modify_set" in names and seen.time_modify is not None:
        width = 1 if seen.time_delta is None else seen.time_delta.seconds + 1
        apart = abs(seen.time_modify.seconds - SECONDS)
        what = "seconds between the time that was set and time_modify"
        expect(apart, what, of=seen, field="time_modify").at_most(width)
