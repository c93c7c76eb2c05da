# SPDX-License-Identifier: MIT
"""WRITE (RFC 1813 section 3.3.7): large offsets and counts, overwriting, special files, UDP."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_unchanged,
    observe,
    proves,
    should,
    skip,
    stated,
)
from nfsjudge.requirement import COUNTS_ARE_CHECKED
from suites.nfs3 import file_types
from suites.nfs3.clauses import (
    WRITE_CHANGES_ONLY_ITS_RANGE,
    WRITE_COUNT_BOUNDS_DATA,
    WRITE_GAP_IS_ZERO,
    WRITE_RETURNS_INVAL,
    WRITES_COUNT_BYTES,
)
from suites.nfs3.contents import pattern, read_range, stored, write_all, write_far
from suites.nfs3.limits import FAR, FAR_IDS, fsinfo, need_far, transfer_size
from suites.replies import reply_or_none

WTMAX_IS_SUPPORTED = stated(
    "RFC 1813", "3.3.19", "wtmax is the largest WRITE that the server supports: WRITE of wtmax bytes succeeds"
)
WRITE_OFFSET_HAS_64_BITS = stated("RFC 1813", "2.5", "WRITE uses all 64 bits of offset3", harm=Harm.DATA)
WRITE_NEEDS_REGULAR_FILE = should(
    # addressed to clients; only the IMPLEMENTATION part says that the server refuses
    "RFC 1813",
    "3.3.7",
    "WRITE works on regular files only",
)
TOO_FAR: t.Final = {
    "2^63-8": 2**63 - 8,
    "2^63-1": 2**63 - 1,
    "2^63": 2**63,
    "2^64-16": 2**64 - 16,
    "2^64-8": 2**64 - 8,
    "2^64-1": 2**64 - 1,
}
"""Offsets where 16 bytes exceed, in whole or in part, a signed or an unsigned 64-bit number."""
TOO_FAR_IDS: t.Final = (
    "int64max-7",
    "int64max",
    "int64max+1",
    "uint64max-15",
    "uint64max-7",
    "uint64max",
)
STABILITIES: t.Final = (StableHow.UNSTABLE, StableHow.DATA_SYNC, StableHow.FILE_SYNC)
REWRITES: t.Final = (
    (StableHow.UNSTABLE, StableHow.UNSTABLE),
    (StableHow.UNSTABLE, StableHow.FILE_SYNC),
    (StableHow.FILE_SYNC, StableHow.UNSTABLE),
)
"""Pairs that can take different code paths: cached over cached, stable over cached, cached over stable data."""


# ---------------------------------------------------------------- offsets


@pytest.mark.parametrize("place", FAR, ids=FAR_IDS)
@proves(
    WRITES_COUNT_BYTES,
    WRITE_OFFSET_HAS_64_BITS,
    killed_by=("write3-rotates-data-beyond-2g", "write3-truncates-offset"),
)
def test_far_offsets(nfs3: Nfs3, scratch: Nfs3Scratch, place: str) -> None:
    """WRITE stores data around a far offset, and at it, and nowhere else."""
    far = need_far(nfs3, scratch, FAR[place])
    file, data = stored(scratch, "f", b"near"), pattern(16)
    with far:
        write_far(nfs3, file, FAR[place] - 8, data[:8] + bytes(8))
    write_far(nfs3, file, FAR[place], data[8:])
    expect_data(read_range(nfs3, file, FAR[place] - 8, 16), data, at=FAR[place] - 8)
    expect(scratch.attributes(file)).field("size").equals(FAR[place] + 8)
    expect_data(read_range(nfs3, file, 0, 4), b"near", of="range", because=WRITE_CHANGES_ONLY_ITS_RANGE)


@pytest.mark.parametrize("place", TOO_FAR, ids=TOO_FAR_IDS)
@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-clears-the-beginning-when-too-far")
def test_beyond_int64(nfs3: Nfs3, scratch: Nfs3Scratch, place: str) -> None:
    """WRITE of a range that ends beyond 2^63 does not damage other data of the file."""
    content = pattern(64)
    file = stored(scratch, "f", content)
    reply = nfs3.write(file, TOO_FAR[place], pattern(16, salt=100))
    observe(f"WRITE of 16 bytes at offset {place}", reply.status)
    expect_data(read_range(nfs3, file, 0, 64), content, of="range")
    if reply.resok is None:
        expect(reply).refused()
        after = read_range(nfs3, file, 64, 64)
        expect_data(after, bytes(len(after)), "data after the old end", at=64)


@pytest.mark.parametrize("gap", [1, 3, 511, 512, 4096, 65_535])
@proves(WRITE_GAP_IS_ZERO, killed_by="write3-fills-gap")
def test_gap_zeros(nfs3: Nfs3, scratch: Nfs3Scratch, gap: int) -> None:
    """A gap that WRITE leaves before its data reads as zeros."""
    file = stored(scratch, "f", pattern(100))
    write_all(nfs3, file, 100 + gap, b"behind")
    seen = read_range(nfs3, file, 100, gap)
    expect_data(seen, bytes(len(seen)), "data of the gap", at=100)


# ---------------------------------------------------------------- overwriting


@pytest.mark.parametrize("stable", STABILITIES, ids=lambda stable: stable.name.lower())
@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-clears-rest-of-block")
def test_overwrite_in_place(nfs3: Nfs3, scratch: Nfs3Scratch, stable: StableHow) -> None:
    """WRITE over existing data changes only its range."""
    wanted = bytearray(pattern(10_000))
    file = stored(scratch, "f", bytes(wanted))
    for salt, (offset, size) in enumerate(((1, 3), (4095, 2), (511, 4098), (5000, 3333)), start=1):
        data = pattern(size, salt)
        written = expect(nfs3.write(file, offset, data, stable)).ok().count
        wanted[offset : offset + written] = data[:written]
    expect_data(scratch.read(file), wanted)


@pytest.mark.parametrize(("first", "second"), REWRITES, ids=lambda stable: stable.name.lower())
@proves(WRITES_COUNT_BYTES, killed_by="write3-keeps-older-data")
def test_last_write_wins(nfs3: Nfs3, scratch: Nfs3Scratch, first: StableHow, second: StableHow) -> None:
    """The later of two WRITEs to the same range determines the data."""
    file = stored(scratch, "f", pattern(6000))
    older, newer = pattern(3000, salt=1), pattern(3000, salt=2)
    write_all(nfs3, file, 1500, older, first)
    write_all(nfs3, file, 1500, newer, second)
    wanted = pattern(6000)[:1500] + newer + pattern(6000)[4500:]
    expect_data(scratch.read(file), wanted)
    reply = nfs3.commit(file)
    if reply.resok is None:
        skip(f"COMMIT fails, which the checks of COMMIT judge: it answers {reply.status}", reply)
    expect_data(scratch.read(file), wanted, "data after COMMIT")


@pytest.mark.parametrize("stable", STABILITIES, ids=lambda stable: stable.name.lower())
@proves(WRITES_COUNT_BYTES, WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-second-client-appends")
def test_two_clients(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, stable: StableHow) -> None:
    """WRITEs of two clients to disjoint ranges of one file are all stored."""
    file, wanted = scratch.file("f"), pattern(16_000)
    for at in reversed(range(0, 16_000, 1000)):
        write_all(nfs3 if at % 2000 else second_client, file, at, wanted[at : at + 1000], stable)
    for client in (nfs3, second_client):
        seen = read_range(client, file, 0, 16_000)
        expect_data(seen, wanted)


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize("less", [1, 0], ids=["wtmax-1", "wtmax"])
@proves(
    WTMAX_IS_SUPPORTED,
    WRITES_COUNT_BYTES,
    killed_by=("write3-clears-the-end-of-large-data", "write3-refuses-large-data"),
)
def test_wtmax(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, less: int) -> None:
    """WRITE of wtmax bytes succeeds and stores the bytes that it counts."""
    info = fsinfo(nfs3, root)
    size = min(transfer_size(info.wtmax), info.maxfilesize) - less
    file, data = scratch.file("f"), pattern(size)
    written = expect(nfs3.write(file, 0, data)).ok().count
    observe("WRITE of wtmax", "short" if written < size else "complete")
    seen = read_range(nfs3, file, 0, size)
    expect_data(seen[:written], data[:written], because=WRITES_COUNT_BYTES)


@pytest.mark.parametrize("count", [2**31, 2**32 - 1], ids=("2g", "4g-1"))
@proves(WRITE_COUNT_BOUNDS_DATA, killed_by="write3-trusts-huge-counts")
def test_huge_count(
    nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, announced: Announced, count: int
) -> None:
    """WRITE with a huge count writes no more than its data."""
    old, new = pattern(64), pattern(4, salt=100)
    file = stored(scratch, "f", old)
    what = "WRITE with a count far above the length of the data"
    for each in announced(count, because=COUNTS_ARE_CHECKED):
        reply_or_none(functools.partial(second_client.write, file, 8, new, count=each), what)
    seen = read_range(nfs3, file, 0, 128)
    expect_data(seen, old[:8] + seen[8:12] + old[12:], "data outside of the range")


@pytest.mark.parametrize("stable", [3, 2**31 - 1], ids=("3", "2g-1"))
@proves(WRITES_COUNT_BYTES, killed_by="write3-drops-data-of-unknown-stability")
def test_invalid_stable_how(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, stable: int) -> None:
    """WRITE with an invalid stable_how stores the bytes that it counts."""
    file, data = scratch.file("f"), pattern(100)
    what = "WRITE with an undefined stable_how"
    reply = reply_or_none(lambda: second_client.write(file, 0, data, StableHow(stable)), what)
    if reply is None:
        return
    if reply.resok is None:
        expect(reply).refused()
        return
    count = expect(reply).field("resok.count").at_most(100)
    expect_data(read_range(nfs3, file, 0, count), data[:count])


# ---------------------------------------------------------------- special files


@pytest.mark.parametrize("kind", file_types.SPECIAL)
@proves(WRITE_NEEDS_REGULAR_FILE, WRITE_RETURNS_INVAL, killed_by="write3-wrong-type-is-io")
def test_special_file(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """WRITE refuses a FIFO, a socket or a device and keeps its attributes."""
    handle = file_types.make(nfs3, scratch, kind)
    before = scratch.attributes(handle)
    reply = nfs3.write(handle, 0, b"data")
    expect_unchanged(before, scratch.attributes(handle), ("type", "mode", "nlink", "uid", "gid", "fileid"))
    # A device may have no driver, and a FIFO no reader or writer.
    meant = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NXIO, Nfsstat3.NFS3ERR_NODEV)
    expect(reply).refused(*meant, because=WRITE_RETURNS_INVAL)


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("size", [1, 1000, 8192])
@proves(WRITES_COUNT_BYTES, killed_by="write3-over-udp-zeroes-the-last-byte", needs="udp")
def test_udp(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], size: int) -> None:
    """WRITE over UDP stores the bytes that it counts."""
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience)
    most = min(size, fsinfo(over_udp, scratch.handle).wtmax)
    file, data = scratch.file("f"), pattern(most)
    written = expect(over_udp.write(file, 0, data)).ok().count
    expect_data(read_range(nfs3, file, 0, written), data[:written])
