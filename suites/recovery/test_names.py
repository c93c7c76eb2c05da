# SPDX-License-Identifier: MIT
"""Changes of names survive a crash (RFC 1813 section 1.6)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Lookup3Res, Nfsstat3
from nfsjudge import Requirement, expect, expect_names, proves
from suites.catalogue import second_name
from suites.losses import Losses
from suites.nfs3.calls import CALLS
from suites.recovery.after_crash import directory_again, look_for_directory

NAME_CHANGES_ARE_SYNCHRONOUS = Requirement(
    rfc="RFC 1813",
    section="1.6",
    gist="CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME and LINK are on stable storage before they return",
)
NAME_CHANGES: t.Final = ("create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link")
NAME: t.Final = b"name"


@across(CRASH, "MKDIR")
@proves(NAME_CHANGES_ARE_SYNCHRONOUS, killed_by="nfs3-crash-loses-everything")
def test_directory(scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """The directory in which a check works survives a crash."""
    yield CRASH
    found = look_for_directory(losses.target, scratch)
    if isinstance(found, Lookup3Res):
        expect(found).ok()
    losses.need_metadata()


@across(CRASH, by="procedure")
@pytest.mark.parametrize("procedure", NAME_CHANGES)
@proves(NAME_CHANGES_ARE_SYNCHRONOUS, killed_by="nfs3-crash-loses-names")
def test_survive(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, procedure: str) -> Steps:
    """Created, removed and renamed names survive a crash."""
    call = CALLS[procedure]
    arguments = call.arranged(scratch, NAME)
    yield ARRANGED
    need(nfs3.call(call.procedure, arguments), "the change before the crash", call.procedure.name)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    directory = directory_again(losses.target, scratch)
    replies = {name: survivor.lookup(directory, name) for name in (NAME, second_name(NAME))}
    found = [name for name, reply in replies.items() if reply.status == Nfsstat3.NFS3_OK]
    wanted = call.names_after(NAME)
    wrong = next((replies[name] for name in replies if (name in found) != (name in wanted)), None)
    expect_names(found, wanted, "names found after the crash", reply=wrong, field="status")
    losses.need_metadata()
