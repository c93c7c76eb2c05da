# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16, 3.3.17): page sizes, large directories, UDP.

Cookies of one procedure are never used with the other.
"""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable
from functools import partial

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import expect, expect_once, expect_that, observe, proves, stated
from nfsjudge.requirement import COUNTS_ARE_CHECKED
from suites.nfs3.clauses import (
    READDIR_COUNT_IS_LIMIT,
    READDIR_EOF_AT_END,
    READDIR_LISTS_ENTRIES,
    READDIR_SURVIVES_CHANGES,
    RETURNS_TOOSMALL,
)
from suites.nfs3.limits import fsinfo
from suites.nfs3.listing import LARGE_PAGE, PROCEDURES, Fill, many_names, page, read_all, remove_all

READDIR_ACCEPTS_ANY_COUNT = stated(
    "RFC 1813", "3.3.16", "count is an upper limit: the server accepts any count and may return less"
)
LARGE_DIRECTORY: t.Final = [b"entry-%05d" % number for number in range(10_000)]
"""Names of a directory that takes many pages, however large they are. On a slow server the first of them have to do."""
LARGE: t.Final = 1000
"""Names that make a directory large. Where there is no room or time for them, a listing shows nothing about that."""
CHANGING_DIRECTORY: t.Final = LARGE_DIRECTORY[:2000]
"""Large enough for several blocks of a directory on disk, and for the trees that file systems make of those."""
CHANGING_PAGE: t.Final = {"READDIR": 8192, "READDIRPLUS": LARGE_PAGE}
"""Bytes: procedure -> a count that divides `CHANGING_DIRECTORY` into about ten pages."""


# ---------------------------------------------------------------- sizes of pages


@pytest.mark.parametrize("count", [0, 1, 88, 120, 200, 512, 1024])
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_COUNT_IS_LIMIT, READDIR_EOF_AT_END, RETURNS_TOOSMALL, killed_by="list3-ignores-small-counts")
def test_small_count(nfs3: Nfs3, scratch: Nfs3Scratch, fill: Fill, procedure: str, count: int) -> None:
    """READDIR and READDIRPLUS return a page that fits into a small count."""
    names = many_names()
    fill(names)
    reply = PROCEDURES[procedure](nfs3, scratch.handle, count=count)
    observe(f"{procedure} with count {count}", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    size, limit = len(reply.resok.to_xdr()), "count" if procedure == "READDIR" else "maxcount"
    is_empty = not reply.resok.entries
    expect_that(
        size <= count,
        f"NFS3ERR_TOOSMALL (10005) or at most {count} bytes",
        f"{size} bytes{', without an entry' if is_empty else ''}",
        f"size of {procedure}3resok for a {limit} of {count}",
        reply=reply,
        field="resok",
        because=RETURNS_TOOSMALL if is_empty else READDIR_COUNT_IS_LIMIT,
    )
    if set(names) - {entry.name for entry in reply.resok.entries}:
        expect(reply, because=READDIR_EOF_AT_END).field("resok.eof").is_false()


@pytest.mark.parametrize("count", [65_536, 2**31 - 1, 2**31, 2**32 - 1], ids=("64k", "2g-1", "2g", "4g-1"))
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_ACCEPTS_ANY_COUNT, READDIR_LISTS_ENTRIES, killed_by="list3-refuses-huge-counts")
def test_large_count(
    nfs3: Nfs3, scratch: Nfs3Scratch, fill: Fill, announced: Announced, procedure: str, count: int
) -> None:
    """READDIR and READDIRPLUS list every entry in pages of a large count."""
    names = many_names()
    fill(names)
    for each in announced(count, because=COUNTS_ARE_CHECKED):
        listing = read_all(PROCEDURES[procedure], nfs3, scratch.handle, count=each)
        expect_once(listing.names, names, because=READDIR_LISTS_ENTRIES)


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_ACCEPTS_ANY_COUNT, READDIR_LISTS_ENTRIES, killed_by="list3-refuses-huge-counts")
def test_dtpref_pages(nfs3: Nfs3, scratch: Nfs3Scratch, fill: Fill, procedure: str) -> None:
    """READDIR and READDIRPLUS list every entry in pages of dtpref."""
    names = many_names()
    fill(names)
    count = fsinfo(nfs3, scratch.handle).dtpref
    observe("dtpref", count)
    listing = read_all(PROCEDURES[procedure], nfs3, scratch.handle, count=count)
    expect_once(listing.names, names, because=READDIR_LISTS_ENTRIES)


# ---------------------------------------------------------------- large directories


@proves(READDIR_LISTS_ENTRIES, killed_by="list3-skips-an-entry-of-large-pages")
def test_ten_thousand_entries(nfs3: Nfs3, scratch: Nfs3Scratch, fill: Fill, budget: Budget) -> None:
    """READDIR and READDIRPLUS list each entry of a large directory once."""
    wanted = LARGE_DIRECTORY[: budget.of(len(LARGE_DIRECTORY), ours=2000)]
    names = fill.as_many_as_fit(wanted, lambda: page(nfs3, scratch.handle), least=LARGE)
    share = len(names) / len(wanted)  # as many pages, whatever room and time allow
    # 64 KiB hold a few thousand entries of READDIR, but only a few hundred of READDIRPLUS.
    for procedure, whole in {"READDIR": LARGE_PAGE, "READDIRPLUS": 4 * LARGE_PAGE}.items():
        count = int(whole * share)
        first = PROCEDURES[procedure](nfs3, scratch.handle, count=count)
        if procedure == "READDIRPLUS" and first.status == Nfsstat3.NFS3ERR_NOTSUPP:
            observe("READDIRPLUS", first.status)
            continue
        listing = read_all(PROCEDURES[procedure], nfs3, scratch.handle, count=count, most_pages=20_000)
        expect_once(listing.names, names, f"names in pages of {procedure}")


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_SURVIVES_CHANGES, killed_by="list3-restarts-after-a-change")
def test_large_stable_entries(
    nfs3: Nfs3,
    scratch: Nfs3Scratch,
    fill: Fill,
    budget: Budget,
    rpc_connect: Callable[..., RpcClient],
    procedure: str,
) -> None:
    """READDIR and READDIRPLUS list the remaining entries of a large changing directory once."""
    read = partial(PROCEDURES[procedure], nfs3, scratch.handle)
    names = fill.as_many_as_fit(CHANGING_DIRECTORY[: budget.of(len(CHANGING_DIRECTORY), ours=500)], read)
    leaving, count = names[::10], CHANGING_PAGE[procedure] * len(names) // len(CHANGING_DIRECTORY)
    other = rpc_connect("nfs")
    found: list[bytes] = []
    cookie, verf = 0, bytes(8)
    for turn in itertools.count():
        reply = read(cookie, verf, count)
        if reply.status == Nfsstat3.NFS3ERR_BAD_COOKIE:
            observe("cookie after a change", "NFS3ERR_BAD_COOKIE")
            return
        resok = expect(reply).ok()
        found += [entry.name for entry in resok.entries]
        if resok.eof or not resok.entries or len(found) > 2 * len(names):
            break
        cookie, verf = resok.entries[-1].cookie, resok.cookieverf
        remove_all(nfs3, other, scratch.handle, leaving[turn * 20 : turn * 20 + 20])
        scratch.file(b"newcomer-%05d" % turn)
    staying = [name for number, name in enumerate(names) if number % 10]
    expect_once(found, staying, "unchanged names")


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_LISTS_ENTRIES, killed_by="list3-over-udp-loses-an-entry", needs="udp")
def test_udp(
    nfs3: Nfs3, scratch: Nfs3Scratch, fill: Fill, rpc_connect: Callable[..., RpcClient], procedure: str
) -> None:
    """READDIR and READDIRPLUS over UDP list every entry."""
    names = many_names(300)
    fill(names)
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience)
    listing = read_all(PROCEDURES[procedure], over_udp, scratch.handle, count=4096)
    expect_once(listing.names, names)
