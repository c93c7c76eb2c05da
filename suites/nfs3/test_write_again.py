# SPDX-License-Identifier: MIT
"""WRITE (RFC 1813 section 3.3.7) more than once: the times of a file whose data is not committed yet."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow
from nfsjudge import expect, proves, show, skip, unsupported
from suites.nfs3.test_times import WRITE_MOVES_CTIME
from suites.nfs3.times import LONG_AGO, WaitForTick, make_old, nanoseconds


@proves(
    WRITE_MOVES_CTIME,
    killed_by=("write3-second-unstable-keeps-mtime", "write3-second-unstable-keeps-ctime"),
    needs="cansettime",
)
def test_second_unstable_times(nfs3: Nfs3, scratch: Nfs3Scratch, wait_for_tick: WaitForTick) -> None:
    """A second WRITE with UNSTABLE updates mtime and ctime."""
    file = scratch.file("f", b"data")
    expect(nfs3.write(file, 0, b"DATA", StableHow.UNSTABLE)).ok()
    make_old(nfs3, file)
    before = scratch.attributes(file)
    if before.ctime == LONG_AGO:
        unsupported("the server returns mtime as ctime: SETATTR of mtime changed both")
    wait_for_tick(before.ctime)
    expect(nfs3.write(file, 0, b"data", StableHow.UNSTABLE)).ok()
    after = scratch.attributes(file)
    expect(after).field("mtime").differs_from(LONG_AGO)
    if nanoseconds(after.mtime) <= nanoseconds(before.ctime):
        skip(
            f"WRITE sets mtime to {show(after.mtime)}, before the ctime that the file had: nothing shows a change"
        )
    expect(after).field("ctime").differs_from(before.ctime)
