# SPDX-License-Identifier: MIT
"""Times (RFC 1813 section 2.5): what moves ctime of a file, and mtime of a directory."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Sattr3, StableHow
from nfsjudge import expect, proves, should, show, skip, stated, unsupported
from suites.clauses import DIRECTORY_MTIME_FOLLOWS_ENTRIES
from suites.nfs3.attributes import expect_change
from suites.nfs3.calls import Place
from suites.nfs3.times import LONG_AGO, WaitForTick, make_old, nanoseconds
from suites.nfs3.wcc import CHANGES, wcc_field, wcc_of

WRITE_MOVES_CTIME = stated("RFC 1813", "2.5", "writing to a file changes its ctime in addition to its mtime")
SETATTR_MOVES_CTIME = should(  # a server may have to simulate ctime (section 1.6)
    "RFC 1813", "2.5", "ctime is the time when the attributes of the file were last changed"
)

ATTRIBUTES: t.Final = {"mode": Sattr3(mode=0o640), "owner": Sattr3(uid=4242)}


@proves(WRITE_MOVES_CTIME, killed_by="write3-keeps-ctime")
def test_write_ctime(nfs3: Nfs3, scratch: Nfs3Scratch, wait_for_tick: WaitForTick) -> None:
    """WRITE updates ctime."""
    file = scratch.file("f", b"data")
    before = scratch.attributes(file)
    wait_for_tick(before.ctime)
    expect(nfs3.write(file, 0, b"DATA", StableHow.FILE_SYNC)).ok()
    after = scratch.attributes(file)
    if nanoseconds(after.mtime) <= nanoseconds(before.ctime):
        skip(
            f"WRITE sets mtime to {show(after.mtime)}, before the ctime that the file had: nothing shows a change"
        )
    expect(after).field("ctime").differs_from(before.ctime)


@pytest.mark.parametrize("what", ATTRIBUTES)
@proves(SETATTR_MOVES_CTIME, killed_by="setattr3-keeps-ctime", needs="cansettime")
def test_setattr_ctime(nfs3: Nfs3, scratch: Nfs3Scratch, wait_for_tick: WaitForTick, what: str) -> None:
    """SETATTR of the mode or the owner updates ctime."""
    file = scratch.file("f", b"data", mode=0o600)
    make_old(nfs3, file)
    before = scratch.attributes(file)
    if before.ctime == LONG_AGO:
        unsupported("the server returns mtime as ctime: SETATTR of mtime changed both")
    wait_for_tick(before.ctime)
    expect_change(nfs3.setattr(file, ATTRIBUTES[what]))
    after = scratch.attributes(file)
    if (after.mode, after.uid) == (before.mode, before.uid):
        skip("SETATTR succeeds and changes nothing: other checks judge that")
    expect(after).field("ctime").differs_from(before.ctime)


# ---------------------------------------------------------------- directories


@pytest.mark.parametrize("change", CHANGES)
@proves(DIRECTORY_MTIME_FOLLOWS_ENTRIES, killed_by="names3-keep-mtime-of-directories", needs="cansettime")
def test_directory_mtime(nfs3: Nfs3, place: Place, change: str) -> None:
    """A change of the entries of a directory updates its mtime."""
    place.arrange(change, b"name")
    make_old(nfs3, place.here)
    wcc_of(place.call(nfs3, change, b"name"), wcc_field(change))
    expect(place.scratch.attributes(place.here)).field("mtime", "mtime of the directory").differs_from(
        LONG_AGO
    )
