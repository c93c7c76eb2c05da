# SPDX-License-Identifier: MIT
"""READ and WRITE (RFC 1813 sections 3.3.6, 3.3.7) of one file by two clients, and many calls at once by one.

The protocol makes no promise about caches of clients. But once a server has answered a change, later READs return it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import READ, WRITE, Nfsstat3, Read3Args, Sattr3, StableHow, Write3Args
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Requirement, expect, proves, skip
from suites.nfs3.contents import difference, pattern, put, read_range, stored

READ_RETURNS_CURRENT_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.6",
    gist="READ returns the current data of the file, with every change that was answered before",
)
WRITE_STORES_COUNTED_BYTES = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="the bytes that WRITE counts are in the file, beginning at offset",
)

SIZE: t.Final = 6000
Change: t.TypeAlias = Callable[[Nfs3, Scratch, bytes], bytes]


def _writes(stable: StableHow) -> Change:
    def act(other: Nfs3, _scratch: Scratch, file: bytes) -> bytes:
        put(other, file, 1000, pattern(3000, salt=1), stable)
        return pattern(SIZE)[:1000] + pattern(3000, salt=1) + pattern(SIZE)[4000:]

    return act


def _sets_size(size: int) -> Change:
    def act(other: Nfs3, _scratch: Scratch, file: bytes) -> bytes:
        reply = other.setattr(file, Sattr3(size=size))
        if reply.status != Nfsstat3.NFS3_OK:
            skip(f"the size cannot be set: SETATTR answers {reply.status}")
        return pattern(SIZE)[:size].ljust(size, b"\0")

    return act


def _appends(other: Nfs3, _scratch: Scratch, file: bytes) -> bytes:
    put(other, file, SIZE, pattern(500, salt=1))
    return pattern(SIZE) + pattern(500, salt=1)


CHANGES: t.Final[dict[str, Change]] = {
    **{f"write-{stable.name.lower()}": _writes(stable) for stable in StableHow},
    "append": _appends,
    "truncate": _sets_size(1234),
    "extend": _sets_size(9000),
}
"""What another client does to a file of `SIZE` bytes; each returns the content of the file afterwards."""


@pytest.mark.parametrize("change", CHANGES)
@proves(READ_RETURNS_CURRENT_DATA, killed_by="read3-remembers-for-each-connection")
def test_a_client_reads_what_another_one_did_by(
    nfs3: Nfs3, second_client: Nfs3, scratch: Scratch, change: str
) -> None:
    """READ returns what another client has changed before."""
    file = stored(scratch, "f", pattern(SIZE))
    read_range(nfs3, file, 0, SIZE)
    wanted = CHANGES[change](second_client, scratch, file)
    seen = read_range(nfs3, file, 0, 2 * SIZE)
    known = len(wanted.rstrip(b"\0"))  # another check proves that an extension reads as zeros
    expect(difference(seen[:known], wanted[:known]), "first wrong byte").is_absent()
    expect(len(seen), "the size of the file").equals(len(wanted))


@pytest.mark.parametrize("stable", list(StableHow), ids=lambda stable: stable.name.lower())
@proves(WRITE_STORES_COUNTED_BYTES, killed_by="write3-drops-unaligned-tail")
def test_many_writes_at_once_are_all_in_the_file(
    nfs3: Nfs3, scratch: Scratch, rpc_connect: Callable[..., RpcClient], stable: StableHow
) -> None:
    """Data of many WRITEs sent at once is all in the file."""
    file, data = scratch.file("f"), pattern(60 * 1001)
    pieces = [(at, data[at : at + 1001]) for at in range(0, len(data), 1001)]
    calls = (Write3Args(file, at, len(piece), stable, piece) for at, piece in reversed(pieces))
    counted: dict[int, int] = {}
    put(nfs3, file, len(data) - 1, data[-1:])  # ends the check if files cannot be so large
    for args, reply in rpc_connect("nfs").pipeline(WRITE, calls):
        counted[args.offset] = expect(reply).ok().count
    for at, piece in pieces:
        seen = read_range(nfs3, file, at, counted[at])
        expect(difference(seen, piece[: counted[at]]), f"first wrong byte of those at {at}").is_absent()


@pytest.mark.parametrize("size", [7, 1001])
@proves(READ_RETURNS_CURRENT_DATA, killed_by="read3-aligns-offset")
def test_many_reads_at_once_return_the_data(
    scratch: Scratch, rpc_connect: Callable[..., RpcClient], size: int
) -> None:
    """Many READs sent at once return the data at their offsets."""
    content = pattern(60 * size)
    file = stored(scratch, "f", content)
    calls = (Read3Args(file, at, size) for at in range(0, len(content), size))
    for args, reply in rpc_connect("nfs").pipeline(READ, calls):
        data = expect(reply).ok().data
        wanted = content[args.offset : args.offset + len(data)]
        expect(difference(data, wanted), f"first wrong byte of those at {args.offset}").is_absent()
