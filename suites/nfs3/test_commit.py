# SPDX-License-Identifier: MIT
"""COMMIT (RFC 1813 section 3.3.21): data on stable storage, verifier, ranges, wcc_data."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.side_by_side import Waiting, answered, side_by_side
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import COMMIT, Commit3Args, Nfsstat3, StableHow, Write3ResOk
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_unchanged,
    observe,
    proves,
    stated,
    unsupported,
)
from suites.nfs3 import file_types
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.clauses import (
    COMMIT_FLUSHES_DATA,
    COMMIT_FLUSHES_RANGE,
    COMMIT_NOTHING_TO_FLUSH,
    COMMIT_VERIFIER_IS_CONSTANT,
)
from suites.nfs3.contents import need_content, pattern, write_all

COMMIT_ZERO_COUNT = stated(
    "RFC 1813", "3.3.21", "COMMIT with count 0 flushes from offset to the end of the file", harm=Harm.DATA
)
COMMIT_CHANGES_NOTHING = stated(
    "RFC 1813",
    "3.3.21",
    "COMMIT flushes data and changes neither the contents nor the size of the file",
    harm=Harm.DATA,
)
COMMIT_WCC_BEFORE = stated("RFC 1813", "2.5", "file_wcc.before has the size of the file before the COMMIT")
COMMIT_WCC_AFTER = stated(
    "RFC 1813", "3.3.21", "file_wcc.after has the attributes of the file after the COMMIT"
)
RANGES: t.Final = {
    "first-byte": (0, 1),
    "first-4g": (0, 2**32 - 1),
    "from-2g-1": (2**31 - 1, 1),
    "from-2g": (2**31, 0),
    "from-4g-1": (2**32 - 1, 2),
    "from-4g": (2**32, 2**32 - 1),
    "from-int64max": (2**63 - 1, 1),
    "from-int64max+1": (2**63, 0),
    "to-uint64max": (2**64 - 2, 1),
    "past-uint64max": (2**64 - 1, 2**32 - 1),
}
"""(offset, count) of COMMIT, within the file and beyond it."""
KNOWN_RANGES: t.Final = {
    name: (offset, count) for name, (offset, count) in RANGES.items() if offset + count < 2**63
}
"""The ranges that end below 2^63, so that signed 64-bit offsets can represent them."""


def _write_unstable(nfs3: Nfs3, file: bytes, data: bytes) -> list[Write3ResOk]:
    """Write `data` with UNSTABLE and return the results."""
    return write_all(nfs3, file, 0, data, StableHow.UNSTABLE)


@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-drops-data")
def test_keeps_unstable_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT keeps the data that was written with UNSTABLE."""
    file = scratch.file("f", pattern(3000))
    data = pattern(10_000, salt=1)
    _write_unstable(nfs3, file, data)
    need_content(scratch, file, data)
    expect(nfs3.commit(file)).ok()
    expect_data(scratch.read(file), data)


