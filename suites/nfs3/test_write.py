# SPDX-License-Identifier: MIT
"""WRITE (RFC 1813 section 3.3.7): count, commitment, verifier, and the file afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import WRITE, Nfsstat3, Sattr3, StableHow, Write3Args
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.attributes import expect_before, expect_same_object
from suites.nfs3.clauses import (
    HANDLE_IS_OF_ONE_FILE,
    VERIFIER_IS_CONSTANT,
    WRITE_CHANGES_ONLY_ITS_RANGE,
    WRITE_COUNT_BOUNDS_DATA,
    WRITE_EXTENDS_SIZE,
    WRITE_GAP_IS_ZERO,
    WRITE_MAKES_PROGRESS,
    WRITE_RETURNS_INVAL,
    WRITE_WCC_AFTER,
    WRITES_COUNT_BYTES,
)
from suites.nfs3.contents import need_content, pattern, read_range, stored, write_all
from suites.nfs3.handles import LATER
from suites.nfs3.pipelines import pipelined
from suites.nfs3.times import LONG_AGO, at_client_time
from suites.replies import reply_or_none

WRITE_COUNT_IS_LIMIT = stated(
    "RFC 1813", "3.3.7", "count is the number of bytes written, which is never more than the number sent"
)
WRITE_ZERO_COUNT = stated("RFC 1813", "3.3.7", "WRITE of 0 bytes succeeds and returns a count of 0")
WRITE_ZERO_KEEPS_DATA = should(  # the text speaks of mtime: "contents" is what it implies
    "RFC 1813",
    "3.3.7",
    "WRITE of 0 bytes does not change the contents",
    part=Part.IMPLEMENTATION,
    harm=Harm.DATA,
)
WRITE_ZERO_KEEPS_SIZE = should(  # as above; a file that is longer by zeros has lost nothing
    "RFC 1813", "3.3.7", "WRITE of 0 bytes does not extend the file", part=Part.IMPLEMENTATION
)
WRITE_ZERO_KEEPS_MTIME = should(
    "RFC 1813", "3.3.7", "WRITE of 0 bytes does not change mtime", part=Part.IMPLEMENTATION
)
WRITE_COMMITS_FILE_SYNC = must("RFC 1813", "3.3.7", "WRITE with FILE_SYNC returns committed FILE_SYNC")
WRITE_COMMITS_DATA_SYNC = must(
    "RFC 1813", "3.3.7", "WRITE with DATA_SYNC returns committed DATA_SYNC or FILE_SYNC"
)
WRITE_COMMITS_UNSTABLE = stated(
    "RFC 1813", "3.3.7", "WRITE with UNSTABLE returns committed UNSTABLE, DATA_SYNC or FILE_SYNC"
)
WRITE_MOVES_MTIME = stated(
    "RFC 1813", "2.5", "mtime is the time when the data was last modified: WRITE updates it"
)
WRITE_ABOVE_WTMAX = stated(
    "RFC 1813",
    "3.3.7",
    "WRITE of more than wtmax may be short; it stores what it counts and nothing that was not sent",
    harm=Harm.DATA,
)
WRITE_WCC_BEFORE = stated(
    "RFC 1813", "2.5", "file_wcc.before has size, mtime and ctime of the file before the WRITE"
)
WRITE_STORES_COUNTED_BYTES = stated(
    "RFC 1813", "3.3.7", "the bytes that WRITE counts are in the file, beginning at offset", harm=Harm.DATA
)
MOST_SENT = 8 * 1024 * 1024
"""Bytes. Checks of WRITEs above wtmax are skipped if wtmax exceeds this."""


# ---------------------------------------------------------------- count


@proves(WRITE_COUNT_IS_LIMIT, killed_by="write3-reports-more-than-sent")
def test_count_limit(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE never counts more bytes than it was sent."""
    file = scratch.file("f")
    for size in (1, 5, 4096, 8000):
        reply = nfs3.write(file, 0, pattern(size))
        expect(reply).ok()
        expect(reply).field("resok.count").at_most(size)


