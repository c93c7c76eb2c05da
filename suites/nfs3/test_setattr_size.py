# SPDX-License-Identifier: MIT
"""SETATTR of a size (RFC 1813 section 3.3.2): what it truncates, what it adds, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    expect_names,
    expect_unchanged,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.attributes import expect_change
from suites.nfs3.clauses import (
    EXTENSION_READS_AS_ZEROS,
    MAXFILESIZE_IS_LIMIT,
    SETATTR_SIZE_IS_OF_FILES,
    SIZE_CHANGE_KEEPS_DATA,
    TWO_GIB_FIT_BELOW_MAXFILESIZE,
)
from suites.nfs3.contents import pattern, read_range
from suites.nfs3.limits import WITHIN, WITHIN_IDS, clause_within, fsinfo, need_far, need_size
from suites.nfs3.permissions import STRANGER
from suites.nfs3.times import LONG_AGO, make_old

SETATTR_SETS_SIZE = stated(
    "RFC 1813",
    "3.3.2",
    "after a successful SETATTR of size the file has the requested size",
    harm=Harm.SUCCESS,
)
SETATTR_EXTENDS_FILES = must(
    "RFC 1813",
    "3.3.2",
    "SETATTR must support extending a file",
    part=Part.IMPLEMENTATION,
    says_must=True,
    harm=Harm.SUCCESS,
)
SIZE_CHANGE_UPDATES_MTIME = should(
    "RFC 1813", "3.3.2", "SETATTR that changes the size of a file updates its mtime", part=Part.IMPLEMENTATION
)
SETATTR_KEEPS_ENTRIES = stated(
    "RFC 1813",
    "3.3.2",
    "SETATTR changes attributes: it leaves the entries of a directory alone",
    harm=Harm.OBJECT,
)
ONLY_WRITERS_TRUNCATE = should(
    "RFC 1813",
    "4.4",
    "the server is expected to let only users with write permission change the size of a file",
)


# ---------------------------------------------------------------- truncation


@proves(SETATTR_SETS_SIZE, killed_by="setattr3-truncates-to-whole-blocks")
def test_truncate(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of a smaller size truncates the file to that size."""
    file = scratch.file("f", pattern(10_000))
    for size in (9_000, 4096, 513, 1):
        expect_change(nfs3.setattr(file, Sattr3(size=size)))
        expect(scratch.attributes(file)).field("size").equals(size)


