# SPDX-License-Identifier: MIT
"""CALLBACK: what it says, and what waits for it (sections 3.2 and 4.3.4)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.snfs import SnfsScratch
from nfsclient.protocol.snfs import Snfsstat
from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import (
    ATTRIBUTES_ARE_GETATTRS,
    CALLBACK_SAYS_WHICH,
    CLOSED_IS_A_STATUS,
    ENTRY_IS_LOCKED,
    HANDLE_IS_FOR_WRITING,
    REPEATED_OPEN_IS_HARMLESS,
    SERVES_WRITE_BACK,
    WAITS_FOR_WRITE_BACK,
)
from suites.snfs.players import Player, Table, expect_state

_OLD = b"old"
_NEW = b"new data"

# ---------------------------------------------------------------- what it says


@proves(CALLBACK_SAYS_WHICH, killed_by="snfs-callback-has-mdev-zero")
def test_mdev(table: Table) -> None:
    """A callback has the mdev that the client gave in its OPEN."""
    table.a.open(table.file, write=True)
    table.b.open(table.file)
    expect(table.a.await_call()).field("mdev").equals(table.a.mdev)


@proves(CALLBACK_SAYS_WHICH, killed_by="snfs-callback-has-another-fileid")
def test_fileid(table: Table) -> None:
    """A callback has the fileid of the file in its attributes."""
    opened = table.a.open(table.file, write=True)
    table.b.open(table.file)
    expect(table.a.await_call()).field("attr.fileid").equals(opened.attributes.fileid)


@proves(HANDLE_IS_FOR_WRITING, killed_by="snfs-callback-has-another-handle")
def test_handle(table: Table) -> None:
    """A WRITE by the handle in a callback writes to the file."""
    table.a.open(table.file, write=True)
    table.b.open(table.file)
    handle = bytes(table.a.await_call().file)
    expect(table.a.snfs.write(handle, 0, _NEW), because=HANDLE_IS_FOR_WRITING).ok()
    found = table.b.snfs.read(table.file, 0, 100)
    expect(bytes(expect(found).ok().data), "data", of=found, field="readok.data").equals(_NEW)


# ---------------------------------------------------------------- the open waits


def _withholds(table: Table, *, dirty: bool = True) -> None:
    """`a` is called, and its reply is withheld."""
    if dirty:
        table.a.makes_dirty(table.file)
    else:
        table.a.open(table.file, write=True)
    table.a.callbacks.holds = True


@pytest.mark.parametrize("state", ["dirty", "writer"])
@proves(WAITS_FOR_WRITE_BACK, killed_by="snfs-open-does-not-wait")
def test_open_waits(table: Table, state: str) -> None:
    """An OPEN that needs a write-back is not answered before the client has returned from the callback."""
    _withholds(table, dirty=state == "dirty")
    opening = table.b.start(table.file)
    table.a.await_call()
    table.c.snfs.getattr(table.file)  # a reply to the OPEN would have come before this one
    expect_that(not opening.done, "no reply to OPEN before that to the callback", "a reply", operation="OPEN")
    table.a.callbacks.release()
    expect(table.b.end(opening)).ok()


@proves(SERVES_WRITE_BACK, killed_by="snfs-refuses-writes-meanwhile")
def test_write_is_served(table: Table) -> None:
    """A WRITE by the client that is called is served while the OPEN of another one waits."""
    _withholds(table)
    opening = table.b.start(table.file)
    table.a.await_call()
    expect(table.a.snfs.write(table.file, 0, _NEW)).ok()
    table.a.callbacks.release()
    expect(table.b.end(opening)).ok()


@proves(WAITS_FOR_WRITE_BACK, killed_by="snfs-write-back-is-lost")
def test_data_is_read(table: Table) -> None:
    """Who opened the file after a write-back reads what was written back."""
    _withholds(table)
    opening = table.b.start(table.file)
    table.a.await_call()
    table.a.write(table.file, _NEW)
    table.a.callbacks.release()
    table.b.end(opening)
    found = table.b.snfs.read(table.file, 0, 100)
    expect(bytes(expect(found).ok().data), "data", of=found, field="readok.data").equals(_NEW)


@proves(ATTRIBUTES_ARE_GETATTRS, killed_by="snfs-attributes-of-before-the-callback")
def test_attributes_are_new(table: Table) -> None:
    """The attributes in the reply of an OPEN that needed a write-back are those of after it."""
    _withholds(table)
    opening = table.b.start(table.file)
    table.a.await_call()
    table.a.write(table.file, _NEW)
    table.a.callbacks.release()
    opened = expect(table.b.end(opening)).ok()
    expect(opened).field("attributes.size").equals(len(_NEW))


@proves(SERVES_WRITE_BACK, killed_by="snfs-one-callback-stops-all")
def test_other_files(table: Table, scratch: SnfsScratch) -> None:
    """While an OPEN waits for a callback, another file is opened, written and closed."""
    other = scratch.file("other")
    _withholds(table)
    opening = table.b.start(table.file)
    table.a.await_call()
    table.c.open(other, write=True)
    table.c.write(other, _OLD)
    table.c.close(other, write=True)
    table.a.callbacks.release()
    expect(table.b.end(opening)).ok()


@proves(SERVES_WRITE_BACK, killed_by="snfs-serves-few-writes-meanwhile")
def test_many_blocks(table: Table) -> None:
    """A write-back of sixteen blocks is served to its end."""
    _withholds(table)
    opening = table.b.start(table.file)
    table.a.await_call()
    for block in range(16):
        expect(table.a.snfs.write(table.file, block * 4096, bytes([block]) * 4096)).ok()
    table.a.callbacks.release()
    opened = expect(table.b.end(opening)).ok()
    expect(opened).field("attributes.size").equals(16 * 4096)


# ---------------------------------------------------------------- the entry is locked


def _not_answered(player: Player, others: Player, file: bytes, operation: str, pending: object) -> None:
    others.snfs.getattr(file)
    is_done = bool(getattr(pending, "done", False))
    expect_that(
        not is_done, f"no reply to {operation} before that to the callback", "a reply", operation=operation
    )


@proves(ENTRY_IS_LOCKED, killed_by="snfs-closes-meanwhile")
def test_close_waits(table: Table) -> None:
    """A CLOSE by the client that is called is not answered before it has returned from the callback."""
    _withholds(table, dirty=False)
    opening = table.b.start(table.file)
    table.a.await_call()
    closing = table.a.start_close(table.file, write=True)
    _not_answered(table.a, table.c, table.file, "CLOSE", closing)
    table.a.callbacks.release()
    expect(table.a.rpc.wait(closing)).ok()
    expect(table.b.end(opening)).ok()


@proves(ENTRY_IS_LOCKED, killed_by="snfs-opens-meanwhile")
def test_third_open_waits(table: Table) -> None:
    """An OPEN by a third client is not answered while a callback for another OPEN is under way."""
    _withholds(table)
    first = table.b.start(table.file)
    table.a.await_call()
    second = table.c.start(table.file)
    _not_answered(table.c, table.viewer, table.file, "OPEN", second)
    table.a.callbacks.release()
    expect(table.b.end(first)).ok()
    expect(table.c.end(second)).ok()


@proves(ENTRY_IS_LOCKED, killed_by="snfs-waiting-opens-count-once")
def test_both_count(table: Table) -> None:
    """Two OPENs that waited for the same callback both count."""
    _withholds(table)
    first = table.b.start(table.file)
    table.a.await_call()
    second = table.c.start(table.file)
    table.a.callbacks.release()
    expect(table.b.end(first)).ok()
    expect(table.c.end(second)).ok()
    expect_state(table, "MULT_READERS", ENTRY_IS_LOCKED)


# ---------------------------------------------------------------- retransmissions


@pytest.mark.parametrize("mode", ["read", "write"])
@proves(REPEATED_OPEN_IS_HARMLESS, killed_by="snfs-repeated-open-counts-twice")
def test_open_again(table: Table, mode: str) -> None:
    """An OPEN that is sent again with its XID counts once: one CLOSE ends it."""
    writes = mode == "write"
    for _ in range(2):
        pending = table.a.start(table.file, write=writes, xid=_XID)
        expect(table.a.end(pending)).ok()
    table.a.close(table.file, write=writes)
    expect_state(table, "CLOSED_DIRTY" if writes else "CLOSED", REPEATED_OPEN_IS_HARMLESS)


@proves(REPEATED_OPEN_IS_HARMLESS, killed_by="snfs-repeated-close-counts-twice")
def test_close_again(table: Table) -> None:
    """A CLOSE that is sent again with its XID counts once."""
    table.a.open(table.file)
    table.a.open(table.file)
    for _ in range(2):
        expect(table.a.rpc.wait(table.a.start_close(table.file, xid=_XID))).ok()
    expect_state(table, "ONE_READER", REPEATED_OPEN_IS_HARMLESS)


_XID = 0x1989_0005


@proves(CLOSED_IS_A_STATUS, killed_by="snfs-closed-status-is-ignored")
def test_closed_meanwhile(table: Table) -> None:
    """A client that answers a callback with the status for a closed file does not share it (section 6.2)."""
    table.a.open(table.file, write=True)
    table.a.callbacks.on = lambda _args: Snfsstat.SNFS_CLOSED
    opened = table.b.open(table.file, write=True)
    expect(opened).field("cache_enabled").equals(True)
