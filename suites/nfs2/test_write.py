# SPDX-License-Identifier: MIT
"""WRITE (RFC 1094 section 2.2.9): all of the data at an offset, on stable storage before the reply."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks import TargetView
from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXDATA, WRITE, Nfsstat2, Writeargs
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.nfs2 import wide
from suites.nfs2.objects import NOT_FILES, expect_same, make, return_to
from suites.nfs3.contents import difference, pattern

WRITES = Requirement(
    rfc="RFC 1094",
    section="2.2.9",
    gist="WRITE writes data, all of it, beginning offset bytes from the beginning of the file",
)
ONLY_THERE = Requirement(
    rfc="RFC 1094", section="2.2.9", gist="WRITE changes the file where its data goes, and nowhere else"
)
IGNORED = Requirement(
    rfc="RFC 1094", section="2.2.9", gist="the arguments beginoffset and totalcount are ignored"
)
ATTRIBUTES = Requirement(
    rfc="RFC 1094",
    section="2.2.9",
    gist="attributes in the reply are those of the file after the write has completed",
)
ATOMIC = Requirement(
    rfc="RFC 1094",
    section="2.2.9",
    gist="the data of one WRITE is not mixed with that of another client's",
)
STABLE = Requirement(
    rfc="RFC 1094",
    section="2.2",
    gist="when a procedure returns, the data of the request is on stable storage, even if the server crashes",
)
HOLES = Requirement(
    rfc="RFC 1094",
    section="2.2.9",
    level=Level.SHOULD,
    gist="what lies between the end of the file and data that begins behind it was not written: it reads as zeros",
)
BEYOND = Requirement(
    rfc="RFC 1094",
    section="3.5",
    level=Level.SHOULD,  # it is the client that asks for too much
    gist="a WRITE of more than 8192 bytes is refused, or writes all of them",
)
OF_A_FILE = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="WRITE is for files: of a directory ISDIR is the error, and a link has no data to write",
)

GARBAGE = [1, 2**31, 2**32 - 1]
AT_THE_ENDS = [2**31 - 4, 2**31, 2**32 - 100]


def _read_at(nfs2: Nfs2, file: bytes, offset: int, size: int) -> bytes:
    """The bytes at an offset, in as many calls as the server wants."""
    data = b""
    while len(data) < size:
        part = bytes(expect(nfs2.read(file, offset + len(data), min(size - len(data), MAXDATA))).ok().data)
        if not part:
            break
        data += part
    return data


@pytest.mark.parametrize("size", [1, 3, 4, 512, 4096, 8191, MAXDATA])
@proves(WRITES, killed_by="write2-loses-the-last-byte")
def test_writes_all_of_the_data(nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    file, data = scratch2.file("f"), pattern(size, salt=3)
    expect(nfs2.write(file, 0, data)).ok()
    expect(difference(scratch2.read(file), data), "where the data differs").is_absent()


@pytest.mark.parametrize("offset", [0, 1, 4095, 4096, 8192, 9999, 10_000])
@proves(ONLY_THERE, killed_by="write2-clears-what-follows")
def test_changes_nothing_else(nfs2: Nfs2, scratch2: Scratch2, offset: int) -> None:
    before = pattern(10_000)
    file = scratch2.file("f", before)
    expect(nfs2.write(file, offset, b"new")).ok()
    wanted = before[:offset] + b"new" + before[offset + 3 :]
    expect(difference(scratch2.read(file), wanted), "where the data differs").is_absent()


@pytest.mark.parametrize("offset", [5, 5000, 70_000])
@proves(HOLES, killed_by="write2-fills-holes")
def test_a_hole_is_zeros(nfs2: Nfs2, scratch2: Scratch2, offset: int) -> None:
    file = scratch2.file("f", b"abc")
    expect(nfs2.write(file, offset, b"end")).ok()
    wanted = b"abc" + bytes(offset - 3) + b"end"
    expect(difference(scratch2.read(file), wanted), "where the data differs").is_absent()


@pytest.mark.parametrize("offset", AT_THE_ENDS)
@proves(WRITES, killed_by="write2-takes-offsets-for-signed")
def test_writes_at_a_large_offset_or_not_at_all(nfs2: Nfs2, scratch2: Scratch2, offset: int) -> None:
    file = scratch2.file("f", b"begin")
    reply = nfs2.write(file, offset, b"far data")
    if reply.status != Nfsstat2.NFS_OK:
        # Where the server's files end before that.
        expect(scratch2.read(file), "the data after a refusal").equals(b"begin")
        return
    expect(_read_at(nfs2, file, offset, 8), "the data").equals(b"far data")
    expect(_read_at(nfs2, file, 0, 5), "the data at the beginning").equals(b"begin")


@pytest.mark.parametrize("beginoffset", GARBAGE)
@proves(IGNORED, killed_by="write2-heeds-beginoffset")
def test_beginoffset_means_nothing(nfs2: Nfs2, scratch2: Scratch2, beginoffset: int) -> None:
    file = scratch2.file("f", b"some data")
    expect(nfs2.write(file, 5, b"DATA", beginoffset=beginoffset)).ok()
    expect(scratch2.read(file), "the data").equals(b"some DATA")


@pytest.mark.parametrize("totalcount", [0, *GARBAGE])
@proves(IGNORED, killed_by="write2-heeds-totalcount")
def test_totalcount_means_nothing(nfs2: Nfs2, scratch2: Scratch2, totalcount: int) -> None:
    file = scratch2.file("f", b"some data")
    expect(nfs2.write(file, 5, b"DATA", totalcount=totalcount)).ok()
    expect(scratch2.read(file), "the data").equals(b"some DATA")


@pytest.mark.parametrize("offset", [0, 2, 4, 100])
@proves(ATTRIBUTES, killed_by="write2-answers-as-it-was-before")
def test_answers_with_the_attributes_afterwards(nfs2: Nfs2, scratch2: Scratch2, offset: int) -> None:
    file = scratch2.file("f", b"data")
    told = expect(nfs2.write(file, offset, b"four")).ok()
    known = scratch2.attributes(file)
    expect(told.size, "size").equals(max(4, offset + 4))
    expect_same(told, known)
    expect(told.mtime, "mtime").equals(known.mtime)


@proves(ONLY_THERE, killed_by="write2-of-nothing-truncates")
def test_writing_nothing_changes_no_data(nfs2: Nfs2, scratch2: Scratch2) -> None:
    file = scratch2.file("f", b"some data")
    observe("answer", nfs2.write(file, 4, b"").status)
    expect(scratch2.read(file), "the data").equals(b"some data")


@pytest.mark.parametrize("size", [2, 512, MAXDATA])
@proves(ATOMIC, killed_by="write2-mixes-clients")
def test_data_of_two_clients_is_not_mixed(
    rpc_connect: Callable[..., RpcClient], scratch2: Scratch2, size: int
) -> None:
    file = scratch2.file("f")
    clients = {byte: rpc_connect("nfs") for byte in b"ab"}
    for _ in range(3):
        calls = [
            (client, client.submit(WRITE, Writeargs(file, 0, 0, 0, bytes([byte]) * size)))
            for byte, client in clients.items()
        ]
        for client, call in calls:
            expect(client.wait(call)).ok()
    expect(len(set(scratch2.read(file))), "the number of clients whose data is in the file").equals(1)


@pytest.mark.parametrize("kind", NOT_FILES)
@proves(OF_A_FILE, killed_by="write2-takes-anything")
def test_refuses_what_is_no_file(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    expect(nfs2.write(make(scratch2, kind), 0, b"data")).refused()


@proves(BEYOND, killed_by="write2-claims-to-take-too-much")
def test_data_beyond_the_limit_is_taken_or_refused(second_nfs2: Nfs2, scratch2: Scratch2) -> None:
    file, data = scratch2.file("f", b"data"), pattern(MAXDATA + 4)
    reply = wide.attempt(second_nfs2, wide.WRITE, wide.WideWriteargs(file, 0, 0, 0, data))
    taken = reply is not None and reply.status == Nfsstat2.NFS_OK
    wanted = data if taken else b"data"
    expect(difference(scratch2.read(file), wanted), "where the data differs").is_absent()


@pytest.mark.exclusive
@pytest.mark.parametrize("size", [1, 4096, MAXDATA])
@proves(STABLE, killed_by="write2-answers-before-it-is-stable")
def test_new_data_outlives_a_crash(target: TargetView, nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    file = scratch2.file("f")
    expect(nfs2.write(file, 0, pattern(size))).ok()
    target.crash()
    return_to(target, scratch2)
    expect(difference(scratch2.read(file), pattern(size)), "where the data differs").is_absent()


@pytest.mark.exclusive
@proves(STABLE, killed_by="write2-answers-before-it-is-stable")
def test_overwritten_data_outlives_a_crash(target: TargetView, nfs2: Nfs2, scratch2: Scratch2) -> None:
    file = scratch2.file("f", pattern(MAXDATA))
    expect(nfs2.write(file, 1000, b"new" * 1000)).ok()
    target.crash()
    return_to(target, scratch2)
    wanted = pattern(MAXDATA)[:1000] + b"new" * 1000 + pattern(MAXDATA)[4000:]
    expect(difference(scratch2.read(file), wanted), "where the data differs").is_absent()