@proves(COMMIT_VERIFIER_IS_CONSTANT, killed_by="commit3-has-its-own-verifier")
def test_verifier_of_write(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT returns the verifier that WRITE returned."""
    file = scratch.file("f")
    verf = _write_unstable(nfs3, file, b"data")[-1].verf
    reply = nfs3.commit(file)
    expect(reply, because=COMMIT_FLUSHES_DATA).ok()
    expect(reply).field("resok.verf").equals(verf)


@proves(COMMIT_VERIFIER_IS_CONSTANT, killed_by="commit3-changes-verifier")
def test_verifier_repeated(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT returns the same verifier each time."""
    file = scratch.file("f", b"data")
    verf = expect(nfs3.commit(file), because=COMMIT_NOTHING_TO_FLUSH).ok().verf
    reply = nfs3.commit(file)
    expect(reply, because=COMMIT_NOTHING_TO_FLUSH).ok()
    expect(reply).field("resok.verf").equals(verf)


@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-fails-the-second-time")
def test_again(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT succeeds each time after further WRITEs, also for a range that was committed before."""
    file, size = scratch.file("f"), 5000
    for salt, (offset, count) in enumerate([(0, 0), (0, size), (0, size), (0, 0)], 1):
        _write_unstable(nfs3, file, pattern(size, salt))
        expect(nfs3.commit(file, offset, count)).ok()
    expect_data(scratch.read(file), pattern(size, 4))


@proves(COMMIT_ZERO_COUNT, killed_by="commit3-refuses-count-zero")
def test_whole_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT with offset 0 and count 0 succeeds."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(5000))
    expect(nfs3.commit(file, 0, 0)).ok()


@proves(COMMIT_ZERO_COUNT, killed_by="commit3-refuses-ranges")
def test_rest_of_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT with count 0 and an offset inside the file succeeds."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(5000))
    expect(nfs3.commit(file, 1234, 0)).ok()


@proves(COMMIT_FLUSHES_RANGE, killed_by="commit3-refuses-ranges")
def test_partial_range(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT of a part of a file succeeds and keeps all data."""
    file = scratch.file("f")
    data = pattern(20_000)
    _write_unstable(nfs3, file, data)
    need_content(scratch, file, data)
    expect(nfs3.commit(file, 4097, 5000)).ok()
    expect_data(scratch.read(file), data)


@proves(COMMIT_NOTHING_TO_FLUSH, killed_by="commit3-refuses-clean-files")
def test_nothing_to_flush(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT succeeds when there is nothing to flush."""
    for name, data in (("empty", b""), ("stable", pattern(5000))):
        expect(nfs3.commit(scratch.file(name, data))).ok()


@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-extends-the-file")
def test_beyond_eof(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT of a range beyond the end does not extend the file."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(1000))
    nfs3.commit(file, 500, 10_000)
    expect(scratch.attributes(file)).field("size").equals(1000)


@proves(COMMIT_WCC_BEFORE, killed_by="commit3-before-has-no-size")
def test_wcc_before_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT returns in file_wcc.before the size that GETATTR returned before the call."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(1000))
    known = scratch.attributes(file)
    reply = nfs3.commit(file)
    if expect(reply, because=COMMIT_FLUSHES_DATA).ok().file_wcc.before is None:
        unsupported("COMMIT returns no file_wcc.before")
    expect(reply).field("resok.file_wcc.before.size").equals(known.size)


@proves(COMMIT_WCC_AFTER, killed_by="commit3-after-has-another-fileid")
def test_wcc_after(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT returns in file_wcc.after what GETATTR returns after the call."""
    file = scratch.file("f")
    _write_unstable(nfs3, file, pattern(1000))
    reply = nfs3.commit(file)
    if expect(reply, because=COMMIT_FLUSHES_DATA).ok().file_wcc.after is None:
        unsupported("COMMIT returns no file_wcc.after")
    expect_same_object(reply, "resok.file_wcc.after", scratch.attributes(file))


# ---------------------------------------------------------------- ranges


@pytest.mark.parametrize("where", RANGES)
@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-drops-data")
def test_ranges_keep_data(nfs3: Nfs3, scratch: Nfs3Scratch, where: str) -> None:
    """COMMIT of any range keeps the data and the size of the file."""
    file, data = scratch.file("f"), pattern(10_000)
    write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    need_content(scratch, file, data)
    observe("COMMIT of the range", nfs3.commit(file, *RANGES[where]).status)
    expect(scratch.attributes(file)).field("size").equals(10_000)
    expect_data(scratch.read(file), data)


@pytest.mark.parametrize("where", KNOWN_RANGES)
@proves(COMMIT_FLUSHES_RANGE, COMMIT_NOTHING_TO_FLUSH, killed_by="commit3-refuses-ranges")
def test_ranges_accepted(nfs3: Nfs3, scratch: Nfs3Scratch, where: str) -> None:
    """COMMIT succeeds for any range."""
    file, size = scratch.file("f"), 10_000
    write_all(nfs3, file, 0, pattern(size), StableHow.UNSTABLE)
    offset, count = KNOWN_RANGES[where]
    broken = COMMIT_FLUSHES_RANGE if offset < size else COMMIT_NOTHING_TO_FLUSH
    expect(nfs3.commit(file, offset, count), because=broken).ok()


# ---------------------------------------------------------------- other objects, clients and transports


@side_by_side
@pytest.mark.parametrize("kind", file_types.NOT_REGULAR)
@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-changes-the-mode-of-non-files")
def test_not_a_file(
    nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], kind: str
) -> Waiting[None]:
    """COMMIT of an object that is not a regular file changes nothing."""
    handle = file_types.make(nfs3, scratch, kind)
    before = scratch.attributes(handle)
    # On a separate connection: a server that opens the FIFO hangs until a writer opens it too.
    rpc = rpc_connect("nfs")
    reply = yield from answered(rpc, COMMIT, Commit3Args(handle, 0, 0))
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        reply = Nfs3(rpc, patience=nfs3.patience).commit(handle)
    observe(f"COMMIT of a {kind}", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused()
    expect_unchanged(
        before, scratch.attributes(handle), ("type", "mode", "nlink", "uid", "gid", "size", "fileid")
    )


@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-drops-other-files")
def test_other_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT of one file keeps the unstable data of another."""
    file, other, data = scratch.file("f"), scratch.file("other"), pattern(10_000)
    write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    write_all(nfs3, other, 0, data, StableHow.UNSTABLE)
    need_content(scratch, other, data)
    expect(nfs3.commit(file), because=COMMIT_FLUSHES_DATA).ok()
    expect_data(scratch.read(other), data, "data of the other file")


@pytest.mark.parametrize("where", ["first-byte", "first-4g"])
@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-over-udp-flushes-nothing", needs="udp")
def test_udp(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], where: str) -> None:
    """COMMIT over UDP keeps the data of the file."""
    file, data = scratch.file("f"), pattern(10_000)
    write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    need_content(scratch, file, data)
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience)
    expect(over_udp.commit(file, *RANGES[where]), because=COMMIT_FLUSHES_RANGE).ok()
    expect_data(scratch.read(file), data)


# ---------------------------------------------------------------- loss of data
