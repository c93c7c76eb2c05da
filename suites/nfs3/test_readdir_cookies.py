# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16, 3.3.17): old cookies, invented cookies, other verifiers.

Cookies of one procedure are never used with the other. A server may answer a cookie that it can no longer use with
BAD_COOKIE, with another error or with entries, but the entries must be correct.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import (
    expect,
    expect_names,
    expect_once,
    observe,
    proves,
    should,
    skip,
    unsupported,
)
from suites.nfs3.clauses import READDIR_COOKIE_RESUMES, READDIR_LISTS_ENTRIES, READDIR_SURVIVES_CHANGES
from suites.nfs3.listing import (
    DOTS,
    PROCEDURES,
    SMALL_PAGE,
    SMALL_PLUS_PAGE,
    Listing,
    many_names,
    read_all,
)

READDIR_CHECKS_VERIFIER = should(  # clients must send the right verifier, and servers may ignore it
    "RFC 1813",
    "3.3.16",
    "a cookie with a verifier that is not its own is refused, or the verifier is ignored",
)
PAGE_SIZE: t.Final = {"READDIR": SMALL_PAGE, "READDIRPLUS": SMALL_PLUS_PAGE}
CHANGES: t.Final[dict[str, Callable[[Nfs3, Nfs3Scratch, list[bytes]], object]]] = {
    "create": lambda nfs3, scratch, _listed: scratch.file("new"),
    "remove": lambda nfs3, scratch, listed: nfs3.remove(scratch.handle, listed[0]),
    "rm-last": lambda nfs3, scratch, listed: nfs3.remove(scratch.handle, listed[-1]),
    "rename": lambda nfs3, scratch, listed: nfs3.rename(
        scratch.handle, listed[0], scratch.handle, b"renamed"
    ),
    "mkdir": lambda nfs3, scratch, _listed: scratch.directory("new directory"),
}
"""Changes of the directory after its first page was read, given the names on that page."""
INVENTED: t.Final = {"2g": 2**31, "4g+5": 2**32 + 5, "int64max+1": 2**63, "uint64max": 2**64 - 1}


