# SPDX-License-Identifier: MIT
"""SETATTR of a size (RFC 1813 section 3.3.2): what is cut off, what is added, and what stays."""

from __future__ import annotations

from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.contents import difference, pattern, read_range
from suites.nfs3.limits import fsinfo
from suites.nfs3.preserved import LONG_AGO, expect_change, expect_preserved, make_old

SETS_SIZE = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="the size that a successful SETATTR was asked to set is the size of the file afterwards",
)
KEEPS_THE_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="a new size cuts off, or adds, at the end of the file: the data before stay",
)
MUST_EXTEND = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="SETATTR must support extending a file",
    level=Level.MUST,
    part=Part.IMPLEMENTATION,
    says_must=True,
)
ADDED_BYTES_ARE_ZERO = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="the bytes that a larger size adds to a file read as zeros, stored or not",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
MOVES_MTIME = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="changing the size of a file with SETATTR changes its mtime",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
OF_A_FILE = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="new_attributes.size is for changes to the size of a file",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
)
KEEPS_THE_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="SETATTR changes attributes: the entries of a directory are none, and stay",
)
WRITERS_ONLY = Requirement(
    rfc="RFC 1813",
    section="4.4",
    gist="a server is expected to check permission as its operating system does: who may not write may not cut",
    level=Level.SHOULD,
)

STRANGER = (4242, 4242)


# ---------------------------------------------------------------- shorter


