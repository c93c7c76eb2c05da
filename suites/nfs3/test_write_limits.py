# SPDX-License-Identifier: MIT
"""WRITE (RFC 1813 section 3.3.7) at maxfilesize, on a read-only file system, and without permission."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsjudge import Harm, expect, expect_data, observe, proves, should, skip, stated
from suites.nfs3.attributes import with_mode
from suites.nfs3.clauses import (
    MAXFILESIZE_IS_LIMIT,
    READ_ONLY_IS_UNCHANGED,
    RETURNS_ROFS,
    TWO_GIB_FIT_BELOW_MAXFILESIZE,
    WRITE_KEEPS_OTHER_DATA,
    WRITES_COUNT_BYTES,
)
from suites.nfs3.contents import pattern, read_range, stored
from suites.nfs3.limits import WITHIN, WITHIN_IDS, clause_within, fsinfo, need_size
from suites.nfs3.permissions import STRANGER
from suites.nfs3.statuses import NO_PERMISSION, NOT_ALLOWED

DENIED_WRITE_CHANGES_NOTHING = stated(
    "RFC 1813",
    "2.6",
    "a WRITE that fails with NFS3ERR_ACCES or NFS3ERR_PERM writes nothing",
    harm=Harm.OBJECT,
)
RETURNS_FBIG = should(
    "RFC 1813", "2.6", "NFS3ERR_FBIG reports that the file would grow beyond the server's limit"
)
LIMITS: t.Final = {"as-is": None, "100000": 100_000}
"""The largest file: the target's own maxfilesize, or one that a knob sets."""


# ---------------------------------------------------------------- denied WRITEs


@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name.lower())
@proves(
    DENIED_WRITE_CHANGES_NOTHING,
    killed_by="write3-denies-and-writes",
    needs=("other_users", "distinct_users"),
)
def test_denied_writes_nothing(
    nfs3: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3], stable: StableHow
) -> None:
    """A WRITE that the server denies leaves the data of the file unchanged."""
    content = pattern(100)
    file = with_mode(nfs3, stored(scratch, "f", content), 0o644)
    reply = as_user(*STRANGER).write(file, 10, b"data", stable)
    observe("WRITE by another user", reply.status)
    if reply.status not in NO_PERMISSION:
        skip(f"the WRITE was not denied: it answers {reply.status}, which other checks judge", reply)
    expect_data(read_range(nfs3, file, 0, 200), content)


@pytest.mark.exclusive
@proves(DENIED_WRITE_CHANGES_NOTHING, killed_by="write3-denies-and-writes")
def test_immutable_file(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView) -> None:
    """A WRITE that the server denies on a read-only file leaves the data unchanged."""
    content = pattern(100)
    file = stored(scratch, "read-only", content)
    knobs.set(read_only_names="read-only")
    reply = nfs3.write(file, 10, b"data")
    observe("WRITE to a read-only file", reply.status)
    if reply.status not in NOT_ALLOWED:
        skip(f"the WRITE was not denied: it answers {reply.status}, which other checks judge", reply)
    expect_data(read_range(nfs3, file, 0, 200), content)


# ---------------------------------------------------------------- the largest file


def _largest_file(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, limit: str) -> int:
    """maxfilesize of FSINFO. SKIP if it is no limit."""
    if LIMITS[limit] is not None:
        knobs.set(max_file_size=LIMITS[limit])
    most = fsinfo(nfs3, scratch.handle).maxfilesize
    observe("maxfilesize", most)
    if not 1 <= most < 2**64 - 64:
        skip(f"maxfilesize is {most}: no offset above it can be tried")
    return most


@pytest.mark.exclusive
@pytest.mark.parametrize(
    ("limit", "beyond"),
    # The reference server has one way across the limit, and one above it; with its own limit a server may have more.
    [*(("as-is", beyond) for beyond in (1, 8, 16, 17)), ("100000", 1), ("100000", 16)],
)
@proves(MAXFILESIZE_IS_LIMIT, WRITES_COUNT_BYTES, killed_by="write3-exceeds-maxfilesize")
def test_maxfilesize_exceeded(
    nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, limit: str, beyond: int
) -> None:
    """WRITE never extends a file beyond maxfilesize."""
    most = _largest_file(nfs3, scratch, knobs, limit)
    file, data, offset = scratch.file("f"), pattern(16), max(0, most + beyond - 16)
    reply = nfs3.write(file, offset, data)
    observe(f"WRITE that ends {beyond} bytes beyond maxfilesize", reply.status)
    expect(scratch.attributes(file)).field("size").at_most(most)
    if reply.resok is not None:
        seen = read_range(nfs3, file, offset, reply.resok.count)
        expect_data(seen, data[: reply.resok.count], at=offset, because=WRITES_COUNT_BYTES)


