# SPDX-License-Identifier: MIT
"""READ (RFC 1813 section 3.3.6): data, count, eof and attributes."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, SystemErr
from nfsclient.protocol.nfs3 import READ, Nfsstat3, Read3Args, Read3Res, Sattr3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    expect_that,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
    unsupported,
)
from nfsjudge.requirement import COUNTS_ARE_CHECKED
from suites.clauses import READ_COUNT_IS_LIMIT
from suites.nfs3 import file_types
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.clauses import (
    EXTENSION_READS_AS_ZEROS,
    HANDLE_IS_OF_ONE_FILE,
    READ_ABOVE_RTMAX,
    READ_DATA_AT_OFFSET,
    READ_EOF_AT_END,
    READ_ONLY_IS_UNCHANGED,
    READ_RETURNS_CURRENT_DATA,
)
from suites.nfs3.contents import pattern, read_range, stored, write_far
from suites.nfs3.handles import LATER
from suites.nfs3.limits import FAR, FAR_IDS, fsinfo, need_far, transfer_size
from suites.nfs3.pipelines import pipelined
from suites.replies import reply_or_none
from suites.steady import expect_steady

READ_COUNT_MATCHES_DATA = stated(
    "RFC 1813", "3.3.6", "count in the reply is the number of bytes of data returned"
)
READ_EOF_OF_EMPTY_FILE = stated("RFC 1813", "3.3.6", "a successful READ of an empty file sets eof")
READ_BEYOND_EOF = stated(
    "RFC 1813",
    "3.3.6",
    "READ at or beyond the end of the file succeeds with count 0 and eof TRUE",
    harm=Harm.DATA,
)
READ_ZERO_COUNT = stated("RFC 1813", "3.3.6", "READ of 0 bytes succeeds and returns no data")
READ_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.6", "file_attributes are the attributes of the file after the READ"
)
READ_MAKES_PROGRESS = should(
    "RFC 1813",
    "3.3.6",
    "a short READ without eof returns some data, so that further READs get the rest",
    part=Part.IMPLEMENTATION,
)
READ_RETURNS_INVAL = should(
    "RFC 1813",
    "3.3.6",
    "READ of an object that is not a regular file fails with NFS3ERR_INVAL",
    part=Part.IMPLEMENTATION,
)
READ_OFFSET_HAS_64_BITS = stated("RFC 1813", "2.5", "READ uses all 64 bits of offset3", harm=Harm.DATA)
READ_KEEPS_MTIME = stated(
    "RFC 1813", "2.5", "mtime is the time when the data was last modified: READ does not change it"
)
READ_BEYOND_INT64 = should(  # servers with signed offsets cannot represent these ranges, and may return INVAL
    "RFC 1813",
    "3.3.6",
    "READ beyond the end succeeds with count 0 and eof TRUE even if offset plus count is 2^63 or more",
)
RTMAX_IS_SUPPORTED = stated(
    "RFC 1813", "3.3.19", "rtmax is the largest READ that the server supports: READ of rtmax bytes succeeds"
)
READ_NEEDS_REGULAR_FILE = should(
    # addressed to clients; only the IMPLEMENTATION part says that the server refuses
    "RFC 1813",
    "3.3.6",
    "READ works on regular files only",
)
SIZES: t.Final = (0, 1, 3, 4095, 4096, 4097, 65_536, 100_000)


# ---------------------------------------------------------------- data, count, eof, attributes


@proves(READ_DATA_AT_OFFSET, killed_by="read3-aligns-offset")
def test_unaligned_offset(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ returns the bytes that begin at the requested offset."""
    content = pattern(10_000)
    file = scratch.file("f", content)
    for offset in (0, 1, 511, 4095, 4096, 4097, 8191, 9000):
        resok = expect(nfs3.read(file, offset, 999)).ok()
        expect_data(resok.data, content[offset : offset + len(resok.data)], at=offset, of="range")


