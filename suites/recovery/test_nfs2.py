# SPDX-License-Identifier: MIT
"""All procedures of NFSv2 are synchronous (RFC 1094 section 2.2): their effects survive a crash.

`losses` crashes the target. A check that would pass ends as SKIP if that crash loses nothing (`suites/losses.py`).
"""

from __future__ import annotations

import pytest

from fixtures.checks.across import ARRANGED, CRASH, RESTART, Steps, across
from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXDATA, Sattr, Timeval
from nfsjudge import expect, expect_data, expect_names, proves, should, skip
from suites.losses import Losses
from suites.nfs2.calls import CALLS
from suites.nfs2.objects import (
    KINDS,
    expect_change,
    expect_same,
    look_for_directory,
    make,
    reconnect,
    steady_except,
)
from suites.nfs3.contents import pattern
from suites.recovery.after_crash import names_again
from suites.recovery.either import V2_IS_SYNCHRONOUS

HANDLE_SURVIVES_RESTART = should(
    "RFC 1094", "1.3", "the server is stateless: file handles stay valid after a restart"
)
CHANGES = ("create", "mkdir", "symlink", "link", "remove", "rmdir", "rename")
NAME = b"name"


@across(CRASH, "MKDIR")
@proves(V2_IS_SYNCHRONOUS, killed_by="nfs2-crash-loses-everything")
def test_directory(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses) -> Steps:
    """The directory in which a check works survives a crash of the server."""
    known = scratch.attributes()
    yield CRASH
    found = expect(look_for_directory(losses.target, scratch)).ok()
    expect(found.attributes).field("type", "type of the directory after the crash").equals(known.type)
    losses.need_metadata()


@across(CRASH, by="procedure")
@pytest.mark.parametrize("procedure", CHANGES)
@proves(V2_IS_SYNCHRONOUS, killed_by="nfs2-crash-loses-names")
def test_names(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, procedure: str) -> Steps:
    """A change of names is still there after a crash of the server."""
    call = CALLS[procedure]
    scratch.directory("d")
    arguments = call.arranged(scratch, NAME)
    yield ARRANGED
    reply = nfs2.call(call.procedure, arguments)
    if reply.status != 0:
        skip(f"{call.procedure.name} is refused: it answers {reply.status}")
    yield CRASH
    reconnect(losses.target, scratch)
    names = sorted([b"d", *call.names_after(NAME)])

    def find() -> bytes:
        return scratch.lookup(scratch.name, directory=losses.target.root(Nfs2)) or scratch.handle

    expect_names(names_again(scratch, find), names, "names after the crash")
    losses.need_metadata()


@across(CRASH, "SETATTR")
@pytest.mark.parametrize(
    "asked",
    [Sattr(mode=0o600), Sattr(size=2), Sattr(size=100), Sattr(mtime=Timeval(1_000_000_000))],
    ids=["mode", "truncated", "extended", "mtime"],
)
@proves(V2_IS_SYNCHRONOUS, killed_by="setattr2-is-lost-in-a-crash")
def test_attributes(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, asked: Sattr) -> Steps:
    """A change by SETATTR is still there after a crash of the server."""
    file = scratch.file("f", b"data", mode=0o644)
    yield ARRANGED
    expect_change(nfs2.setattr(file, asked))
    known = scratch.attributes(file)
    yield CRASH
    reconnect(losses.target, scratch)
    after = scratch.attributes(scratch.lookup("f") or file)
    expect_same(after, known, steady_except("fsid", "fileid"))  # which may be others after a restart
    expect(after).field("mtime", "mtime after the crash").equals(known.mtime)
    losses.need_metadata()


@across(CRASH, "WRITE")
@pytest.mark.parametrize("size", [1, 4096, MAXDATA])
@proves(V2_IS_SYNCHRONOUS, killed_by="write2-answers-before-it-is-stable")
def test_new_data(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, size: int) -> Steps:
    """Written data is still there after a crash of the server."""
    file = scratch.file("f")
    yield ARRANGED
    expect(nfs2.write(file, 0, pattern(size))).ok()
    yield CRASH
    reconnect(losses.target, scratch)
    expect_data(scratch.read(scratch.lookup("f") or file), pattern(size))
    losses.need_data()


@across(CRASH, "WRITE")
@proves(V2_IS_SYNCHRONOUS, killed_by="write2-answers-before-it-is-stable")
def test_overwritten_data(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses) -> Steps:
    """Overwritten data is still there after a crash of the server."""
    file = scratch.file("f", pattern(MAXDATA))
    yield ARRANGED
    expect(nfs2.write(file, 1000, b"new" * 1000)).ok()
    yield CRASH
    reconnect(losses.target, scratch)
    wanted = pattern(MAXDATA)[:1000] + b"new" * 1000 + pattern(MAXDATA)[4000:]
    expect_data(scratch.read(scratch.lookup("f") or file), wanted)
    losses.need_data()


@pytest.mark.parametrize("kind", KINDS)
@across(RESTART)
@proves(HANDLE_SURVIVES_RESTART, killed_by="nfs2-restart-invalidates-handles")
def test_handles(target: TargetView, nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> Steps:
    """A file handle refers to the same object after a restart of the server."""
    handle = make(scratch, kind)
    known = expect(nfs2.getattr(handle)).ok()
    yield RESTART
    reconnect(target, scratch)
    attributes = expect(target.client(Nfs2).getattr(handle)).ok()
    expect_same(attributes, known, steady_except("fsid", "fileid"))
