# SPDX-License-Identifier: MIT
"""Data that COMMIT has flushed survives a crash (RFC 1813 section 3.3.21)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow, Write3ResOk
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Harm, expect, expect_data, must, proves, skip
from suites.losses import LOSES_NOTHING, Losses
from suites.nfs3.clauses import (
    COMMIT_FLUSHES_DATA,
    COMMIT_FLUSHES_RANGE,
    COMMIT_NOTHING_TO_FLUSH,
)
from suites.nfs3.contents import Unstable, commit, pattern, read_range, write_all
from suites.recovery.after_crash import file_again
from suites.recovery.writes import WRITES, survives

COMMIT_VERIFIER_CHANGES_ON_LOSS = must(
    "RFC 1813",
    "3.3.21",
    "verf of COMMIT shows whether the server has restarted, and lost data, since the WRITE",
    harm=Harm.DATA,
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


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-few-files")
def test_many_files(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """Data of twenty files survives a crash after a COMMIT of each."""
    files = [(scratch.file(f"file {number}"), pattern(3000, salt=number)) for number in range(20)]
    yield ARRANGED
    answers = [_write_unstable(nfs3, file, data) for file, data in files]
    for (file, _), written in zip(files, answers, strict=True):
        commit(nfs3, file, written)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    for number, (file, data) in enumerate(files):
        found = file_again(losses.target, scratch, file, b"file %d" % number)
        expect_data(read_range(survivor, found, 0, len(data)), data, f"data of file {number} after the crash")
    losses.need_data()


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_RANGE, killed_by="commit3-count-zero-flushes-one-block")
def test_rest_of_file(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """COMMIT with count 0 and an offset flushes everything from there to the end of the file."""
    file, data = scratch.file("f"), pattern(60_000)
    yield ARRANGED
    commit(nfs3, file, _write_unstable(nfs3, file, data), 10_000, 0)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 10_000, 50_000)
    expect_data(seen, data[10_000:], "data after the crash", at=10_000)
    losses.need_data()


@across(CRASH, "RENAME and COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-by-the-old-name")
def test_renamed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """Data survives a crash if the file was renamed between WRITE and COMMIT."""
    file, data = scratch.file("f"), pattern(9000)
    yield ARRANGED
    answers = _write_unstable(nfs3, file, data)
    need(nfs3.rename(scratch.handle, b"f", scratch.handle, b"g"), "another name for the file", "RENAME")
    file = expect(nfs3.lookup(scratch.handle, b"g")).ok().object  # RENAME may make the old handle stale
    commit(nfs3, file, answers)
    yield CRASH
    seen = read_range(
        losses.target.client(Nfs3), file_again(losses.target, scratch, file, b"g"), 0, len(data)
    )
    expect_data(seen, data, "data after the crash")
    losses.need_data()


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-over-udp-answers-at-once", needs="udp")
def test_over_udp(
    nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, rpc_connect: Callable[..., RpcClient]
) -> Steps:
    """Data survives a crash after COMMIT over UDP."""
    file, data = scratch.file("f"), pattern(9000)
    yield ARRANGED
    commit(
        Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience), file, _write_unstable(nfs3, file, data)
    )
    yield CRASH
    seen = read_range(
        losses.target.client(Nfs3), file_again(losses.target, scratch, file, b"f"), 0, len(data)
    )
    expect_data(seen, data, "data after the crash")
    losses.need_data()


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-shrinks-files-in-a-crash")
def test_size(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """A file that was extended by committed data has exactly that size after a crash."""
    file = scratch.file("f", pattern(100))
    yield ARRANGED
    commit(nfs3, file, write_all(nfs3, file, 100, pattern(5001, salt=1), StableHow.UNSTABLE))
    yield CRASH
    reply = losses.target.client(Nfs3).getattr(file_again(losses.target, scratch, file, b"f"))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.size").equals(5101)
    losses.need_data()
