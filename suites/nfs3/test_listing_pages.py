# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16, 3.3.17): sizes of pages, large directories, UDP.

Cookies of one procedure are never used with the other.
"""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable, Iterator

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    CREATE,
    REMOVE,
    Create3Args,
    Createhow3,
    CreateMode3,
    Diropargs3,
    Nfsstat3,
    Remove3Args,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, expect_once, observe, proves, skip
from suites.nfs3.limits import fsinfo
from suites.nfs3.listing import DOTS, FORMS, LARGE_PAGE, many_names, only, read_all

LISTS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="the entries of a directory are returned in sequence, each with its name, and further ones by cookie",
)
BOUND = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="count, and maxcount of READDIRPLUS (3.3.17), is the most bytes of the result, all XDR overhead included",
)
TOOSMALL_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # the count of a client should not be less than dtpref (section 3.3.16, IMPLEMENTATION)
    gist="TOOSMALL says that a buffer is too small, also for a page without an entry",
)
EOF_IS_THE_END = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="eof is TRUE only when nothing of the directory is left behind the page",
)
ANY_COUNT = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="count is the most that the client takes: the server may return less, however much that is",
)
STAYING_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="a cookie that is no longer usable is refused; while it is taken, entries that stayed come once each",
)

CROWD: t.Final = [b"entry-%05d" % number for number in range(10_000)]
"""Names of a directory that takes many pages whatever the client allows."""

_MOST_PAGES = 2000
"""More than the entries of any directory here: a page may hold one."""
PATIENCE: t.Final = 30.0
"""Seconds to make all of them, or to remove them; a quick server takes one."""

Fill: t.TypeAlias = Callable[[list[bytes]], None]


def _in_bulk(rpc: RpcClient, procedure: t.Any, arguments: Iterator[t.Any]) -> None:
    """Make many calls at once. SKIP with the first refusal: what they arrange is not there then."""
    began, why = rpc.loop.clock(), ""

    def wanted() -> Iterator[t.Any]:
        # Calls that are out are waited for: an answer to one that was given up would look like one to none.
        yield from itertools.takewhile(lambda _: not why, arguments)

    for done, (_, reply) in enumerate(rpc.pipeline(procedure, wanted()), 1):
        if reply.status not in {Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_NOENT, Nfsstat3.NFS3ERR_EXIST}:
            why = why or f"{procedure.name} answers {reply.status}"
        elif rpc.loop.clock() - began > PATIENCE:
            why = why or f"{done} {procedure.name} take more than {PATIENCE:g} s"
    if why:
        skip(f"a large directory cannot be arranged: {why}")


def _remove(rpc: RpcClient, directory: bytes, names: list[bytes]) -> None:
    _in_bulk(rpc, REMOVE, (Remove3Args(Diropargs3(directory, name)) for name in names))


@pytest.fixture
def fill(scratch: Scratch, rpc_connect: Callable[..., RpcClient]) -> Iterator[Fill]:
    """Makes many empty files in the scratch directory at once; takes them away again."""
    rpc = rpc_connect("nfs")
    rpc.on_exchange = None  # tens of thousands of calls tell nothing of the verdict
    made: list[bytes] = []

    def act(names: list[bytes]) -> None:
        made.extend(names)
        how = Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644))
        _in_bulk(rpc, CREATE, (Create3Args(Diropargs3(scratch.handle, name), how) for name in names))

    yield act
    if rpc.is_open:
        _remove(rpc, scratch.handle, made)


# ---------------------------------------------------------------- sizes of pages


@pytest.mark.parametrize("count", [0, 1, 88, 120, 200, 512, 1024])
@pytest.mark.parametrize("form", FORMS)
@proves(BOUND, EOF_IS_THE_END, TOOSMALL_IS_MEANT, killed_by="list3-ignores-small-counts")
def test_a_page_fits_into(nfs3: Nfs3, scratch: Scratch, fill: Fill, form: str, count: int) -> None:
    names = many_names()
    fill(names)
    reply = FORMS[form](nfs3, scratch.handle, count=count)
    observe(f"{form} of {count} bytes", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    because = BOUND if reply.resok.entries else TOOSMALL_IS_MEANT
    expect(len(reply.resok.to_xdr()), "the size of resok in bytes", because=because).at_most(count)
    if set(names) - {entry.name for entry in reply.resok.entries}:
        expect(reply, because=EOF_IS_THE_END).field("resok.eof").is_false()


@pytest.mark.parametrize("count", [65_536, 2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("form", FORMS)
@proves(ANY_COUNT, LISTS_ENTRIES, killed_by="list3-refuses-huge-counts")
def test_everything_is_listed_in_pages_of(
    nfs3: Nfs3, scratch: Scratch, fill: Fill, form: str, count: int
) -> None:
    names = many_names()
    fill(names)
    listing = read_all(FORMS[form], nfs3, scratch.handle, count=count)
    expect(only(listing.names, names), "the names", because=LISTS_ENTRIES).equals(sorted(names))


@pytest.mark.parametrize("form", FORMS)
@proves(ANY_COUNT, LISTS_ENTRIES, killed_by="list3-refuses-huge-counts")
def test_everything_is_listed_in_pages_of_dtpref(nfs3: Nfs3, scratch: Scratch, fill: Fill, form: str) -> None:
    names = many_names()
    fill(names)
    count = fsinfo(nfs3, scratch.handle).dtpref
    observe("dtpref", count)
    listing = read_all(FORMS[form], nfs3, scratch.handle, count=count)
    expect(only(listing.names, names), "the names", because=LISTS_ENTRIES).equals(sorted(names))


@pytest.mark.parametrize("dircount", [0, 1, 512, 2**32 - 1])
@proves(LISTS_ENTRIES, killed_by="readdirplus3-skips-an-entry")
def test_dircount_loses_no_entry_if_it_is(nfs3: Nfs3, scratch: Scratch, fill: Fill, dircount: int) -> None:
    names = many_names()
    fill(names)
    found: list[bytes] = []
    cookie, verf, maxcount = 0, bytes(8), 4096
    for _ in range(_MOST_PAGES):
        reply = nfs3.readdirplus(scratch.handle, cookie, verf, dircount, maxcount)
        nothing = reply.resok is None or not (reply.resok.entries or reply.resok.eof)
        if nothing and dircount < 512:
            # What it may not exceed has no room for a name: that is right, however it is said.
            observe(f"READDIRPLUS with dircount {dircount}", reply.status)
            dircount = 512
            continue
        resok = expect(reply).ok()
        found += [entry.name for entry in resok.entries if entry.name not in DOTS]
        if resok.eof or not resok.entries:
            break
        cookie, verf = resok.entries[-1].cookie, resok.cookieverf
    expect(only(found, names), "the names").equals(sorted(names))


# ---------------------------------------------------------------- large directories


@pytest.mark.parametrize("form", FORMS)
@proves(LISTS_ENTRIES, killed_by="list3-skips-a-name-in-a-crowd")
def test_ten_thousand_entries_come_once_each(nfs3: Nfs3, scratch: Scratch, fill: Fill, form: str) -> None:
    fill(CROWD)
    # 64 KiB of READDIRPLUS hold a few hundred entries, of READDIR a few thousand.
    count = LARGE_PAGE if form == "READDIR" else 4 * LARGE_PAGE
    _need_large_pages(expect(FORMS[form](nfs3, scratch.handle, count=count)).ok().entries)
    listing = read_all(FORMS[form], nfs3, scratch.handle, count=count, most_pages=20_000)
    expect_once(listing.names, CROWD)


@pytest.mark.parametrize("form", FORMS)
@proves(STAYING_ENTRIES, killed_by="list3-begins-again-after-a-change")
def test_entries_that_stay_come_once_in_a_large_directory_that_changes(
    nfs3: Nfs3, scratch: Scratch, fill: Fill, rpc_connect: Callable[..., RpcClient], form: str
) -> None:
    fill(CROWD)
    other = rpc_connect("nfs")
    leaving, staying = CROWD[::10], [name for number, name in enumerate(CROWD) if number % 10]
    found: list[bytes] = []
    cookie, verf = 0, bytes(8)
    for turn in itertools.count():
        reply = FORMS[form](nfs3, scratch.handle, cookie, verf, 4 * LARGE_PAGE)
        if reply.status == Nfsstat3.NFS3ERR_BAD_COOKIE:
            observe("a cookie of a directory that changed", "BAD_COOKIE")
            return
        resok = expect(reply).ok()
        _need_large_pages(resok.entries)
        found += [entry.name for entry in resok.entries]
        if resok.eof or not resok.entries or len(found) > 2 * len(CROWD):
            break
        cookie, verf = resok.entries[-1].cookie, resok.cookieverf
        _remove(other, scratch.handle, leaving[turn * 20 : turn * 20 + 20])
        scratch.file(b"newcomer-%05d" % turn)
    expect_once(found, staying, "names that stayed")


def _need_large_pages(entries: t.Sequence[object]) -> None:
    """End the check as SKIP where reading all of `CROWD` would take too many calls."""
    if 0 < len(entries) < 10:
        skip(f"the server makes pages of {len(entries)} entries: too small to read a large directory")


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("form", FORMS)
@proves(LISTS_ENTRIES, killed_by="list3-over-udp-loses-an-entry", needs="udp")
def test_over_udp_everything_is_listed(
    scratch: Scratch, fill: Fill, rpc_connect: Callable[..., RpcClient], form: str
) -> None:
    names = many_names(300)
    fill(names)
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"))
    listing = read_all(FORMS[form], over_udp, scratch.handle, count=4096)
    expect(only(listing.names, names), "the names").equals(sorted(names))