@proves(SETS_SIZE, killed_by="setattr3-truncates-to-whole-blocks")
def test_truncates_to_the_size_that_was_asked(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", pattern(10_000))
    for size in (9_000, 4096, 513, 1):
        expect_change(nfs3.setattr(file, Sattr3(size=size)))
        expect(scratch.attributes(file).size, "size").equals(size)


@proves(SETS_SIZE, killed_by="setattr3-ignores-size-zero")
def test_truncates_to_nothing(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", pattern(10_000))
    expect_change(nfs3.setattr(file, Sattr3(size=0)))
    expect(scratch.attributes(file).size, "size").equals(0)
    expect(scratch.read(file), "the data").equals(b"")


@proves(KEEPS_THE_DATA, killed_by="setattr3-truncation-clears-a-byte-too-many")
def test_truncation_keeps_the_beginning(nfs3: Nfs3, scratch: Scratch) -> None:
    data = pattern(10_000)
    file = scratch.file("f", data)
    for size in (9_001, 4096, 511):
        expect_change(nfs3.setattr(file, Sattr3(size=size)))
        seen = read_range(nfs3, file, 0, 10_000)
        expect(difference(seen, data[:size]), "first wrong byte").is_absent()


@proves(KEEPS_THE_DATA, killed_by="setattr3-same-size-clears")
def test_the_same_size_again_keeps_the_data(nfs3: Nfs3, scratch: Scratch) -> None:
    data = pattern(5_000)
    file = scratch.file("f", data)
    expect_change(nfs3.setattr(file, Sattr3(size=5_000)))
    expect(difference(scratch.read(file), data), "first wrong byte").is_absent()


# ---------------------------------------------------------------- longer


def _extend(nfs3: Nfs3, file: bytes, size: int) -> None:
    """SETATTR to a larger size, which a server must support, unless it has no room."""
    __tracebackhide__ = True
    reply = nfs3.setattr(file, Sattr3(size=size))
    if reply.status in {Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT}:
        skip(f"there is no room: {reply.status}")
    if reply.status == Nfsstat3.NFS3ERR_INVAL and size > fsinfo(nfs3, file).maxfilesize:
        skip("the server's files are smaller")
    expect(reply, because=MUST_EXTEND).ok()


@proves(MUST_EXTEND, killed_by="setattr3-refuses-to-extend")
def test_extends_to_the_size_that_was_asked(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    for size in (5, 4096, 10_001):
        _extend(nfs3, file, size)
        expect(scratch.attributes(file).size, "size").equals(size)


@proves(ADDED_BYTES_ARE_ZERO, killed_by="setattr3-extends-with-garbage")
def test_what_was_added_reads_as_zeros(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    _extend(nfs3, file, 10_000)
    added = read_range(nfs3, file, 4, 9_996)
    expect(len(added), "bytes that were added").equals(9_996)
    expect(added.strip(b"\0"), "what is not zero in them").equals(b"")


@proves(KEEPS_THE_DATA, killed_by="setattr3-extension-clears-the-data")
def test_extension_keeps_the_data(nfs3: Nfs3, scratch: Scratch) -> None:
    data = pattern(1_000)
    file = scratch.file("f", data)
    _extend(nfs3, file, 10_000)
    expect(difference(read_range(nfs3, file, 0, 1_000), data), "first wrong byte").is_absent()


@proves(ADDED_BYTES_ARE_ZERO, killed_by="setattr3-extension-brings-old-data-back")
def test_what_was_cut_off_does_not_come_back(nfs3: Nfs3, scratch: Scratch) -> None:
    for kept in (0, 100, 4096, 5_000):
        file = scratch.file(f"f{kept}", pattern(10_000))
        expect_change(nfs3.setattr(file, Sattr3(size=kept)))
        _extend(nfs3, file, 10_000)
        added = read_range(nfs3, file, kept, 10_000 - kept)
        expect(added.strip(b"\0"), f"what is not zero behind byte {kept}").equals(b"")


@proves(SETS_SIZE, killed_by="setattr3-truncates-large-sizes")
def test_size_beyond_32_bits_is_kept_or_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    reply = nfs3.setattr(file, Sattr3(size=2**32 + 2))
    observe("SETATTR of a size beyond 4 GiB", reply.status)
    # What is refused may have been done in part (section 3.3.2).
    if reply.status == Nfsstat3.NFS3_OK:
        expect(scratch.attributes(file).size, "size").equals(2**32 + 2)
    expect(read_range(nfs3, file, 0, 4), "the data", because=KEEPS_THE_DATA).equals(b"data")


# ---------------------------------------------------------------- mtime, permission


@proves(MOVES_MTIME, killed_by="setattr3-size-leaves-mtime", needs="cansettime")
def test_another_size_moves_mtime(nfs3: Nfs3, scratch: Scratch) -> None:
    for name, size in (("cut", 2), ("extended", 100)):
        file = scratch.file(name, b"data")
        make_old(nfs3, file)
        expect_change(nfs3.setattr(file, Sattr3(size=size)))
        expect(scratch.attributes(file).mtime, f"mtime of the file that was {name}").differs_from(LONG_AGO)


@proves(WRITERS_ONLY, killed_by="setattr3-anybody-truncates", needs=("other_users", "distinct_users"))
def test_a_file_that_one_may_not_write_is_not_cut(nfs3_as: Callable[..., Nfs3], scratch: Scratch) -> None:
    file = scratch.file("f", b"data", mode=0o644)
    if scratch.attributes(file).uid == STRANGER[0]:
        skip("the user of the run and the other one are the same to the server")
    reply = nfs3_as(*STRANGER).setattr(file, Sattr3(size=0))
    observe("SETATTR of a size by another user", reply.status)
    expect(scratch.attributes(file).size, "size").equals(4)


# ---------------------------------------------------------------- what has no size to set


@proves(OF_A_FILE, killed_by="setattr3-takes-a-size-for-directories")
def test_size_of_a_directory_is_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.setattr(scratch.directory("d"), Sattr3(size=0))
    observe("SETATTR of the size of a directory", reply.status)
    expect(reply).refused()


@proves(KEEPS_THE_ENTRIES, killed_by="setattr3-size-empties-directories")
def test_size_of_a_directory_does_not_touch_it(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("d")
    scratch.file("f", directory=directory)
    known = scratch.attributes(directory)
    observe("SETATTR of the size of a directory", nfs3.setattr(directory, Sattr3(size=0)).status)
    seen = scratch.attributes(directory)
    expect(scratch.names(directory), "the entries").equals([b"f"])
    expect_preserved(seen, known, ("type", "mode", "nlink", "uid", "gid", "fsid", "fileid"))


@proves(OF_A_FILE, killed_by="setattr3-takes-a-size-for-fifos", needs="mknod")
def test_size_of_a_fifo_is_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    fifo = scratch.fifo("p")
    known = scratch.attributes(fifo)
    reply = nfs3.setattr(fifo, Sattr3(size=100))
    observe("SETATTR of the size of a FIFO", reply.status)
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server sets no attributes of FIFOs")
    expect_preserved(scratch.attributes(fifo), known, ("type", "mode", "nlink", "uid", "gid", "size"))
    expect(reply).refused()
