# SPDX-License-Identifier: MIT
"""WRITE and COMMIT (RFC 1813 sections 3.3.7, 3.3.21) at limits: maxfilesize, full disks, quotas, read-only exports.

The server decides what to refuse and what to write in part. The rest of the file must stay intact.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks import KnobsView, TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs3.contents import difference, need_kept, pattern, put, read_range, stored
from suites.nfs3.limits import fsinfo

WRITE_KEEPS_OTHER_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="WRITE changes at most its own range: a WRITE that fails does not damage the file",
)
WRITES_COUNT_BYTES = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="the count bytes that WRITE reports are in the file, starting at offset",
)
MAXFILESIZE_IS_LIMIT = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    level=Level.SHOULD,  # RFC 1813 asks for a best effort only
    gist="maxfilesize is the maximum size of a file",
)
RETURNS_FBIG = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_FBIG reports that the file would grow beyond the server's limit",
)
RETURNS_NOSPC = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_NOSPC reports that the operation would exceed the limit of the file system",
)
RETURNS_DQUOT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_DQUOT reports that the user's quota is exceeded; some servers return NFS3ERR_NOSPC (3.3.7)",
)
RETURNS_ROFS = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_ROFS reports a modifying operation on a read-only file system",
)
READ_ONLY_IS_UNCHANGED = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="a read-only file system is not modified",
)
FREED_ROOM_IS_USABLE = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # freed room need not be available at once
    gist="NFS3ERR_NOSPC describes the current state: WRITE succeeds again once there is room",
)

pytestmark = pytest.mark.exclusive
LIMITS: t.Final = {"as-is": None, "100000": 100_000, "1": 1}
"""The largest file: the target's own maxfilesize, or one that a knob sets."""


def _largest_file(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, limit: str) -> int:
    """maxfilesize of FSINFO. SKIP if it is no limit."""
    if LIMITS[limit] is not None:
        knobs.set(max_file_size=LIMITS[limit])
    most = fsinfo(nfs3, scratch.handle).maxfilesize
    observe("maxfilesize", most)
    if not 1 <= most < 2**64 - 64:
        skip(f"maxfilesize is {most}: there is nothing beyond it")
    return most


# ---------------------------------------------------------------- the largest file


@pytest.mark.parametrize("beyond", [1, 8, 16, 17])
@pytest.mark.parametrize("limit", LIMITS)
@proves(MAXFILESIZE_IS_LIMIT, WRITES_COUNT_BYTES, killed_by="write3-exceeds-maxfilesize")
def test_no_file_grows_beyond_maxfilesize(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, limit: str, beyond: int
) -> None:
    """WRITE never extends a file beyond maxfilesize."""
    most = _largest_file(nfs3, scratch, knobs, limit)
    file, data, offset = scratch.file("f"), pattern(16), max(0, most + beyond - 16)
    reply = nfs3.write(file, offset, data)
    observe(f"WRITE that ends {beyond} bytes beyond maxfilesize", reply.status)
    expect(scratch.attributes(file).size, "size").at_most(most)
    if reply.resok is not None:
        seen = read_range(nfs3, file, offset, reply.resok.count)
        expect(seen, "the data that was counted", because=WRITES_COUNT_BYTES).equals(
            data[: reply.resok.count]
        )


@pytest.mark.parametrize("limit", ["as-is", "100000"])
@proves(RETURNS_FBIG, killed_by="write3-too-big-is-io")
def test_behind_maxfilesize_is_refused_as_such(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, limit: str
) -> None:
    """WRITE beyond maxfilesize returns NFS3ERR_FBIG, NFS3ERR_INVAL or NFS3ERR_NOSPC."""
    most = _largest_file(nfs3, scratch, knobs, limit)
    reply = nfs3.write(scratch.file("f", b"data"), most, b"data")
    others = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NOSPC)
    expect(reply).refused(Nfsstat3.NFS3ERR_FBIG, *others, because=RETURNS_FBIG)


