# SPDX-License-Identifier: MIT
"""Attributes that SETATTR has set survive a crash (RFC 1813 section 4.7)."""

from __future__ import annotations

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Sattr3
from nfsjudge import Requirement, expect, expect_data, proves, should
from suites.losses import Losses
from suites.nfs3.contents import pattern
from suites.nfs3.times import LONG_AGO, at_client_time
from suites.recovery.after_crash import file_again
from suites.recovery.either import EACH_VERSION, V2_IS_SYNCHRONOUS, Either

SETATTR_IS_SYNCHRONOUS = should(  # the list in section 1.6 does not have SETATTR
    "RFC 1813",
    "4.7",
    "modifying operations are synchronous: attributes that SETATTR has set should survive a crash",
)


@across(CRASH, "SETATTR")
@pytest.mark.parametrize("field", ["mode", "size", "mtime"])
@proves(SETATTR_IS_SYNCHRONOUS, killed_by="setattr3-is-lost-in-a-crash")
def test_survives(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, field: str) -> Steps:
    """Attributes that SETATTR has set survive a crash."""
    file = scratch.file("f", pattern(5000))
    asked = {
        "mode": Sattr3(mode=0o600),
        "size": Sattr3(size=1234),
        "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
    }
    yield ARRANGED
    expect(nfs3.setattr(file, asked[field])).ok()
    known = getattr(scratch.attributes(file), field)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    reply = survivor.getattr(file_again(losses.target, scratch, file, b"f"))
    expect(reply).ok()
    expect(reply).field(f"resok.obj_attributes.{field}").equals(known)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "SETATTR")
@proves(SETATTR_IS_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-restores-modes-of-directories")
def test_directory(either: Either, losses: Losses) -> Steps:
    """The mode that SETATTR gave a directory survives a crash."""
    directory = either.scratch.directory("d", mode=0o755)
    yield ARRANGED
    reply = either.client.setattr(directory, either.attributes(mode=0o700))
    need(reply, "the mode before the crash", "SETATTR")
    known = either.scratch.attributes(directory).mode
    yield CRASH
    either.again()
    seen = either.scratch.attributes(either.found(b"d")).mode
    expect(seen, "mode after the crash", field="mode", because=_rule(either)).equals(known)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "SETATTR")
@proves(SETATTR_IS_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-brings-back-data-beyond-the-end")
def test_cut_data(either: Either, losses: Losses) -> Steps:
    """Data that SETATTR has cut off does not come back in a crash after the file was extended again."""
    file = either.scratch.file("f", pattern(9000))
    yield ARRANGED
    for size in (1000, 9000):
        need(
            either.client.setattr(file, either.attributes(size=size)), "the size before the crash", "SETATTR"
        )
    yield CRASH
    either.again()
    seen = either.scratch.read(either.found(b"f"))
    wanted = (pattern(1000) + bytes(8000))[: len(seen)]
    expect_data(seen, wanted, "data after the crash", of="range", because=_rule(either))
    losses.need_metadata()


def _rule(either: Either) -> Requirement:
    return either.rule(V2_IS_SYNCHRONOUS, SETATTR_IS_SYNCHRONOUS)
