# SPDX-License-Identifier: MIT
"""wcc_data in replies of SETATTR (RFC 1813 sections 2.5 and 3.3.2)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Sattr3, Setattr3Res
from nfsjudge import expect, proves, unsupported
from suites.nfs3.attributes import expect_before, expect_change, expect_same_object
from suites.nfs3.clauses import (
    WCC_AFTER_HAS_NEW_TIMES,
    WCC_AFTER_IS_POST_OPERATION,
    WCC_BEFORE_IS_PRE_OPERATION,
)
from suites.nfs3.times import ANOTHER_TIME, at_client_time, wrong_guard
from suites.nfs3.wcc import wcc_of

REQUESTS: t.Final[dict[str, Sattr3]] = {
    "mode": Sattr3(mode=0o640),
    "uid": Sattr3(uid=4242),
    "gid": Sattr3(gid=4343),
    "size": Sattr3(size=4),
    "atime": Sattr3(atime=at_client_time(ANOTHER_TIME)),
    "mtime": Sattr3(mtime=at_client_time(ANOTHER_TIME)),
}


@pytest.mark.parametrize("what", REQUESTS)
@proves(
    WCC_BEFORE_IS_PRE_OPERATION,
    killed_by=("setattr3-before-has-another-size", "setattr3-before-is-after"),
)
def test_wcc_before(nfs3: Nfs3, scratch: Nfs3Scratch, what: str) -> None:
    """wcc_data.before of SETATTR matches GETATTR before the call."""
    file = scratch.file("f", b"some data", mode=0o600)
    known = scratch.attributes(file)
    reply = nfs3.setattr(file, REQUESTS[what])
    expect_change(reply)
    if wcc_of(reply, "obj_wcc").before is None:
        unsupported("SETATTR returned no obj_wcc.before, which is optional")
    expect_before(reply, "resok.obj_wcc.before", known)


def _reply_with_after(nfs3: Nfs3, file: bytes, what: str) -> Setattr3Res:
    """The reply to a SETATTR that succeeded. UNSUPPORTED without obj_wcc.after."""
    reply = nfs3.setattr(file, REQUESTS[what])
    expect_change(reply)
    if wcc_of(reply, "obj_wcc").after is None:
        unsupported("SETATTR returned no obj_wcc.after, which is optional")
    return reply


@pytest.mark.parametrize("what", REQUESTS)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="setattr3-after-is-of-another-object")
def test_wcc_after(nfs3: Nfs3, scratch: Nfs3Scratch, what: str) -> None:
    """wcc_data.after of SETATTR matches GETATTR after the call."""
    file = scratch.file("f", b"some data", mode=0o600)
    reply = _reply_with_after(nfs3, file, what)
    expect_same_object(reply, "resok.obj_wcc.after", scratch.attributes(file))


@pytest.mark.parametrize("what", REQUESTS)
@proves(WCC_AFTER_HAS_NEW_TIMES, killed_by="setattr3-after-has-old-times")
def test_wcc_after_times(nfs3: Nfs3, scratch: Nfs3Scratch, what: str) -> None:
    """wcc_data.after of SETATTR has the times that GETATTR returns after the call."""
    file = scratch.file("f", b"some data", mode=0o600)
    reply = _reply_with_after(nfs3, file, what)
    known = scratch.attributes(file)
    for name in ("mtime", "ctime"):
        expect(reply).field(f"resok.obj_wcc.after.{name}").equals(getattr(known, name))


@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="setattr3-refusals-have-another-size")
def test_wcc_before_refusal(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """wcc_data.before of a SETATTR with a wrong guard matches GETATTR."""
    file = scratch.file("f", b"some data")
    known = scratch.attributes(file)
    reply = nfs3.setattr(file, Sattr3(mode=0o640), guard=wrong_guard(known))
    if reply.resfail is None or reply.resfail.obj_wcc.before is None:
        unsupported("SETATTR succeeded, or returned an error without obj_wcc.before, which is optional")
    expect_before(reply, "resfail.obj_wcc.before", known)
