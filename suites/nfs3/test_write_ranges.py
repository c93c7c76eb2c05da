# SPDX-License-Identifier: MIT
"""WRITE (RFC 1813 section 3.3.7): offsets and counts at their limits, overwriting, objects of any type, UDP."""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, RpcTimeout, SystemErr
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, expect_data, observe, proves
from suites.nfs3 import kinds
from suites.nfs3.contents import pattern, put, read_range, stored, write_far
from suites.nfs3.limits import fsinfo, to_move
from suites.nfs3.preserved import expect_preserved

COUNTED_IS_WRITTEN = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="the bytes that count tells of are in the file, beginning at offset",
)
ONLY_THE_RANGE = Requirement(
    rfc="RFC 1813", section="3.3.7", gist="WRITE writes count bytes at offset, and no others"
)
COUNT_BOUNDS_THE_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    level=Level.SHOULD,  # no text says what a count is worth that is not the length of the data
    gist="count is the number of bytes to be written, and data are those bytes: neither alone allows more",
)
GAP_IS_ZERO = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="bytes between the old end and a WRITE behind it read as zeros, as those do that SETATTR adds (3.3.2)",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
WTMAX_IS_WRITTEN = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="wtmax is the largest WRITE that the server supports: one of that size succeeds",
)
ONLY_FILES = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    level=Level.SHOULD,  # said to clients; that a server refuses is said in the IMPLEMENTATION part
    gist="the object must be a regular file",
)
INVAL_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="WRITE to what is not a regular file is refused with NFS3ERR_INVAL",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)

FAR: t.Final = {"2^31": 2**31, "2^32": 2**32, "2^40": 2**40, "2^53": 2**53, "2^63-9": 2**63 - 9}
"""Where arithmetic on fewer than 64 bits ends; data lies 8 bytes before and behind."""
TOO_FAR: t.Final = {
    "2^63-8": 2**63 - 8,
    "2^63-1": 2**63 - 1,
    "2^63": 2**63,
    "2^64-16": 2**64 - 16,
    "2^64-8": 2**64 - 8,
    "2^64-1": 2**64 - 1,
}
"""Where 16 bytes lie, wholly or in part, behind what a signed or an unsigned 64-bit number counts."""
STABILITIES: t.Final = (StableHow.UNSTABLE, StableHow.DATA_SYNC, StableHow.FILE_SYNC)


# ---------------------------------------------------------------- offsets


@pytest.mark.parametrize("place", FAR)
@proves(COUNTED_IS_WRITTEN, killed_by="write3-misses-by-one-far-out")
def test_data_lies_around(nfs3: Nfs3, scratch: Scratch, place: str) -> None:
    file, data = stored(scratch, "f", b"near"), pattern(16)
    write_far(nfs3, file, FAR[place] - 8, data)
    expect(read_range(nfs3, file, FAR[place] - 8, 16), f"data around {place}").equals(data)
    expect(scratch.attributes(file).size, "size").equals(FAR[place] + 8)
    expect(read_range(nfs3, file, 0, 4), "data at the beginning", because=ONLY_THE_RANGE).equals(b"near")


@pytest.mark.parametrize("place", TOO_FAR)
@proves(ONLY_THE_RANGE, killed_by="write3-clears-the-beginning-when-too-far")
def test_no_file_is_damaged_from_as_far_as(nfs3: Nfs3, scratch: Scratch, place: str) -> None:
    content = pattern(64)
    file = stored(scratch, "f", content)
    reply = nfs3.write(file, TOO_FAR[place], pattern(16, salt=100))
    observe(f"WRITE of 16 bytes at {place}", reply.status)
    expect(read_range(nfs3, file, 0, 64), "data at the beginning").equals(content)
    if reply.resok is None:
        expect(reply).refused()
        expect(read_range(nfs3, file, 64, 64).strip(b"\0"), "what is not zero behind the data").equals(b"")


@pytest.mark.parametrize("gap", [1, 3, 511, 512, 4096, 65_535])
@proves(GAP_IS_ZERO, killed_by="write3-fills-gap")
def test_a_gap_reads_as_zeros_if_it_has(nfs3: Nfs3, scratch: Scratch, gap: int) -> None:
    file = stored(scratch, "f", pattern(100))
    put(nfs3, file, 100 + gap, b"behind")
    expect(read_range(nfs3, file, 100, gap).strip(b"\0"), "what is not zero in the gap").equals(b"")


# ---------------------------------------------------------------- data over data


@pytest.mark.parametrize("stable", STABILITIES, ids=lambda stable: stable.name)
@proves(ONLY_THE_RANGE, killed_by="write3-clears-rest-of-block")
def test_what_is_around_stays_at(nfs3: Nfs3, scratch: Scratch, stable: StableHow) -> None:
    wanted = bytearray(pattern(10_000))
    file = stored(scratch, "f", bytes(wanted))
    for salt, (offset, size) in enumerate(((1, 3), (4095, 2), (511, 4098), (5000, 3333)), start=1):
        data = pattern(size, salt)
        written = expect(nfs3.write(file, offset, data, stable)).ok().count
        wanted[offset : offset + written] = data[:written]
    expect_data(scratch.read(file), wanted)


