# SPDX-License-Identifier: MIT
"""CALLBACK: what it says, and what waits for it (sections 3.2 and 4.3.4)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.snfs import SnfsScratch
from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import Snfsstat
from nfsclient.rpc.core import Pending
from nfsjudge import expect, expect_that, proves, skip
from suites.snfs.clauses import (
    ATTRIBUTES_ARE_GETATTRS,
    CALLBACK_SAYS_WHICH,
    CALLBACKS_END_FIRST,
    CLOSED_IS_A_STATUS,
    ENTRY_IS_LOCKED,
    HANDLE_IS_FOR_WRITING,
    REPEATED_OPEN_IS_HARMLESS,
    SERVES_WRITE_BACK,
    WAITS_FOR_WRITE_BACK,
)
from suites.snfs.players import Table, arrange, expect_state, still_waits

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


def _called(table: Table, state: str = "CLOSED_DIRTY", *, write: bool = False) -> Pending[p.Openopres]:
    """The OPEN by `b` that waits: `a` is called, and its reply is withheld."""
    arrange(table, state)
    table.a.callbacks.holds = True
    opening = table.b.start(table.file, write=write)
    table.a.await_call()
    return opening


def _ends(table: Table, opening: Pending[p.Openopres]) -> p.Openok:
    """The results of that OPEN, when `a` has answered. SKIP where it was given up, and the OPEN is refused for it."""
    table.a.callbacks.holds = False
    table.a.callbacks.release()
    reply = table.b.end(opening)
    if reply.openok is None and table.a.snfs.write(table.file, 0, b"").resok is None:
        skip("the server has given up the client that it calls: how long it waits is its choice")
    return expect(reply).ok()


def _writes_back(table: Table, opening: Pending[p.Openopres], data: bytes, offset: int = 0) -> None:
    """`a` writes. SKIP where it was given up meanwhile: then a WRITE may be refused."""
    if opening.done:
        still_waits(opening, table.c, table.file)
    reply = table.a.snfs.write(table.file, offset, data)
    if reply.resok is None and opening.done:
        still_waits(opening, table.c, table.file)
    expect(reply).ok()


@pytest.mark.parametrize("state", ["dirty", "writer"])
@proves(WAITS_FOR_WRITE_BACK, killed_by="snfs-open-does-not-wait")
def test_open_waits(table: Table, state: str) -> None:
    """An OPEN that needs a write-back is not answered before the client has returned from the callback."""
    opening = _called(table, "CLOSED_DIRTY" if state == "dirty" else "ONE_WRITER")
    still_waits(opening, table.c, table.file, called=table.a if state == "writer" else None)
    _ends(table, opening)


@proves(CALLBACKS_END_FIRST, killed_by="snfs-open-does-not-wait-for-readers")
def test_waits_for_reader(table: Table) -> None:
    """An OPEN for writing is not answered before a reader has returned from the callback, and caches no more."""
    opening = _called(table, "ONE_READER", write=True)
    still_waits(opening, table.c, table.file, called=table.a)
    table.a.callbacks.holds = False
    table.a.callbacks.release()
    table.b.end_or_skip(opening)


@proves(CALLBACKS_END_FIRST, killed_by="snfs-first-reply-is-enough")
def test_waits_for_all(table: Table) -> None:
    """An OPEN for writing is not answered before all readers have returned from their callbacks."""
    arrange(table, "MULT_READERS")
    both = table.a, table.b
    for player in both:
        player.callbacks.holds = True
    opening = table.c.start(table.file, write=True)
    loop = table.c.rpc.loop
    loop.run_until(lambda: any(each.callbacks.received for each in both), loop.clock() + table.c.patience)
    first, last = sorted(both, key=lambda each: not each.callbacks.received)  # in any order, or both at once
    first.await_call()
    first.callbacks.holds = False
    first.callbacks.release()
    last.await_call()
    still_waits(opening, table.viewer, table.file, called=last)
    last.callbacks.holds = False
    last.callbacks.release()
    table.c.end_or_skip(opening)


@proves(SERVES_WRITE_BACK, killed_by="snfs-refuses-writes-meanwhile")
def test_write_is_served(table: Table) -> None:
    """A WRITE by the client that is called is served while the OPEN of another one waits."""
    opening = _called(table)
    _writes_back(table, opening, _NEW)
    _ends(table, opening)


@proves(WAITS_FOR_WRITE_BACK, killed_by="snfs-write-back-is-lost")
def test_data_is_read(table: Table) -> None:
    """Who opened the file after a write-back reads what was written back."""
    opening = _called(table)
    _writes_back(table, opening, _NEW)
    _ends(table, opening)
    found = table.b.snfs.read(table.file, 0, 100)
    expect(bytes(expect(found).ok().data), "data", of=found, field="readok.data").equals(_NEW)


@proves(ATTRIBUTES_ARE_GETATTRS, killed_by="snfs-attributes-of-before-the-callback")
def test_attributes_are_new(table: Table) -> None:
    """The attributes in the reply of an OPEN that needed a write-back are those of after it."""
    opening = _called(table)
    _writes_back(table, opening, _NEW)
    opened = _ends(table, opening)
    expect(opened).field("attributes.size").equals(len(_NEW))


@proves(SERVES_WRITE_BACK, killed_by="snfs-one-callback-stops-all")
def test_other_files(table: Table, scratch: SnfsScratch) -> None:
    """While an OPEN waits for a callback, another file is opened, written and closed."""
    other = scratch.file("other")
    opening = _called(table)
    table.c.open(other, write=True)
    table.c.write(other, _OLD)
    table.c.close(other, write=True)
    _ends(table, opening)


@proves(SERVES_WRITE_BACK, killed_by="snfs-serves-few-writes-meanwhile")
def test_many_blocks(table: Table) -> None:
    """A write-back of sixteen blocks is served to its end."""
    opening = _called(table)
    for block in range(16):
        _writes_back(table, opening, bytes([block]) * 4096, block * 4096)
    opened = _ends(table, opening)
    expect(opened).field("attributes.size").equals(16 * 4096)


# ---------------------------------------------------------------- the entry is locked


@proves(ENTRY_IS_LOCKED, killed_by="snfs-closes-meanwhile")
def test_close_waits(table: Table) -> None:
    """A CLOSE by the client that is called is not answered before it has returned from the callback."""
    opening = _called(table, "ONE_WRITER")
    closing = table.a.start_close(table.file, write=True)
    still_waits(closing, table.c, table.file, "CLOSE", called=table.a)
    _ends(table, opening)
    table.a.rpc.wait(closing)


@proves(ENTRY_IS_LOCKED, killed_by="snfs-opens-meanwhile")
def test_third_open_waits(table: Table) -> None:
    """An OPEN by a third client is not answered while a callback for another OPEN is under way."""
    opening = _called(table)
    third = table.c.start(table.file)
    if opening.done:
        still_waits(opening, table.viewer, table.file)
    still_waits(third, table.viewer, table.file)
    _ends(table, opening)
    table.c.end_or_skip(third)


@proves(ENTRY_IS_LOCKED, killed_by="snfs-opens-of-the-called-go-on")
def test_own_open_waits(table: Table) -> None:
    """An OPEN by the client that is called is not answered before it has returned from the callback."""
    opening = _called(table, "ONE_WRITER")
    own = table.a.start(table.file)
    still_waits(own, table.c, table.file)
    _ends(table, opening)
    table.a.end_or_skip(own)


@proves(ENTRY_IS_LOCKED, killed_by="snfs-waiting-opens-count-once")
def test_both_count(table: Table) -> None:
    """Two OPENs that waited for the same callback both count."""
    opening = _called(table)
    other = table.c.start(table.file)
    _ends(table, opening)
    table.c.end_or_skip(other)
    expect_state(table, "MULT_READERS", ENTRY_IS_LOCKED, having="bc")


@proves(CALLBACKS_END_FIRST, killed_by="snfs-waiting-opens-see-the-old-state")
def test_both_write(table: Table) -> None:
    """Of two OPENs for writing that waited for the same callback, not both enable caching."""
    opening = _called(table, write=True)
    other = table.c.start(table.file, write=True)
    first = _ends(table, opening)
    second = table.c.end_or_skip(other)
    both = first.cache_enabled and second.cache_enabled
    expect_that(not both, "caching disabled for one of two writers", "enabled for both", reply=second)


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


@proves(REPEATED_OPEN_IS_HARMLESS, killed_by="snfs-repeated-open-waits-twice")
def test_open_again_waiting(table: Table) -> None:
    """An OPEN that is sent again while it waits for a callback counts once."""
    opening = _called(table)
    table.b.rpc.send_record(opening.call)
    still_waits(opening, table.c, table.file)
    _ends(table, opening)
    table.b.close(table.file)
    expect_state(table, "CLOSED", REPEATED_OPEN_IS_HARMLESS)


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
    table.a.callbacks.on = None
    table.a.open(table.file)  # it was not given up


@proves(CLOSED_IS_A_STATUS, killed_by="snfs-closed-status-of-a-reader-is-ignored")
def test_reader_closed_meanwhile(table: Table) -> None:
    """A reader that answers a callback with the status for a closed file does not share it (section 6.2)."""
    table.a.open(table.file)
    table.a.callbacks.on = lambda _args: Snfsstat.SNFS_CLOSED
    opened = table.b.open(table.file, write=True)
    expect(opened).field("cache_enabled").equals(True)
    table.a.callbacks.on = None
    table.a.open(table.file)  # it was not given up
