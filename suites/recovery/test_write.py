# SPDX-License-Identifier: MIT
"""Data that WRITE has acknowledged as stable survives a crash (RFC 1813 section 3.3.7).

`losses` crashes the target. A check that would pass ends as SKIP if that crash loses nothing (`suites/losses.py`).
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    Requirement,
    expect,
    expect_data,
    must,
    observe,
    proves,
    show,
    skip,
    unsupported,
)
from suites.losses import Losses
from suites.nfs3.clauses import (
    FILE_SYNC_DATA_IS_STABLE,
    WRITE_GAP_IS_ZERO,
)
from suites.nfs3.contents import commit, pattern, read_range, write_all
from suites.nfs3.short_writes import Sender, sender
from suites.nfs3.times import LONG_AGO
from suites.recovery.after_crash import file_again
from suites.recovery.either import EACH_VERSION, V2_IS_SYNCHRONOUS, Either
from suites.recovery.writes import WRITES, survives

DATA_SYNC_DATA_IS_STABLE = must(
    "RFC 1813",
    "3.3.7",
    "data written with DATA_SYNC, and the metadata to find it, is on stable storage before WRITE returns",
    harm=Harm.DATA,
)
FILE_SYNC_METADATA_IS_STABLE = must(
    "RFC 1813",
    "3.3.7",
    "WRITE with FILE_SYNC commits the data and all metadata of the file before it returns",
    harm=Harm.DATA,
)
RECOVERS_FROM_REPEATED_CRASHES = must(
    "RFC 1813",
    "4.8",
    "the server recovers from several failures in quick succession without loss of data",
    harm=Harm.DATA,
)
COMMITTED_IS_TRUE = must(
    "RFC 1813", "3.3.7", "committed must be UNSTABLE unless the data is on stable storage", harm=Harm.DATA
)
NOT_HANDLED = "the server refuses WRITEs this large"


@pytest.fixture
def send(request: pytest.FixtureRequest, nfs3: Nfs3, scratch: Nfs3Scratch, cause: str) -> Sender:
    """Sends more than the server writes in one call, for the cause of the check."""
    return sender(request, nfs3, scratch, cause)


@across(CRASH, "FILE_SYNC")
@pytest.mark.parametrize("write", WRITES)
@proves(FILE_SYNC_DATA_IS_STABLE, killed_by="write3-lies-about-file-sync")
def test_file_sync(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str) -> Steps:
    """Data written with FILE_SYNC survives a crash."""
    yield from survives(nfs3, scratch, losses, write, StableHow.FILE_SYNC)


@across(CRASH, "DATA_SYNC")
@pytest.mark.parametrize("write", WRITES)
@proves(DATA_SYNC_DATA_IS_STABLE, killed_by="write3-lies-about-data-sync")
def test_data_sync(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str) -> Steps:
    """Data written with DATA_SYNC survives a crash."""
    yield from survives(nfs3, scratch, losses, write, StableHow.DATA_SYNC)


@across(CRASH, "WRITE UNSTABLE")
@proves(COMMITTED_IS_TRUE, killed_by="write3-calls-unstable-data-stable")
def test_claimed_stable(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """Data for which WRITE UNSTABLE returns FILE_SYNC or DATA_SYNC survives a crash without COMMIT."""
    file, data = scratch.file("f", pattern(9000)), pattern(9000, salt=1)
    yield ARRANGED
    answers = write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    levels = " and ".join(sorted({show(answer.committed) for answer in answers}))
    observe("committed", levels)
    if any(answer.committed == StableHow.UNSTABLE for answer in answers):
        commit(nfs3, file, answers)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 0, len(data))
    expect_data(seen, data, f"data after the crash, for which WRITE UNSTABLE returned {levels}")
    losses.need_data()


@across(CRASH, "FILE_SYNC and DATA_SYNC")
@proves(
    DATA_SYNC_DATA_IS_STABLE,
    FILE_SYNC_DATA_IS_STABLE,
    killed_by=("write3-lies-about-file-sync", "write3-lies-about-data-sync"),
)
def test_stable_among_unstable(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """Stable data written over unstable data survives a crash."""
    file, data = scratch.file("f"), pattern(12_000)
    write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    levels = {1000: StableHow.FILE_SYNC, 5000: StableHow.DATA_SYNC, 9000: StableHow.FILE_SYNC}
    stable = pattern(500, salt=1)
    yield ARRANGED
    for at, level in levels.items():
        write_all(nfs3, file, at, stable, level)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    file = file_again(losses.target, scratch, file, b"f")
    for at, level in levels.items():
        broken = DATA_SYNC_DATA_IS_STABLE if level is StableHow.DATA_SYNC else FILE_SYNC_DATA_IS_STABLE
        seen = read_range(survivor, file, at, 500)
        expect_data(seen, stable, f"{level.name} data after the crash", at=at, because=broken)
    losses.need_data()


@pytest.mark.exclusive
@pytest.mark.parametrize("cause", ["wtmax+1", "accepts-4097", "accepts-random"])
@proves(FILE_SYNC_DATA_IS_STABLE, killed_by="write3-lies-about-file-sync")
def test_short(scratch: Nfs3Scratch, send: Sender, losses: Losses) -> None:
    """The bytes that a short WRITE with FILE_SYNC counts survive a crash."""
    file, data = scratch.file("f"), pattern(send.most, salt=1)
    reply = send.write(file, 0, data, StableHow.FILE_SYNC)
    if reply is None or reply.resok is None:
        unsupported(NOT_HANDLED)
    survivor = losses.crash(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), 0, reply.resok.count)
    expect_data(seen, data[: reply.resok.count], "data after the crash", of="range")
    losses.need_data()


@pytest.mark.exclusive
@proves(RECOVERS_FROM_REPEATED_CRASHES, killed_by="write3-second-crash-loses-stable-data")
def test_repeated_crashes(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> None:
    """Data written with FILE_SYNC survives several crashes in quick succession."""
    file, data = scratch.file("f"), pattern(9000)
    write_all(nfs3, file, 0, data, StableHow.FILE_SYNC)
    losses.crash(Nfs3)
    for _ in range(2):
        losses.target.crash()
    file = file_again(losses.target, scratch, file, b"f")
    seen = read_range(losses.target.client(Nfs3), file, 0, len(data))
    expect_data(seen, data, "data after three crashes")
    losses.need_data()


# ---------------------------------------------------------------- both versions: every WRITE is stable in NFSv2


@EACH_VERSION
@across(CRASH, "WRITE")
@proves(FILE_SYNC_DATA_IS_STABLE, V2_IS_SYNCHRONOUS, killed_by="crash-empties-some-of-many-files")
def test_many_files(either: Either, losses: Losses) -> Steps:
    """The data of thirty files that were written one after the other survives a crash."""
    written = {b"file %d" % number: pattern(700, salt=number) for number in range(30)}
    files = {name: either.scratch.file(name) for name in written}
    yield ARRANGED
    for name, data in written.items():
        either.scratch.write(files[name], data)
    yield CRASH
    either.again()
    for name, data in written.items():
        expect_data(
            either.scratch.read(either.found(name)), data, f"data of {show(name)}", because=_rule(either)
        )
    losses.need_data()


@EACH_VERSION
@pytest.mark.parametrize("size", [1, 511, 4097])
@across(CRASH, "WRITE")
@proves(FILE_SYNC_DATA_IS_STABLE, V2_IS_SYNCHRONOUS, killed_by="crash-rounds-sizes-up")
def test_size(either: Either, losses: Losses, size: int) -> Steps:
    """A file that stable WRITEs have extended has exactly their size after a crash."""
    file = either.scratch.file("f", pattern(100))
    yield ARRANGED
    either.scratch.write(file, pattern(size, salt=1), 100)
    yield CRASH
    either.again()
    seen = either.scratch.attributes(either.found(b"f")).size
    expect(seen, "size after the crash", field="size", because=_rule(either)).equals(100 + size)
    losses.need_data()


@EACH_VERSION
@across(CRASH, "WRITE")
@proves(FILE_SYNC_METADATA_IS_STABLE, V2_IS_SYNCHRONOUS, killed_by="crash-restores-mtime-of-writes")
def test_mtime(either: Either, losses: Losses) -> Steps:
    """A stable WRITE that overwrites data moves mtime for good: a crash does not set it back."""
    file = either.scratch.file("f", pattern(5000))
    either.set_mtime(file, LONG_AGO.seconds)
    if either.scratch.attributes(file).mtime.seconds != LONG_AGO.seconds:
        skip("the server does not set mtime to the year 2000, so a loss would not show")
    yield ARRANGED
    either.scratch.write(file, pattern(1000, salt=1), 1000)
    if either.scratch.attributes(file).mtime.seconds == LONG_AGO.seconds:
        skip("WRITE does not move mtime: another check judges that")
    yield CRASH
    either.again()
    seen = either.scratch.attributes(either.found(b"f")).mtime.seconds
    rule = either.rule(V2_IS_SYNCHRONOUS, FILE_SYNC_METADATA_IS_STABLE)
    expect(seen, "seconds of mtime after the crash", field="mtime.seconds", because=rule).differs_from(
        LONG_AGO.seconds
    )
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "WRITE")
@proves(FILE_SYNC_DATA_IS_STABLE, V2_IS_SYNCHRONOUS, killed_by="crash-undoes-overwriting")
def test_overwritten_twice(either: Either, losses: Losses) -> Steps:
    """Of two stable WRITEs to one range, the data of the second one is there after a crash."""
    file = either.scratch.file("f", pattern(6000))
    yield ARRANGED
    for salt in (1, 2):
        either.scratch.write(file, pattern(3000, salt), 1000)
    yield CRASH
    either.again()
    wanted = pattern(6000)[:1000] + pattern(3000, salt=2) + pattern(6000)[4000:]
    expect_data(
        either.scratch.read(either.found(b"f")), wanted, "data after the crash", because=_rule(either)
    )
    losses.need_data()


@EACH_VERSION
@across(CRASH, "WRITE")
@proves(WRITE_GAP_IS_ZERO, V2_IS_SYNCHRONOUS, killed_by="crash-fills-gaps")
def test_gap(either: Either, losses: Losses) -> Steps:
    """The gap before a stable WRITE beyond the end of a file has zeros only after a crash."""
    file = either.scratch.file("f", pattern(100))
    yield ARRANGED
    either.scratch.write(file, pattern(100, salt=1), 20_000)
    if any(either.scratch.read(file)[100:20_000]):
        skip("the gap has other bytes than zeros even before the crash: another check judges that")
    yield CRASH
    either.again()
    seen = either.scratch.read(either.found(b"f"))
    rule = either.rule(V2_IS_SYNCHRONOUS, WRITE_GAP_IS_ZERO)
    expect_data(seen[100:20_000], bytes(19_900), "data in the gap after the crash", at=100, because=rule)
    losses.need_data()


@EACH_VERSION
@across(CRASH, "WRITE")
@proves(FILE_SYNC_DATA_IS_STABLE, V2_IS_SYNCHRONOUS, killed_by="crash-forgets-data-over-udp", needs="udp")
def test_over_udp(either: Either, losses: Losses, rpc_connect: Callable[..., RpcClient]) -> Steps:
    """Data that a stable WRITE brought over UDP survives a crash."""
    file, data = either.scratch.file("f", pattern(100)), pattern(1000, salt=1)
    if either.is_v2 and not losses.target.has("nfs2_udp"):
        unsupported("the target does not serve NFSv2 over UDP")
    yield ARRANGED
    reply = either.kind(rpc_connect("nfs", proto="udp")).write(file, 0, data)
    need(reply, "the data before the crash", "WRITE")
    count: int = len(data) if either.is_v2 else t.cast("t.Any", reply).resok.count
    yield CRASH
    either.again()
    seen = either.scratch.read(either.found(b"f"))[:count]
    expect_data(seen, data[:count], "data after the crash", of="range", because=_rule(either))
    losses.need_data()


def _rule(either: Either) -> Requirement:
    return either.rule(V2_IS_SYNCHRONOUS, FILE_SYNC_DATA_IS_STABLE)
