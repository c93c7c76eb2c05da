# SPDX-License-Identifier: MIT
"""GETATTR and the attributes that it returns (RFC 1094 sections 2.2.2 and 2.3.5)."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs2.objects import KINDS, LONG_AGO, TYPES, expect_same, make, set_old_mtime
from suites.nfs3.contents import pattern

TYPE_NAMES_KIND = Requirement(
    rfc="RFC 1094",
    section="2.3.2",
    gist="type names the kind of object: NFBLK and NFCHR are devices, NFNON is not a file",
)
TYPE_IS_IN_MODE = Requirement(
    rfc="RFC 1094",
    section="2.3.5",
    level=Level.SHOULD,
    gist="mode also encodes the file type, and type is the one that mode encodes",
)
SIZE_IS_IN_BYTES = Requirement(rfc="RFC 1094", section="2.3.5", gist="size is the size of the file in bytes")
NLINK_COUNTS_NAMES = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="nlink is the number of different names of the file"
)
FILEID_IS_UNIQUE = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="fileid uniquely identifies the file within its file system"
)
FSID_IDENTIFIES_FILE_SYSTEM = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="fsid identifies the file system that contains the file"
)
MICROSECONDS_STAY_IN_RANGE = Requirement(
    rfc="RFC 1094",
    section="2.3.4",
    level=Level.SHOULD,
    gist="a time is given in seconds and microseconds, with less than one million microseconds",
)
MTIME_IS_LAST_WRITE = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="mtime is the time when the data of the file was last written"
)
CTIME_CHANGES_WITH_SIZE = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="a write that changes the size of the file changes ctime"
)
GETATTR_CHANGES_NOTHING = Requirement(
    rfc="RFC 1094",
    section="2.2.2",
    gist="GETATTR returns the attributes of the file and changes none of them",
)

TYPE_BITS = 0o170000
BITS = {"file": 0o100000, "directory": 0o040000, "symlink": 0o120000}


@pytest.mark.parametrize("kind", KINDS)
@proves(TYPE_NAMES_KIND, killed_by="getattr2-tells-a-wrong-type")
def test_tells_the_type(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """GETATTR returns the type of the object."""
    reply = nfs2.getattr(make(scratch2, kind))
    expect(reply).ok()
    expect(reply).field("attributes.type").equals(TYPES[kind])


@pytest.mark.parametrize("kind", KINDS)
@proves(TYPE_IS_IN_MODE, killed_by="getattr2-mode-lacks-the-type")
def test_mode_has_the_type(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """GETATTR returns a mode that includes the type bits of the object."""
    attributes = expect(nfs2.getattr(make(scratch2, kind))).ok()
    expect(attributes.mode & TYPE_BITS, "the type bits of mode").equals(BITS[kind])


@pytest.mark.parametrize("size", [0, 1, 8192, 100_001])
@proves(SIZE_IS_IN_BYTES, killed_by="getattr2-rounds-the-size")
def test_tells_the_size(nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    """GETATTR returns the size of the file in bytes."""
    file = scratch2.file("f", pattern(size))
    reply = nfs2.getattr(file)
    expect(reply).ok()
    expect(reply).field("attributes.size").equals(size)


@proves(NLINK_COUNTS_NAMES, killed_by="getattr2-counts-a-name-too-many")
def test_a_new_file_has_one_name(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """GETATTR returns nlink 1 for a new file."""
    reply = nfs2.getattr(scratch2.file("f"))
    expect(reply).ok()
    expect(reply).field("attributes.nlink").equals(1)


@proves(FILEID_IS_UNIQUE, killed_by="getattr2-shares-a-fileid")
def test_files_differ_in_fileid(scratch2: Scratch2) -> None:
    """Objects of one file system have different fileids."""
    files = [scratch2.file(f"f{number}") for number in range(10)]
    files.append(scratch2.directory("d"))
    fileids = [scratch2.attributes(file).fileid for file in files]
    expect(len(set(fileids)), "the number of different fileids of 11 objects").equals(11)


@proves(FILEID_IS_UNIQUE, killed_by="getattr2-fileid-changes-with-the-size")
def test_fileid_stays_while_a_file_changes(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """A file keeps its fileid when it is written and renamed."""
    file = scratch2.file("f")
    before = scratch2.attributes(file).fileid
    expect(nfs2.write(file, 0, b"data")).ok()
    expect(nfs2.rename(scratch2.handle, b"f", scratch2.handle, b"g")).ok()
    # Look up the new name: a server may build handles from names.
    found = expect(nfs2.lookup(scratch2.handle, b"g")).ok()
    expect(scratch2.attributes(found.file).fileid, "fileid").equals(before)


@pytest.mark.parametrize("kind", KINDS)
@proves(FSID_IDENTIFIES_FILE_SYSTEM, killed_by="getattr2-fsid-is-that-of-the-object")
def test_fsid_is_that_of_the_directory(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """An object has the fsid of the directory that contains it."""
    known = scratch2.attributes().fsid
    reply = nfs2.getattr(make(scratch2, kind))
    expect(reply).ok()
    expect(reply).field("attributes.fsid").equals(known)


@pytest.mark.parametrize("name", ["atime", "mtime", "ctime"])
@proves(MICROSECONDS_STAY_IN_RANGE, killed_by="getattr2-has-too-many-microseconds")
def test_microseconds_are_part_of_a_second(nfs2: Nfs2, scratch2: Scratch2, name: str) -> None:
    """Times have less than one million microseconds."""
    reply = nfs2.getattr(scratch2.file("f", b"data"))
    expect(reply).ok()
    expect(reply).field(f"attributes.{name}.useconds").at_most(999_999)


@proves(MTIME_IS_LAST_WRITE, killed_by="getattr2-keeps-old-mtime")
def test_mtime_moves_with_the_data(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """WRITE changes the mtime of the file."""
    file = scratch2.file("f", b"data")
    set_old_mtime(nfs2, scratch2, file)
    expect(nfs2.write(file, 0, b"DATA")).ok()
    reply = nfs2.getattr(file)
    expect(reply).ok()
    expect(reply).field("attributes.mtime").differs_from(LONG_AGO)


@proves(CTIME_CHANGES_WITH_SIZE, killed_by="write2-keeps-ctime")
def test_ctime_moves_with_the_size(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """WRITE changes the ctime of a file that it extends."""
    file = scratch2.file("f", b"data")
    set_old_mtime(nfs2, scratch2, file)
    before = scratch2.attributes(file).ctime
    expect(nfs2.write(file, 4, b"more data")).ok()
    after = scratch2.attributes(file)
    written, changed = after.mtime, before
    observe("granularity", "seconds" if not written.useconds and not changed.useconds else "finer")
    if (written.seconds, written.useconds) <= (changed.seconds, changed.useconds):
        skip("the clock of the server did not move between two operations")
    if written.useconds and not changed.useconds:
        skip("ctime may be told in coarser units than mtime")
    expect(after.ctime, "ctime after a write that made the file longer").differs_from(before)


@pytest.mark.parametrize("kind", KINDS)
@proves(GETATTR_CHANGES_NOTHING, killed_by="getattr2-changes-the-mode")
def test_changes_nothing(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """GETATTR does not change the attributes of the object."""
    handle = make(scratch2, kind)
    first = expect(nfs2.getattr(handle)).ok()
    second = expect(nfs2.getattr(handle)).ok()
    expect_same(second, first)
    expect(second.mtime, "mtime").equals(first.mtime)
    expect(second.ctime, "ctime").equals(first.ctime)