@proves(WRITE_MAKES_PROGRESS, killed_by="write3-accepts-nothing")
def test_one_byte(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE of one byte counts one byte."""
    reply = nfs3.write(scratch.file("f"), 0, b"x")
    expect(reply).ok()
    expect(reply).field("resok.count").equals(1)


@proves(WRITE_ZERO_COUNT, killed_by="write3-refuses-no-data")
def test_zero_count(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE of 0 bytes succeeds and returns a count of 0."""
    reply = nfs3.write(scratch.file("f", b"data"), 2, b"")
    expect(reply).ok()
    expect(reply).field("resok.count").equals(0)


@proves(
    WRITE_ZERO_KEEPS_SIZE,
    WRITE_ZERO_KEEPS_DATA,
    killed_by=("write3-no-data-extends", "write3-no-data-truncates"),
)
def test_zero_count_keeps_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE of 0 bytes, inside the file or beyond the end, keeps the data and does not extend the file."""
    file = scratch.file("f", b"data")
    for offset in (2, 1000):
        observe(f"WRITE of 0 bytes at {offset}", nfs3.write(file, offset, b"").status)
        expect_data(scratch.read(file)[:4], b"data", because=WRITE_ZERO_KEEPS_DATA)
    expect(scratch.attributes(file)).field("size").equals(4)


@proves(WRITE_ZERO_KEEPS_MTIME, killed_by="write3-no-data-changes-mtime")
def test_zero_count_keeps_mtime(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE of 0 bytes does not change mtime."""
    file = scratch.file("f", b"data")
    before = scratch.attributes(file)
    observe("WRITE of 0 bytes", nfs3.write(file, 0, b"").status)
    expect(scratch.attributes(file)).field("mtime").equals(before.mtime)


def _expect_only_range_written(client: Nfs3, scratch: Nfs3Scratch, new: bytes, count: int) -> None:
    """WRITE of `new` at offset 8, with a count that differs from its length, changes 4 bytes at most.

    No RFC defines the reply.
    """
    __tracebackhide__ = True
    old = pattern(64)
    file = stored(scratch, "f", old)
    what = "WRITE with a count that is not the length of the data"
    reply = reply_or_none(lambda: client.write(file, 8, new, count=count), what)
    if reply is not None and reply.resok is not None:
        expect(reply).field("resok.count").at_most(min(count, len(new)))
    seen = scratch.read(file)
    expect_data(seen, old[:8] + seen[8:12] + old[12:], "data outside of the range")


@proves(WRITE_COUNT_BOUNDS_DATA, killed_by="write3-ignores-count")
def test_count_below_data(second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE with a count below the length of its data writes at most count bytes."""
    _expect_only_range_written(second_client, scratch, pattern(16, salt=100), count=4)


@proves(WRITE_COUNT_BOUNDS_DATA, killed_by="write3-trusts-count")
def test_count_above_data(second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE with a count above the length of its data writes no more than the data."""
    _expect_only_range_written(second_client, scratch, pattern(4, salt=100), count=16)


@proves(WRITE_ABOVE_WTMAX, killed_by="write3-above-wtmax-counts-all")
def test_above_wtmax(nfs3: Nfs3, second_client: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """WRITE of more than wtmax stores what it counts and nothing that was not sent."""
    info = nfs3.fsinfo(root)
    if info.resok is None:
        skip(f"cannot get wtmax: FSINFO answers {info.status}", info)
    if info.resok.wtmax >= MOST_SENT:
        skip(f"wtmax is {info.resok.wtmax}: this check sends less than {MOST_SENT} bytes at once")
    file = scratch.file("f")
    data = pattern(info.resok.wtmax + 4096)
    reply = reply_or_none(lambda: second_client.write(file, 0, data), "WRITE of more than wtmax")
    counted = reply.resok.count if reply is not None and reply.resok is not None else 0
    seen = read_range(nfs3, file, 0, len(data) + 1)
    expect(len(seen), "size of the file in bytes", field="size").between(counted, len(data))
    expect_data(seen, data[: len(seen)])


# ---------------------------------------------------------------- commitment and verifier


@proves(WRITE_COMMITS_FILE_SYNC, killed_by="write3-file-sync-is-unstable")
def test_file_sync_committed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE with FILE_SYNC returns committed FILE_SYNC."""
    reply = nfs3.write(scratch.file("f"), 0, b"data", StableHow.FILE_SYNC)
    expect(reply).ok()
    expect(reply).field("resok.committed").equals(StableHow.FILE_SYNC)


@proves(WRITE_COMMITS_DATA_SYNC, killed_by="write3-treats-data-sync-as-unstable")
def test_data_sync_committed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE with DATA_SYNC returns committed DATA_SYNC or FILE_SYNC."""
    reply = nfs3.write(scratch.file("f"), 0, b"data", StableHow.DATA_SYNC)
    committed = expect(reply).ok().committed
    observe("committed for DATA_SYNC", committed)
    expect(reply).field("resok.committed").one_of(StableHow.DATA_SYNC, StableHow.FILE_SYNC)


@proves(WRITE_COMMITS_UNSTABLE, killed_by="write3-returns-unknown-committed")
def test_unstable_committed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE with UNSTABLE returns one of the three commitment levels."""
    reply = nfs3.write(scratch.file("f"), 0, b"data", StableHow.UNSTABLE)
    committed = expect(reply).ok().committed
    observe("committed for UNSTABLE", committed)
    expect(reply).field("resok.committed").one_of(
        StableHow.UNSTABLE, StableHow.DATA_SYNC, StableHow.FILE_SYNC
    )


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-stability")
def test_verifier_across_stabilities(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE returns the same verifier for every stable_how."""
    file = scratch.file("f")
    verf = expect(nfs3.write(file, 0, b"data", StableHow.UNSTABLE)).ok().verf
    for stable in (StableHow.DATA_SYNC, StableHow.FILE_SYNC, StableHow.UNSTABLE):
        reply = nfs3.write(file, 0, b"data", stable)
        expect(reply).ok()
        expect(reply).field("resok.verf").equals(verf)


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-file")
def test_verifier_across_files(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE returns the same verifier for every file."""
    verf = expect(nfs3.write(scratch.file("one"), 0, b"data", StableHow.UNSTABLE)).ok().verf
    reply = nfs3.write(scratch.file("other"), 0, b"data", StableHow.UNSTABLE)
    expect(reply).ok()
    expect(reply).field("resok.verf").equals(verf)


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-connection")
def test_verifier_across_connections(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE returns the same verifier on every connection."""
    file = scratch.file("f")
    verf = expect(nfs3.write(file, 0, b"data", StableHow.UNSTABLE)).ok().verf
    reply = second_client.write(file, 0, b"data", StableHow.UNSTABLE)
    expect(reply).ok()
    expect(reply).field("resok.verf").equals(verf)


# ---------------------------------------------------------------- data of the file


@proves(WRITES_COUNT_BYTES, killed_by="write3-drops-unaligned-tail")
def test_counted_bytes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE stores the bytes that it counts."""
    for size in (4, 5, 4095, 4097, 8001):
        file = scratch.file(f"f{size}")
        data = pattern(size)
        written = expect(nfs3.write(file, 0, data)).ok().count
        seen = read_range(nfs3, file, 0, size)
        expect_data(seen[:written], data[:written], of="range")


@proves(WRITES_COUNT_BYTES, killed_by="write3-hides-unstable-data")
def test_unstable_data_visible(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """Data written with UNSTABLE is visible at once to another client that has read the file before."""
    file, data = stored(scratch, "f", pattern(6000)), pattern(3000, salt=1)
    read_range(second_client, file, 0, 6000)
    written = expect(nfs3.write(file, 1000, data, StableHow.UNSTABLE)).ok().count
    need_content(scratch, file, pattern(6000)[:1000] + data[:written] + pattern(6000)[1000 + written :])
    seen = read_range(second_client, file, 1000, written)
    expect_data(seen, data[:written], at=1000, of="range")


@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-truncates-after-the-data")
def test_overwrite_keeps_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE at the beginning of a file keeps its size."""
    file = scratch.file("f", pattern(1000))
    expect(nfs3.write(file, 0, b"data")).ok()
    expect(scratch.attributes(file)).field("size").equals(1000)


@proves(WRITE_EXTENDS_SIZE, killed_by="write3-appends-whole-blocks")
def test_append_grows_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE at the end of a file extends it by the count."""
    file = scratch.file("f", pattern(1000))
    written = expect(nfs3.write(file, 1000, pattern(77))).ok().count
    expect(scratch.attributes(file)).field("size").equals(1000 + written)


@proves(WRITE_GAP_IS_ZERO, killed_by="write3-fills-gap")
def test_beyond_eof(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE beyond the end of a file succeeds and fills the gap with zeros."""
    file = scratch.file("f", b"data")
    expect(nfs3.write(file, 10_000, b"more")).ok()
    gap = read_range(nfs3, file, 4, 9996)
    expect_data(gap, bytes(len(gap)), "data of the gap", at=4)


@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-wraps-around")
def test_offset_overflow(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE of a range that overflows 64 bits does not write to the beginning of the file."""
    content = pattern(64)
    file = stored(scratch, "f", content)
    reply = nfs3.write(file, 2**64 - 4, pattern(16, salt=100))
    observe("WRITE of a range that ends beyond 2^64", reply.status)
    expect_data(read_range(nfs3, file, 0, 64), content, of="range")


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="write3-removed-handle-writes-the-newest-file")
def test_removed_file_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE by the handle of a removed file never changes another file."""
    file = scratch.file("removed", pattern(100))
    gone = nfs3.remove(scratch.handle, b"removed")
    if gone.resok is None:
        skip(f"cannot remove the file: REMOVE answers {gone.status}", gone)
    content = pattern(100, salt=1)
    later = [stored(scratch, f"later {number}", content) for number in range(LATER)]
    reply = nfs3.write(file, 0, pattern(100, salt=100))
    observe("WRITE by the handle of a removed file", reply.status)
    for other in later:
        expect_data(scratch.read(other), content, "data of a later file")


# ---------------------------------------------------------------- attributes


@proves(WRITE_WCC_BEFORE, killed_by="write3-before-is-after")
def test_wcc_before(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE returns in file_wcc.before what GETATTR returned before the call."""
    file = scratch.file("f", pattern(1000))
    known = scratch.attributes(file)
    reply = nfs3.write(file, 1000, b"more")
    if expect(reply).ok().file_wcc.before is None:
        unsupported("WRITE returned no file_wcc.before, which is optional")
    expect_before(reply, "resok.file_wcc.before", known)


@proves(WRITE_WCC_AFTER, killed_by="write3-after-is-before")
def test_wcc_after(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE returns in file_wcc.after what GETATTR returns after the call."""
    file = scratch.file("f", pattern(1000))
    reply = nfs3.write(file, 1000, b"more")
    if expect(reply).ok().file_wcc.after is None:
        unsupported("WRITE returned no file_wcc.after, which is optional")
    expect_same_object(reply, "resok.file_wcc.after", scratch.attributes(file))


@proves(WRITE_MOVES_MTIME, killed_by="write3-keeps-mtime", needs="cansettime")
def test_moves_mtime(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE updates mtime."""
    file = scratch.file("f", b"data")
    nfs3.setattr(file, Sattr3(mtime=at_client_time(LONG_AGO)))
    if scratch.attributes(file).mtime != LONG_AGO:
        skip("SETATTR does not set mtime to the year 2000, so a later change would not show")
    expect(nfs3.write(file, 0, b"DATA", StableHow.FILE_SYNC)).ok()
    expect(scratch.attributes(file)).field("mtime").differs_from(LONG_AGO)


# ---------------------------------------------------------------- other types of object


@proves(WRITE_RETURNS_INVAL, killed_by="write3-answers-isdir")
def test_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE refuses a directory."""
    reply = nfs3.write(scratch.directory("d"), 0, b"data")
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=WRITE_RETURNS_INVAL)


@proves(
    WRITE_RETURNS_INVAL, WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-overwrites-symlinks", needs="symlink"
)
def test_symlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE refuses a symbolic link and keeps its target."""
    link = scratch.symlink("l", b"target")
    reply = nfs3.write(link, 0, b"elsewhere")
    text = nfs3.readlink(link)
    if text.resok is not None:
        expect(text, because=WRITE_CHANGES_ONLY_ITS_RANGE).field("resok.data").equals(b"target")
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=WRITE_RETURNS_INVAL)


# ---------------------------------------------------------------- many calls at once


@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name.lower())
@proves(WRITE_STORES_COUNTED_BYTES, killed_by="write3-drops-unaligned-tail")
def test_pipelined(
    nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], stable: StableHow
) -> None:
    """Data of many WRITEs sent at once is all in the file."""
    file, data = scratch.file("f"), pattern(60 * 1001)
    pieces = [(at, data[at : at + 1001]) for at in range(0, len(data), 1001)]
    calls = (Write3Args(file, at, len(piece), stable, piece) for at, piece in reversed(pieces))
    counted: dict[int, int] = {}
    write_all(nfs3, file, len(data) - 1, data[-1:])  # ends the check if files cannot be so large
    for args, reply in pipelined(nfs3, rpc_connect("nfs"), WRITE, calls):
        counted[args.offset] = expect(reply).ok().count
    for at, piece in pieces:
        seen = read_range(nfs3, file, at, counted[at])
        expect_data(seen, piece[: counted[at]], at=at, of="range")
