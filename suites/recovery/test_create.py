# SPDX-License-Identifier: MIT
"""What CREATE in mode EXCLUSIVE keeps across a crash (RFC 1813 section 3.3.8)."""

from __future__ import annotations

import typing as t

from fixtures.checks.across import ARRANGED, CRASH, Pause, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import Part, expect, expect_data, must, observe, proves, skip
from suites.losses import Losses
from suites.nfs3.clauses import (
    EXCLUSIVE_KEEPS_DATA,
    EXCLUSIVE_NEEDS_ITS_VERIFIER,
    RETURNS_EXIST,
)
from suites.nfs3.contents import pattern, read_range
from suites.nfs3.new_objects import OTHER_VERIFIER, VERIFIER
from suites.recovery.after_crash import directory_again, file_again
from suites.recovery.either import ENDINGS

EXCLUSIVE_VERIFIER_IS_STABLE = must(
    "RFC 1813",
    "3.3.8",
    "the verifier of EXCLUSIVE must be on stable storage, so that a retransmission after a crash succeeds",
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


@ENDINGS
@across("ending", "CREATE")
@proves(
    EXCLUSIVE_VERIFIER_IS_STABLE,
    killed_by="create3-exclusive-repeat-makes-a-new-file-after-restart",
    needs="exclusive_create",
)
def test_exclusive_same_file(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str) -> Steps:
    """CREATE EXCLUSIVE that is repeated after a crash or a restart leads to the file that it made before."""
    yield ARRANGED
    expect(nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    handle = expect(nfs3.lookup(scratch.handle, NAME)).ok().object
    yield Pause(ending)
    survivor, directory = target.client(Nfs3), directory_again(target, scratch)
    # A server may number its files at its start: the handle from before says which file it was.
    known = survivor.getattr(handle)
    if known.resok is None:
        skip(
            f"the handle from before does not work, which another check judges: GETATTR answers {known.status}"
        )
    reply = survivor.create(directory, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)
    if reply.resok is None:
        skip(f"the repeated CREATE is refused, which another check judges: it answers {reply.status}")
    found = expect(survivor.lookup(directory, NAME)).ok().object
    seen = expect(survivor.getattr(found)).ok().obj_attributes.fileid
    expect(seen, "fileid of the name after the repeated CREATE", field="fileid").equals(
        known.resok.obj_attributes.fileid
    )


@ENDINGS
@across("ending", "CREATE and WRITE")
@proves(EXCLUSIVE_KEEPS_DATA, killed_by="create3-exclusive-truncates-after-restart", needs="exclusive_create")
def test_exclusive_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str) -> Steps:
    """CREATE EXCLUSIVE that is repeated after a crash or a restart does not damage the data of the file."""
    yield ARRANGED
    expect(nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    file = scratch.lookup(NAME)
    assert file is not None
    need(nfs3.setattr(file, Sattr3(mode=0o644)), "the mode of the file", "SETATTR")
    scratch.write(file, pattern(3000))
    yield Pause(ending)
    survivor, directory = target.client(Nfs3), directory_again(target, scratch)
    reply = survivor.create(directory, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)
    observe("repeated EXCLUSIVE after SETATTR and WRITE", reply.status)
    seen = read_range(survivor, file_again(target, scratch, file, NAME), 0, 3000)
    expect_data(seen, pattern(3000), "data after the repeated CREATE")


@ENDINGS
@across("ending", "CREATE")
@proves(RETURNS_EXIST, EXCLUSIVE_KEEPS_DATA, killed_by="create3-guarded-accepts-files-of-before-a-restart")
def test_guarded(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str) -> Steps:
    """CREATE GUARDED of a name that was made before a crash or a restart is refused."""
    del nfs3
    yield ARRANGED
    file = scratch.file(NAME)
    yield Pause(ending)
    survivor, directory = target.client(Nfs3), directory_again(target, scratch)
    file_again(target, scratch, file, NAME)
    reply = survivor.create(directory, NAME, CreateMode3.GUARDED, Sattr3(mode=0o644, size=0))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)
