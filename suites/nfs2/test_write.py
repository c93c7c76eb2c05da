# SPDX-License-Identifier: MIT
"""WRITE (RFC 1094 section 2.2.9) writes all of its data to stable storage before it replies."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXDATA, WRITE, Nfsstat2, Writeargs
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Harm, expect, expect_data, observe, proves, should, stated
from suites.nfs2 import oversized
from suites.nfs2.objects import NOT_FILES, expect_same, make, need_far, size_id
from suites.nfs3.contents import pattern
from suites.races import ROUNDS

WRITE_WRITES_ALL_DATA = stated(
    "RFC 1094", "2.2.9", "WRITE writes all of its data, starting at the given offset", harm=Harm.DATA
)
WRITE_CHANGES_ONLY_ITS_RANGE = stated(
    "RFC 1094", "2.2.9", "WRITE changes the file where its data goes and nowhere else", harm=Harm.DATA
)
WRITE_IGNORES_UNUSED_ARGUMENTS = stated(
    "RFC 1094", "2.2.9", "the arguments beginoffset and totalcount are ignored"
)
WRITE_RETURNS_ATTRIBUTES = stated(
    "RFC 1094", "2.2.9", "the reply has the attributes of the file after the WRITE"
)
WRITE_IS_ATOMIC = stated(
    "RFC 1094", "2.2.9", "the data of one WRITE is not mixed with the data of another client", harm=Harm.DATA
)
HOLE_READS_AS_ZEROS = should(
    "RFC 1094",
    "2.2.9",
    "a gap between the end of the file and data written after it reads as zeros",
    harm=Harm.DATA,
)
WRITE_ABOVE_LIMIT = should(  # the client breaks the limit, not the server
    "RFC 1094", "3.5", "a WRITE of more than 8192 bytes is refused or writes all of them"
)
WRITE_NEEDS_FILE = should(
    "RFC 1094",
    "2.3.1",
    "WRITE is for regular files: a directory is ISDIR, and a symbolic link has no data to write",
)
UNUSED_VALUES = [1, 2**31, 2**32 - 1]
NEAR_LIMITS = [2**31 - 4, 2**31, 2**32 - 100]


def _read_at(nfs2: Nfs2, file: bytes, offset: int, size: int) -> bytes:
    """Read bytes at an offset, in as many calls as the server needs."""
    data = b""
    while len(data) < size:
        part = bytes(expect(nfs2.read(file, offset + len(data), min(size - len(data), MAXDATA))).ok().data)
        if not part:
            break
        data += part
    return data


@pytest.mark.parametrize("size", [1, 3, 4, 512, 4096, 8191, MAXDATA])
@proves(WRITE_WRITES_ALL_DATA, killed_by="write2-zeroes-the-last-byte")
def test_all_data(nfs2: Nfs2, scratch: Nfs2Scratch, size: int) -> None:
    """WRITE writes all of its data."""
    file, data = scratch.file("f"), pattern(size, salt=3)
    expect(nfs2.write(file, 0, data)).ok()
    expect_data(scratch.read(file), data)


@pytest.mark.parametrize("offset", [0, 1, 4095, 4096, 8192, 9999, 10_000])
@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write2-clears-the-next-byte")
def test_other_data_kept(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int) -> None:
    """WRITE keeps the data around the range that it writes."""
    before = pattern(10_000)
    file = scratch.file("f", before)
    expect(nfs2.write(file, offset, b"new")).ok()
    wanted = before[:offset] + b"new" + before[offset + 3 :]
    expect_data(scratch.read(file), wanted)


@pytest.mark.parametrize("offset", [5, 5000, 70_000])
@proves(HOLE_READS_AS_ZEROS, killed_by="write2-fills-holes")
def test_hole_reads_zeros(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int) -> None:
    """WRITE after the end of the file fills the gap with zeros."""
    file = scratch.file("f", b"abc")
    expect(nfs2.write(file, offset, b"end")).ok()
    wanted = b"abc" + bytes(offset - 3) + b"end"
    expect_data(scratch.read(file), wanted)


@pytest.mark.parametrize("offset", NEAR_LIMITS, ids=size_id)
@proves(WRITE_WRITES_ALL_DATA, killed_by="write2-offsets-are-signed")
def test_large_offset(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int) -> None:
    """WRITE stores data at a large offset, or refuses and keeps the file."""
    file = scratch.file("f", b"begin")
    with need_far(nfs2, scratch, offset):
        reply = nfs2.write(file, offset, b"far data")
    if reply.status != Nfsstat2.NFS_OK:
        # The server may limit the size of files.
        expect_data(scratch.read(file), b"begin", "data after a refused WRITE")
        return
    expect_data(_read_at(nfs2, file, offset, 8), b"far data", at=offset)
    expect_data(_read_at(nfs2, file, 0, 5), b"begin")


@pytest.mark.parametrize("beginoffset", UNUSED_VALUES, ids=size_id)
@proves(WRITE_IGNORES_UNUSED_ARGUMENTS, killed_by="write2-obeys-beginoffset")
def test_beginoffset_ignored(nfs2: Nfs2, scratch: Nfs2Scratch, beginoffset: int) -> None:
    """WRITE ignores beginoffset."""
    file = scratch.file("f", b"some data")
    expect(nfs2.write(file, 5, b"DATA", beginoffset=beginoffset)).ok()
    expect_data(scratch.read(file), b"some DATA")


@pytest.mark.parametrize("totalcount", [0, *UNUSED_VALUES], ids=size_id)
@proves(WRITE_IGNORES_UNUSED_ARGUMENTS, killed_by="write2-obeys-totalcount")
def test_totalcount_ignored(nfs2: Nfs2, scratch: Nfs2Scratch, totalcount: int) -> None:
    """WRITE ignores totalcount."""
    file = scratch.file("f", b"some data")
    expect(nfs2.write(file, 5, b"DATA", totalcount=totalcount)).ok()
    expect_data(scratch.read(file), b"some DATA")


@pytest.mark.parametrize("offset", [0, 2, 4, 100])
@proves(WRITE_RETURNS_ATTRIBUTES, killed_by="write2-returns-old-attributes")
def test_returns_attributes(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int) -> None:
    """WRITE returns the attributes of the file after the write."""
    file = scratch.file("f", b"data")
    returned = expect(nfs2.write(file, offset, b"four")).ok()
    known = scratch.attributes(file)
    expect(returned).field("size").equals(max(4, offset + 4))
    expect_same(returned, known)
    expect(returned).field("mtime").equals(known.mtime)


@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write2-no-data-truncates")
def test_no_data(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """WRITE of no data does not change the data."""
    file = scratch.file("f", b"some data")
    observe("answer", nfs2.write(file, 4, b"").status)
    expect_data(scratch.read(file), b"some data")


@pytest.mark.parametrize("size", [2, 512, MAXDATA])
@proves(WRITE_IS_ATOMIC, killed_by="write2-mixes-clients")
def test_two_clients_not_mixed(
    rpc_connect: Callable[..., RpcClient], scratch: Nfs2Scratch, size: int
) -> None:
    """WRITEs of two clients to the same range are not mixed."""
    file = scratch.file("f")
    clients = {byte: rpc_connect("nfs") for byte in b"ab"}
    for _ in range(ROUNDS):
        calls = [
            (client, client.submit(WRITE, Writeargs(file, 0, 0, 0, bytes([byte]) * size)))
            for byte, client in clients.items()
        ]
        for client, call in calls:
            expect(client.wait(call)).ok()
        expect(len(set(scratch.read(file))), "clients whose data is in the file").equals(1)


@pytest.mark.parametrize("kind", NOT_FILES)
@proves(WRITE_NEEDS_FILE, killed_by="write2-accepts-non-files")
def test_not_a_file(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """WRITE refuses an object that is not a regular file."""
    expect(nfs2.write(make(scratch, kind), 0, b"data")).refused()


@proves(WRITE_ABOVE_LIMIT, killed_by="write2-writes-nothing-beyond-8k")
def test_too_much_data(second_client: Nfs2, scratch: Nfs2Scratch) -> None:
    """WRITE of more than 8192 bytes writes all of them or none."""
    file, data = scratch.file("f", b"data"), pattern(MAXDATA + 4)
    reply = oversized.attempt(second_client, oversized.WRITE, oversized.WideWriteargs(file, 0, 0, 0, data))
    taken = reply is not None and reply.status == Nfsstat2.NFS_OK
    wanted = data if taken else b"data"
    expect_data(scratch.read(file), wanted)
