# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16, 3.3.17): page sizes, large directories, UDP.

Cookies of one procedure are never used with the other.
"""

from __future__ import annotations

import itertools
import typing as t
from collections import Counter
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
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip
from suites.nfs3.limits import fsinfo
from suites.nfs3.listing import DOTS, LARGE_PAGE, PROCEDURES, many_names, only, read_all

READDIR_LISTS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="READDIR lists each entry of the directory once, and nothing else",
)
READDIR_COUNT_IS_LIMIT = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="the result is at most count bytes (READDIRPLUS: maxcount, 3.3.17), including all XDR overhead",
)
RETURNS_TOOSMALL = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # clients should not send less than dtpref (section 3.3.16, IMPLEMENTATION)
    gist="NFS3ERR_TOOSMALL reports that the buffer is too small, even for one entry",
)
READDIR_EOF_AT_END = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="eof is TRUE if and only if no entries are left after this page",
)
READDIR_ACCEPTS_ANY_COUNT = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="count is an upper limit: the server accepts any count and may return less",
)
READDIR_SURVIVES_CHANGES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="a cookie that became invalid is refused; with an accepted cookie, unchanged entries are listed once",
)

LARGE_DIRECTORY: t.Final = [b"entry-%05d" % number for number in range(10_000)]
"""Names of a directory that takes many pages, however large they are."""

_MOST_PAGES = 2000
"""Limit of pages per listing: more than a directory has entries, since a page may hold one."""
FILL_TIMEOUT: t.Final = 30.0
"""Seconds to create or remove all of them; a fast server takes one."""

Fill: t.TypeAlias = Callable[[list[bytes]], None]


def _in_bulk(rpc: RpcClient, procedure: t.Any, arguments: Iterator[t.Any]) -> None:
    """Pipeline many calls. SKIP after the first refusal, since the directory is then incomplete."""
    began, why = rpc.loop.clock(), ""

    def wanted() -> Iterator[t.Any]:
        # Stop sending, but wait for the replies to calls already sent: late ones would look unsolicited.
        yield from itertools.takewhile(lambda _: not why, arguments)

    for done, (_, reply) in enumerate(rpc.pipeline(procedure, wanted()), 1):
        if reply.status not in {Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_NOENT, Nfsstat3.NFS3ERR_EXIST}:
            why = why or f"{procedure.name} answers {reply.status}"
        elif rpc.loop.clock() - began > FILL_TIMEOUT:
            why = why or f"{done} {procedure.name} take more than {FILL_TIMEOUT:g} s"
    if why:
        skip(f"a large directory cannot be arranged: {why}")


def _remove(rpc: RpcClient, directory: bytes, names: list[bytes]) -> None:
    _in_bulk(rpc, REMOVE, (Remove3Args(Diropargs3(directory, name)) for name in names))


@pytest.fixture
def fill(scratch: Scratch, rpc_connect: Callable[..., RpcClient]) -> Iterator[Fill]:
    """Creates many empty files in the scratch directory, and removes them after the check."""
    rpc = rpc_connect("nfs")
    rpc.on_exchange = None  # keep tens of thousands of calls out of the evidence
    made: list[bytes] = []

    def create(names: list[bytes]) -> None:
        made.extend(names)
        how = Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644))
        _in_bulk(rpc, CREATE, (Create3Args(Diropargs3(scratch.handle, name), how) for name in names))

    yield create
    if rpc.is_open:
        _remove(rpc, scratch.handle, made)


# ---------------------------------------------------------------- sizes of pages


@pytest.mark.parametrize("count", [0, 1, 88, 120, 200, 512, 1024])
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_COUNT_IS_LIMIT, READDIR_EOF_AT_END, RETURNS_TOOSMALL, killed_by="list3-ignores-small-counts")
def test_a_page_fits_into(nfs3: Nfs3, scratch: Scratch, fill: Fill, procedure: str, count: int) -> None:
    """READDIR and READDIRPLUS return a page that fits into a small count."""
    names = many_names()
    fill(names)
    reply = PROCEDURES[procedure](nfs3, scratch.handle, count=count)
    observe(f"{procedure} of {count} bytes", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    because = READDIR_COUNT_IS_LIMIT if reply.resok.entries else RETURNS_TOOSMALL
    expect(len(reply.resok.to_xdr()), "the size of resok in bytes", because=because).at_most(count)
    if set(names) - {entry.name for entry in reply.resok.entries}:
        expect(reply, because=READDIR_EOF_AT_END).field("resok.eof").is_false()


@pytest.mark.parametrize("count", [65_536, 2**31 - 1, 2**31, 2**32 - 1], ids=("64k", "2g-1", "2g", "4g-1"))
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_ACCEPTS_ANY_COUNT, READDIR_LISTS_ENTRIES, killed_by="list3-refuses-huge-counts")
def test_everything_is_listed_in_pages_of(
    nfs3: Nfs3, scratch: Scratch, fill: Fill, procedure: str, count: int
) -> None:
    """READDIR and READDIRPLUS list every entry in pages of a large count."""
    names = many_names()
    fill(names)
    listing = read_all(PROCEDURES[procedure], nfs3, scratch.handle, count=count)
    expect(only(listing.names, names), "the names", because=READDIR_LISTS_ENTRIES).equals(sorted(names))


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_ACCEPTS_ANY_COUNT, READDIR_LISTS_ENTRIES, killed_by="list3-refuses-huge-counts")
def test_everything_is_listed_in_pages_of_dtpref(
    nfs3: Nfs3, scratch: Scratch, fill: Fill, procedure: str
) -> None:
    """READDIR and READDIRPLUS list every entry in pages of dtpref."""
    names = many_names()
    fill(names)
    count = fsinfo(nfs3, scratch.handle).dtpref
    observe("dtpref", count)
    listing = read_all(PROCEDURES[procedure], nfs3, scratch.handle, count=count)
    expect(only(listing.names, names), "the names", because=READDIR_LISTS_ENTRIES).equals(sorted(names))


@pytest.mark.parametrize("dircount", [0, 1, 512, 2**32 - 1], ids=("0", "1", "512", "4g-1"))
@proves(READDIR_LISTS_ENTRIES, killed_by="readdirplus3-skips-an-entry")
def test_dircount_loses_no_entry_if_it_is(nfs3: Nfs3, scratch: Scratch, fill: Fill, dircount: int) -> None:
    """READDIRPLUS lists every entry whatever dircount is."""
    names = many_names()
    fill(names)
    found: list[bytes] = []
    cookie, verf, maxcount = 0, bytes(8), 4096
    for _ in range(_MOST_PAGES):
        reply = nfs3.readdirplus(scratch.handle, cookie, verf, dircount, maxcount)
        nothing = reply.resok is None or not (reply.resok.entries or reply.resok.eof)
        if nothing and dircount < 512:
            # No name fits into so small a dircount: the server may say so in any way.
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


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_LISTS_ENTRIES, killed_by="list3-skips-a-name-in-a-crowd")
def test_ten_thousand_entries_come_once_each(
    nfs3: Nfs3, scratch: Scratch, fill: Fill, procedure: str
) -> None:
    """READDIR and READDIRPLUS list each of 10,000 entries once."""
    fill(LARGE_DIRECTORY)
    # 64 KiB hold a few thousand entries of READDIR, but only a few hundred of READDIRPLUS.
    count = LARGE_PAGE if procedure == "READDIR" else 4 * LARGE_PAGE
    _need_large_pages(expect(PROCEDURES[procedure](nfs3, scratch.handle, count=count)).ok().entries)
    listing = read_all(PROCEDURES[procedure], nfs3, scratch.handle, count=count, most_pages=20_000)
    expect(
        _not_listed_once(only(listing.names, LARGE_DIRECTORY), LARGE_DIRECTORY),
        "names that are not there once",
    ).equals({})


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_SURVIVES_CHANGES, killed_by="list3-begins-again-after-a-change")
def test_entries_that_stay_come_once_in_a_large_directory_that_changes(
    nfs3: Nfs3, scratch: Scratch, fill: Fill, rpc_connect: Callable[..., RpcClient], procedure: str
) -> None:
    """READDIR and READDIRPLUS list the remaining entries of a large changing directory once."""
    fill(LARGE_DIRECTORY)
    other = rpc_connect("nfs")
    leaving, staying = (
        LARGE_DIRECTORY[::10],
        [name for number, name in enumerate(LARGE_DIRECTORY) if number % 10],
    )
    found: list[bytes] = []
    cookie, verf = 0, bytes(8)
    for turn in itertools.count():
        reply = PROCEDURES[procedure](nfs3, scratch.handle, cookie, verf, 4 * LARGE_PAGE)
        if reply.status == Nfsstat3.NFS3ERR_BAD_COOKIE:
            observe("a cookie of a directory that changed", "BAD_COOKIE")
            return
        resok = expect(reply).ok()
        _need_large_pages(resok.entries)
        found += [entry.name for entry in resok.entries]
        if resok.eof or not resok.entries or len(found) > 2 * len(LARGE_DIRECTORY):
            break
        cookie, verf = resok.entries[-1].cookie, resok.cookieverf
        _remove(other, scratch.handle, leaving[turn * 20 : turn * 20 + 20])
        scratch.file(b"newcomer-%05d" % turn)
    counted = [name for name in found if name in _STAYING]
    expect(_not_listed_once(counted, staying), "names that stayed and did not come once").equals({})


def _need_large_pages(entries: t.Sequence[object]) -> None:
    """SKIP if reading all of `LARGE_DIRECTORY` would take too many calls."""
    if 0 < len(entries) < 10:
        skip(f"the server makes pages of {len(entries)} entries: too small to read a large directory")


_STAYING: t.Final = frozenset(name for number, name in enumerate(LARGE_DIRECTORY) if number % 10)


def _not_listed_once(seen: list[bytes], wanted: list[bytes]) -> dict[bytes, int]:
    """Names that were not listed exactly once, with the number of times that they were listed."""
    times = Counter(seen)
    times.subtract(wanted)
    return {name: count + 1 for name, count in sorted(times.items()) if count}


# ---------------------------------------------------------------- UDP


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_LISTS_ENTRIES, killed_by="list3-over-udp-loses-an-entry", needs="udp")
def test_over_udp_everything_is_listed(
    scratch: Scratch, fill: Fill, rpc_connect: Callable[..., RpcClient], procedure: str
) -> None:
    """READDIR and READDIRPLUS over UDP list every entry."""
    names = many_names(300)
    fill(names)
    over_udp = Nfs3(rpc_connect("nfs", proto="udp"))
    listing = read_all(PROCEDURES[procedure], over_udp, scratch.handle, count=4096)
    expect(only(listing.names, names), "the names").equals(sorted(names))