@pytest.mark.exclusive
@pytest.mark.parametrize("limit", ["as-is", "100000"])
@proves(RETURNS_FBIG, killed_by="write3-too-big-is-io")
def test_maxfilesize_status(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, limit: str) -> None:
    """WRITE beyond maxfilesize returns NFS3ERR_FBIG, NFS3ERR_INVAL or NFS3ERR_NOSPC."""
    most = _largest_file(nfs3, scratch, knobs, limit)
    reply = nfs3.write(scratch.file("f", b"data"), most, b"data")
    others = (Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NOSPC)
    expect(reply).refused(Nfsstat3.NFS3ERR_FBIG, *others, because=RETURNS_FBIG)


@pytest.mark.exclusive
@pytest.mark.parametrize("short_of", [1, 0], ids=["maxfilesize-1", "maxfilesize"])
@proves(MAXFILESIZE_IS_LIMIT, WRITES_COUNT_BYTES, killed_by="write3-refuses-the-largest-file")
def test_maxfilesize_allowed(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, short_of: int) -> None:
    """WRITE can extend a file up to maxfilesize."""
    knobs.set(max_file_size=100_000)
    file, data = scratch.file("f", b"data"), pattern(16)
    offset = fsinfo(nfs3, scratch.handle).maxfilesize - short_of - 16
    count = expect(nfs3.write(file, offset, data)).granted().count
    seen = read_range(nfs3, file, offset, count)
    expect_data(seen, data[:count], at=offset, because=WRITES_COUNT_BYTES)


@pytest.mark.parametrize("place", WITHIN, ids=WITHIN_IDS)
@proves(
    MAXFILESIZE_IS_LIMIT,
    TWO_GIB_FIT_BELOW_MAXFILESIZE,
    killed_by=("write3-refuses-2-gib", "write3-refuses-offsets-of-2-gib"),
)
def test_within_maxfilesize(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, place: str) -> None:
    """WRITE that ends below maxfilesize is not refused as too large, whichever side of a limit it begins on."""
    file = scratch.file("f")
    with need_size(nfs3, root, scratch, file, WITHIN[place]):
        # Across the limit, and from there on.
        replies = [nfs3.write(file, WITHIN[place] - size, pattern(size)) for size in (16, 8)]
    for reply in replies:
        expect(reply, because=clause_within(place)).granted()


@pytest.mark.exclusive
@pytest.mark.parametrize("limit", ["as-is", "100000"])
@proves(WRITE_KEEPS_OTHER_DATA, killed_by="write3-refused-clears-the-beginning")
def test_maxfilesize_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, limit: str) -> None:
    """WRITE across maxfilesize does not damage the rest of the file."""
    content = pattern(5000)
    file = stored(scratch, "f", content)
    most = _largest_file(nfs3, scratch, knobs, limit)
    observe("WRITE across maxfilesize", nfs3.write(file, most - 8, pattern(16, salt=1)).status)
    expect_data(read_range(nfs3, file, 0, 5000), content, of="range")


# ---------------------------------------------------------------- read-only file systems


@pytest.mark.exclusive
@proves(RETURNS_ROFS, killed_by="write3-read-only-is-io")
def test_read_only_status(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView) -> None:
    """WRITE to a read-only file system returns NFS3ERR_ROFS, NFS3ERR_ACCES or NFS3ERR_PERM."""
    file = scratch.file("f", pattern(100))
    knobs.set(read_only=True)
    reply = nfs3.write(file, 0, b"data")
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=RETURNS_ROFS)


@pytest.mark.exclusive
@pytest.mark.parametrize("offset", [0, 50, 5000])
@proves(READ_ONLY_IS_UNCHANGED, killed_by="write3-read-only-is-refused-and-written")
def test_read_only_unchanged(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, offset: int) -> None:
    """WRITE to a read-only file system changes no data."""
    content = pattern(100)
    file = stored(scratch, "f", content)
    knobs.set(read_only=True)
    observe("WRITE", nfs3.write(file, offset, b"data").status)
    expect_data(read_range(nfs3, file, 0, 10_000), content)