@pytest.mark.parametrize("short_of", [1, 0], ids=["maxfilesize-1", "maxfilesize"])
@proves(MAXFILESIZE_IS_LIMIT, WRITES_COUNT_BYTES, killed_by="write3-refuses-the-largest-file")
def test_a_file_can_be_as_large_as(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, short_of: int) -> None:
    """WRITE can extend a file up to maxfilesize."""
    knobs.set(max_file_size=100_000)
    file, data = scratch.file("f", b"data"), pattern(16)
    offset = fsinfo(nfs3, scratch.handle).maxfilesize - short_of - 16
    count = expect(nfs3.write(file, offset, data)).granted().count
    seen = read_range(nfs3, file, offset, count)
    expect(seen, "the data at the end", because=WRITES_COUNT_BYTES).equals(data[:count])


@pytest.mark.parametrize("limit", ["as-is", "100000"])
@proves(WRITE_KEEPS_OTHER_DATA, killed_by="write3-refused-clears-the-beginning")
def test_too_large_a_file_is_not_damaged(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, limit: str) -> None:
    """WRITE across maxfilesize does not damage the rest of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    most = _largest_file(nfs3, scratch, knobs, limit)
    observe("WRITE across maxfilesize", nfs3.write(file, most - 8, pattern(16, salt=1)).status)
    expect(difference(read_range(nfs3, file, 0, 5000), content), "first wrong byte").is_absent()


# ---------------------------------------------------------------- full disks


@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name.lower())
@proves(WRITE_KEEPS_OTHER_DATA, WRITES_COUNT_BYTES, killed_by="write3-refused-clears-the-beginning")
def test_a_full_disk_damages_no_file(
    nfs3: Nfs3, scratch: Scratch, target: TargetView, stable: StableHow
) -> None:
    """WRITE to a full disk does not damage the data of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    target.fill_disk()
    reply = nfs3.write(file, 100_000, pattern(50_000, salt=1)[:8192], stable)
    observe("WRITE to a full disk", reply.status)
    expect(difference(read_range(nfs3, file, 0, 5000), content), "first wrong byte").is_absent()
    if reply.resok is not None:
        seen = read_range(nfs3, file, 100_000, reply.resok.count)
        expect(seen, "the data that was counted", because=WRITES_COUNT_BYTES).equals(
            pattern(50_000, salt=1)[: reply.resok.count]
        )


@proves(RETURNS_NOSPC, killed_by="write3-full-is-io")
def test_a_full_disk_is_told_as_such(nfs3: Nfs3, scratch: Scratch, target: TargetView) -> None:
    """WRITE to a full disk returns NFS3ERR_NOSPC or NFS3ERR_DQUOT."""
    scratch.file("f", b"data")  # SKIP if no file can be written at all
    file = scratch.file("g")
    target.fill_disk()
    reply = nfs3.write(file, 0, pattern(8192))
    if reply.resok is not None or reply.status == Nfsstat3.NFS3ERR_FBIG:
        skip(f"there is room on the full disk, or none in a file: {reply.status}")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT, because=RETURNS_NOSPC)


@pytest.mark.parametrize("room", [4096, 8192, 40_000])
@proves(WRITES_COUNT_BYTES, killed_by="write3-full-counts-all")
def test_what_the_last_room_took_is_in_the_file(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, room: int
) -> None:
    """WRITE stores the bytes that it counts while the disk fills up."""
    file, data = scratch.file("f"), pattern(room + 20_000)
    knobs.set(free_bytes=room)
    at = 0
    while at < len(data):
        reply = nfs3.write(file, at, data[at:])
        if reply.resok is None:
            observe(f"WRITE after {at} of {room} bytes", reply.status)
            break
        if not reply.resok.count:
            skip("WRITE takes no data: it answers OK with count 0")
        at += reply.resok.count
    seen = read_range(nfs3, file, 0, len(data))
    expect(difference(seen[:at].ljust(at, b"\0"), data[:at]), "first wrong byte").is_absent()


@proves(FREED_ROOM_IS_USABLE, killed_by="write3-stays-full")
def test_room_is_taken_when_it_comes_back(nfs3: Nfs3, scratch: Scratch, target: TargetView) -> None:
    """WRITE succeeds again after room was freed."""
    stored(scratch, "f", pattern(8192))  # there is room before the disk is filled
    file = scratch.file("g")
    target.fill_disk()
    observe("WRITE to a full disk", nfs3.write(file, 0, pattern(8192)).status)
    target.free_disk()
    reply = nfs3.write(file, 0, pattern(8192))
    expect(reply.status, "status of WRITE").equals(Nfsstat3.NFS3_OK)


