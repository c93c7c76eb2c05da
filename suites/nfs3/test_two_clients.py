# SPDX-License-Identifier: MIT
"""READ (RFC 1813 section 3.3.6) of a file that another client changes.

The protocol makes no promise about caches of clients. But once a server has answered a change, later READs return it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3, StableHow
from nfsjudge import expect, expect_data, proves, skip
from suites.nfs3.clauses import READ_RETURNS_CURRENT_DATA
from suites.nfs3.contents import pattern, read_range, stored, write_all

SIZE: t.Final = 6000
Change: t.TypeAlias = Callable[[Nfs3, Nfs3Scratch, bytes], bytes]


def _writes(stable: StableHow) -> Change:
    def act(other: Nfs3, _scratch: Nfs3Scratch, file: bytes) -> bytes:
        write_all(other, file, 1000, pattern(3000, salt=1), stable)
        return pattern(SIZE)[:1000] + pattern(3000, salt=1) + pattern(SIZE)[4000:]

    return act


def _sets_size(size: int) -> Change:
    def act(other: Nfs3, _scratch: Nfs3Scratch, file: bytes) -> bytes:
        reply = other.setattr(file, Sattr3(size=size))
        if reply.status != Nfsstat3.NFS3_OK:
            skip(f"cannot set the size: SETATTR answers {reply.status}", reply)
        return pattern(SIZE)[:size].ljust(size, b"\0")

    return act


def _appends(other: Nfs3, _scratch: Nfs3Scratch, file: bytes) -> bytes:
    write_all(other, file, SIZE, pattern(500, salt=1))
    return pattern(SIZE) + pattern(500, salt=1)


CHANGES: t.Final[dict[str, Change]] = {
    # UNSTABLE data has a separate check: nfs3/WRITE/unstable-data-visible.
    **{
        f"write-{stable.name.lower()}": _writes(stable)
        for stable in (StableHow.DATA_SYNC, StableHow.FILE_SYNC)
    },
    "append": _appends,
    "truncate": _sets_size(1234),
    "extend": _sets_size(9000),
}
"""What another client does to a file of `SIZE` bytes; each returns the content of the file afterwards."""


@pytest.mark.parametrize("change", CHANGES)
@proves(READ_RETURNS_CURRENT_DATA, killed_by="read3-caches-data-by-connection")
def test_read_current(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """READ returns what another client has changed before."""
    file = stored(scratch, "f", pattern(SIZE))
    read_range(nfs3, file, 0, SIZE)
    wanted = CHANGES[change](second_client, scratch, file)
    seen = read_range(nfs3, file, 0, 2 * SIZE)
    known = len(wanted.rstrip(b"\0"))  # another check proves that an extension reads as zeros
    expect_data(seen[:known], wanted[:known], of="range")
    expect(len(seen), "number of bytes that READ returns").equals(len(wanted))
