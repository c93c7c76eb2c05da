# SPDX-License-Identifier: MIT
"""READ (RFC 1813 section 3.3.6): data, count, eof and attributes."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, SystemErr
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.agreement import expect_same_object
from suites.nfs3.contents import pattern, stored, write_far

READ_DATA_AT_OFFSET = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="READ returns the bytes of the file that begin at offset"
)
READ_COUNT_IS_LIMIT = Requirement(rfc="RFC 1813", section="3.3.6", gist="READ returns at most count bytes")
READ_COUNT_MATCHES_DATA = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="count in the reply is the number of bytes of data returned"
)
READ_EOF_AT_END = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ sets eof if and only if offset plus the returned count is the size of the file",
)
READ_EOF_OF_EMPTY_FILE = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="a successful READ of an empty file sets eof"
)
READ_BEYOND_EOF = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ at or beyond the end of the file succeeds with count 0 and eof TRUE",
)
READ_ZERO_COUNT = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="READ of 0 bytes succeeds and returns no data"
)
READ_ABOVE_RTMAX = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of more than rtmax may be short, and returns only data of the file",
)
READ_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.6", gist="file_attributes are the attributes of the file after the READ"
)
READ_MAKES_PROGRESS = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="a short READ without eof returns some data, so that further READs get the rest",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
READ_RETURNS_INVAL = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ of an object that is not a regular file fails with NFS3ERR_INVAL",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
READ_OFFSET_HAS_64_BITS = Requirement(rfc="RFC 1813", section="2.5", gist="READ uses all 64 bits of offset3")
READ_KEEPS_MTIME = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="mtime is the time when the data was last modified: READ does not change it",
)
HANDLE_IS_OF_ONE_FILE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="equal file handles refer to the same file: the handle of a removed or replaced file never reaches another",
    level=Level.MUST,
)
EXTENSION_READS_AS_ZEROS = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="bytes that a larger size adds to a file read as zeros",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)


@proves(READ_DATA_AT_OFFSET, killed_by="read3-aligns-offset")
def test_returns_the_bytes_at_the_offset(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ returns the bytes that begin at the requested offset."""
    content = pattern(10_000)
    file = scratch.file("f", content)
    for offset in (0, 1, 511, 4095, 4096, 4097, 8191, 9000):
        resok = expect(nfs3.read(file, offset, 999)).ok()
        data = bytes(resok.data)
        expect(data, f"data at offset {offset}").equals(content[offset : offset + len(data)])


