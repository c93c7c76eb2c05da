# SPDX-License-Identifier: MIT
"""What survives a crash (RFC 1813 sections 1.6, 3.3.7, 3.3.8 and 3.3.21): stable data, names, attributes, handles.

`losses` crashes the target. A check that would pass ends as SKIP if that crash loses nothing (`suites/losses.py`).
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Lookup3Res, Nfsstat3, Sattr3, StableHow
from nfsjudge import Level, Part, Requirement, expect, expect_data, expect_names, observe, proves, skip
from suites.catalogue import second_name
from suites.losses import Losses
from suites.nfs3.after_crash import directory_again, file_again, look_for_directory
from suites.nfs3.calls import CALLS
from suites.nfs3.clauses import (
    COMMIT_FLUSHES_DATA,
    EXCLUSIVE_NEEDS_ITS_VERIFIER,
    FILE_SYNC_DATA_IS_STABLE,
    RETURNS_EXIST,
)
from suites.nfs3.contents import commit, pattern, read_range, write_all
from suites.nfs3.new_objects import OTHER_VERIFIER, VERIFIER
from suites.nfs3.times import LONG_AGO, at_client_time

DATA_SYNC_DATA_IS_STABLE = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="data written with DATA_SYNC, and the metadata to find it, is on stable storage before WRITE returns",
    level=Level.MUST,
)
NAME_CHANGES_ARE_SYNCHRONOUS = Requirement(
    rfc="RFC 1813",
    section="1.6",
    gist="CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME and LINK are on stable storage before they return",
)
SETATTR_IS_SYNCHRONOUS = Requirement(
    rfc="RFC 1813",
    section="4.7",
    gist="modifying operations are synchronous: attributes that SETATTR has set should survive a crash",
    level=Level.SHOULD,  # the list in section 1.6 does not have SETATTR
)
EXCLUSIVE_VERIFIER_IS_STABLE = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="the verifier of EXCLUSIVE must be on stable storage, so that a retransmission after a crash succeeds",
    level=Level.MUST,
    part=Part.IMPLEMENTATION,
    says_must=True,
)
RECOVERS_FROM_REPEATED_CRASHES = Requirement(
    rfc="RFC 1813",
    section="4.8",
    gist="the server recovers from several failures in quick succession without loss of data",
    level=Level.MUST,
)
SERVER_IS_STATELESS = Requirement(
    rfc="RFC 1813",
    section="1.6",
    gist="the server needs no state of its clients: their handles should work after it restarts",
    level=Level.SHOULD,  # a server may revoke a handle at any time (section 2.5)
)
WRITES: t.Final = {
    "new-file": (0, 0, 9000),
    "overwrite": (9000, 3000, 3001),
    "append": (9000, 9000, 5000),
    "after-hole": (100, 100_000, 5000),
    "large": (0, 0, 300_000),
}
"""Name -> size of the file before, offset, size of the data."""
NAME_CHANGES: t.Final = ("create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link")
NAME: t.Final = b"name"


# ---------------------------------------------------------------- data


def _survives(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str, stable: StableHow) -> None:
    """Make one of the `WRITES`, COMMIT if it is UNSTABLE, crash: the data is still there."""
    before, offset, size = WRITES[write]
    file, data = scratch.file("f", pattern(before)), pattern(size, salt=1)
    answers = write_all(nfs3, file, offset, data, stable)
    if stable is StableHow.UNSTABLE:
        commit(nfs3, file, answers)
    survivor = losses.crash(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), offset, size)
    expect_data(seen, data, "data after the crash", at=offset)
    losses.need_data()


@pytest.mark.exclusive
@pytest.mark.parametrize("write", WRITES)
@proves(FILE_SYNC_DATA_IS_STABLE, killed_by="write3-lies-about-file-sync")
def test_file_sync(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str) -> None:
    """Data written with FILE_SYNC survives a crash."""
    _survives(nfs3, scratch, losses, write, StableHow.FILE_SYNC)


@pytest.mark.exclusive
@pytest.mark.parametrize("write", WRITES)
@proves(DATA_SYNC_DATA_IS_STABLE, killed_by="write3-lies-about-data-sync")
def test_data_sync(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str) -> None:
    """Data written with DATA_SYNC survives a crash."""
    _survives(nfs3, scratch, losses, write, StableHow.DATA_SYNC)


@pytest.mark.exclusive
@pytest.mark.parametrize("write", WRITES)
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-nothing")
def test_committed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str) -> None:
    """Data written with UNSTABLE survives a crash after COMMIT."""
    _survives(nfs3, scratch, losses, write, StableHow.UNSTABLE)


@pytest.mark.exclusive
@proves(
    DATA_SYNC_DATA_IS_STABLE,
    FILE_SYNC_DATA_IS_STABLE,
    killed_by=("write3-lies-about-file-sync", "write3-lies-about-data-sync"),
)
def test_stable_among_unstable(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> None:
    """Stable data written over unstable data survives a crash."""
    file, data = scratch.file("f"), pattern(12_000)
    write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    levels = {1000: StableHow.FILE_SYNC, 5000: StableHow.DATA_SYNC, 9000: StableHow.FILE_SYNC}
    stable = pattern(500, salt=1)
    for at, level in levels.items():
        write_all(nfs3, file, at, stable, level)
    survivor = losses.crash(Nfs3)
    file = file_again(losses.target, scratch, file, b"f")
    for at, level in levels.items():
        broken = DATA_SYNC_DATA_IS_STABLE if level is StableHow.DATA_SYNC else FILE_SYNC_DATA_IS_STABLE
        seen = read_range(survivor, file, at, 500)
        expect_data(seen, stable, f"{level.name} data after the crash", at=at, because=broken)
    losses.need_data()


@pytest.mark.exclusive
@proves(RECOVERS_FROM_REPEATED_CRASHES, killed_by="write3-second-crash-loses-stable-data")
def test_repeated_crashes(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> None:
    """Data written with FILE_SYNC survives several crashes in quick succession."""
    file, data = scratch.file("f"), pattern(9000)
    write_all(nfs3, file, 0, data, StableHow.FILE_SYNC)
    losses.crash(Nfs3)
    for _ in range(2):
        losses.target.crash()
    file = file_again(losses.target, scratch, file, b"f")
    seen = read_range(losses.target.client(Nfs3), file, 0, len(data))
    expect_data(seen, data, "data after three crashes")
    losses.need_data()


# ---------------------------------------------------------------- names


@pytest.mark.exclusive
@proves(NAME_CHANGES_ARE_SYNCHRONOUS, killed_by="nfs3-crash-loses-everything")
def test_directory(scratch: Nfs3Scratch, losses: Losses) -> None:
    """The directory in which a check works survives a crash."""
    losses.crash(Nfs3)
    found = look_for_directory(losses.target, scratch)
    if isinstance(found, Lookup3Res):
        expect(found).ok()
    losses.need_metadata()


@pytest.mark.exclusive
@pytest.mark.parametrize("procedure", NAME_CHANGES)
@proves(NAME_CHANGES_ARE_SYNCHRONOUS, killed_by="nfs3-crash-loses-names")
def test_names(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, procedure: str) -> None:
    """Created, removed and renamed names survive a crash."""
    call = CALLS[procedure]
    need(
        nfs3.call(call.procedure, call.arranged(scratch, NAME)),
        "the change before the crash",
        call.procedure.name,
    )
    survivor = losses.crash(Nfs3)
    directory = directory_again(losses.target, scratch)
    replies = {name: survivor.lookup(directory, name) for name in (NAME, second_name(NAME))}
    found = [name for name, reply in replies.items() if reply.status == Nfsstat3.NFS3_OK]
    wanted = call.names_after(NAME)
    wrong = next((replies[name] for name in replies if (name in found) != (name in wanted)), None)
    expect_names(found, wanted, "names found after the crash", reply=wrong, field="status")
    losses.need_metadata()


@pytest.mark.exclusive
@proves(
    EXCLUSIVE_VERIFIER_IS_STABLE,
    killed_by="create3-exclusive-forgets-at-restart",
    needs="exclusive_create",
)
def test_exclusive_repeat(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> None:
    """CREATE EXCLUSIVE that is repeated after a crash, before any SETATTR, succeeds."""
    expect(nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    again = nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)
    if again.status != Nfsstat3.NFS3_OK:
        skip(
            f"the server does not recognize its verifier even before the crash: CREATE answers {again.status}"
        )
    survivor = losses.crash(Nfs3)
    directory = directory_again(losses.target, scratch)
    expect(survivor.create(directory, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    losses.need_metadata()


@pytest.mark.exclusive
@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-accepts-older-files", needs="exclusive_create"
)
def test_exclusive_other_verifier(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> None:
    """CREATE EXCLUSIVE with another verifier is refused after a crash as before."""
    expect(nfs3.create(scratch.handle, NAME, CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    survivor = losses.crash(Nfs3)
    directory = directory_again(losses.target, scratch)
    if survivor.lookup(directory, NAME).status != Nfsstat3.NFS3_OK:
        skip("the file did not survive the crash: another check proves that")
    reply = survivor.create(directory, NAME, CreateMode3.EXCLUSIVE, verf=OTHER_VERIFIER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)
    losses.need_metadata()


# ---------------------------------------------------------------- attributes and handles


@pytest.mark.exclusive
@pytest.mark.parametrize("field", ["mode", "size", "mtime"])
@proves(SETATTR_IS_SYNCHRONOUS, killed_by="setattr3-is-lost-in-a-crash")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, field: str) -> None:
    """Attributes that SETATTR has set survive a crash."""
    file = scratch.file("f", pattern(5000))
    asked = {
        "mode": Sattr3(mode=0o600),
        "size": Sattr3(size=1234),
        "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
    }
    expect(nfs3.setattr(file, asked[field])).ok()
    known = getattr(scratch.attributes(file), field)
    survivor = losses.crash(Nfs3)
    reply = survivor.getattr(file_again(losses.target, scratch, file, b"f"))
    expect(reply).ok()
    expect(reply).field(f"resok.obj_attributes.{field}").equals(known)
    losses.need_metadata()


@pytest.mark.exclusive
@pytest.mark.parametrize("control", ["crash", "restart"])
@proves(SERVER_IS_STATELESS, killed_by="getattr3-handles-are-stale-after-restart")
def test_handles(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, control: str) -> None:
    """Handles work after a crash or a restart."""
    handles = {"file": scratch.file("f", b"data"), "directory": scratch.directory("d")}
    known = {what: scratch.attributes(handle).fileid for what, handle in handles.items()}
    getattr(target, control)()
    for what, handle in handles.items():
        reply = target.client(Nfs3).getattr(handle)
        observe(f"GETATTR of the {what} after the {control}", reply.status)
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.fileid").equals(known[what])
