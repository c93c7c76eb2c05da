# SPDX-License-Identifier: MIT
"""Listings that a crash or a restart interrupts (RFC 1813 section 3.3.16, RFC 1094 section 2.2.17)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs2 import START
from nfsjudge import expect, expect_once, observe, proves, show, skip
from suites.nfs3.clauses import READDIR_COOKIE_RESUMES, READDIR_RETURNS_FILEID
from suites.nfs3.listing import DOTS, PROCEDURES, many_names, read_all
from suites.recovery.after_crash import directory_again
from suites.recovery.either import ENDINGS, V2_READDIR_RESUMES, Either

EACH_LISTING = pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
NAMES: t.Final = many_names(40)
PAGE: t.Final = 1024
"""Bytes: less than the names need."""
MOST_PAGES: t.Final = 100


@EACH_LISTING
@ENDINGS
@across("ending")
@proves(READDIR_COOKIE_RESUMES, killed_by="list-skips-an-entry-after-restart")
def test_resumes(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str, procedure: str) -> Steps:
    """A cookie of before a crash or a restart resumes the listing where it was, or is refused."""
    read, directory = PROCEDURES[procedure], _directory(scratch)
    first = read(nfs3, directory, 0, bytes(8), PAGE).resok
    if first is None:
        skip(f"the server does not list pages of {PAGE} bytes")
    if first.eof or not first.entries:
        skip("the server needs only one page for 40 names, or returns an empty one")
    yield Pause(ending)
    found, at, verf = [*first.entries], first.entries[-1].cookie, first.cookieverf
    for _ in range(MOST_PAGES):
        reply = read(target.client(Nfs3), directory, at, verf, PAGE)
        observe(f"{procedure} with a cookie of before the {ending}", reply.status)
        if reply.resok is None:
            return
        found += reply.resok.entries
        if reply.resok.eof or not reply.resok.entries:
            break
        at, verf = reply.resok.entries[-1].cookie, reply.resok.cookieverf
    names = [entry.name for entry in found if entry.name not in DOTS]
    expect_once(names, NAMES, f"names of pages before and after the {ending}")


@EACH_LISTING
@ENDINGS
@across("ending")
@proves(READDIR_RETURNS_FILEID, killed_by="list-has-old-fileids-after-restart")
def test_fileids(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView, ending: str, procedure: str) -> Steps:
    """After a crash or a restart, a listing has the fileids that LOOKUP leads to."""
    del nfs3
    for name in NAMES[:8]:
        scratch.file(name)
    yield Pause(ending)
    survivor, directory = target.client(Nfs3), directory_again(target, scratch)
    for entry in read_all(PROCEDURES[procedure], survivor, directory).entries:
        if entry.name in NAMES and entry.fileid:
            found = expect(survivor.lookup(directory, entry.name)).ok().object
            known = expect(survivor.getattr(found)).ok().obj_attributes.fileid
            expect(entry).field("fileid", f"fileid of {show(entry.name)} in the listing").equals(known)


@pytest.mark.parametrize("nfs_version", ["v2"])
@ENDINGS
@across("ending")
@proves(V2_READDIR_RESUMES, killed_by="readdir2-skips-an-entry-after-restart")
def test_resumes_old(either: Either, ending: str) -> Steps:
    """In NFSv2, a cookie of before a crash or a restart resumes the listing where it was, or is refused."""
    directory = _directory(either.scratch)
    first = either.client.readdir(directory, START, PAGE).resok
    if first is None:
        skip(f"the server does not list pages of {PAGE} bytes")
    if first.eof or not first.entries:
        skip("the server needs only one page for 40 names, or returns an empty one")
    yield Pause(ending)
    found, at = [*first.entries], first.entries[-1].cookie
    for _ in range(MOST_PAGES):
        reply = either.target.client(Nfs2).readdir(directory, at, PAGE)
        observe(f"READDIR with a cookie of before the {ending}", reply.status)
        if reply.resok is None:
            return
        found += reply.resok.entries
        if reply.resok.eof or not reply.resok.entries:
            break
        at = reply.resok.entries[-1].cookie
    names = [entry.name for entry in found if entry.name not in DOTS]
    expect_once(names, NAMES, f"names of pages before and after the {ending}")


def _directory(scratch: t.Any) -> bytes:
    """A directory with `NAMES`."""
    directory: bytes = scratch.directory("listed")
    for name in NAMES:
        scratch.file(name, directory=directory)
    return directory