@proves(READ_COUNT_IS_LIMIT, killed_by="read3-returns-more-than-asked")
def test_returns_no_more_than_was_asked(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ returns no more bytes than count."""
    file = scratch.file("f", pattern(1000))
    for count in (1, 2, 3, 5, 511, 999):
        reply = nfs3.read(file, 0, count)
        expect(reply).ok()
        expect(reply).field("resok.count").at_most(count)


@proves(READ_COUNT_MATCHES_DATA, killed_by="read3-count-echoes-request")
def test_count_is_the_length_of_the_data(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ returns a count equal to the length of its data."""
    file = scratch.file("f", pattern(10))
    reply = nfs3.read(file, 0, 100)
    resok = expect(reply).ok()
    expect(reply).field("resok.count").equals(len(resok.data))


@proves(READ_EOF_AT_END, killed_by=("read3-eof-only-when-short", "read3-ignores-eof"))
def test_eof_is_told_when_the_last_byte_is_returned(nfs3: Nfs3, scratch: Scratch) -> None:
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
def test_eof_is_not_told_before_the_last_byte(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ leaves eof FALSE before the last byte of the file."""
    file = scratch.file("f", pattern(1000))
    for offset, count in ((0, 999), (0, 1), (500, 250), (998, 1)):
        reply = nfs3.read(file, offset, count)
        expect(reply).ok()
        expect(reply).field("resok.eof").is_false()


@proves(READ_EOF_OF_EMPTY_FILE, killed_by="read3-empty-file-lacks-eof")
def test_empty_file_ends_at_once(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ of an empty file sets eof."""
    reply = nfs3.read(scratch.file("empty"), 0, 100)
    expect(reply).ok()
    expect(reply).field("resok.eof").is_true()


@proves(READ_BEYOND_EOF, killed_by="read3-refuses-offset-at-the-end")
def test_behind_the_end_is_nothing_and_eof(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ at or beyond the end of a file returns no data and sets eof."""
    file = scratch.file("f", pattern(100))
    for offset in (100, 101, 5000, 2**31):
        reply = nfs3.read(file, offset, 10)
        expect(reply).ok()
        expect(reply).field("resok.count").equals(0)
        expect(reply).field("resok.eof").is_true()


@proves(READ_ZERO_COUNT, killed_by="read3-refuses-count-zero")
def test_no_bytes_can_be_read(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ of 0 bytes succeeds and returns no data."""
    reply = nfs3.read(scratch.file("f", pattern(100)), 10, 0)
    resok = expect(reply).ok()
    expect(reply).field("resok.count").equals(0)
    observe("eof of a READ of 0 bytes inside the file", resok.eof)


@proves(READ_MAKES_PROGRESS, killed_by="read3-returns-nothing")
def test_one_byte_is_returned_when_one_is_there(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ of one existing byte returns one byte."""
    reply = nfs3.read(scratch.file("f", pattern(100)), 10, 1)
    expect(reply).ok()
    expect(reply).field("resok.count").equals(1)


@proves(EXTENSION_READS_AS_ZEROS, killed_by="read3-fills-holes")
def test_bytes_never_written_read_as_zeros(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ returns zeros for the bytes that SETATTR added to a file."""
    file = scratch.file("f", b"data")
    grown = nfs3.setattr(file, Sattr3(size=20_000))
    if grown.resok is None:
        skip(f"the file cannot be made larger: SETATTR answers {grown.status}")
    for offset in (4, 4096, 15_000):
        resok = expect(nfs3.read(file, offset, 4000)).ok()
        data = bytes(resok.data)
        expect(data.strip(b"\0"), f"what is not zero at offset {offset}").equals(b"")


@proves(READ_OFFSET_HAS_64_BITS, READ_DATA_AT_OFFSET, killed_by="read3-truncates-offset")
def test_offsets_go_beyond_4_gib(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ uses all 64 bits of the offset."""
    file = stored(scratch, "f", b"near the beginning")
    for offset in (2**31, 2**32):
        write_far(nfs3, file, offset, b"far from beginning")
        resok = expect(nfs3.read(file, offset, 18)).ok()
        data = bytes(resok.data)
        broken = (
            READ_OFFSET_HAS_64_BITS if data == b"near the beginning"[: len(data)] else READ_DATA_AT_OFFSET
        )
        expect(data, f"data at offset {offset}", because=broken).equals(b"far from beginning"[: len(data)])


@proves(READ_DATA_AT_OFFSET, killed_by="read3-wraps-around")
def test_range_beyond_the_largest_offset_returns_nothing(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ returns no data for a range that overflows 64 bits."""
    reply = nfs3.read(scratch.file("f", pattern(100)), 2**64 - 8, 64)
    observe("READ of a range that goes beyond 2^64", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(reply).field("resok.count").equals(0)
    else:
        expect(reply).refused()


@proves(READ_ABOVE_RTMAX, killed_by="read3-pads-above-rtmax")
def test_more_than_rtmax_returns_data_of_the_file(
    nfs3: Nfs3, second_client: Nfs3, root: bytes, scratch: Scratch
) -> None:
    """READ of more than rtmax returns only data of the file."""
    info = nfs3.fsinfo(root)
    if info.resok is None:
        skip(f"rtmax is not known: FSINFO answers {info.status}")
    content = pattern(5000)
    file = stored(scratch, "f", content)
    try:
        reply = second_client.read(file, 0, min(info.resok.rtmax + 1, 2**32 - 1))
    except (GarbageArgs, SystemErr, ConnectionLost) as refusal:
        observe("READ of more than rtmax", type(refusal).__name__)
        return
    observe("READ of more than rtmax", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    data = bytes(reply.resok.data)
    expect(data, "data").equals(content[: len(data)])


@proves(READ_RETURNS_ATTRIBUTES, killed_by="read3-attributes-tell-another-size")
def test_attributes_agree_with_getattr(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ returns the same attributes as GETATTR."""
    file = scratch.file("f", pattern(1000))
    reply = nfs3.read(file, 100, 200)
    if expect(reply).ok().file_attributes is None:
        unsupported("READ withholds the attributes of the file")
    expect_same_object(reply, "resok.file_attributes", scratch.attributes(file))


@proves(READ_KEEPS_MTIME, killed_by="read3-touches-mtime")
def test_does_not_move_mtime(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ does not change mtime."""
    file = scratch.file("f", pattern(1000))
    before = scratch.attributes(file)
    expect(nfs3.read(file, 0, 1000)).ok()
    expect(scratch.attributes(file).mtime, "mtime after READ").equals(before.mtime)


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="read3-reads-a-later-file")
def test_handle_of_a_removed_file_reaches_no_other(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ by the handle of a removed file never returns data of another file."""
    content = pattern(100)
    file = stored(scratch, "removed", content)
    gone = nfs3.remove(scratch.handle, b"removed")
    if gone.resok is None:
        skip(f"the file cannot be removed: REMOVE answers {gone.status}")
    for number in range(4):
        scratch.file(f"later {number}", pattern(100, salt=number + 1))
    reply = nfs3.read(file, 0, 100)
    observe("READ by the handle of a removed file", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    data = bytes(reply.resok.data)
    expect(data, "data").equals(content[: len(data)])


@proves(READ_RETURNS_INVAL, killed_by="read3-answers-isdir")
def test_directory_is_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ refuses a directory."""
    reply = nfs3.read(scratch.directory("d"), 0, 100)
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READ_RETURNS_INVAL)


@proves(READ_RETURNS_INVAL, killed_by="read3-reads-symlinks", needs="symlink")
def test_symlink_is_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ refuses a symbolic link."""
    reply = nfs3.read(scratch.symlink("l", b"target"), 0, 100)
    expect(reply).refused(Nfsstat3.NFS3ERR_INVAL, because=READ_RETURNS_INVAL)
