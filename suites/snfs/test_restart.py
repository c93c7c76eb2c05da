# SPDX-License-Identifier: MIT
"""A crash of the server: versions (section 4.3.3), and the state that its clients know (section 2.4).

REOPEN and RECOVERED are not in the paper: docs/spritely.md has them.
"""

from __future__ import annotations

import pytest

from fixtures.checks.target import TargetView
from nfsclient.protocol.snfs import Openopres
from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import CLIENTS_KNOW, DEAD_IS_KEPT_OUT, STATE_STANDS_STILL, VERSIONS_SURVIVE
from suites.snfs.players import HONORED, Player, Table, expect_state

_LONG = 120.0
"""Seconds in which any server stops waiting for its clients."""


def _crash(target: TargetView, table: Table) -> None:
    """Crash the server; everybody connects again."""
    for player in table.players:
        player.keep_port()
    target.crash()
    for player in table.players:
        player.come_again()


def _reopen(player: Player, file: bytes, version: int, *, writers: int = 0, dirty: bool = False) -> Openopres:
    reply = player.snfs.reopen(file, writers=writers, dirty=dirty, cache_version=version, mdev=player.mdev)
    expect(reply).ok()
    expect(player.snfs.recovered()).ok()
    return reply


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
    _crash(crashing, table)
    opening = table.b.start(table.file)
    table.c.snfs.getattr(table.file)
    is_honored = opening.done and opening.result is not None and opening.result.status in HONORED
    expect_that(not is_honored, "no success of OPEN", "success", operation="OPEN")


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
@proves(DEAD_IS_KEPT_OUT, killed_by="snfs-dead-client-writes")
def test_too_late(table: Table, crashing: TargetView) -> None:
    """A client that has not reopened a file while the server waited writes no more to it."""
    table.a.open(table.file, write=True)
    _crash(crashing, table)
    crashing.pass_time(_LONG)
    table.b.open(table.file, write=True)
    expect(table.a.snfs.write(table.file, 0, b"late")).refused()


@pytest.mark.exclusive
@pytest.mark.parametrize("opens", [1, 3])
@proves(VERSIONS_SURVIVE, killed_by="snfs-versions-begin-again-after-a-crash")
def test_version(table: Table, crashing: TargetView, opens: int) -> None:
    """After a crash, an OPEN for writing returns a larger version than any before."""
    known = [table.a.makes_dirty(table.file) for _ in range(opens)]
    table.b.open(table.file)
    table.b.close(table.file)
    _crash(crashing, table)
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_version").at_least(max(known) + 1)
