# SPDX-License-Identifier: MIT
"""The write verifier after a crash or restart (RFC 1813 sections 3.3.7 and 3.3.21): another one after a loss of data.

A client cannot recover from unstable data that is lost under the same verifier. A verifier that changes without a
loss only makes clients write again, and is legal; so is one that never changes on a server that loses nothing.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.across import ARRANGED, CRASH, RESTART, Pause, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    expect,
    expect_all,
    expect_data,
    must,
    observe,
    proves,
    show,
    skip,
)
from suites.losses import LOSES_NOTHING, Losses
from suites.nfs3.clauses import (
    COMMIT_FLUSHES_DATA,
    COMMIT_NOTHING_TO_FLUSH,
    COMMIT_VERIFIER_IS_CONSTANT,
    VERIFIER_CHANGES_ON_LOSS,
    VERIFIER_IS_CONSTANT,
)
from suites.nfs3.contents import Unstable, commit, pattern, read_range, write_all
from suites.nfs3.verifiers import expect_new, verifier, verifier_after
from suites.recovery.after_crash import file_again
from suites.recovery.either import ENDINGS

VERIFIER_IS_UNIQUE = must(
    "RFC 1813",
    "3.3.7",
    "verf is unique between instances of the server where uncommitted data may be lost",
    harm=Harm.DATA,
)
SIZE: t.Final = 8000
"""Bytes of stable data in the file at first."""


def _write_unstable(nfs3: Nfs3, second: Nfs3, scratch: Nfs3Scratch, how: str, data: Unstable) -> None:
    """Write unstable data in one of several ways."""
    content = scratch.file("f", pattern(SIZE))
    match how:
        case "large":
            for at in range(0, 2**20, 2**17):
                data.write(nfs3, content, at, pattern(2**17, salt=1))
        case "many-files":
            for number in range(30):
                data.write(nfs3, scratch.file(f"file {number}"), 0, pattern(5000, salt=number))
        case "overwrite":
            data.write(nfs3, content, 1000, pattern(5000, salt=1))
        case "append":
            data.write(nfs3, content, SIZE, pattern(5000, salt=1))
        case "after-hole":
            data.write(nfs3, content, 2**20, pattern(5000, salt=1))
        case "after-commit":
            commit(nfs3, content, write_all(nfs3, content, 0, pattern(5000, salt=1), StableHow.UNSTABLE))
            data.write(nfs3, content, 0, pattern(5000, salt=2))
        case "closed-connection":
            data.write(second, content, 0, pattern(5000, salt=1))
            t.cast("RpcClient", second.rpc).close()


@across(CRASH, "UNSTABLE")
@pytest.mark.parametrize(
    "how",
    [
        "large",
        "many-files",
        "overwrite",
        "append",
        "after-hole",
        "after-commit",
        "closed-connection",
    ],
)
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="write3-verifier-survives-crash", needs="unstable_writes")
def test_after_loss(
    nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, target: TargetView, how: str
) -> Steps:
    """The write verifier changes if a crash loses unstable data."""
    data, probe = Unstable(), scratch.file("probe")
    yield ARRANGED
    _write_unstable(nfs3, second_client, scratch, how, data)
    yield CRASH
    survivor = target.client(Nfs3)
    lost = data.lost(survivor)
    observe("unstable data after the crash", "lost" if lost else "kept")
    expect_new(verifier_after(survivor, probe), lost)
    if not lost:
        skip(LOSES_NOTHING)


@across(CRASH, "UNSTABLE")
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="write3-verifier-survives-crash", needs="unstable_writes")
def test_lost_data(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> Steps:
    """WRITE returns a new verifier after a crash that lost unstable data."""
    file = scratch.file("f")
    data = pattern(8000)
    yield ARRANGED
    before = expect(nfs3.write(file, 0, data, StableHow.UNSTABLE)).ok()
    yield CRASH
    survivor = target.client(Nfs3)
    is_kept = read_range(survivor, file, 0, before.count) == data[: before.count]
    observe("unstable data after the crash", "kept" if is_kept else "lost")
    reply = survivor.write(file, 0, data, StableHow.UNSTABLE)
    expect(reply).ok()
    if is_kept:
        skip(LOSES_NOTHING)
    expect(reply).field("resok.verf").differs_from(before.verf)


@pytest.mark.exclusive
@proves(
    VERIFIER_IS_UNIQUE,
    killed_by=("write3-verifier-is-made-of-seconds", "write3-verifier-is-reused"),
    needs="unstable_writes",
)
def test_never_reused(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """No verifier returns after data was lost under it, even with crashes in quick succession."""
    file, probe = scratch.file("f"), scratch.file("probe")
    lost: set[bytes] = set()
    client = nfs3
    for salt in range(4):
        data = Unstable()
        data.write(client, file, salt * 10_000, pattern(9000, salt))
        target.crash()
        client = target.client(Nfs3)
        lost |= data.lost(client)
        verf = verifier_after(client, probe)
        expect_new(verf, lost)
    observe("unstable data after four crashes", "lost" if lost else "kept")
    if not lost:
        skip(LOSES_NOTHING)


@across(RESTART, "UNSTABLE")
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="nfs3-orderly-restart-loses-data", needs="unstable_writes")
def test_clean_restart(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> Steps:
    """A clean restart that loses unstable data changes the write verifier."""
    file, probe, data = scratch.file("f"), scratch.file("probe"), Unstable()
    yield ARRANGED
    data.write(nfs3, file, 0, pattern(50_000))
    yield RESTART
    client = target.client(Nfs3)
    lost = data.lost(client)
    observe("unstable data after a clean restart", "lost" if lost else "kept")
    expect_new(verifier_after(client, probe), lost)


def _description(crashes: list[bytes], restarts: list[bytes]) -> str:
    """How the server changes its verifier; each list has the verifiers of successive instances."""
    by_crash, by_restart = (len(set(verfs)) == len(verfs) for verfs in (crashes, restarts))
    if by_crash and by_restart:
        return "changes at every start, after a crash or a clean shutdown"
    if by_crash:
        return "changes after a crash, but not after a clean restart"
    if by_restart:
        return "changes after a clean restart, but not after a crash"
    if len({*crashes, *restarts}) == 1:
        return "never changes"
    return "does not change at every start: it may be a time in seconds, or the boot time of the machine"


def _looks_like_seconds(verf: bytes, now: int) -> bool:
    """Whether half of a verifier could be the time of the start in seconds, in either byte order."""
    halves = [number for order in "><" for number in struct.unpack(f"{order}2I", verf)]
    return any(now - 86_400 <= number <= now + 60 for number in halves)


@pytest.mark.exclusive
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="write3-verifier-survives-crash")
def test_when_it_changes(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """The verifier changes on loss of data; the run records when else it changes."""
    file, probe, data = scratch.file("f"), scratch.file("probe"), pattern(9000)
    answers = write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    crashes, kept = [verifier(nfs3, probe)], list[bool]()
    for _ in range(2):
        target.crash()
        crashes.append(verifier_after(target.client(Nfs3), probe))
        kept.append(read_range(target.client(Nfs3), file, 0, len(data)) == data)
    target.restart()
    restarts = [crashes[-1], verifier_after(target.client(Nfs3), probe)]
    observe("write verifier", _description(crashes, restarts))
    written = target.client(Nfs3).getattr(probe).resok
    if written is not None:
        seconds = _looks_like_seconds(restarts[-1], written.obj_attributes.mtime.seconds)
        observe("write verifier looks like the start time in seconds", show(seconds))
    if not all(kept):  # what the second crash loses says nothing of the first one
        changed = crashes[1 + kept.index(False)]
        expect(changed, "verf after the loss of data", field="verf").differs_from(crashes[0])
    elif any(answer.committed == StableHow.UNSTABLE for answer in answers):
        skip(LOSES_NOTHING)


# ---------------------------------------------------------------- one verifier, whoever asks for it


@ENDINGS
@across("ending", "UNSTABLE")
@proves(COMMIT_VERIFIER_IS_CONSTANT, killed_by="commit3-verifier-lags-after-restart")
def test_write_and_commit(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str) -> Steps:
    """WRITE and COMMIT return the same verifier after a crash or a restart."""
    file = scratch.file("f", b"data")
    yield ARRANGED
    verifier(nfs3, file)
    yield Pause(ending)
    survivor = target.client(Nfs3)
    written = verifier_after(survivor, file)
    reply = survivor.commit(file)
    expect(reply, because=COMMIT_NOTHING_TO_FLUSH).ok()
    expect(reply).field("resok.verf").equals(written)


@ENDINGS
@across("ending", "UNSTABLE")
@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-file-after-restart")
def test_all_files(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str) -> Steps:
    """WRITE returns the same verifier for all files after a crash or a restart, written to before or not."""
    written, other = scratch.file("f", b"data"), scratch.file("g", b"data", directory=scratch.directory("d"))
    yield ARRANGED
    verifier(nfs3, written)
    yield Pause(ending)
    survivor = target.client(Nfs3)
    known = verifier_after(survivor, written)
    expect(verifier_after(survivor, other), "verf for another file after the restart", field="verf").equals(
        known
    )


@ENDINGS
@across("ending", "UNSTABLE")
@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-over-udp-survives-restart", needs="udp")
def test_over_udp(
    nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, rpc_connect: Callable[..., RpcClient], ending: str
) -> Steps:
    """WRITE returns the same verifier over UDP and TCP after a crash or a restart."""
    file = scratch.file("f", b"data")
    yield ARRANGED
    verifier(Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience), file)
    yield Pause(ending)
    known = verifier_after(target.client(Nfs3), file)
    over_udp = verifier_after(Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience), file)
    expect(over_udp, "verf over UDP after the restart", field="verf").equals(known)


@ENDINGS
@across("ending", "UNSTABLE")
@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-changes-late")
def test_settles(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str) -> Steps:
    """The verifier that the first WRITE after a crash or a restart returns stays the same."""
    file, other = scratch.file("f", b"data"), scratch.file("g", b"data")
    yield ARRANGED
    verifier(nfs3, file)
    yield Pause(ending)
    survivor = target.client(Nfs3)
    known = verifier_after(survivor, file)
    survivor.read(file, 0, 4)
    survivor.commit(file)
    seen = [verifier_after(survivor, file), verifier_after(survivor, other)]
    expect_all(seen, lambda verf: verf == known, "verf of later WRITEs", show(known), field="verf")


@across(CRASH, "UNSTABLE")
@proves(
    VERIFIER_CHANGES_ON_LOSS, killed_by="write3-verifier-changes-for-lost-files-only", needs="unstable_writes"
)
def test_other_files(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> Steps:
    """The verifier changes for every file if a crash loses unstable data of one."""
    file, other, data = scratch.file("f"), scratch.file("other", b"data"), Unstable()
    yield ARRANGED
    verifier(nfs3, other)
    data.write(nfs3, file, 0, pattern(9000))
    yield CRASH
    survivor = target.client(Nfs3)
    lost = data.lost(survivor)
    reply = survivor.commit(other)
    expect(reply, because=COMMIT_NOTHING_TO_FLUSH).ok()
    expect(reply).field("resok.verf").satisfies(lambda verf: verf not in lost, "a new verifier")
    if not lost:
        skip(LOSES_NOTHING)


@pytest.mark.exclusive
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-forgets-data-of-before-a-restart", needs="unstable_writes")
def test_kept_over_restart(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> None:
    """Data that COMMIT confirms after a clean restart, with the verifier of its WRITE, survives a crash."""
    file, data = scratch.file("f"), pattern(9000)
    answers = write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    losses.target.restart()
    reply = losses.target.client(Nfs3).commit(file)
    if reply.resok is None or any(reply.resok.verf != answer.verf for answer in answers):
        observe("verifier after a clean restart", "another one")
        return
    survivor = losses.crash(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 0, len(data))
    expect_data(seen, data, "data after the crash")
    losses.need_data()
