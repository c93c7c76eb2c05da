# SPDX-License-Identifier: MIT
"""READ (RFC 1813 section 3.3.6): large offsets and counts, file sizes, special files, UDP."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, SystemErr
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip
from suites.nfs3 import kinds
from suites.nfs3.contents import difference, pattern, read_range, stored, write_far
from suites.nfs3.limits import fsinfo, to_move

READ_DATA_AT_OFFSET = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="READ returns the bytes of the file that begin at offset"
)
READ_BEYOND_EOF = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ at or beyond the end of the file succeeds with count 0 and eof TRUE",
)
READ_BEYOND_INT64 = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    level=Level.SHOULD,  # servers with signed offsets cannot represent these ranges, and may return INVAL
    gist="READ beyond the end succeeds with count 0 and eof TRUE even if offset plus count is 2^63 or more",
)
READ_EOF_AT_END = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ sets eof if and only if offset plus the returned count is the size of the file",
)
RTMAX_IS_SUPPORTED = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="rtmax is the largest READ that the server supports: READ of rtmax bytes succeeds",
)
READ_ABOVE_RTMAX = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of more than rtmax may be short, and returns only data of the file",
)
READ_RETURNS_INVAL = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of an object that is not a regular file fails with NFS3ERR_INVAL",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
READ_NEEDS_REGULAR_FILE = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    level=Level.SHOULD,  # addressed to clients; only the IMPLEMENTATION part says that the server refuses
    gist="READ works on regular files only",
)

FAR: t.Final = {"2^31": 2**31, "2^32": 2**32, "2^40": 2**40, "2^53": 2**53, "2^63-9": 2**63 - 9}
"""Limits of arithmetic with fewer than 64 bits. The data lies in the 8 bytes before and after."""
FAR_IDS: t.Final = ("2g", "4g", "1t", "8p", "int64max-8")
SIZES: t.Final = (0, 1, 3, 4095, 4096, 4097, 65_536, 100_000)


# ---------------------------------------------------------------- offsets


@pytest.mark.parametrize("place", FAR, ids=FAR_IDS)
@proves(READ_DATA_AT_OFFSET, killed_by="read3-misses-by-one-far-out")
def test_returns_the_data_around(nfs3: Nfs3, scratch: Scratch, place: str) -> None:
    """READ returns the data stored around a far offset."""
    file, data = scratch.file("f", b"near"), pattern(16)
    write_far(nfs3, file, FAR[place] - 8, data)
    for at in (0, 7, 8, 15):
        resok = expect(nfs3.read(file, FAR[place] - 8 + at, 16 - at)).ok()
        seen = bytes(resok.data)
        expect(seen, f"data from byte {at} of 16 on").equals(data[at : at + len(seen)])


@pytest.mark.parametrize(
    "offset",
    [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 11],
    ids=("2g-1", "2g", "4g-1", "4g", "int64max-10"),
)
@proves(READ_BEYOND_EOF, killed_by="read3-refuses-far-offsets")
def test_nothing_and_eof_behind_the_end_at(nfs3: Nfs3, scratch: Scratch, offset: int) -> None:
    """READ far beyond the end of a file returns no data and sets eof."""
    reply = nfs3.read(scratch.file("f", pattern(100)), offset, 10)
    expect(reply).ok()
    expect(reply).field("resok.count").equals(0)
    expect(reply).field("resok.eof").is_true()


@pytest.mark.parametrize(
    "offset", [2**63 - 1, 2**63, 2**64 - 11], ids=("int64max", "int64max+1", "uint64max-10")
)
@proves(READ_BEYOND_INT64, killed_by="read3-refuses-far-offsets")
def test_nothing_and_eof_beyond_signed_offsets_at(nfs3: Nfs3, scratch: Scratch, offset: int) -> None:
    """READ of a range that ends beyond 2^63 returns no data and sets eof."""
    reply = nfs3.read(scratch.file("f", pattern(100)), offset, 10)
    expect(reply).ok()
    expect(reply).field("resok.count").equals(0)
    expect(reply).field("resok.eof").is_true()


# ---------------------------------------------------------------- sizes and counts


@pytest.mark.parametrize("size", SIZES)
@proves(READ_EOF_AT_END, killed_by="read3-ignores-eof")
def test_eof_ends_a_file_of_size(nfs3: Nfs3, scratch: Scratch, size: int) -> None:
    """READ in several calls sets eof at the end of the file and not before."""
    file = stored(scratch, "f", pattern(size))
    at = 0
    for _ in range(2 * size // 1000 + 100):
        reply = nfs3.read(file, at, max(1, size // 5))
        at += expect(reply).ok().count
        if at >= size:
            expect(reply).field("resok.eof").is_true()
            return
        expect(reply).field("resok.eof").is_false()
    skip("the server returns the file in too many pieces to wait for its end")


@pytest.mark.parametrize("share", ["rtmax-1", "rtmax"])
@proves(
    RTMAX_IS_SUPPORTED,
    READ_DATA_AT_OFFSET,
    killed_by=("read3-shifts-large-reads", "read3-refuses-large-reads"),
)
def test_large_reads_return_data_of_the_file(nfs3: Nfs3, root: bytes, scratch: Scratch, share: str) -> None:
    """READ of rtmax bytes succeeds and returns data of the file."""
    size = to_move(fsinfo(nfs3, root).rtmax) - share.count("-")
    content = pattern(size)
    file = stored(scratch, "f", content)
    data = expect(nfs3.read(file, 0, size)).ok().data
    observe("READ of rtmax", "short" if len(data) < size else "whole")
    expect(
        difference(data, content[: len(data)]), "first wrong byte", because=READ_DATA_AT_OFFSET
    ).is_absent()


@pytest.mark.parametrize(
    "count", [2**17, 2**24, 2**31 - 1, 2**31, 2**32 - 1], ids=("128k", "16m", "2g-1", "2g", "4g-1")
)
@proves(READ_ABOVE_RTMAX, killed_by="read3-shifts-large-reads")
def test_huge_counts_return_data_of_the_file(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, count: int
) -> None:
    """READ with a huge count returns only data of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    try:
        reply = second_client.read(file, 0, count)
    except (GarbageArgs, SystemErr, ConnectionLost) as refusal:
        observe("READ of a huge count", type(refusal).__name__)
        return
    observe("READ of a huge count", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    data = bytes(reply.resok.data)
    expect(data, "data").equals(content[: len(data)])


# ---------------------------------------------------------------- special files


@pytest.mark.parametrize("kind", kinds.SPECIAL)
@proves(READ_NEEDS_REGULAR_FILE, READ_RETURNS_INVAL, killed_by="read3-wrong-type-is-io")
def test_special_file_is_refused(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """READ refuses a FIFO, a socket or a device."""
    reply = nfs3.read(kinds.make(nfs3, scratch, kind), 0, 100)
    # A device may have no driver, and a FIFO no reader or writer.
    meant = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NXIO, Nfsstat3.NFS3ERR_NODEV)
    expect(reply).refused(*meant, because=READ_RETURNS_INVAL)


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("size", [1, 1000, 8192])
@proves(READ_DATA_AT_OFFSET, killed_by="read3-over-udp-loses-the-end", needs="udp")
def test_over_udp_returns_data_of_the_file(
    scratch: Scratch, rpc_connect: Callable[..., RpcClient], size: int
) -> None:
    """READ over UDP returns the data of the file."""
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"))
    most = min(size, fsinfo(over_udp, scratch.handle).rtmax)
    content = pattern(most)
    file = stored(scratch, "f", content)
    seen = read_range(over_udp, file, 0, most)
    expect(difference(seen, content), "first wrong byte").is_absent()
