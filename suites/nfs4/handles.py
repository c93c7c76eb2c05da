# SPDX-License-Identifier: MIT
"""Filehandles of one object: there may be several (RFC 5661 section 10.3.4), unless `unique_handles` denies it."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4
from nfsjudge import Requirement, expect


def expect_same_object(
    scratch: Nfs4Scratch, seen: bytes | None, known: bytes, what: str, because: Requirement | None = None
) -> None:
    """Two filehandles are equal, or their objects have the same `fsid` and `fileid`."""
    if seen == known:
        return
    expect(seen, what, because=because).is_present()
    assert seen is not None
    first, second = (
        scratch.attributes(handle, "fsid", "fileid", "unique_handles") for handle in (seen, known)
    )
    if first.unique_handles and first.fsid == second.fsid:
        expect(seen, what, because=because).equals(known)
    if first.fileid is None or second.fileid is None:
        _expect_same_effect(scratch, seen, known, what, because)
        return
    ids = (second.fsid, second.fileid)
    expect(
        (first.fsid, first.fileid), f"fsid and fileid of the {what}", of=first, field="fsid", because=because
    ).equals(ids)


def _expect_same_effect(
    scratch: Nfs4Scratch, seen: bytes, known: bytes, what: str, because: Requirement | None
) -> None:
    """Without `fileid`, which is not REQUIRED: a change by one filehandle shows in `change` of the other one."""
    before = scratch.attributes(seen, "change", "mode")
    setting = op.setattr(Fattr4(mode=(before.mode or 0o644) ^ 0o010))
    reply = scratch.run(op.putfh(known), setting)
    expect(reply).ok()
    after = scratch.attributes(seen, "change")
    expect(after, because=because).field(
        "change", f"change by the {what}, after SETATTR by the other filehandle"
    ).differs_from(before.change)
