# SPDX-License-Identifier: MIT
"""READ (RFC 1813 section 3.3.6): offsets and counts at their limits, files of any size, objects of any type, UDP."""

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

DATA_AT_OFFSET = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="the data are the bytes of the file that begin at offset"
)
BEHIND_THE_END = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ at or behind the end of a file succeeds with count 0 and eof TRUE",
)
FAR_BEHIND_THE_END = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    level=Level.SHOULD,  # plain, but no signed 64-bit number holds these ranges, and INVAL is for such arguments
    gist="READ behind the end succeeds with count 0 and eof TRUE, also where offset plus count is 2^63 or more",
)
EOF_AT_THE_END = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="eof is TRUE if offset plus the count returned is the size of the file, otherwise FALSE",
)
RTMAX_IS_READ = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="rtmax is the largest READ that the server supports: one of that size succeeds",
)
SHORT_ABOVE_RTMAX = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of more than rtmax may be answered short; what it returns is data of the file",
)
INVAL_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of what is not a regular file is refused with NFS3ERR_INVAL",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
ONLY_FILES = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    level=Level.SHOULD,  # said to clients; that a server refuses is said in the IMPLEMENTATION part
    gist="the object must be a regular file",
)

FAR: t.Final = {"2^31": 2**31, "2^32": 2**32, "2^40": 2**40, "2^53": 2**53, "2^63-9": 2**63 - 9}
"""Where arithmetic on fewer than 64 bits ends; data lies 8 bytes before and behind."""
SIZES: t.Final = (0, 1, 3, 4095, 4096, 4097, 65_536, 100_000)


# ---------------------------------------------------------------- offsets


@pytest.mark.parametrize("place", FAR)
@proves(DATA_AT_OFFSET, killed_by="read3-misses-by-one-far-out")
def test_returns_the_data_around(nfs3: Nfs3, scratch: Scratch, place: str) -> None:
    file, data = scratch.file("f", b"near"), pattern(16)
    write_far(nfs3, file, FAR[place] - 8, data)
    for at in (0, 7, 8, 15):
        resok = expect(nfs3.read(file, FAR[place] - 8 + at, 16 - at)).ok()
        seen = bytes(resok.data)
        expect(seen, f"data from byte {at} of 16 on").equals(data[at : at + len(seen)])


@pytest.mark.parametrize("offset", [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 11])
@proves(BEHIND_THE_END, killed_by="read3-refuses-far-offsets")
def test_nothing_and_eof_behind_the_end_at(nfs3: Nfs3, scratch: Scratch, offset: int) -> None:
    reply = nfs3.read(scratch.file("f", pattern(100)), offset, 10)
    expect(reply).ok()
    expect(reply).field("resok.count").equals(0)
    expect(reply).field("resok.eof").is_true()


@pytest.mark.parametrize("offset", [2**63 - 1, 2**63, 2**64 - 11])
@proves(FAR_BEHIND_THE_END, killed_by="read3-refuses-far-offsets")
def test_nothing_and_eof_beyond_signed_offsets_at(nfs3: Nfs3, scratch: Scratch, offset: int) -> None:
    reply = nfs3.read(scratch.file("f", pattern(100)), offset, 10)
    expect(reply).ok()
    expect(reply).field("resok.count").equals(0)
    expect(reply).field("resok.eof").is_true()


# ---------------------------------------------------------------- sizes and counts


@pytest.mark.parametrize("size", SIZES)
@proves(EOF_AT_THE_END, killed_by="read3-ignores-eof")
def test_eof_ends_a_file_of_size(nfs3: Nfs3, scratch: Scratch, size: int) -> None:
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
@proves(RTMAX_IS_READ, DATA_AT_OFFSET, killed_by=("read3-shifts-large-reads", "read3-refuses-large-reads"))
def test_large_reads_return_data_of_the_file(nfs3: Nfs3, root: bytes, scratch: Scratch, share: str) -> None:
    size = to_move(fsinfo(nfs3, root).rtmax) - share.count("-")
    content = pattern(size)
    file = stored(scratch, "f", content)
    data = expect(nfs3.read(file, 0, size)).ok().data
    observe("READ of rtmax", "short" if len(data) < size else "whole")
    expect(difference(data, content[: len(data)]), "first wrong byte", because=DATA_AT_OFFSET).is_absent()


@pytest.mark.parametrize("count", [2**17, 2**24, 2**31 - 1, 2**31, 2**32 - 1])
@proves(SHORT_ABOVE_RTMAX, killed_by="read3-shifts-large-reads")
def test_huge_counts_return_data_of_the_file(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, count: int
) -> None:
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


# ---------------------------------------------------------------- what is no file


@pytest.mark.parametrize("kind", kinds.SPECIAL)
@proves(ONLY_FILES, INVAL_IS_MEANT, killed_by="read3-wrong-type-is-io")
def test_special_file_is_refused(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    reply = nfs3.read(kinds.make(nfs3, scratch, kind), 0, 100)
    # A device may have nothing behind it, and a FIFO nobody at its other end.
    meant = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NXIO, Nfsstat3.NFS3ERR_NODEV)
    expect(reply).refused(*meant, because=INVAL_IS_MEANT)


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("size", [1, 1000, 8192])
@proves(DATA_AT_OFFSET, killed_by="read3-over-udp-loses-the-end", needs="udp")
def test_over_udp_returns_data_of_the_file(
    scratch: Scratch, rpc_connect: Callable[..., RpcClient], size: int
) -> None:
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"))
    most = min(size, fsinfo(over_udp, scratch.handle).rtmax)
    content = pattern(most)
    file = stored(scratch, "f", content)
    seen = read_range(over_udp, file, 0, most)
    expect(difference(seen, content), "first wrong byte").is_absent()
