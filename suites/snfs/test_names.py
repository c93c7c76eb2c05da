# SPDX-License-Identifier: MIT
"""Names of files, and what changes a file without OPEN: none of it loses what the server knows of a file."""

from __future__ import annotations

from fixtures.checks.dialects.snfs import SnfsScratch
from nfsclient.protocol.nfs2 import Sattr
from nfsjudge import expect, expect_that, proves, skip
from suites.snfs.clauses import NO_OLD_COPIES, STATES_ARE_OF_FILES
from suites.snfs.players import Table, arrange, in_words

_NAME = b"file"
_OTHER = b"other"


@proves(STATES_ARE_OF_FILES, killed_by="snfs-new-file-has-the-state-of-a-removed-file")
def test_removed(table: Table, scratch: SnfsScratch) -> None:
    """A new file with the name of a removed one is closed, and nobody has dirty blocks of it."""
    table.a.makes_dirty(table.file)
    expect(table.b.snfs.remove(scratch.handle, _NAME)).ok()
    created = expect(table.b.snfs.create(scratch.handle, _NAME, Sattr(mode=0o644))).ok()
    table.forget()
    opened = table.c.open(created.file, write=True)
    expect(opened).field("cache_enabled").equals(True)
    expect_that(not table.called, "no callbacks", in_words(table.called), operation="CALLBACK")


@proves(STATES_ARE_OF_FILES, killed_by="snfs-rename-closes-the-file")
def test_renamed(table: Table, scratch: SnfsScratch) -> None:
    """A file that has got another name is as open as before."""
    arrange(table, "ONE_WRITER")
    expect(table.b.snfs.rename(scratch.handle, _NAME, scratch.handle, _OTHER)).ok()
    found = expect(table.c.snfs.lookup(scratch.handle, _OTHER)).ok()
    opened = table.c.open(found.file)
    expect(opened).field("cache_enabled").equals(False)
    seen, wanted = table.called, {"a": ["SNFS_WRINVAL"]}
    expect_that(seen == wanted, in_words(wanted), in_words(seen), operation="CALLBACK")


def _expect_dropped(table: Table, operation: str) -> None:
    """`a` has dropped what it had cached, if the call of this operation was served."""
    seen = table.called
    dropped = seen.get("a", [])[-1:] in (["SNFS_CBINVAL"], ["SNFS_WRINVAL"])
    expect_that(dropped, "SNFS_CBINVAL to a", in_words(seen), operation=operation)


@proves(NO_OLD_COPIES, killed_by="snfs-create-leaves-caches")
def test_emptied(table: Table, scratch: SnfsScratch) -> None:
    """A CREATE of size 0 over a file that a client reads makes it drop what it has cached, or is refused."""
    arrange(table, "ONE_READER")
    if table.b.snfs.create(scratch.handle, _NAME, Sattr(size=0)).resok is not None:
        _expect_dropped(table, "CREATE")


@proves(NO_OLD_COPIES, killed_by="snfs-create-leaves-caches")
def test_emptied_closed(table: Table, scratch: SnfsScratch) -> None:
    """After a CREATE of size 0 over a closed file, who had read it gets its version as neither of the two."""
    known = table.a.open(table.file).cache_version
    table.a.close(table.file)
    expect(table.b.snfs.create(scratch.handle, _NAME, Sattr(size=0))).ok()
    opened = table.a.open(table.file)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known not in both, f"versions other than {known}", f"versions {both}", reply=opened)


@proves(NO_OLD_COPIES, killed_by="snfs-setattr-needs-no-open")
def test_cut_without_open(table: Table) -> None:
    """A SETATTR of the size by who has not opened the file is refused, or makes a reader drop what it has cached."""
    arrange(table, "ONE_READER")
    if table.c.snfs.write(table.file, 0, b"").resok is not None:
        skip("the server serves WRITE without OPEN, so it need not know who has the file open")
    if table.b.snfs.setattr(table.file, Sattr(size=5)).resok is not None:
        _expect_dropped(table, "SETATTR")