def _first_page(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> tuple[t.Any, list[bytes]]:
    """The first of several pages of a directory, and its names. UNSUPPORTED if one page holds everything."""
    for name in many_names():
        scratch.file(name)
    resok = expect(PROCEDURES[procedure](nfs3, scratch.handle, count=PAGE_SIZE[procedure])).ok()
    listed = [entry.name for entry in resok.entries if entry.name not in DOTS]
    if resok.eof or len(listed) < 2:
        unsupported("the first page has all entries, or fewer than two")
    return resok, listed


def _rest(
    nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, resok: t.Any, verf: bytes | None = None
) -> Listing | None:
    """The entries after the last cookie of a page; None if the server refuses that cookie."""
    verf, cookie = resok.cookieverf if verf is None else verf, resok.entries[-1].cookie
    reply = PROCEDURES[procedure](nfs3, scratch.handle, cookie, verf, PAGE_SIZE[procedure])
    observe(f"{procedure} with the cookie of the first page", reply.status)
    if reply.status in {Nfsstat3.NFS3ERR_BAD_COOKIE, Nfsstat3.NFS3ERR_INVAL}:
        return None
    page = expect(reply).ok()
    if page.eof or not page.entries:
        return Listing(list(page.entries), ended=page.eof)
    last = page.entries[-1].cookie
    rest = read_all(
        PROCEDURES[procedure],
        nfs3,
        scratch.handle,
        count=PAGE_SIZE[procedure],
        cookie=last,
        verf=page.cookieverf,
        most_pages=60,
    )
    return Listing([*page.entries, *rest.entries], rest.ended)


# ---------------------------------------------------------------- old cookies


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_SURVIVES_CHANGES, killed_by="list3-restarts-after-a-change")
def test_stable_entries(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, change: str) -> None:
    """READDIR and READDIRPLUS list unchanged entries once while the directory changes."""
    first, listed = _first_page(nfs3, scratch, procedure)
    CHANGES[change](nfs3, scratch, listed)
    rest = _rest(nfs3, scratch, procedure, first)
    if rest is None:
        return
    stayed = [name for name in many_names() if name not in {listed[0], listed[-1]}]
    expect_once([*listed, *rest.names], stayed, "unchanged names")


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_COOKIE_RESUMES, killed_by="list3-ignores-cookies")
def test_concurrent_listings(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """READDIR and READDIRPLUS resume correctly while another client lists the directory."""
    first, listed = _first_page(nfs3, scratch, procedure)
    other = expect(PROCEDURES[procedure](second_client, scratch.handle, count=PAGE_SIZE[procedure])).ok()
    if not other.eof:
        last = other.entries[-1]
        expect(
            PROCEDURES[procedure](
                second_client, scratch.handle, last.cookie, other.cookieverf, PAGE_SIZE[procedure]
            )
        ).ok()
    rest = _rest(nfs3, scratch, procedure, first)
    if rest is None:
        skip("the server refuses the cookie of its first page: other checks judge that")
    expect_once([*listed, *rest.names], many_names())


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_COOKIE_RESUMES, killed_by="list3-resumes-an-entry-too-late")
def test_dropped_caches(target: TargetView, nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """READDIR and READDIRPLUS resume correctly after the server has dropped its caches."""
    first, listed = _first_page(nfs3, scratch, procedure)
    target.drop_caches()
    rest = _rest(nfs3, scratch, procedure, first)
    if rest is None:
        skip("the server refuses the cookie of its first page after its caches were dropped")
    expect_once([*listed, *rest.names], many_names())


# ---------------------------------------------------------------- invented cookies, other verifiers


@pytest.mark.parametrize("cookie", INVENTED)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_LISTS_ENTRIES, killed_by="list3-invents-an-entry-for-unknown-cookies")
def test_bad_cookie(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, cookie: str) -> None:
    """READDIR and READDIRPLUS return no invented entries for an invented cookie."""
    for name in many_names(5):
        scratch.file(name)
    verf = expect(PROCEDURES[procedure](nfs3, scratch.handle)).ok().cookieverf
    reply = PROCEDURES[procedure](nfs3, scratch.handle, INVENTED[cookie], verf)
    observe(f"{procedure} with an invented cookie", reply.status)
    if reply.resok is None:
        expect(reply).refused()
        return
    names = {entry.name for entry in reply.resok.entries} - DOTS
    strange = sorted(name for name in names - set(many_names(5)) if scratch.lookup(name) is None)
    expect_names(strange, [], "listed names that LOOKUP does not find")


@pytest.mark.parametrize("verf", [b"\xff" * 8, b"nfsproof"], ids=["ones", "text"])
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_CHECKS_VERIFIER, killed_by="list3-restarts-for-an-unknown-verifier")
def test_invented_verifier(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, verf: bytes) -> None:
    """READDIR and READDIRPLUS refuse or ignore an invented cookie verifier."""
    first, listed = _first_page(nfs3, scratch, procedure)
    rest = _rest(nfs3, scratch, procedure, first, verf)
    if rest is not None:
        expect_once([*listed, *rest.names], many_names())


@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_CHECKS_VERIFIER, killed_by="list3-restarts-for-an-unknown-verifier")
def test_foreign_verifier(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """READDIR and READDIRPLUS refuse or ignore the cookie verifier of another directory."""
    # Before the first page: a new entry could change what its cookies refer to.
    other = scratch.directory("other")
    first, listed = _first_page(nfs3, scratch, procedure)
    verf = expect(PROCEDURES[procedure](nfs3, other)).ok().cookieverf
    rest = _rest(nfs3, scratch, procedure, first, verf)
    if rest is not None:
        expect_once([*listed, *rest.names], many_names())
