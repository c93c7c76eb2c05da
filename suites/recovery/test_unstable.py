# SPDX-License-Identifier: MIT
"""UNSTABLE data after a crash (RFC 1813 section 3.3.7): any part of it may be lost, and nothing else.

In the range that was written each byte is the old one, the new one or zero. All other bytes are as they were.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow
from nfsjudge import expect_that, observe, proves, skip, unsupported
from nfsjudge.expect import fail
from nfsjudge.survival import Content
from nfsjudge.survival import Level as Stability
from suites.losses import Losses
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, FILE_SYNC_DATA_IS_STABLE
from suites.nfs3.contents import pattern, read_range, write_all
from suites.recovery.after_crash import file_again
from suites.recovery.test_consistency import PROMISES, UNSTABLE_STAYS_IN_ITS_RANGE
from suites.recovery.test_write import DATA_SYNC_DATA_IS_STABLE

Shape: t.TypeAlias = tuple[int, tuple[tuple[int, int, int], ...]]
SHAPES: t.Final[dict[str, Shape]] = {
    "overwrite": (20_000, ((1, 5000, 3000),)),
    "whole-pages": (20_000, ((1, 4096, 8192),)),
    "append": (5000, ((1, 5000, 6000),)),
    "new-file": (0, ((1, 0, 9000),)),
    "after-hole": (100, ((1, 20_000, 3000),)),
    "overlapping": (12_000, ((1, 1000, 6000), (2, 4000, 6000), (1, 8000, 100))),
    "same-page": (4096, ((1, 100, 50), (2, 200, 50), (1, 4000, 96))),
}
"""Name -> size of the file before, and each WRITE: client, offset, size."""
AROUND: t.Final = tuple(name for name in SHAPES if name not in {"new-file", "whole-pages", "after-hole"})
"""Those that leave stable data in the pages that they write."""


def _written(shape: Shape, clients: list[Nfs3], file: bytes) -> Content:
    """Make the WRITEs of a shape, and return what the file may hold after a crash."""
    size, writes = shape
    content = Content(is_lossy=True)
    content.write(0, pattern(size), Stability.FILE_SYNC)
    is_uncommitted = False
    for salt, (client, offset, count) in enumerate(writes, 1):
        data = pattern(count, salt)
        for answer in write_all(clients[client - 1], file, offset, data, StableHow.UNSTABLE):
            content.write(offset, data[: answer.count], Stability(answer.committed))
            offset, data = offset + answer.count, data[answer.count :]
            is_uncommitted = is_uncommitted or answer.committed == StableHow.UNSTABLE
    if not is_uncommitted:
        unsupported("the server commits all data at once: no WRITE returned committed UNSTABLE")
    return content


def _seen(losses: Losses, scratch: Nfs3Scratch, file: bytes, content: Content) -> bytes:
    again = file_again(losses.target, scratch, file, b"f")
    data = read_range(losses.target.client(Nfs3), again, 0, 2 * content.size)
    observe("uncommitted data", "kept" if data == content.now else "lost, or a part of it")
    return data


@pytest.mark.parametrize("shape", SHAPES)
@across(CRASH, "WRITE UNSTABLE")
@proves(UNSTABLE_STAYS_IN_ITS_RANGE, killed_by="write3-crash-leaves-other-bytes")
def test_mixture(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, losses: Losses, shape: str) -> Steps:
    """After a crash, each byte of a range written with UNSTABLE is the old one, the new one or zero."""
    file = scratch.file("f", pattern(SHAPES[shape][0]))
    yield ARRANGED
    content = _written(SHAPES[shape], [nfs3, second_client], file)
    yield CRASH
    found = content.judge(_seen(losses, scratch, file, content))
    if found is not None:
        fail(
            f"{found.what} after the crash",
            (found.expected,),
            found.observed,
            PROMISES[found.promise],
            outcome=found.outcome,
        )
    losses.need_data()


@pytest.mark.parametrize("shape", AROUND)
@across(CRASH, "WRITE UNSTABLE")
@proves(UNSTABLE_STAYS_IN_ITS_RANGE, killed_by="write3-crash-zeroes-pages")
def test_around(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, losses: Losses, shape: str) -> Steps:
    """After a crash, stable data before and after a range written with UNSTABLE is there."""
    size, writes = SHAPES[shape]
    file = scratch.file("f", pattern(size))
    yield ARRANGED
    content = _written(SHAPES[shape], [nfs3, second_client], file)
    yield CRASH
    data = _seen(losses, scratch, file, content)
    outside = [at for at in range(size) if not any(start <= at < start + count for _, start, count in writes)]
    known = pattern(size)
    wrong = next((at for at in outside if data[at : at + 1] != known[at : at + 1]), None)
    expect_that(
        wrong is None,
        "the stable data, unchanged",
        f"another byte at offset {wrong}",
        "data around an uncommitted range after the crash",
    )
    losses.need_data()


@pytest.mark.parametrize("level", [StableHow.FILE_SYNC, StableHow.DATA_SYNC], ids=["file-sync", "data-sync"])
@across(CRASH, "WRITE UNSTABLE and stable")
@proves(
    FILE_SYNC_DATA_IS_STABLE,
    DATA_SYNC_DATA_IS_STABLE,
    UNSTABLE_STAYS_IN_ITS_RANGE,
    killed_by="write3-stable-write-shares-fate",
)
def test_stable_inside(
    nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, losses: Losses, level: StableHow
) -> Steps:
    """Stable data of one client inside of an uncommitted range of another one survives a crash."""
    file, content = scratch.file("f"), Content(is_lossy=True)
    yield ARRANGED
    for client, offset, size, stable in (
        (nfs3, 0, 8000, StableHow.UNSTABLE),
        (second_client, 3000, 1000, level),
        (nfs3, 3900, 4000, StableHow.UNSTABLE),
    ):
        data = pattern(size, salt=offset % 7)
        for answer in write_all(client, file, offset, data, stable):
            content.write(offset, data[: answer.count], Stability(max(stable, answer.committed)))
            offset, data = offset + answer.count, data[answer.count :]
    yield CRASH
    found = content.judge(_seen(losses, scratch, file, content))
    if found is not None:
        fail(
            f"{found.what} after the crash",
            (found.expected,),
            found.observed,
            PROMISES[found.promise],
            outcome=found.outcome,
        )
    losses.need_data()


@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, UNSTABLE_STAYS_IN_ITS_RANGE, killed_by="commit3-commits-own-data-only")
def test_commit_of_both(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """COMMIT by one client makes the UNSTABLE data of another client stable, too."""
    file, content = scratch.file("f"), Content(is_lossy=True)
    verifiers = set()
    yield ARRANGED
    for client, offset in ((nfs3, 0), (second_client, 5000)):
        data = pattern(5000, salt=1)
        for answer in write_all(client, file, offset, data, StableHow.UNSTABLE):
            content.write(offset, data[: answer.count], Stability(answer.committed))
            offset, data = offset + answer.count, data[answer.count :]
            verifiers.add(answer.verf)
    reply = nfs3.commit(file)
    if reply.resok is None or verifiers != {reply.resok.verf}:
        skip(f"COMMIT does not say that the data is stable: it answers {reply.status}")
    content.commit()
    yield CRASH
    found = content.judge(_seen(losses, scratch, file, content))
    if found is not None:
        fail(
            f"{found.what} after the crash",
            (found.expected,),
            found.observed,
            PROMISES[found.promise],
            outcome=found.outcome,
        )
    losses.need_data()