@pytest.mark.parametrize(
    ("first", "second"), [*itertools.product(STABILITIES, STABILITIES)], ids=lambda stable: stable.name
)
@proves(COUNTED_IS_WRITTEN, killed_by="write3-keeps-what-was-first")
def test_the_later_data_wins(nfs3: Nfs3, scratch: Scratch, first: StableHow, second: StableHow) -> None:
    file = stored(scratch, "f", pattern(6000))
    older, newer = pattern(3000, salt=1), pattern(3000, salt=2)
    put(nfs3, file, 1500, older, first)
    put(nfs3, file, 1500, newer, second)
    expect(nfs3.commit(file)).ok()
    wanted = pattern(6000)[:1500] + newer + pattern(6000)[4500:]
    expect_data(scratch.read(file), wanted)


@pytest.mark.parametrize("stable", STABILITIES, ids=lambda stable: stable.name)
@proves(COUNTED_IS_WRITTEN, ONLY_THE_RANGE, killed_by="write3-takes-the-end-for-the-offset")
def test_two_clients_fill_one_file_at(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, stable: StableHow
) -> None:
    file, wanted = scratch.file("f"), pattern(16_000)
    for at in reversed(range(0, 16_000, 1000)):
        put(nfs3 if at % 2000 else second_client, file, at, wanted[at : at + 1000], stable)
    for client in (nfs3, second_client):
        seen = read_range(client, file, 0, 16_000)
        expect_data(seen, wanted)


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize("less", [1, 0], ids=["wtmax-1", "wtmax"])
@proves(
    WTMAX_IS_WRITTEN,
    COUNTED_IS_WRITTEN,
    killed_by=("write3-clears-the-end-of-large-data", "write3-refuses-large-data"),
)
def test_large_data_is_in_the_file(nfs3: Nfs3, root: bytes, scratch: Scratch, less: int) -> None:
    info = fsinfo(nfs3, root)
    size = min(to_move(info.wtmax), info.maxfilesize) - less
    file, data = scratch.file("f"), pattern(size)
    written = expect(nfs3.write(file, 0, data)).ok().count
    observe("WRITE of wtmax", "short" if written < size else "whole")
    seen = read_range(nfs3, file, 0, size)
    expect_data(seen[:written], data[:written], because=COUNTED_IS_WRITTEN)


@pytest.mark.parametrize("count", [2**31, 2**32 - 1])
@proves(COUNT_BOUNDS_THE_DATA, killed_by="write3-trusts-huge-counts")
def test_no_more_than_the_data_is_written_for_a_count_of(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, count: int
) -> None:
    old, new = pattern(64), pattern(4, salt=100)
    file = stored(scratch, "f", old)
    try:
        reply = second_client.write(file, 8, new, count=count)
    except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as refusal:
        observe("count far above the data", type(refusal).__name__)
    else:
        observe("count far above the data", reply.status)
    seen = read_range(nfs3, file, 0, 128)
    expect(seen[:8] + seen[12:], "what is outside of the data").equals(old[:8] + old[12:])


@pytest.mark.parametrize("stable", [3, 2**31 - 1])
@proves(COUNTED_IS_WRITTEN, killed_by="write3-drops-data-of-unknown-stability")
def test_a_stability_that_is_none_loses_nothing_counted(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, stable: int
) -> None:
    file, data = scratch.file("f"), pattern(100)
    try:
        reply = second_client.write(file, 0, data, StableHow(stable))
    except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as refusal:
        observe("stable_how outside of the enumeration", type(refusal).__name__)
        return
    observe("stable_how outside of the enumeration", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    count = expect(reply).field("resok.count").at_most(100)
    expect(read_range(nfs3, file, 0, count), "the data that was counted").equals(data[:count])


# ---------------------------------------------------------------- what is no file


@pytest.mark.parametrize("kind", kinds.SPECIAL)
@proves(ONLY_FILES, INVAL_IS_MEANT, killed_by="write3-wrong-type-is-io")
def test_special_file_is_refused(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    handle = kinds.make(nfs3, scratch, kind)
    before = scratch.attributes(handle)
    reply = nfs3.write(handle, 0, b"data")
    expect_preserved(scratch.attributes(handle), before, ("type", "mode", "nlink", "uid", "gid", "fileid"))
    # A device may have nothing behind it, and a FIFO nobody at its other end.
    meant = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NXIO, Nfsstat3.NFS3ERR_NODEV)
    expect(reply).refused(*meant, because=INVAL_IS_MEANT)


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("size", [1, 1000, 8192])
@proves(COUNTED_IS_WRITTEN, killed_by="write3-over-udp-loses-the-end", needs="udp")
def test_over_udp_data_is_in_the_file(
    nfs3: Nfs3, scratch: Scratch, rpc_connect: Callable[..., RpcClient], size: int
) -> None:
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"))
    most = min(size, fsinfo(over_udp, scratch.handle).wtmax)
    file, data = scratch.file("f"), pattern(most)
    written = expect(over_udp.write(file, 0, data)).ok().count
    expect(read_range(nfs3, file, 0, written), "the data that was counted").equals(data[:written])
