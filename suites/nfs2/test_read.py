# SPDX-License-Identifier: MIT
"""READ (RFC 1094 section 2.2.7) returns up to count bytes from an offset."""

from __future__ import annotations

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXDATA, Nfsstat2, Readargs
from nfsjudge import Harm, expect, expect_data, observe, proves, should, stated
from nfsjudge.requirement import COUNTS_ARE_CHECKED
from suites.clauses import READ_COUNT_IS_LIMIT
from suites.nfs2 import oversized
from suites.nfs2.clauses import READ_MAKES_PROGRESS
from suites.nfs2.objects import LONG_AGO, NOT_FILES, expect_same, make, set_old_mtime, size_id
from suites.nfs3.contents import pattern

READ_RETURNS_FILE_DATA = stated(
    "RFC 1094", "2.2.7", "READ returns the data of the file that starts at the given offset", harm=Harm.DATA
)
READ_IGNORES_TOTALCOUNT = stated("RFC 1094", "2.2.7", "the argument totalcount is unused")
READ_RETURNS_ATTRIBUTES = stated(
    "RFC 1094", "2.2.7", "the reply has the attributes of the file after the READ"
)
READ_NEEDS_FILE = should(
    "RFC 1094",
    "2.3.1",
    "READ is for regular files: a directory is ISDIR, and a symbolic link has no such data",
)
READ_KEEPS_MTIME = stated(
    "RFC 1094",
    "2.3.5",
    "mtime is the time when the data of the file was last written: READ does not change it",
)
SIZE = 10_000
CONTENT = pattern(SIZE)
RANGES = [(0, 1), (0, MAXDATA), (1, 3), (4095, 2), (4096, 4096), (8191, 2), (9999, 1)]
AFTER_END = [SIZE, SIZE + 1, 2**31 - 1, 2**31, 2**32 - 1]


@pytest.mark.parametrize(("offset", "count"), RANGES)
@proves(READ_RETURNS_FILE_DATA, killed_by="read2-returns-a-wrong-first-byte")
def test_data_at_offset(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int, count: int) -> None:
    """READ returns the data at the given offset."""
    file = scratch.file("f", CONTENT)
    data = expect(nfs2.read(file, offset, count)).ok().data
    expect_data(data, CONTENT[offset : offset + len(data)], at=offset, of="reply")


@pytest.mark.parametrize("count", [0, 1, 5, 512, 4096, 8191])
@proves(READ_COUNT_IS_LIMIT, killed_by="read2-returns-a-byte-too-many")
def test_at_most_count(nfs2: Nfs2, scratch: Nfs2Scratch, count: int) -> None:
    """READ returns at most count bytes."""
    file = scratch.file("f", CONTENT)
    reply = nfs2.read(file, 0, count)
    if reply.resok is None and not count:
        observe("READ of 0 bytes", reply.status)
        return
    data = expect(reply).ok().data
    observe("bytes", len(data))
    expect(len(data), "bytes of data").at_most(count)


@pytest.mark.parametrize(("offset", "count"), [*RANGES, (9990, 100)])
@proves(READ_MAKES_PROGRESS, killed_by="read2-returns-nothing")
def test_progress(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int, count: int) -> None:
    """READ returns at least one byte before the end of the file."""
    file = scratch.file("f", CONTENT)
    data = expect(nfs2.read(file, offset, count)).ok().data
    expect(len(data), "bytes of data").at_least(1)


@pytest.mark.parametrize("offset", AFTER_END, ids=size_id)
@proves(READ_RETURNS_FILE_DATA, READ_MAKES_PROGRESS, killed_by="read2-returns-zeros-beyond-the-end")
def test_offset_after_end(nfs2: Nfs2, scratch: Nfs2Scratch, offset: int) -> None:
    """READ returns no data at or after the end of the file."""
    reply = nfs2.read(scratch.file("f", CONTENT), offset, 100)
    # The server may refuse an offset after the end; at the end it must answer.
    observe("answer", reply.status)
    if reply.status == Nfsstat2.NFS_OK or offset == SIZE:
        data = expect(reply, because=READ_MAKES_PROGRESS).ok().data
        expect(len(data), "bytes of data", of=reply, field="readok.data").equals(0)


@proves(READ_RETURNS_FILE_DATA, killed_by="read2-returns-zeros-beyond-the-end")
def test_across_end(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READ across the end of the file returns no more than the file has."""
    file = scratch.file("f", CONTENT)
    data = expect(nfs2.read(file, SIZE - 10, 100)).ok().data
    expect(len(data), "bytes of data from the last 10 of the file").at_most(10)


@pytest.mark.parametrize("totalcount", [1, 2**31, 2**32 - 1], ids=size_id)
@proves(READ_IGNORES_TOTALCOUNT, killed_by="read2-obeys-totalcount")
def test_totalcount_ignored(nfs2: Nfs2, scratch: Nfs2Scratch, totalcount: int) -> None:
    """READ ignores totalcount."""
    file = scratch.file("f", b"some data")
    known = bytes(expect(nfs2.read(file, 2, 5)).ok().data)
    data = expect(nfs2.read(file, 2, 5, totalcount)).ok().data
    expect_data(data, known, f"data with totalcount {totalcount}", at=2)


@proves(READ_RETURNS_ATTRIBUTES, killed_by="read2-size-is-the-byte-count")
def test_returns_attributes(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READ returns the attributes of the file."""
    file = scratch.file("f", CONTENT)
    returned = expect(nfs2.read(file, 100, 10)).ok().attributes
    known = scratch.attributes(file)
    expect_same(returned, known)
    expect(returned).field("mtime").equals(known.mtime)


@proves(READ_KEEPS_MTIME, killed_by="read2-changes-mtime")
def test_keeps_mtime(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READ does not change mtime."""
    file = scratch.file("f", b"data")
    set_old_mtime(nfs2, scratch, file)
    expect(nfs2.read(file, 0, 100)).ok()
    expect(scratch.attributes(file)).field("mtime", "mtime after READ").equals(LONG_AGO)


@pytest.mark.parametrize("kind", NOT_FILES)
@proves(READ_NEEDS_FILE, killed_by="read2-reads-non-files")
def test_not_a_file(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """READ refuses an object that is not a regular file."""
    expect(nfs2.read(make(scratch, kind), 0, 100)).refused()


@pytest.mark.parametrize("count", [MAXDATA + 1, 65_536, 2**31, 2**32 - 1], ids=size_id)
@proves(READ_RETURNS_FILE_DATA, killed_by="read2-large-counts-skip-a-byte")
def test_huge_count(second_client: Nfs2, scratch: Nfs2Scratch, announced: Announced, count: int) -> None:
    """READ with a count above 8192 returns the right data or none."""
    file = scratch.file("f", CONTENT)
    for each in announced(count, because=COUNTS_ARE_CHECKED):
        reply = oversized.attempt(second_client, oversized.READ, Readargs(file, 0, each, 0))
        if reply is not None and reply.resok is not None:
            data = reply.resok.data
            observe("bytes", len(data))
            expect_data(data, CONTENT[: len(data)], of="reply")
