# SPDX-License-Identifier: MIT
"""SETATTR of a size (RFC 1094 sections 2.2.3 and 2.3.6) truncates and extends files."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Sattr
from nfsjudge import Level, Requirement, expect, proves, skip
from suites.nfs2.objects import NOT_FILES, expect_change, expect_same, make, size_id, steady_except
from suites.nfs3.contents import difference, pattern

SETATTR_SETS_SIZE = Requirement(
    rfc="RFC 1094", section="2.2.3", gist="a size that is not -1 becomes the new size of the file"
)
SETATTR_SIZE_KEEPS_DATA = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    gist="SETATTR of a size keeps the data below that size",
)
EXTENDED_PART_IS_ZERO = Requirement(
    rfc="RFC 1094",
    section="2.3.6",
    level=Level.SHOULD,
    gist="the part that a larger size adds to a file reads as zeros, never as old data",
)
SIZE_IS_FOR_FILES = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    level=Level.SHOULD,
    gist="a size is set for regular files: other objects keep their contents",
)


@pytest.mark.parametrize("size", [1, 5000, 20_000])
@proves(SETATTR_SETS_SIZE, killed_by="setattr2-ignores-size-0")
def test_zero_truncates(nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    """SETATTR of size 0 empties the file."""
    file = scratch2.file("f", pattern(size))
    expect_change(nfs2.setattr(file, Sattr(size=0)))
    expect(scratch2.attributes(file).size, "size").equals(0)
    expect(scratch2.read(file), "the data").equals(b"")


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 9999])
@proves(SETATTR_SIZE_KEEPS_DATA, killed_by="setattr2-cuts-a-byte-too-much")
def test_cuts_behind_the_new_size(nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    """SETATTR of a smaller size keeps the data below that size and cuts the rest."""
    data = pattern(10_000)
    file = scratch2.file("f", data)
    expect_change(nfs2.setattr(file, Sattr(size=size)))
    expect(difference(scratch2.read(file), data[:size]), "where the data differs").is_absent()


def _extend(nfs2: Nfs2, file: bytes, size: int) -> None:
    """Set a larger size. SKIP if the server refuses: section 2.3.6 only speaks of truncation."""
    reply = nfs2.setattr(file, Sattr(size=size))
    if reply.resok is None:
        skip(f"files are not extended by SETATTR: {reply.status}")


@pytest.mark.parametrize("size", [101, 8192, 20_000])
@proves(SETATTR_SETS_SIZE, SETATTR_SIZE_KEEPS_DATA, killed_by="setattr2-does-not-extend")
def test_extends(nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    """SETATTR of a larger size extends the file and keeps its data."""
    file = scratch2.file("f", pattern(100))
    _extend(nfs2, file, size)
    expect(scratch2.attributes(file).size, "size").equals(size)
    expect(scratch2.read(file)[:100], "the data that was there").equals(pattern(100))


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**32 - 2], ids=size_id)
@proves(SETATTR_SETS_SIZE, killed_by="setattr2-halves-large-sizes")
def test_sets_a_large_size_or_none(nfs2: Nfs2, scratch2: Scratch2, size: int) -> None:
    """SETATTR sets a size close to 2^31 or 2^32, or refuses and keeps the file."""
    file = scratch2.file("f", b"data")
    reply = nfs2.setattr(file, Sattr(size=size))
    # A server may have a lower limit; then it must not change the file.
    wanted = 4 if reply.resok is None else size
    expect(scratch2.attributes(file).size, "size").equals(wanted)


@pytest.mark.parametrize(("small", "large"), [(0, 100), (50, 10_000), (4096, 8192), (5000, 9000)])
@proves(EXTENDED_PART_IS_ZERO, killed_by="setattr2-shows-old-data")
def test_what_was_cut_does_not_come_back(nfs2: Nfs2, scratch2: Scratch2, small: int, large: int) -> None:
    """SETATTR that extends a truncated file adds zeros, not the old data."""
    file = scratch2.file("f", pattern(large))
    expect_change(nfs2.setattr(file, Sattr(size=small)))
    _extend(nfs2, file, large)
    data = scratch2.read(file)
    if len(data) != large:
        skip(f"the file was not extended: it has {len(data)} bytes")
    expect(difference(data[small:], bytes(large - small)), "where the new part is not zero").is_absent()


@pytest.mark.parametrize("kind", NOT_FILES)
@proves(SIZE_IS_FOR_FILES, killed_by="setattr2-empties-what-is-no-file")
def test_what_is_no_file_keeps_what_it_has(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """SETATTR of a size does not change a directory or symbolic link."""
    handle = make(scratch2, kind)
    if kind == "directory":
        scratch2.file("inside", directory=handle)
    before = scratch2.attributes(handle)
    nfs2.setattr(handle, Sattr(size=0))
    if kind == "directory":
        expect(scratch2.names(handle), "the names in the directory").equals([b"inside"])
    else:
        expect(expect(nfs2.readlink(handle)).ok(), "the text of the link").equals(b"some/where")
    expect_same(scratch2.attributes(handle), before, steady_except("size"))
