# SPDX-License-Identifier: MIT
"""A crash of the server: versions (section 4.3.3), and the state that its clients know (section 2.4).

REOPEN and RECOVERED are not in the paper: docs/spritely.md has them.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.target import TargetView
from nfsclient.protocol.snfs import Openopres
from nfsjudge import expect, expect_that, proves, skip
from suites.snfs.clauses import (
    CALLBACK_SAYS_WHICH,
    CLIENTS_KNOW,
    DEAD_IS_KEPT_OUT,
    DEAD_OPEN_IS_HONORED,
    STATE_STANDS_STILL,
    VERSIONS_SURVIVE,
)
from suites.snfs.players import HONORED, Player, Table, expect_state

_LONG = 120.0
"""Seconds in which any server stops waiting for its clients."""
_SHORT = 1.0
"""Seconds in which none does."""


def _crash(target: TargetView, table: Table) -> float:
    """Crash the server; everybody connects again. When that was, by the clock of the loop."""
    for player in table.players:
        player.keep_port()
    target.crash()
    crashed_at = table.a.rpc.loop.clock()
    for player in table.players:
        player.come_again()
        player.excuse = "after its restart the server waits longer for its clients than a call may take"
    return crashed_at


def _reopen_only(player: Player, file: bytes, version: int, **has: t.Any) -> Openopres:
    """REOPEN, which must succeed."""
    reply = player.snfs.reopen(file, cache_version=version, mdev=player.mdev, **has)
    expect(reply).ok()
    return reply


def _reopen(player: Player, file: bytes, version: int, **has: t.Any) -> Openopres:
    """REOPEN and RECOVERED."""
    reply = _reopen_only(player, file, version, **has)
    expect(player.snfs.recovered()).ok()
    return reply


def _expect_closed(player: Player, others: Player, file: bytes, crashed_at: float) -> None:
    """An OPEN does not succeed now: neither at once nor before a later call of another client is answered.

    SKIP if the crash was so long ago that the server may have stopped waiting.
    """
    opening = player.start(file)
    expect(others.snfs.getattr(file)).ok()
    is_honored = opening.done and opening.result is not None and opening.result.status in HONORED
    if is_honored and player.rpc.loop.clock() - crashed_at > _SHORT:
        skip("the server may have stopped waiting for its clients: how long it does is its choice")
    expect_that(not is_honored, "no success of OPEN", "success", operation="OPEN")


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by="snfs-reopen-is-not-counted")
def test_writer(table: Table, crashing: TargetView) -> None:
    """A file that its writer has reopened is in the state of before the crash."""
    version = table.a.open(table.file, write=True).cache_version
    _crash(crashing, table)
    _reopen(table.a, table.file, version, writers=1)
    expect_state(table, "ONE_WRITER", CLIENTS_KNOW)


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by="snfs-reopen-is-not-counted")
def test_dirty(table: Table, crashing: TargetView) -> None:
    """A closed file of which its last writer has dirty blocks is in the state of before the crash."""
    version = table.a.makes_dirty(table.file)
    _crash(crashing, table)
    _reopen(table.a, table.file, version, dirty=True)
    expect_state(table, "CLOSED_DIRTY", CLIENTS_KNOW)


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by="snfs-reopen-returns-another-version")
def test_data_is_kept(table: Table, crashing: TargetView) -> None:
    """A client that reopens a file gets the version of its data as one of the two."""
    version = table.a.open(table.file, write=True).cache_version
    _crash(crashing, table)
    opened = expect(_reopen(table.a, table.file, version, writers=1)).ok()
    both = opened.cache_version, opened.old_cache_vers
    expect_that(version in both, f"version {version} among the two", f"versions {both}", reply=opened)


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by="snfs-reopen-is-not-counted")
def test_write(table: Table, crashing: TargetView) -> None:
    """A client that has reopened a file writes to it."""
    version = table.a.open(table.file, write=True).cache_version
    _crash(crashing, table)
    _reopen(table.a, table.file, version, writers=1)
    expect(table.a.snfs.write(table.file, 0, b"data")).ok()


@pytest.mark.exclusive
@proves(STATE_STANDS_STILL, killed_by="snfs-opens-before-clients-are-back")
def test_stands_still(table: Table, crashing: TargetView) -> None:
    """After a crash, an OPEN does not succeed before the writer of before has come back."""
    table.a.open(table.file, write=True)
    crashed_at = _crash(crashing, table)
    _expect_closed(table.b, table.c, table.file, crashed_at)


@pytest.mark.exclusive
@proves(STATE_STANDS_STILL, killed_by="snfs-first-recovered-is-enough")
def test_waits_for_all(table: Table, crashing: TargetView) -> None:
    """After a crash, an OPEN does not succeed when one of two clients of before has come back."""
    table.a.open(table.file)
    version = table.b.open(table.file).cache_version
    crashed_at = _crash(crashing, table)
    _reopen(table.b, table.file, version, readers=1)
    _expect_closed(table.c, table.viewer, table.file, crashed_at)


@pytest.mark.exclusive
@proves(STATE_STANDS_STILL, killed_by="snfs-recovered-by-anybody-counts")
def test_stranger(table: Table, crashing: TargetView) -> None:
    """RECOVERED by a client that had nothing does not stand for the one that had the file open."""
    table.a.open(table.file, write=True)
    crashed_at = _crash(crashing, table)
    table.c.snfs.recovered()  # whatever it answers
    _expect_closed(table.b, table.viewer, table.file, crashed_at)


@pytest.mark.exclusive
@proves(DEAD_OPEN_IS_HONORED, killed_by="snfs-recovery-lasts-for-ever")
def test_ends(table: Table, crashing: TargetView) -> None:
    """A client that does not come back after a crash does not keep others from opening the file for ever."""
    table.a.open(table.file, write=True)
    _crash(crashing, table)
    crashing.pass_time(_LONG)
    reply = table.b.try_open(table.file)
    expect(reply.status, "status of OPEN", of=reply, field="status").one_of(*HONORED)


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by="snfs-reopen-is-not-counted")
def test_readers(table: Table, crashing: TargetView) -> None:
    """A file that two readers have reopened is in the state of before the crash."""
    both = table.a, table.b
    versions = [player.open(table.file).cache_version for player in both]
    _crash(crashing, table)
    for player, version in zip(both, versions, strict=True):
        _reopen(player, table.file, version, readers=1)
    expect_state(table, "MULT_READERS", CLIENTS_KNOW)


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by=("snfs-reopen-always-caches", "snfs-reopen-is-not-counted"))
def test_shared(table: Table, crashing: TargetView) -> None:
    """A REOPEN by a reader disables caching when the writer that shares the file has come back before it."""
    table.a.open(table.file, write=True)
    version = table.b.open(table.file).cache_version
    _crash(crashing, table)
    _reopen(table.a, table.file, version, writers=1)
    reopened = _reopen(table.b, table.file, version, readers=1)
    expect(reopened).field("openok.cache_enabled").equals(False)


@pytest.mark.exclusive
@proves(CLIENTS_KNOW, killed_by="snfs-reopen-counts-twice")
def test_reopened_twice(table: Table, crashing: TargetView) -> None:
    """A REOPEN that comes twice counts once: one CLOSE ends it."""
    version = table.a.open(table.file).cache_version
    _crash(crashing, table)
    _reopen_only(table.a, table.file, version, readers=1)
    _reopen(table.a, table.file, version, readers=1)
    table.a.close(table.file)
    expect_state(table, "CLOSED", CLIENTS_KNOW)


@pytest.mark.exclusive
@proves(CALLBACK_SAYS_WHICH, killed_by="snfs-reopen-forgets-the-mdev")
def test_mdev(table: Table, crashing: TargetView) -> None:
    """A callback after a crash has the mdev that the client gave when it reopened the file."""
    version = table.a.open(table.file, write=True).cache_version
    _crash(crashing, table)
    _reopen(table.a, table.file, version, writers=1)
    table.b.open(table.file)
    expect(table.a.await_call()).field("mdev").equals(table.a.mdev)


@pytest.mark.exclusive
@proves(STATE_STANDS_STILL, killed_by="snfs-recovery-never-ends")
def test_goes_on(table: Table, crashing: TargetView) -> None:
    """An OPEN succeeds when all clients of before the crash have come back."""
    version = table.a.open(table.file).cache_version
    _crash(crashing, table)
    expect(table.a.snfs.reopen(table.file, readers=1, cache_version=version, mdev=table.a.mdev)).ok()
    expect(table.a.snfs.recovered()).ok()
    reply = table.b.try_open(table.file)
    expect(reply.status, "status of OPEN", of=reply, field="status").one_of(*HONORED)


@pytest.mark.exclusive
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-clients-of-before-write-on")
def test_too_late(table: Table, crashing: TargetView) -> None:
    """A client that has not reopened a file while the server waited writes no more to it."""
    table.a.open(table.file, write=True)
    _crash(crashing, table)
    crashing.pass_time(_LONG)
    table.b.open(table.file, write=True)
    if table.c.snfs.write(table.file, 0, b"data").resok is not None:
        skip("the server serves a WRITE without OPEN, so it need not know who had the file open before")
    expect(table.a.snfs.write(table.file, 0, b"late")).refused()


@pytest.mark.exclusive
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-late-reopen-is-accepted")
def test_late_reopen(table: Table, crashing: TargetView) -> None:
    """A client that comes back after the server has waited reopens no file that another one has written since."""
    version = table.a.makes_dirty(table.file)
    _crash(crashing, table)
    crashing.pass_time(_LONG)
    table.b.makes_dirty(table.file)
    reply = table.a.snfs.reopen(table.file, dirty=True, cache_version=version, mdev=table.a.mdev)
    expect(reply).refused()


@pytest.mark.exclusive
@pytest.mark.parametrize("opens", [1, 3])
@proves(VERSIONS_SURVIVE, killed_by="snfs-versions-begin-again-after-a-crash")
def test_version(table: Table, crashing: TargetView, opens: int) -> None:
    """After a crash, an OPEN for writing returns a larger version than any before."""
    known = [table.a.makes_dirty(table.file) for _ in range(opens)]
    table.b.open(table.file)
    table.b.close(table.file)
    _crash(crashing, table)
    crashing.pass_time(_LONG)
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_version").at_least(max(known) + 1)


@pytest.mark.exclusive
@proves(VERSIONS_SURVIVE, killed_by="snfs-versions-begin-again-after-a-crash")
def test_version_of_open(table: Table, crashing: TargetView) -> None:
    """After a crash, an OPEN for writing of a file that is open returns a larger version than before."""
    version = table.a.open(table.file, write=True).cache_version
    _crash(crashing, table)
    _reopen(table.a, table.file, version, writers=1)
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_version").at_least(version + 1)