@proves(WRITE_KEEPS_OTHER_DATA, killed_by="write3-refused-clears-the-beginning")
def test_data_from_before_outlives_a_full_disk(nfs3: Nfs3, scratch: Scratch, target: TargetView) -> None:
    """COMMIT that succeeds on a full disk keeps the unstable data written before."""
    file, data = scratch.file("f"), pattern(20_000)
    put(nfs3, file, 0, data, StableHow.UNSTABLE)
    need_kept(scratch, file, data)
    target.fill_disk()
    observe("WRITE to a full disk", nfs3.write(file, 100_000, data[:8192]).status)
    reply = nfs3.commit(file)
    observe("COMMIT on a full disk", reply.status)
    if reply.resok is not None:
        # COMMIT may fail because there is no room; if it succeeds, all data must be there.
        expect(difference(read_range(nfs3, file, 0, 20_000), data), "first wrong byte").is_absent()


# ---------------------------------------------------------------- quotas, read-only file systems


@proves(RETURNS_DQUOT, killed_by="write3-over-quota-is-io")
def test_an_exceeded_quota_is_told_as_such(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView) -> None:
    """WRITE beyond the quota returns NFS3ERR_DQUOT or NFS3ERR_NOSPC."""
    scratch.file("f", b"data")  # SKIP if no file can be written at all
    file = scratch.file("g")
    knobs.set(quota_bytes=0)
    reply = nfs3.write(file, 0, pattern(8192))
    if reply.status == Nfsstat3.NFS3ERR_FBIG:
        skip("a file may not be so large")
    expect(reply).refused(Nfsstat3.NFS3ERR_DQUOT, Nfsstat3.NFS3ERR_NOSPC, because=RETURNS_DQUOT)


@proves(WRITE_KEEPS_OTHER_DATA, killed_by="write3-refused-clears-the-beginning")
def test_an_exceeded_quota_damages_no_file(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView) -> None:
    """WRITE beyond the quota does not damage the data of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    knobs.set(quota_bytes=0)
    observe("WRITE beyond the quota", nfs3.write(file, 100_000, pattern(8192, salt=1)).status)
    expect(difference(read_range(nfs3, file, 0, 5000), content), "first wrong byte").is_absent()


@proves(RETURNS_ROFS, killed_by="write3-read-only-is-io")
def test_a_read_only_file_system_is_told_as_such(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView) -> None:
    """WRITE to a read-only file system returns NFS3ERR_ROFS, NFS3ERR_ACCES or NFS3ERR_PERM."""
    file = scratch.file("f", pattern(100))
    knobs.set(read_only=True)
    reply = nfs3.write(file, 0, b"data")
    meant = (Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM)
    expect(reply).refused(*meant, because=RETURNS_ROFS)


@pytest.mark.parametrize("offset", [0, 50, 5000])
@proves(READ_ONLY_IS_UNCHANGED, killed_by="write3-ignores-read-only")
def test_a_read_only_file_system_is_not_written(
    nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, offset: int
) -> None:
    """WRITE to a read-only file system changes no data."""
    content = pattern(100)
    file = stored(scratch, "f", content)
    knobs.set(read_only=True)
    observe("WRITE", nfs3.write(file, offset, b"data").status)
    expect(read_range(nfs3, file, 0, 10_000), "the data of the file").equals(content)


@proves(READ_ONLY_IS_UNCHANGED, killed_by="read3-refuses-read-only")
def test_a_read_only_file_system_is_read(nfs3: Nfs3, scratch: Scratch, knobs: KnobsView) -> None:
    """READ of a read-only file system succeeds."""
    content = pattern(100)
    file = stored(scratch, "f", content)
    knobs.set(read_only=True)
    data = bytes(expect(nfs3.read(file, 0, 100)).granted().data)
    expect(data, "data").equals(content[: len(data)])
