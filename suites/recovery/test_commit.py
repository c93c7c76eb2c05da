# SPDX-License-Identifier: MIT
"""Data that COMMIT has flushed survives a crash (RFC 1813 section 3.3.21)."""

from __future__ import annotations

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow, Write3ResOk
from nfsjudge import Level, Requirement, expect, expect_data, proves, skip
from suites.losses import LOSES_NOTHING, Losses
from suites.nfs3.clauses import (
    COMMIT_FLUSHES_DATA,
    COMMIT_FLUSHES_RANGE,
    COMMIT_NOTHING_TO_FLUSH,
)
from suites.nfs3.contents import Unstable, commit, pattern, read_range, write_all
from suites.recovery.after_crash import file_again
from suites.recovery.writes import WRITES, survives

COMMIT_VERIFIER_CHANGES_ON_LOSS = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="verf of COMMIT shows whether the server has restarted, and lost data, since the WRITE",
    level=Level.MUST,
)


def _write_unstable(nfs3: Nfs3, file: bytes, data: bytes) -> list[Write3ResOk]:
    """Write `data` with UNSTABLE and return the results."""
    return write_all(nfs3, file, 0, data, StableHow.UNSTABLE)


@across(CRASH, "COMMIT")
@pytest.mark.parametrize("write", WRITES)
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-nothing")
def test_committed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str) -> Steps:
    """Data written with UNSTABLE survives a crash after COMMIT."""
    yield from survives(nfs3, scratch, losses, write, StableHow.UNSTABLE)


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-nothing")
def test_whole_file(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """Committed data survives a crash."""
    file = scratch.file("f")
    data = pattern(10_000)
    yield ARRANGED
    commit(nfs3, file, _write_unstable(nfs3, file, data))
    yield CRASH
    survivor = losses.target.client(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 0, len(data))
    expect_data(seen, data, "data after the crash")
    losses.need_data()


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_RANGE, killed_by="commit3-does-not-flush-ranges")
def test_range(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """A committed range survives a crash."""
    file = scratch.file("f")
    data = pattern(30_000)
    yield ARRANGED
    commit(nfs3, file, _write_unstable(nfs3, file, data), 10_000, 9000)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 10_000, 9000)
    expect_data(seen, data[10_000:19_000], "data after the crash", at=10_000)
    losses.need_data()


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-only-its-connection")
def test_two_clients(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """COMMIT flushes the data of all clients."""
    file, data = scratch.file("f"), pattern(20_000)
    answers = write_all(nfs3, file, 0, data[:10_000], StableHow.UNSTABLE)
    answers += write_all(second_client, file, 10_000, data[10_000:], StableHow.UNSTABLE)
    yield ARRANGED
    commit(nfs3, file, answers)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 0, len(data))
    expect_data(seen, data, "data after the crash")
    losses.need_data()


@across(CRASH, "UNSTABLE")
@proves(COMMIT_VERIFIER_CHANGES_ON_LOSS, killed_by="commit3-verifier-survives-crash", needs="unstable_writes")
def test_verifier_after_loss(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> Steps:
    """The verifier of COMMIT changes if a crash loses unstable data."""
    file, data = scratch.file("f"), Unstable()
    yield ARRANGED
    data.write(nfs3, file, 0, pattern(50_000))
    yield CRASH
    survivor = target.client(Nfs3)
    lost = data.lost(survivor)
    reply = survivor.commit(file)
    expect(reply, because=COMMIT_NOTHING_TO_FLUSH).ok()
    for verf in lost:
        expect(reply).field("resok.verf").differs_from(verf)
    if not lost:
        skip(LOSES_NOTHING)