@proves(SETATTR_SETS_SIZE, killed_by="setattr3-ignores-size-zero")
def test_truncate_to_zero(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of size 0 empties the file."""
    file = scratch.file("f", pattern(10_000))
    expect_change(nfs3.setattr(file, Sattr3(size=0)))
    expect(scratch.attributes(file)).field("size").equals(0)
    expect_data(scratch.read(file), b"")


@proves(SIZE_CHANGE_KEEPS_DATA, killed_by="setattr3-truncation-clears-a-byte-too-many")
def test_truncate_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR that truncates a file keeps the data before the new end."""
    data = pattern(10_000)
    file = scratch.file("f", data)
    for size in (9_001, 4096, 511):
        expect_change(nfs3.setattr(file, Sattr3(size=size)))
        seen = read_range(nfs3, file, 0, 10_000)
        expect_data(seen, data[:size])


@proves(SIZE_CHANGE_KEEPS_DATA, killed_by="setattr3-same-size-clears")
def test_same_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of the current size keeps the data."""
    data = pattern(5_000)
    file = scratch.file("f", data)
    expect_change(nfs3.setattr(file, Sattr3(size=5_000)))
    expect_data(scratch.read(file), data)


# ---------------------------------------------------------------- extension


def _extend(nfs3: Nfs3, file: bytes, size: int) -> None:
    """SETATTR to a larger size, which a server must support if it has room."""
    __tracebackhide__ = True
    reply = nfs3.setattr(file, Sattr3(size=size))
    if reply.status in {Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT}:
        skip(f"no room to extend the file: SETATTR answers {reply.status}", reply)
    if reply.status == Nfsstat3.NFS3ERR_INVAL:
        most = fsinfo(nfs3, file).maxfilesize
        if size > most:
            skip(f"maxfilesize is {most}: this check extends a file to {size} bytes")
    expect(reply, because=SETATTR_EXTENDS_FILES).ok()


@proves(SETATTR_EXTENDS_FILES, killed_by="setattr3-refuses-to-extend")
def test_extend(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of a larger size extends the file to that size."""
    file = scratch.file("f", b"data")
    for size in (5, 4096, 10_001):
        _extend(nfs3, file, size)
        expect(scratch.attributes(file)).field("size").equals(size)


@pytest.mark.parametrize("place", WITHIN, ids=WITHIN_IDS)
@proves(MAXFILESIZE_IS_LIMIT, TWO_GIB_FIT_BELOW_MAXFILESIZE, killed_by="setattr3-refuses-2-gib")
def test_within_maxfilesize(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, place: str) -> None:
    """SETATTR of a size below maxfilesize is not refused as too large."""
    file = scratch.file("f")
    with need_size(nfs3, root, scratch, file, WITHIN[place], by_setattr=True):
        reply = nfs3.setattr(file, Sattr3(size=WITHIN[place]))
    expect(reply, because=clause_within(place)).granted()


@proves(EXTENSION_READS_AS_ZEROS, killed_by="setattr3-extends-with-garbage")
def test_extend_with_zeros(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR extends a file with bytes that read as zeros."""
    file = scratch.file("f", b"data")
    _extend(nfs3, file, 10_000)
    added = read_range(nfs3, file, 4, 9_996)
    expect_data(added, bytes(9_996), "data of the extension", at=4)


@proves(SIZE_CHANGE_KEEPS_DATA, killed_by="setattr3-extension-clears-the-data")
def test_extend_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR that extends a file keeps its data."""
    data = pattern(1_000)
    file = scratch.file("f", data)
    _extend(nfs3, file, 10_000)
    expect_data(read_range(nfs3, file, 0, 1_000), data, of="range")


@proves(EXTENSION_READS_AS_ZEROS, killed_by="setattr3-extension-restores-old-data")
def test_truncate_then_extend(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """Data that SETATTR has truncated does not return when the file is extended again."""
    for kept in (0, 100, 4096, 5_000):
        file = scratch.file(f"f{kept}", pattern(10_000))
        expect_change(nfs3.setattr(file, Sattr3(size=kept)))
        _extend(nfs3, file, 10_000)
        added = read_range(nfs3, file, kept, 10_000 - kept)
        expect_data(added, bytes(len(added)), "data of the extension", at=kept)


@proves(SETATTR_SETS_SIZE, killed_by="setattr3-truncates-large-sizes")
def test_size_above_4g(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR stores a size above 4 GiB, or refuses it, and keeps the data."""
    file = scratch.file("f", b"data")
    with need_far(nfs3, scratch, 2**32 + 2, by_setattr=True):
        reply = nfs3.setattr(file, Sattr3(size=2**32 + 2))
    observe("SETATTR of a size above 4 GiB", reply.status)
    # A SETATTR that fails may have taken effect in part (section 3.3.2).
    if reply.status == Nfsstat3.NFS3_OK:
        expect(scratch.attributes(file)).field("size").equals(2**32 + 2)
    expect_data(read_range(nfs3, file, 0, 4), b"data", of="range", because=SIZE_CHANGE_KEEPS_DATA)


# ---------------------------------------------------------------- mtime, permission


@proves(SIZE_CHANGE_UPDATES_MTIME, killed_by="setattr3-size-leaves-mtime", needs="cansettime")
def test_size_updates_mtime(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR that changes the size of a file updates mtime."""
    for name, size in (("truncated", 2), ("extended", 100)):
        file = scratch.file(name, b"data")
        make_old(nfs3, file)
        expect_change(nfs3.setattr(file, Sattr3(size=size)))
        expect(scratch.attributes(file)).field("mtime", f"mtime of the {name} file").differs_from(LONG_AGO)


@proves(
    ONLY_WRITERS_TRUNCATE, killed_by="setattr3-anybody-truncates", needs=("other_users", "distinct_users")
)
def test_other_user_size(as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """A user without write permission cannot truncate a file."""
    file = scratch.file("f", b"data", mode=0o644)
    if scratch.attributes(file).uid == STRANGER[0]:
        skip("the server maps the user of the run and another user to the same uid")
    reply = as_user(*STRANGER).setattr(file, Sattr3(size=0))
    observe("SETATTR of size by another user", reply.status)
    expect(scratch.attributes(file)).field("size").equals(4)


# ---------------------------------------------------------------- objects without a size to set


@proves(SETATTR_SIZE_IS_OF_FILES, killed_by="setattr3-accepts-a-size-of-directories")
def test_directory_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR refuses to set the size of a directory."""
    reply = nfs3.setattr(scratch.directory("d"), Sattr3(size=0))
    observe("SETATTR of the size of a directory", reply.status)
    expect(reply).refused()


@proves(SETATTR_KEEPS_ENTRIES, killed_by="setattr3-size-empties-directories")
def test_directory_size_keeps_entries(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of the size of a directory keeps its entries and attributes."""
    directory = scratch.directory("d")
    scratch.file("f", directory=directory)
    known = scratch.attributes(directory)
    observe("SETATTR of the size of a directory", nfs3.setattr(directory, Sattr3(size=0)).status)
    seen = scratch.attributes(directory)
    expect_names(scratch.names(directory), [b"f"], "names in the directory")
    expect_unchanged(known, seen, ("type", "mode", "nlink", "uid", "gid", "fsid", "fileid"))


@proves(SETATTR_SIZE_IS_OF_FILES, killed_by="setattr3-accepts-a-size-of-fifos", needs="mknod")
def test_fifo_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR refuses to set the size of a FIFO."""
    fifo = scratch.fifo("p")
    known = scratch.attributes(fifo)
    reply = nfs3.setattr(fifo, Sattr3(size=100))
    observe("SETATTR of the size of a FIFO", reply.status)
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported(f"the server sets no attributes of FIFOs: SETATTR answers {reply.status}", reply)
    expect_unchanged(known, scratch.attributes(fifo), ("type", "mode", "nlink", "uid", "gid", "size"))
    expect(reply).refused()
