# SPDX-License-Identifier: MIT
"""What CREATE in mode EXCLUSIVE keeps across a crash (RFC 1813 section 3.3.8)."""

from __future__ import annotations

import typing as t

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, proves, skip
from suites.losses import Losses
from suites.nfs3.clauses import (
    EXCLUSIVE_NEEDS_ITS_VERIFIER,
    RETURNS_EXIST,
)
from suites.nfs3.new_objects import OTHER_VERIFIER, VERIFIER
from suites.recovery.after_crash import directory_again

EXCLUSIVE_VERIFIER_IS_STABLE = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="the verifier of EXCLUSIVE must be on stable storage, so that a retransmission after a crash succeeds",
    level=Level.MUST,
    part=Part.IMPLEMENTATION,
    says_must=True,
)
NAME: t.Final = b"name"


@across(CRASH, "CREATE")
@proves(
    EXCLUSIVE_VERIFIER_IS_STABLE,
    killed_by="create3-exclusive-forgets-at-restart",
    needs="exclusive_create",
)
def test_exclusive_repeat(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """CREATE EXCLUSIVE that is repeated after a crash, before any SETATTR, succeeds."""
    yield ARRANGED
    expect(nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    again = nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)
    if again.status != Nfsstat3.NFS3_OK:
        skip(
            f"the server does not recognize its verifier even before the crash: CREATE answers {again.status}"
        )
    yield CRASH
    survivor = losses.target.client(Nfs3)
    directory = directory_again(losses.target, scratch)
    expect(survivor.create(directory, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    losses.need_metadata()


@across(CRASH, "CREATE")
@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-accepts-older-files", needs="exclusive_create"
)
def test_exclusive_other_verifier(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """CREATE EXCLUSIVE with another verifier is refused after a crash as before."""
    yield ARRANGED
    expect(nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    yield CRASH
    survivor = losses.target.client(Nfs3)
    directory = directory_again(losses.target, scratch)
    if survivor.lookup(directory, NAME).status != Nfsstat3.NFS3_OK:
        skip("the file did not survive the crash: another check proves that")
    reply = survivor.create(directory, NAME, CreateMode3.EXCLUSIVE, verf=OTHER_VERIFIER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)
    losses.need_metadata()
