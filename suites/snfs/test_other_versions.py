# SPDX-License-Identifier: MIT
"""Files that are open by SNFS and accessed by NFSv3 (section 6.1)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.snfs import SnfsScratch
from nfsclient.clients import Nfs3
from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import NFS_COUNTS, NFS_WRITES_COUNT
from suites.snfs.players import Table, arrange


def _handle(v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> bytes:
    """The file of the table, as NFSv3 finds it."""
    directory = expect(nfs3.lookup(v3.root, scratch.name)).ok()
    return bytes(expect(nfs3.lookup(directory.object, b"file")).ok().object)


def _expect_called(table: Table, *modes: str) -> None:
    seen = [mode.name for mode in table.a.called]
    expect_that(
        seen == list(modes), " ".join(modes) or "none", " ".join(seen) or "none", operation="CALLBACK"
    )


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_read_of_writer(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a file that a client writes has it write back and stop caching."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_WRITER")
    expect(nfs3.read(file, 0, 100)).ok()
    _expect_called(table, "SNFS_WRINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_read_of_dirty(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a closed file with dirty blocks has the last writer write them back."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "CLOSED_DIRTY")
    expect(nfs3.read(file, 0, 100)).ok()
    _expect_called(table, "SNFS_CBWRITE")


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_write_to_reader(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A WRITE by NFSv3 to a file that a client reads makes it drop what it has cached."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.write(file, 0, b"data")).ok()
    _expect_called(table, "SNFS_CBINVAL")


@proves(NFS_COUNTS, killed_by="nfs3-reads-as-if-it-wrote")
def test_read_of_reader(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A READ by NFSv3 of a file that a client reads calls nobody."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.read(file, 0, 100)).ok()
    _expect_called(table)


@proves(NFS_COUNTS, killed_by="nfs3-ignores-spritely-clients")
def test_open_after_read(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """A file that NFSv3 reads while it is open is not cached by who opens it for writing."""
    file = _handle(v3, scratch, nfs3)
    arrange(table, "ONE_READER")
    expect(nfs3.read(file, 0, 100)).ok()
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_enabled").equals(False)


@proves(NFS_WRITES_COUNT, killed_by="nfs3-writes-keep-the-version")
def test_version(table: Table, v3: Nfs3Dialect, scratch: SnfsScratch, nfs3: Nfs3) -> None:
    """After a WRITE by NFSv3 to a closed file, who had cached it gets its version as neither of the two."""
    file = _handle(v3, scratch, nfs3)
    known = table.a.open(table.file).cache_version
    table.a.close(table.file)
    expect(nfs3.write(file, 0, b"data")).ok()
    opened = table.a.open(table.file)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known not in both, f"versions other than {known}", f"versions {both}", reply=opened)