@proves(READ_COUNT_IS_LIMIT, killed_by="read3-returns-more-than-count")
def test_count_limit(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ returns no more bytes than count."""
    file = scratch.file("f", pattern(1000))
    for count in (1, 2, 3, 5, 511, 999):
        reply = nfs3.read(file, 0, count)
        expect(reply).ok()
        expect(reply).field("resok.count").at_most(count)


@proves(READ_COUNT_MATCHES_DATA, killed_by="read3-count-echoes-request")
def test_count_matches_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ returns a count equal to the length of its data."""
    file = scratch.file("f", pattern(10))
    reply = nfs3.read(file, 0, 100)
    resok = expect(reply).ok()
    expect_that(
        resok.count == len(resok.data),
        f"{len(resok.data)}, the length of data",
        str(resok.count),
        "count",
        reply=reply,
        field="resok.count",
    )


@proves(READ_COUNT_MATCHES_DATA, killed_by="read3-carries-more-than-it-counts")
def test_no_data_beyond_count(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ of a part of a file carries no more data than it counts, and counts no more than the request asks for."""
    file = scratch.file("f", pattern(1000))
    for offset, count in ((0, 4), (1, 6), (900, 20)):
        reply = nfs3.read(file, offset, count)
        resok = expect(reply).ok()
        expect(reply, because=READ_COUNT_IS_LIMIT).field("resok.count").at_most(count)
        expect(len(resok.data), "bytes of data", of=resok, field="data").equals(resok.count)


@proves(READ_EOF_AT_END, killed_by=("read3-eof-only-when-short", "read3-ignores-eof"))
def test_eof_at_end(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ sets eof when it returns the last byte of the file."""
    file = scratch.file("f", pattern(1000))
    for offset, count in ((0, 1000), (500, 500), (999, 1), (900, 200)):
        reply = nfs3.read(file, offset, count)
        resok = expect(reply).ok()
        if offset + resok.count == 1000:
            expect(reply).field("resok.eof").is_true()
        else:
            observe("short READ", f"{resok.count} of {count} bytes at {offset}")


@proves(READ_EOF_AT_END, killed_by="read3-eof-before-the-end")
def test_no_early_eof(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ leaves eof FALSE before the last byte of the file."""
    file = scratch.file("f", pattern(1000))
    for offset, count in ((0, 999), (0, 1), (500, 250), (998, 1)):
        reply = nfs3.read(file, offset, count)
        expect(reply).ok()
        expect(reply).field("resok.eof").is_false()


@proves(READ_EOF_OF_EMPTY_FILE, killed_by="read3-empty-file-lacks-eof")
def test_empty_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ of an empty file sets eof."""
    reply = nfs3.read(scratch.file("empty"), 0, 100)
    expect(reply).ok()
    expect(reply).field("resok.eof").is_true()


@proves(READ_BEYOND_EOF, killed_by="read3-refuses-offset-at-the-end")
def test_beyond_eof(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ at or beyond the end of a file returns no data and sets eof."""
    file = scratch.file("f", pattern(100))
    for offset in (100, 101, 5000, 2**31):
        reply = nfs3.read(file, offset, 10)
        expect(reply).ok()
        expect(reply).field("resok.count").equals(0)
        expect(reply).field("resok.eof").is_true()


@proves(READ_ZERO_COUNT, killed_by="read3-refuses-count-zero")
def test_zero_count(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ of 0 bytes succeeds and returns no data."""
    reply = nfs3.read(scratch.file("f", pattern(100)), 10, 0)
    resok = expect(reply).ok()
    expect(reply).field("resok.count").equals(0)
    observe("eof of a READ of 0 bytes inside the file", show(resok.eof))


@proves(READ_MAKES_PROGRESS, killed_by="read3-returns-nothing")
def test_one_byte(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ of one existing byte returns one byte."""
    reply = nfs3.read(scratch.file("f", pattern(100)), 10, 1)
    expect(reply).ok()
    expect(reply).field("resok.count").equals(1)


@proves(EXTENSION_READS_AS_ZEROS, killed_by="read3-fills-holes")
def test_extended_file_zeros(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ returns zeros for the bytes that SETATTR added to a file."""
    file = scratch.file("f", b"data")
    grown = nfs3.setattr(file, Sattr3(size=20_000))
    if grown.resok is None:
        skip(f"cannot extend the file: SETATTR answers {grown.status}", grown)
    for offset in (4, 4096, 15_000):
        resok = expect(nfs3.read(file, offset, 4000)).ok()
        expect_data(resok.data, bytes(len(resok.data)), "data of the extension", at=offset)


@proves(READ_OFFSET_HAS_64_BITS, READ_DATA_AT_OFFSET, killed_by="read3-truncates-offset")
def test_64_bit_offset(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ uses all 64 bits of the offset."""
    file = stored(scratch, "f", b"near the beginning")
    for offset in (2**31, 2**32):
        write_far(nfs3, file, offset, b"far from beginning")
        resok = expect(nfs3.read(file, offset, 18)).ok()
        data = bytes(resok.data)
        broken = (
            READ_OFFSET_HAS_64_BITS if data == b"near the beginning"[: len(data)] else READ_DATA_AT_OFFSET
        )
        expect_data(data, b"far from beginning"[: len(data)], at=offset, because=broken)


@proves(READ_DATA_AT_OFFSET, killed_by="read3-wraps-around")
def test_offset_overflow(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ returns no data for a range that overflows 64 bits."""
    reply = nfs3.read(scratch.file("f", pattern(100)), 2**64 - 8, 64)
    observe("READ of a range that ends beyond 2^64", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(reply).field("resok.count").equals(0)
    else:
        expect(reply).refused()


READ_REJECTIONS: t.Final = (GarbageArgs, SystemErr, ConnectionLost)
"""What may come of a READ of more than the server can return; silence is not among it."""


def _expect_nothing_but_eof(reply: Read3Res) -> None:
    """READ succeeds with no data and eof."""
    __tracebackhide__ = True
    expect(reply).ok()
    expect(reply, because=READ_BEYOND_EOF).field("resok.count").equals(0)
    expect(reply, because=READ_BEYOND_EOF).field("resok.eof").is_true()


def _expect_data_or_refusal(reply: Read3Res, content: bytes) -> None:
    """READ from offset 0 is refused, or returns nothing but data of the file."""
    if reply.resok is None:
        expect(reply).refused()
        return
    data = reply.resok.data
    expect_data(data, content[: len(data)], of="range", reply=reply, field="resok.data")


@proves(READ_ABOVE_RTMAX, killed_by="read3-pads-above-rtmax")
def test_above_rtmax(nfs3: Nfs3, second_client: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """READ of more than rtmax returns only data of the file."""
    info = nfs3.fsinfo(root)
    if info.resok is None:
        skip(f"cannot get rtmax: FSINFO answers {info.status}", info)
    content = pattern(5000)
    file = stored(scratch, "f", content)
    count = min(info.resok.rtmax + 1, 2**32 - 1)
    reply = reply_or_none(
        lambda: second_client.read(file, 0, count), "READ of more than rtmax", rejections=READ_REJECTIONS
    )
    if reply is not None:
        _expect_data_or_refusal(reply, content)


@proves(READ_RETURNS_ATTRIBUTES, killed_by="read3-attributes-have-another-size")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ returns the same attributes as GETATTR."""
    file = scratch.file("f", pattern(1000))
    reply = nfs3.read(file, 100, 200)
    if expect(reply).ok().file_attributes is None:
        unsupported("READ returned no file_attributes, which are optional")
    expect_same_object(reply, "resok.file_attributes", scratch.attributes(file))


@proves(READ_KEEPS_MTIME, killed_by="read3-changes-mtime")
def test_keeps_mtime(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ does not change mtime."""
    file = scratch.file("f", pattern(1000))
    expect_steady(
        lambda: scratch.attributes(file).mtime,
        lambda: expect(nfs3.read(file, 0, 1000)).ok(),
        "mtime after READ",
    )


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="read3-removed-handle-reads-the-newest-file")
def test_removed_file_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ by the handle of a removed file never returns data of another file."""
    content = pattern(100)
    file = stored(scratch, "removed", content)
    gone = nfs3.remove(scratch.handle, b"removed")
    if gone.resok is None:
        skip(f"cannot remove the file: REMOVE answers {gone.status}", gone)
    for number in range(LATER):
        scratch.file(f"later {number}", pattern(100, salt=number + 1))
    reply = nfs3.read(file, 0, 100)
    observe("READ by the handle of a removed file", reply.status)
    _expect_data_or_refusal(reply, content)


@proves(READ_RETURNS_INVAL, killed_by="read3-answers-isdir")
def test_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ refuses a directory."""
    reply = nfs3.read(scratch.directory("d"), 0, 100)
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READ_RETURNS_INVAL)


@proves(READ_RETURNS_INVAL, killed_by="read3-reads-symlinks", needs="symlink")
def test_symlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ refuses a symbolic link."""
    reply = nfs3.read(scratch.symlink("l", b"target"), 0, 100)
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READ_RETURNS_INVAL)


# ---------------------------------------------------------------- offsets


@pytest.mark.parametrize("place", FAR, ids=FAR_IDS)
@proves(READ_DATA_AT_OFFSET, killed_by="read3-rotates-data-beyond-2g")
def test_far_offsets(nfs3: Nfs3, scratch: Nfs3Scratch, place: str) -> None:
    """READ returns the data stored around a far offset."""
    file, data = scratch.file("f", b"near"), pattern(16)
    with need_far(nfs3, scratch, FAR[place]):
        write_far(nfs3, file, FAR[place] - 8, data)
    for at in (0, 7, 8, 15):
        resok = expect(nfs3.read(file, FAR[place] - 8 + at, 16 - at)).ok()
        expect_data(resok.data, data[at : at + len(resok.data)], at=FAR[place] - 8 + at)


@pytest.mark.parametrize(
    "offset",
    [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 11],
    ids=("2g-1", "2g", "4g-1", "4g", "int64max-10"),
)
@proves(READ_BEYOND_EOF, killed_by=("read3-refuses-far-offsets", "read3-beyond-has-bytes"))
def test_far_beyond_eof(nfs3: Nfs3, scratch: Nfs3Scratch, offset: int) -> None:
    """READ far beyond the end of a file returns no data and sets eof."""
    reply = nfs3.read(scratch.file("f", pattern(100)), offset, 10)
    _expect_nothing_but_eof(reply)


@pytest.mark.parametrize(
    "offset", [2**63 - 1, 2**63, 2**64 - 11], ids=("int64max", "int64max+1", "uint64max-10")
)
@proves(READ_BEYOND_INT64, READ_BEYOND_EOF, killed_by=("read3-refuses-far-offsets", "read3-beyond-has-bytes"))
def test_beyond_int64(nfs3: Nfs3, scratch: Nfs3Scratch, offset: int) -> None:
    """READ of a range that ends beyond 2^63 returns no data and sets eof."""
    reply = nfs3.read(scratch.file("f", pattern(100)), offset, 10)
    _expect_nothing_but_eof(reply)


# ---------------------------------------------------------------- sizes and counts


@pytest.mark.parametrize("size", SIZES)
@proves(READ_EOF_AT_END, killed_by="read3-ignores-eof")
def test_eof_by_size(nfs3: Nfs3, scratch: Nfs3Scratch, size: int) -> None:
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
    skip(f"READ returns so few bytes at once that the end of {size} bytes was not reached")


@pytest.mark.parametrize("share", ["rtmax-1", "rtmax"])
@proves(
    RTMAX_IS_SUPPORTED,
    READ_DATA_AT_OFFSET,
    killed_by=("read3-rotates-large-reads", "read3-refuses-large-reads"),
)
def test_rtmax(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, share: str) -> None:
    """READ of rtmax bytes succeeds and returns data of the file."""
    size = transfer_size(fsinfo(nfs3, root).rtmax) - share.count("-")
    content = pattern(size)
    file = stored(scratch, "f", content)
    data = expect(nfs3.read(file, 0, size)).ok().data
    observe("READ of rtmax", "short" if len(data) < size else "complete")
    expect_data(data, content[: len(data)], of="range", because=READ_DATA_AT_OFFSET)


@pytest.mark.parametrize(
    "count", [2**17, 2**24, 2**31 - 1, 2**31, 2**32 - 1], ids=("128k", "16m", "2g-1", "2g", "4g-1")
)
@proves(READ_ABOVE_RTMAX, killed_by="read3-rotates-large-reads")
def test_huge_count(
    nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, announced: Announced, count: int
) -> None:
    """READ with a huge count returns only data of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    for each in announced(count, because=COUNTS_ARE_CHECKED):
        reply = reply_or_none(
            functools.partial(second_client.read, file, 0, each),
            "READ with a huge count",
            rejections=READ_REJECTIONS,
        )
        if reply is not None:
            _expect_data_or_refusal(reply, content)


# ---------------------------------------------------------------- special files


@pytest.mark.parametrize("kind", file_types.SPECIAL)
@proves(READ_NEEDS_REGULAR_FILE, READ_RETURNS_INVAL, killed_by="read3-wrong-type-is-io")
def test_special_file(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """READ refuses a FIFO, a socket or a device."""
    reply = nfs3.read(file_types.make(nfs3, scratch, kind), 0, 100)
    # A device may have no driver, and a FIFO no reader or writer.
    meant = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NXIO, Nfsstat3.NFS3ERR_NODEV)
    expect(reply).refused(*meant, because=READ_RETURNS_INVAL)


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("size", [1, 1000, 8192])
@proves(READ_DATA_AT_OFFSET, killed_by="read3-over-udp-zeroes-the-last-byte", needs="udp")
def test_udp(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], size: int) -> None:
    """READ over UDP returns the data of the file."""
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience)
    most = min(size, fsinfo(over_udp, scratch.handle).rtmax)
    content = pattern(most)
    file = stored(scratch, "f", content)
    seen = read_range(over_udp, file, 0, most)
    expect_data(seen, content)


# ---------------------------------------------------------------- read-only file systems


@pytest.mark.exclusive
@proves(READ_ONLY_IS_UNCHANGED, killed_by="read3-refuses-read-only")
def test_read_only(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView) -> None:
    """READ of a read-only file system succeeds."""
    content = pattern(100)
    file = stored(scratch, "f", content)
    knobs.set(read_only=True)
    data = expect(nfs3.read(file, 0, 100)).granted().data
    expect_data(data, content[: len(data)], of="range")


# ---------------------------------------------------------------- many calls at once


@pytest.mark.parametrize("size", [7, 1001])
@proves(READ_RETURNS_CURRENT_DATA, killed_by="read3-aligns-offset")
def test_pipelined(
    nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], size: int
) -> None:
    """Many READs sent at once return the data at their offsets."""
    content = pattern(60 * size)
    file = stored(scratch, "f", content)
    calls = (Read3Args(file, at, size) for at in range(0, len(content), size))
    for args, reply in pipelined(nfs3, rpc_connect("nfs"), READ, calls):
        data = expect(reply).ok().data
        wanted = content[args.offset : args.offset + len(data)]
        expect_data(data, wanted, at=args.offset, of="range", reply=reply, field="resok.data")
