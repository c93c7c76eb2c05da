# SPDX-License-Identifier: MIT
"""Filehandles of one object: there may be several (RFC 5661 section 10.3.4), unless `unique_handles` denies it."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsjudge import Requirement, expect


def expect_same_object(
    scratch: Nfs4Scratch, seen: bytes | None, known: bytes, what: str, because: Requirement | None = None
) -> None:
    """Two filehandles are equal, or their objects have the same `fsid` and `fileid`."""
    if seen == known:
        return
    expect(seen, what, because=because).is_present()
    assert seen is not None
    first, second = (scratch.attributes(one, "fsid", "fileid", "unique_handles") for one in (seen, known))
    if first.unique_handles and first.fsid == second.fsid:
        expect(seen, what, because=because).equals(known)
    if first.fileid is None or second.fileid is None:
        return  # nobody can tell
    ids = (second.fsid, second.fileid)
    expect((first.fsid, first.fileid), f"fsid and fileid of the {what}", because=because).equals(ids)
