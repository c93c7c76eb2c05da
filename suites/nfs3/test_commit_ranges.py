# SPDX-License-Identifier: MIT
"""COMMIT (RFC 1813 section 3.3.21): ranges, objects of other types, several clients and files, UDP."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks import TargetView
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.nfs3 import kinds
from suites.nfs3.contents import committed, difference, need_kept, pattern, put, read_range
from suites.nfs3.preserved import expect_preserved

COMMIT_FLUSHES_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT flushes data that was written with UNSTABLE to stable storage",
)
COMMIT_CHANGES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT flushes data and changes neither the contents nor the size of the file",
)
COMMIT_RETURNS_OK = Requirement(
    rfc="RFC 1813",
    section="3.3.21",
    gist="COMMIT returns NFS3_OK unless an unexpected error occurs, whether or not there is data to flush",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
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


@pytest.mark.parametrize("where", RANGES)
@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-drops-data")
def test_data_and_size_stay_for(nfs3: Nfs3, scratch: Scratch, where: str) -> None:
    """COMMIT of any range keeps the data and the size of the file."""
    file, data = scratch.file("f"), pattern(10_000)
    put(nfs3, file, 0, data, StableHow.UNSTABLE)
    need_kept(scratch, file, data)
    observe("COMMIT", nfs3.commit(file, *RANGES[where]).status)
    expect(scratch.attributes(file).size, "size").equals(10_000)
    expect(difference(scratch.read(file), data), "first wrong byte").is_absent()


@pytest.mark.parametrize("where", KNOWN_RANGES)
@proves(COMMIT_RETURNS_OK, killed_by="commit3-refuses-ranges")
def test_is_answered_with_ok_for(nfs3: Nfs3, scratch: Scratch, where: str) -> None:
    """COMMIT succeeds for any range."""
    file = scratch.file("f")
    put(nfs3, file, 0, pattern(10_000), StableHow.UNSTABLE)
    expect(nfs3.commit(file, *KNOWN_RANGES[where])).ok()


@pytest.mark.parametrize("kind", kinds.NOT_REGULAR)
@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-changes-what-is-no-file")
def test_what_is_no_file_stays_as_it_is(
    nfs3: Nfs3, scratch: Scratch, rpc_connect: Callable[..., RpcClient], kind: str
) -> None:
    """COMMIT of an object that is not a regular file changes nothing."""
    handle = kinds.make(nfs3, scratch, kind)
    before = scratch.attributes(handle)
    # On a connection of its own: a server that opens the FIFO hangs until a writer opens it too.
    reply = Nfs3(rpc_connect("nfs")).commit(handle)
    observe(f"COMMIT of a {kind}", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused()
    expect_preserved(
        scratch.attributes(handle), before, ("type", "mode", "nlink", "uid", "gid", "size", "fileid")
    )


@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-drops-other-files")
def test_data_of_other_files_stays(nfs3: Nfs3, scratch: Scratch) -> None:
    """COMMIT of one file keeps the unstable data of another."""
    file, other, data = scratch.file("f"), scratch.file("other"), pattern(10_000)
    put(nfs3, file, 0, data, StableHow.UNSTABLE)
    put(nfs3, other, 0, data, StableHow.UNSTABLE)
    need_kept(scratch, other, data)
    expect(nfs3.commit(file)).ok()
    expect(difference(scratch.read(other), data), "first wrong byte of the other file").is_absent()


@pytest.mark.exclusive
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-its-own-data")
def test_data_of_all_clients_is_flushed(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, target: TargetView
) -> None:
    """COMMIT flushes the data of all clients."""
    file, data = scratch.file("f"), pattern(20_000)
    answers = put(nfs3, file, 0, data[:10_000], StableHow.UNSTABLE)
    answers += put(second_client, file, 10_000, data[10_000:], StableHow.UNSTABLE)
    committed(nfs3, file, answers)
    target.crash()
    seen = read_range(target.nfs3(), file, 0, len(data))
    expect(difference(seen, data), "first wrong byte after the crash").is_absent()


@pytest.mark.parametrize("where", ["first-byte", "first-4g"])
@proves(COMMIT_CHANGES_NOTHING, killed_by="commit3-over-udp-flushes-nothing", needs="udp")
def test_over_udp_data_stays_for(
    nfs3: Nfs3, scratch: Scratch, rpc_connect: Callable[..., RpcClient], where: str
) -> None:
    """COMMIT over UDP keeps the data of the file."""
    file, data = scratch.file("f"), pattern(10_000)
    put(nfs3, file, 0, data, StableHow.UNSTABLE)
    need_kept(scratch, file, data)
    expect(Nfs3(rpc_connect("nfs", proto="udp")).commit(file, *RANGES[where])).ok()
    expect(difference(scratch.read(file), data), "first wrong byte").is_absent()
