# SPDX-License-Identifier: MIT
"""Short WRITEs (RFC 1813 section 3.3.7): whatever count the server returns is the number of bytes written.

Above wtmax a server may write everything, a part or nothing, reject the arguments or close the connection (section
3.3.19); below wtmax it may write a part at any time. It may never damage the file.
"""

from __future__ import annotations

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Write3ResOk
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    observe,
    proves,
    should,
    stated,
    unsupported,
)
from suites.nfs3.clauses import (
    WRITE_EXTENDS_SIZE,
    WRITE_MAKES_PROGRESS,
    WRITE_WCC_AFTER,
    WRITES_COUNT_BYTES,
)
from suites.nfs3.contents import pattern, read_range
from suites.nfs3.short_writes import CAUSES, Sender, sender

WRITE_STOPS_AT_COUNT = stated(
    "RFC 1813", "3.3.7", "count is the number of bytes written: bytes beyond it are unchanged", harm=Harm.DATA
)
WRITE_ACCEPTS_THE_REST = should(
    "RFC 1813",
    "3.3.7",
    "the client sends the rest of a short WRITE in another WRITE, which succeeds",
    part=Part.IMPLEMENTATION,
)
NOT_HANDLED = "the server refuses WRITEs this large"
STEPS = 256
"""The most short counts in a row that a check looks at."""
each_cause = pytest.mark.parametrize("cause", CAUSES)


@pytest.fixture
def send(request: pytest.FixtureRequest, nfs3: Nfs3, scratch: Nfs3Scratch, cause: str) -> Sender:
    """Sends more than the server writes in one call, for the cause of the check."""
    return sender(request, nfs3, scratch, cause)


def _written(send: Sender, file: bytes, offset: int, data: bytes) -> Write3ResOk:
    """The result of one WRITE of `data`. UNSUPPORTED if the server rejects so much data."""
    reply = send.write(file, offset, data)
    if reply is None or reply.resok is None:
        unsupported(NOT_HANDLED if reply is None else f"{NOT_HANDLED}: {reply.status}")
    return reply.resok


@pytest.mark.exclusive
@each_cause
@proves(WRITES_COUNT_BYTES, killed_by="write3-short-count-zeroes-the-last-byte")
def test_short_count(nfs3: Nfs3, scratch: Nfs3Scratch, send: Sender) -> None:
    """A short WRITE stores the bytes that it counts."""
    file, data = scratch.file("f"), pattern(send.most, salt=1)
    count = _written(send, file, 0, data).count
    expect(count, "count", field="count").at_most(send.most)
    seen = read_range(nfs3, file, 0, count)
    expect_data(seen, data[:count])


@pytest.mark.exclusive
@each_cause
@proves(WRITE_STOPS_AT_COUNT, killed_by="write3-short-count-writes-all")
def test_short_keeps_rest(nfs3: Nfs3, scratch: Nfs3Scratch, send: Sender, budget: Budget) -> None:
    """A short WRITE changes no bytes beyond its count."""
    # The old bytes lie where the sent data ends: a short count ends before or within them.
    size = budget.of(500, ours=128)
    old, new = pattern(size), pattern(send.most, salt=1)
    file, offset = scratch.file("f"), max(0, send.most - size)
    scratch.write(file, old, offset)
    count = _written(send, file, 0, new).count
    seen = read_range(nfs3, file, offset, size)
    beyond = max(count - offset, 0)
    expect_data(seen[beyond:], old[beyond:], "data beyond count", at=offset + beyond)


@pytest.mark.exclusive
@each_cause
@proves(WRITE_EXTENDS_SIZE, killed_by="write3-short-count-sizes-all")
def test_short_size(scratch: Nfs3Scratch, send: Sender) -> None:
    """A short WRITE at the end of a file extends it by the count."""
    file = scratch.file("f", pattern(100))
    count = _written(send, file, 100, pattern(send.most, salt=1)).count
    expect(scratch.attributes(file)).field("size").equals(100 + count)


@pytest.mark.exclusive
@each_cause
@proves(WRITE_WCC_AFTER, killed_by="write3-short-wcc-counts-all")
def test_short_wcc_after(scratch: Nfs3Scratch, send: Sender) -> None:
    """A short WRITE returns the actual size of the file in file_wcc.after."""
    file = scratch.file("f", pattern(100))
    after = _written(send, file, 100, pattern(send.most, salt=1)).file_wcc.after
    if after is None:
        unsupported("WRITE returned no file_wcc.after, which is optional")
    expect(after).field("size", "size in file_wcc.after").equals(scratch.attributes(file).size)


@pytest.mark.exclusive
@each_cause
@proves(WRITE_ACCEPTS_THE_REST, WRITES_COUNT_BYTES, killed_by="write3-continuation-is-inval")
def test_short_continued(nfs3: Nfs3, scratch: Nfs3Scratch, send: Sender) -> None:
    """WRITE accepts the data that a short WRITE left over."""
    file, data = scratch.file("f"), pattern(send.most + 4000, salt=1)
    count = _written(send, file, 0, data).count
    rest = expect(nfs3.write(file, count, data[count : count + 4000])).ok().count
    seen = read_range(nfs3, file, 0, count + rest)
    expect_data(seen, data[: count + rest], because=WRITES_COUNT_BYTES)


@pytest.mark.exclusive
@each_cause
@proves(WRITE_MAKES_PROGRESS, WRITES_COUNT_BYTES, killed_by="write3-continuation-writes-nothing")
def test_short_progress(nfs3: Nfs3, scratch: Nfs3Scratch, send: Sender, budget: Budget) -> None:
    """Repeated short WRITEs make progress until all data is stored."""
    file, data, steps = scratch.file("f"), pattern(send.most + 100, salt=1), budget.of(STEPS, ours=64)
    at = calls = 0
    end = len(data)
    while at < end:
        count = _written(send, file, at, data[at:]).count
        expect(count, "count of WRITE", field="count").between(1, len(data) - at)
        # Stop after about this many WRITEs: more of the same small counts show nothing new.
        end = min(end, at + count * (steps - calls)) if calls < steps else at
        at, calls = at + count, calls + 1
    observe("number of WRITEs", calls)
    seen = read_range(nfs3, file, 0, at)
    expect_data(seen, data[:at], because=WRITES_COUNT_BYTES)
