# SPDX-License-Identifier: MIT
"""NFS3ERR_NOSPC and NFS3ERR_DQUOT (RFC 1813 section 2.6): full disks, quotas, and no room for another object.

The server decides what to refuse and what to write in part. The rest of the file must stay intact.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView, TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsjudge import expect, expect_data, expect_names, observe, proves, should, skip
from suites.nfs3.calls import Place
from suites.nfs3.clauses import (
    NOSPC_LEAVES_NOTHING,
    RETURNS_NOSPC,
    WRITE_KEEPS_OTHER_DATA,
    WRITES_COUNT_BYTES,
)
from suites.nfs3.contents import need_content, pattern, read_range, stored, write_all

RETURNS_DQUOT = should(
    "RFC 1813",
    "2.6",
    "NFS3ERR_DQUOT reports that the user's quota is exceeded; some servers return NFS3ERR_NOSPC (3.3.7)",
)
FREED_ROOM_IS_USABLE = should(  # freed room need not be available at once
    "RFC 1813", "2.6", "NFS3ERR_NOSPC describes the current state: WRITE succeeds again once there is room"
)
CREATING_OBJECTS = ("create", "mkdir", "symlink", "mknod")


# ---------------------------------------------------------------- full disks


@pytest.mark.exclusive
@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name.lower())
@proves(WRITE_KEEPS_OTHER_DATA, WRITES_COUNT_BYTES, killed_by="write3-refused-clears-the-beginning")
def test_full_disk_keeps_data(
    nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, stable: StableHow
) -> None:
    """WRITE to a full disk does not damage the data of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    target.fill_disk()
    reply = nfs3.write(file, 100_000, pattern(50_000, salt=1)[:8192], stable)
    observe("WRITE to a full disk", reply.status)
    expect_data(read_range(nfs3, file, 0, 5000), content, of="range")
    if reply.resok is not None:
        seen = read_range(nfs3, file, 100_000, reply.resok.count)
        expect_data(
            seen, pattern(50_000, salt=1)[: reply.resok.count], at=100_000, because=WRITES_COUNT_BYTES
        )


@pytest.mark.exclusive
@proves(RETURNS_NOSPC, killed_by="write3-full-is-io")
def test_full_disk_status(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """WRITE to a full disk returns NFS3ERR_NOSPC or NFS3ERR_DQUOT."""
    scratch.file("f", b"data")  # SKIP if no file can be written at all
    file = scratch.file("g")
    target.fill_disk()
    reply = nfs3.write(file, 0, pattern(8192))
    if reply.resok is not None or reply.status == Nfsstat3.NFS3ERR_FBIG:
        skip(f"the disk is not full, or files cannot be this large: WRITE answers {reply.status}", reply)
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT, because=RETURNS_NOSPC)


@pytest.mark.exclusive
@pytest.mark.parametrize("room", [4096, 8192, 40_000])
@proves(WRITES_COUNT_BYTES, killed_by="write3-full-counts-all")
def test_last_free_bytes(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, room: int) -> None:
    """WRITE stores the bytes that it counts while the disk fills up."""
    file, data = scratch.file("f"), pattern(room + 20_000)
    knobs.set(free_bytes=room)
    at = 0
    while at < len(data):
        reply = nfs3.write(file, at, data[at:])
        if reply.resok is None:
            observe(f"WRITE at offset {at} with {room} bytes free at first", reply.status)
            break
        if not reply.resok.count:
            skip("WRITE makes no progress: it answers success with count 0")
        at += reply.resok.count
    seen = read_range(nfs3, file, 0, len(data))
    expect_data(seen[:at], data[:at])


@pytest.mark.exclusive
@proves(FREED_ROOM_IS_USABLE, killed_by="write3-stays-full")
def test_freed_room(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """WRITE succeeds again after room was freed."""
    stored(scratch, "f", pattern(8192))  # there is room before the disk is filled
    file = scratch.file("g")
    target.fill_disk()
    observe("WRITE to a full disk", nfs3.write(file, 0, pattern(8192)).status)
    target.free_disk()
    reply = nfs3.write(file, 0, pattern(8192))
    expect(reply).field("status", "status of WRITE after room was freed").equals(Nfsstat3.NFS3_OK)


@pytest.mark.exclusive
@proves(WRITE_KEEPS_OTHER_DATA, killed_by="write3-refused-clears-the-beginning")
def test_commit_on_full_disk(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """COMMIT that succeeds on a full disk with the verifier of WRITE keeps the unstable data."""
    file, data = scratch.file("f"), pattern(20_000)
    written = {answer.verf for answer in write_all(nfs3, file, 0, data, StableHow.UNSTABLE)}
    need_content(scratch, file, data)
    target.fill_disk()
    observe("WRITE to a full disk", nfs3.write(file, 100_000, data[:8192]).status)
    reply = nfs3.commit(file)
    observe("COMMIT on a full disk", reply.status)
    if reply.resok is not None and reply.resok.verf not in written:
        skip("COMMIT returns a new verifier: the server may have lost data, and the client writes it again")
    if reply.resok is not None:
        # COMMIT may fail because there is no room; if it succeeds, all data must be there.
        expect_data(read_range(nfs3, file, 0, 20_000), data, of="range")


# ---------------------------------------------------------------- quotas


@pytest.mark.exclusive
@proves(RETURNS_DQUOT, killed_by="write3-over-quota-is-io")
def test_quota_status(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView) -> None:
    """WRITE beyond the quota returns NFS3ERR_DQUOT or NFS3ERR_NOSPC."""
    scratch.file("f", b"data")  # SKIP if no file can be written at all
    file = scratch.file("g")
    knobs.set(quota_bytes=0)
    reply = nfs3.write(file, 0, pattern(8192))
    if reply.status == Nfsstat3.NFS3ERR_FBIG:
        skip(f"files cannot be this large: WRITE answers {reply.status}", reply)
    expect(reply).refused(Nfsstat3.NFS3ERR_DQUOT, Nfsstat3.NFS3ERR_NOSPC, because=RETURNS_DQUOT)


@pytest.mark.exclusive
@proves(WRITE_KEEPS_OTHER_DATA, killed_by="write3-refused-clears-the-beginning")
def test_quota_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView) -> None:
    """WRITE beyond the quota does not damage the data of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    knobs.set(quota_bytes=0)
    observe("WRITE beyond the quota", nfs3.write(file, 100_000, pattern(8192, salt=1)).status)
    expect_data(read_range(nfs3, file, 0, 5000), content, of="range")


# ---------------------------------------------------------------- no room for another object


@pytest.mark.parametrize("procedure", CREATING_OBJECTS)
@proves(NOSPC_LEAVES_NOTHING, killed_by=("creations3-no-room-is-io", "creations3-no-room-leaves-a-file"))
def test_no_free_inodes(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """Calls that create objects without room for one fail with NOSPC and leave nothing."""
    knobs.set(free_files=0)
    reply = place.call(nfs3, procedure, b"name")
    expect_names(place.names(), [], "names in the directory")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, because=RETURNS_NOSPC)
