# SPDX-License-Identifier: MIT
"""Clients that do not answer a callback, and what they may do when they come back (section 3.2)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.snfs import SnfsScratch
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Sattr
from nfsclient.protocol.snfs import Snfsstat
from nfsjudge import expect, expect_that, proves, skip
from suites.snfs.clauses import DEAD_IS_KEPT_OUT, DEAD_OPEN_IS_HONORED, MAY_BE_INCONSISTENT, VERSIONS_FIT
from suites.snfs.players import HONORED, Table, given_up

_NEW = b"new data"


def _let_die(table: Table, how: str, *, write: bool = True) -> Waiting[p.Openopres]:
    """The reply to an open by `b` for which `a` would have to write back, and does not."""
    table.a.open(table.file, write=True)
    table.a.write(table.file, b"old")
    if how == "gone":
        table.a.go_down()
    elif how == "silent":
        table.a.callbacks.silent = True
    else:
        table.a.callbacks.on = lambda _args: Snfsstat.NFSERR_IO
    return (yield from given_up(table.b, table.b.start(table.file, write=write)))


def _reader_dies(table: Table) -> Waiting[None]:
    """`a` reads, and does not answer when `b` opens the file for writing, which it does."""
    table.a.open(table.file)
    table.a.callbacks.silent = True
    _need_open(table, (yield from given_up(table.b, table.b.start(table.file, write=True))))


def _last_writer_dies(table: Table) -> Waiting[p.Openopres]:
    """The reply to an OPEN by `b` for which `a` would have to write back what it has closed."""
    table.a.makes_dirty(table.file)
    table.a.callbacks.silent = True
    return (yield from given_up(table.b, table.b.start(table.file, write=True)))


def _need_open(table: Table, reply: p.Openopres) -> None:
    """`b` has the file open: a server may refuse the first try."""
    if reply.status not in HONORED and table.b.try_open(table.file, write=True).status not in HONORED:
        skip("the server does not open a file of which dirty blocks are lost")


@side_by_side
@pytest.mark.parametrize("how", ["gone", "silent", "fails"])
@proves(DEAD_OPEN_IS_HONORED, killed_by="snfs-dead-clients-lock-files")
def test_honored(table: Table, how: str) -> Waiting[None]:
    """A client that does not write back does not keep others from opening the file."""
    reply = yield from _let_die(table, how)
    again = reply if reply.status in HONORED else table.b.try_open(table.file, write=True)
    expect(again.status, "status of OPEN", of=again, field="status").one_of(*HONORED)


@side_by_side
@pytest.mark.parametrize("how", ["gone", "silent", "fails"])
@proves(MAY_BE_INCONSISTENT, killed_by="snfs-says-nothing-of-a-loss")
def test_informed(table: Table, how: str) -> Waiting[None]:
    """The OPEN for which a client did not write back is not answered as if nothing was lost."""
    reply = yield from _let_die(table, how)
    expect(reply.status, "status of OPEN", of=reply, field="status").differs_from(Snfsstat.NFS_OK)


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-writes")
def test_write(table: Table) -> Waiting[None]:
    """A WRITE by a client that was given up is refused."""
    _need_open(table, (yield from _let_die(table, "silent")))
    expect(table.a.snfs.write(table.file, 0, b"late")).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-writes")
def test_data(table: Table) -> Waiting[None]:
    """A WRITE by a client that was given up does not change what another one has written since."""
    _need_open(table, (yield from _let_die(table, "silent")))
    table.b.write(table.file, _NEW)
    table.a.snfs.write(table.file, 0, b"late")
    found = table.b.snfs.read(table.file, 0, 100)
    expect(bytes(expect(found).ok().data), "data", of=found, field="readok.data").equals(_NEW)


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-reads")
def test_read(table: Table) -> Waiting[None]:
    """A READ by a client that was given up is refused."""
    _need_open(table, (yield from _let_die(table, "silent")))
    expect(table.a.snfs.read(table.file, 0, 100)).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-opens")
def test_open(table: Table) -> Waiting[None]:
    """An OPEN by the handle of before is refused to a client that was given up."""
    _need_open(table, (yield from _let_die(table, "silent")))
    expect(table.a.try_open(table.file)).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-truncates")
def test_truncates(table: Table) -> Waiting[None]:
    """A SETATTR of the size by a client that was given up is refused."""
    _need_open(table, (yield from _let_die(table, "silent")))
    expect(table.a.snfs.setattr(table.file, Sattr(size=0))).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-reader-reads")
def test_reader_reads(table: Table) -> Waiting[None]:
    """A READ by a reader that did not drop what it had cached is refused."""
    yield from _reader_dies(table)
    expect(table.a.snfs.read(table.file, 0, 100)).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by=("snfs-dead-reader-opens", "snfs-dead-client-opens"))
def test_reader_opens(table: Table) -> Waiting[None]:
    """An OPEN by the handle of before is refused to a reader that did not drop what it had cached."""
    yield from _reader_dies(table)
    expect(table.a.try_open(table.file)).refused()


@side_by_side
@proves(MAY_BE_INCONSISTENT, killed_by="snfs-says-nothing-of-a-loss-after-close")
def test_informed_of_closed(table: Table) -> Waiting[None]:
    """The OPEN for which the last writer of a closed file did not write back is not answered as if nothing was lost."""
    reply = yield from _last_writer_dies(table)
    expect(reply.status, "status of OPEN", of=reply, field="status").differs_from(Snfsstat.NFS_OK)


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-last-writer-writes")
def test_last_writer_writes(table: Table) -> Waiting[None]:
    """A WRITE by the last writer of a closed file is refused when it was given up."""
    _need_open(table, (yield from _last_writer_dies(table)))
    expect(table.a.snfs.write(table.file, 0, b"late")).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-lookup-brings-back-to-life")
def test_lookup_is_not_enough(table: Table, scratch: SnfsScratch) -> Waiting[None]:
    """A WRITE by a client that was given up is refused after LOOKUP, as long as it has not opened the file again."""
    _need_open(table, (yield from _let_die(table, "silent")))
    found = expect(table.a.snfs.lookup(scratch.handle, b"file")).ok()
    expect(table.a.snfs.write(found.file, 0, b"late")).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-reopen-brings-back-to-life")
def test_reopens(table: Table) -> Waiting[None]:
    """A REOPEN by a client that was given up is refused."""
    version = table.a.open(table.file, write=True).cache_version
    table.a.callbacks.silent = True
    _need_open(table, (yield from given_up(table.b, table.b.start(table.file, write=True))))
    reply = table.a.snfs.reopen(table.file, writers=1, cache_version=version, mdev=table.a.mdev)
    expect(reply).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-connecting-brings-back-to-life")
def test_comes_back(table: Table) -> Waiting[None]:
    """A client that was down and connects again makes no use of the file."""
    _need_open(table, (yield from _let_die(table, "gone")))
    table.a.come_again()
    expect(table.a.snfs.write(table.file, 0, b"late")).refused()


@side_by_side
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-stays-out")
def test_begins_again(table: Table, scratch: SnfsScratch) -> Waiting[None]:
    """A client that was given up uses the file again after LOOKUP and OPEN."""
    _need_open(table, (yield from _let_die(table, "silent")))
    table.a.callbacks.silent = False
    found = expect(table.a.snfs.lookup(scratch.handle, b"file")).ok()
    table.a.open(found.file, write=True)
    expect(table.a.snfs.write(found.file, 0, _NEW)).ok()


@side_by_side
@proves(VERSIONS_FIT, killed_by="snfs-version-survives-a-death")
def test_version(table: Table, scratch: SnfsScratch) -> Waiting[None]:
    """A client that was given up gets the version of its data as neither of the two when it opens the file again."""
    known = table.a.open(table.file, write=True).cache_version
    table.a.callbacks.silent = True
    reply = yield from given_up(table.b, table.b.start(table.file))
    _need_open(table, reply)
    table.a.callbacks.silent = False
    found = expect(table.a.snfs.lookup(scratch.handle, b"file")).ok()
    opened = table.a.open(found.file)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known not in both, f"versions other than {known}", f"versions {both}", reply=opened)
