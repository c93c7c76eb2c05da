# SPDX-License-Identifier: MIT
"""Data of NFSv4.1 after a crash (RFC 5661 sections 18.3 and 18.32): what is stable, what may be lost, the verifier."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import ARRANGED, CRASH, RESTART, Pause, Steps, across
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import StableHow4
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    expect_that,
    must,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
)
from nfsjudge.expect import fail
from nfsjudge.survival import Content
from nfsjudge.survival import Level as Stability
from suites.losses import LOSES_NOTHING, Losses
from suites.nfs3.contents import pattern
from suites.nfs4.minors import MINORS
from suites.recovery.either import ENDINGS
from suites.recovery.v4 import (
    COMMIT4_FLUSHES_DATA,
    COMMITTED4_IS_TRUE,
    DATA_SYNC4_IS_STABLE,
    FILE_SYNC4_IS_STABLE,
    Unstable4,
    again,
    commit,
    file_again,
    leave_nothing,
    range_of,
    verifier,
    write_all,
)
from suites.recovery.writes import WRITES

UNSTABLE4_STAYS_IN_ITS_RANGE = stated(
    "RFC 5661",
    "18.32.3",
    "any part of UNSTABLE4 data may be lost, but the server destroys no other data, and leaves no other bytes",
    harm=Harm.DATA,
)
VERIFIER4_CHANGES_ON_LOSS = stated(
    "RFC 5661", "18.32.3", "the server destroys no data without changing writeverf", harm=Harm.DATA
)
COMMIT4_VERIFIER_CHANGES = must(
    "RFC 5661",
    "18.3.3",
    "the verifier of COMMIT varies at each event that may lead to a loss of uncommitted data",
    harm=Harm.DATA,
)
VERIFIER4_IS_UNIQUE = must("RFC 5661", "18.32.3", "writeverf is unique between instances of the server")
# 18.32.3 says MUST of all instances. 18.32.4 says what that is for, and suggests the time of the start "if restarting
# the server results in lost buffers": a server that keeps its buffers does no harm with a verifier that stays.
VERIFIER4_NAMES_THE_INSTANCE = should(
    "RFC 5661",
    "18.32.4",
    "writeverf is unique between instances, also where a restart may lose nothing",
    part=Part.IMPLEMENTATION,
)
VERIFIER4_STANDS = must(
    "RFC 5661", "18.32.3", "writeverf is unchanged during a single instance of the server"
)
_SYNC: t.Final = {
    "file-sync": (StableHow4.FILE_SYNC4, FILE_SYNC4_IS_STABLE),
    "data-sync": (StableHow4.DATA_SYNC4, DATA_SYNC4_IS_STABLE),
}

_PLACES: t.Final = {
    "overwrite": (20_000, 5000, 3000),
    "append": (5000, 5000, 6000),
    "after-hole": (100, 20_000, 3000),
}
"""Name -> size of the file before, offset and size of the uncommitted data."""


def _survives(v4: Nfs4Dialect, losses: Losses, write: str, stable: StableHow4) -> Steps:
    """Make one of the `WRITES`, COMMIT if it is UNSTABLE4, crash: the data is still there."""
    before, offset, size = WRITES[write]
    file, data = v4.scratch.file("f", pattern(before)), pattern(size, salt=1)
    yield ARRANGED
    results = write_all(v4, file, offset, data, stable)
    if stable is StableHow4.UNSTABLE4:
        commit(v4, file, results)
    leave_nothing(v4)
    yield CRASH
    expect_data(range_of(v4, file_again(v4), offset, size), data, "data after the crash", at=offset)
    losses.need_data()


@MINORS
@across(CRASH, "FILE_SYNC")
@pytest.mark.parametrize("write", WRITES)
@proves(FILE_SYNC4_IS_STABLE, killed_by="write4-lies-about-file-sync")
def test_file_sync(v4: Nfs4Dialect, losses: Losses, write: str) -> Steps:
    """Data written with FILE_SYNC4 survives a crash."""
    yield from _survives(v4, losses, write, StableHow4.FILE_SYNC4)


@MINORS
@across(CRASH, "DATA_SYNC")
@pytest.mark.parametrize("write", WRITES)
@proves(DATA_SYNC4_IS_STABLE, killed_by="write4-lies-about-data-sync")
def test_data_sync(v4: Nfs4Dialect, losses: Losses, write: str) -> Steps:
    """Data written with DATA_SYNC4 survives a crash."""
    yield from _survives(v4, losses, write, StableHow4.DATA_SYNC4)


@MINORS
@across(CRASH, "COMMIT")
@pytest.mark.parametrize("write", WRITES)
@proves(COMMIT4_FLUSHES_DATA, killed_by="commit4-flushes-nothing")
def test_committed(v4: Nfs4Dialect, losses: Losses, write: str) -> Steps:
    """Data written with UNSTABLE4 survives a crash after COMMIT."""
    yield from _survives(v4, losses, write, StableHow4.UNSTABLE4)


@MINORS
@across(CRASH, "COMMIT")
@proves(COMMIT4_FLUSHES_DATA, killed_by="commit4-flushes-the-first-half")
def test_committed_range(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """The range of a file that COMMIT names survives a crash."""
    file, data = v4.scratch.file("f"), pattern(40_000, salt=1)
    yield ARRANGED
    results = write_all(v4, file, 0, data, StableHow4.UNSTABLE4)
    commit(v4, file, results, 10_000, 20_000)
    leave_nothing(v4)
    yield CRASH
    seen = range_of(v4, file_again(v4), 10_000, 20_000)
    expect_data(seen, data[10_000:30_000], "data after the crash", at=10_000)
    losses.need_data()


@MINORS
@across(CRASH, "WRITE UNSTABLE")
@proves(COMMITTED4_IS_TRUE, killed_by="write4-calls-unstable-data-stable")
def test_claimed_stable(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """Data for which WRITE with UNSTABLE4 returns DATA_SYNC4 or FILE_SYNC4 survives a crash without COMMIT."""
    file, data = v4.scratch.file("f", pattern(9000)), pattern(9000, salt=1)
    yield ARRANGED
    results = write_all(v4, file, 0, data, StableHow4.UNSTABLE4)
    levels = " and ".join(sorted({show(result.committed) for result in results}))
    observe("committed", levels)
    if any(result.committed == StableHow4.UNSTABLE4 for result in results):
        commit(v4, file, results)
    leave_nothing(v4)
    yield CRASH
    what = f"data after the crash, for which WRITE with UNSTABLE4 returned {levels}"
    expect_data(range_of(v4, file_again(v4), 0, len(data)), data, what)
    losses.need_data()


@MINORS
@across(CRASH, "WRITE UNSTABLE")
@pytest.mark.parametrize("place", [*_PLACES.values()], ids=[*_PLACES])
@proves(UNSTABLE4_STAYS_IN_ITS_RANGE, killed_by="write4-crash-leaves-other-bytes")
def test_mixture(v4: Nfs4Dialect, losses: Losses, place: tuple[int, int, int]) -> Steps:
    """After a crash, each byte of a range written with UNSTABLE4 is the old one, the new one or zero."""
    before, offset, size = place
    file, content, data = v4.scratch.file("f", pattern(before)), Content(is_lossy=True), pattern(size, 1)
    content.write(0, pattern(before), Stability.FILE_SYNC)
    yield ARRANGED
    for result in write_all(v4, file, offset, data, StableHow4.UNSTABLE4):
        content.write(offset, data[: result.count], Stability(result.committed))
        offset, data = offset + result.count, data[result.count :]
    leave_nothing(v4)
    yield CRASH
    seen = range_of(v4, file_again(v4), 0, 2 * content.size)
    observe("uncommitted data", "kept" if seen == content.now else "lost, or a part of it")
    wrong = content.judge(seen)
    if wrong is not None:
        what = f"{wrong.what} after the crash"
        fail(what, (wrong.expected,), wrong.observed, UNSTABLE4_STAYS_IN_ITS_RANGE, outcome=wrong.outcome)
    losses.need_data()


@MINORS
@across(CRASH, "WRITE UNSTABLE")
@proves(UNSTABLE4_STAYS_IN_ITS_RANGE, killed_by="write4-crash-zeroes-pages")
def test_around(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """After a crash, stable data before and after a range written with UNSTABLE4 is there."""
    file = v4.scratch.file("f", pattern(20_000))
    yield ARRANGED
    write_all(v4, file, 5000, pattern(3000, salt=1), StableHow4.UNSTABLE4)
    leave_nothing(v4)
    yield CRASH
    seen = range_of(v4, file_again(v4), 0, 20_001)
    known = pattern(20_000)
    expect_data(seen[:5000], known[:5000], "data before the uncommitted range")
    expect_data(seen[8000:], known[8000:], "data after the uncommitted range", at=8000)
    losses.need_data()


# ---------------------------------------------------------------- the verifier


@MINORS
@across(CRASH, "UNSTABLE")
@proves(VERIFIER4_CHANGES_ON_LOSS, killed_by="write4-verifier-survives-crash")
def test_lost_data(v4: Nfs4Dialect) -> Steps:
    """WRITE returns a new verifier after a crash that lost UNSTABLE4 data."""
    file, data = v4.scratch.file("f"), Unstable4()
    yield ARRANGED
    data.write(v4, b"f", file, 0, pattern(50_000, salt=1))
    leave_nothing(v4)
    yield CRASH
    lost = data.lost(v4)
    observe("unstable data after the crash", "lost" if lost else "kept")
    seen = verifier(v4, file_again(v4))
    expect(seen, "writeverf after unstable data was lost", field="writeverf").satisfies(
        lambda verf: verf not in lost, "a new verifier"
    )
    if not lost:
        skip(LOSES_NOTHING)


@MINORS
@across(CRASH, "UNSTABLE")
@proves(COMMIT4_VERIFIER_CHANGES, killed_by="commit4-verifier-survives-crash")
def test_commit_verifier(v4: Nfs4Dialect) -> Steps:
    """COMMIT returns a new verifier after a crash that lost UNSTABLE4 data."""
    file, data = v4.scratch.file("f"), Unstable4()
    yield ARRANGED
    data.write(v4, b"f", file, 0, pattern(50_000, salt=1))
    leave_nothing(v4)
    yield CRASH
    lost = data.lost(v4)
    reply = v4.compounds.compound(op.putfh(file_again(v4)), op.commit())
    result = expect(reply).of(p.COMMIT).ok()
    expect(result).field("writeverf", "writeverf of COMMIT after the loss").satisfies(
        lambda verf: bytes(verf) not in lost, "a new verifier"
    )
    if not lost:
        skip(LOSES_NOTHING)


@MINORS
@ENDINGS
@across("ending", "UNSTABLE")
@proves(VERIFIER4_STANDS, killed_by="commit4-verifier-lags-after-restart")
def test_write_and_commit(v4: Nfs4Dialect, target: TargetView, ending: str) -> Steps:
    """WRITE and COMMIT return the same verifier after a crash or a restart."""
    file = v4.scratch.file("f", b"data")
    yield ARRANGED
    verifier(v4, file)
    leave_nothing(v4)
    yield Pause(ending)
    file = file_again(v4)
    known = verifier(v4, file)
    reply = v4.compounds.compound(op.putfh(file), op.commit())
    expect(expect(reply).of(p.COMMIT).ok()).field("writeverf").equals(known)
    if target.has("nfs3"):
        observe("write verifiers of NFSv3 and NFSv4", "equal" if known == _of_nfs3(v4, target) else "differ")


def _of_nfs3(v4: Nfs4Dialect, target: TargetView) -> bytes | None:
    """The write verifier of NFSv3, if it finds the file. No text compares it with that of NFSv4."""
    client = target.client(Nfs3)
    directory = client.lookup(target.root(Nfs3), v4.scratch.name).resok
    file = None if directory is None else client.lookup(directory.object, b"f").resok
    written = None if file is None else client.write(file.object, 0, b"data", nfs3.StableHow.UNSTABLE).resok
    return None if written is None else written.verf


@MINORS
@ENDINGS
@across("ending", "UNSTABLE")
@proves(VERIFIER4_STANDS, killed_by="write4-verifier-by-file-after-restart")
def test_all_files(v4: Nfs4Dialect, ending: str) -> Steps:
    """WRITE returns the same verifier for all files after a crash or a restart, written to before or not."""
    written = v4.scratch.file("f", b"data")
    v4.scratch.file("g", b"data")
    yield ARRANGED
    verifier(v4, written)
    leave_nothing(v4)
    yield Pause(ending)
    known = verifier(v4, file_again(v4))
    expect(verifier(v4, file_again(v4, b"g")), "writeverf for another file", field="writeverf").equals(known)


@MINORS
@across(RESTART, "UNSTABLE")
@proves(VERIFIER4_NAMES_THE_INSTANCE, killed_by="write4-verifier-survives-restart")
def test_unique(v4: Nfs4Dialect) -> Steps:
    """WRITE returns another verifier after a clean restart, if the server may answer UNSTABLE4."""
    file = v4.scratch.file("f", b"data")
    yield ARRANGED
    before = write_all(v4, file, 0, b"data", StableHow4.UNSTABLE4)[0]
    number = v4.session.client.id if v4.session.client is not None else 0
    leave_nothing(v4)
    yield RESTART
    again(v4)
    client = v4.client().compound(op.create_session(number, 1))
    if client.status != p.Nfsstat4.NFS4ERR_STALE_CLIENTID:
        skip("the server knows the client of before: it may be the same instance")
    if before.committed != StableHow4.UNSTABLE4:
        skip("the server commits all data at once, and nobody needs its verifier")
    expect(verifier(v4, file_again(v4)), "writeverf after the restart", field="writeverf").differs_from(
        bytes(before.writeverf)
    )


@MINORS
@pytest.mark.exclusive
@proves(VERIFIER4_IS_UNIQUE, killed_by=("write4-verifier-is-made-of-seconds", "write4-verifier-is-reused"))
def test_never_reused(v4: Nfs4Dialect, target: TargetView) -> None:
    """No verifier returns after UNSTABLE4 data was lost under it, even with crashes in quick succession."""
    file, lost = v4.scratch.file("f"), set[bytes]()
    for salt in range(4):
        data = Unstable4()
        data.write(v4, b"f", file, salt * 10_000, pattern(9000, salt))
        leave_nothing(v4)
        target.crash()
        lost |= data.lost(v4)
        file = file_again(v4)
        is_new = verifier(v4, file) not in lost
        what = "writeverf after unstable data was lost under others"
        expect_that(is_new, "a new verifier", "one of those", what, because=VERIFIER4_IS_UNIQUE)
    observe("unstable data after four crashes", "lost" if lost else "kept")
    if not lost:
        skip(LOSES_NOTHING)
