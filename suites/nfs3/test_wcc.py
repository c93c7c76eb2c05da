# SPDX-License-Identifier: MIT
"""Weak cache consistency (RFC 1813 section 2.5, wcc_data) of the procedures that change directories.

A server may omit either half at any time; what it returns has to be true. The checks of WRITE, SETATTR and COMMIT
cover wcc_data of files.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.agreement import expect_before, expect_same_object
from suites.nfs3.changing import CHANGES, REFUSED, furnish

WCC_BEFORE_IS_PRE_OPERATION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="wcc_data.before has the size, mtime and ctime of the object from before the operation",
)
WCC_AFTER_IS_POST_OPERATION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="wcc_data.after has the attributes of the object from after the operation",
)


WCC_AFTER_HAS_NEW_TIMES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # some file systems update the times of a directory later
    gist="wcc_data.after should have the times of the object from after the operation",
)


@pytest.fixture
def furnished(scratch: Scratch) -> Scratch:
    """The scratch directory with the objects that the changes need."""
    return furnish(scratch)


def _done(reply: t.Any, path: str) -> t.Any:
    """The wcc_data of a successful change."""
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if reply.resok is None:
        skip(f"the change was refused: {reply.status}")
    return getattr(reply.resok, path)


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by=("wcc3-before-has-another-size", "wcc3-before-is-from-after"))
def test_before_is_what_getattr_said(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """wcc_data.before of a directory matches GETATTR before the change."""
    known = furnished.attributes()
    reply = CHANGES[change].act(nfs3, furnished)
    if _done(reply, CHANGES[change].wcc).before is None:
        unsupported("the server withholds the attributes from before")
    expect_before(reply, f"resok.{CHANGES[change].wcc}.before", known)


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by=("wcc3-after-is-of-another-object", "wcc3-after-is-stale"))
def test_after_is_what_getattr_says(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """wcc_data.after of a directory matches GETATTR after the change."""
    reply = CHANGES[change].act(nfs3, furnished)
    if _done(reply, CHANGES[change].wcc).after is None:
        unsupported("the server withholds the attributes from after")
    expect_same_object(reply, f"resok.{CHANGES[change].wcc}.after", furnished.attributes())


@pytest.mark.parametrize("change", REFUSED)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="wcc3-refusals-show-another-object")
def test_after_a_refusal_is_what_getattr_says(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """wcc_data.after of a refused call matches the attributes of the directory."""
    reply = REFUSED[change].act(nfs3, furnished)
    observe("the refusal", reply.status)
    if reply.resfail is None:
        skip("the server did not refuse")
    if getattr(reply.resfail, REFUSED[change].wcc).after is None:
        unsupported("the server withholds the attributes after a refusal")
    expect_same_object(reply, f"resfail.{REFUSED[change].wcc}.after", furnished.attributes())


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_AFTER_HAS_NEW_TIMES, killed_by="wcc3-after-has-old-times")
def test_after_has_the_times_that_getattr_says(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """wcc_data.after of a directory has the times that GETATTR returns after the change."""
    path = CHANGES[change].wcc
    reply = CHANGES[change].act(nfs3, furnished)
    if _done(reply, path).after is None:
        unsupported("the server withholds the attributes from after")
    known = furnished.attributes()
    for name in ("mtime", "ctime"):
        expect(reply).field(f"resok.{path}.after.{name}").equals(getattr(known, name))


@pytest.mark.parametrize("change", REFUSED)
@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="wcc3-refusals-have-another-size")
def test_before_a_refusal_is_what_getattr_said(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """wcc_data.before of a refused call matches the attributes of the directory."""
    known = furnished.attributes()
    reply = REFUSED[change].act(nfs3, furnished)
    observe("the refusal", reply.status)
    if reply.resfail is None:
        skip("the server did not refuse")
    if getattr(reply.resfail, REFUSED[change].wcc).before is None:
        unsupported("the server withholds the attributes from before a refusal")
    expect_before(reply, f"resfail.{REFUSED[change].wcc}.before", known)
