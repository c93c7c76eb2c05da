# SPDX-License-Identifier: MIT
"""File handles after a crash or a restart (RFC 1813 section 1.6)."""

from __future__ import annotations

import pytest

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsjudge import (
    expect,
    expect_data,
    expect_that,
    observe,
    proves,
    should,
    show,
)
from suites.clauses import FSID_IS_OF_ALL
from suites.nfs3.clauses import HANDLE_IS_OF_ONE_FILE
from suites.recovery.either import EACH_VERSION, ENDINGS, V2_HANDLE_IS_OF_ONE_FILE, Either

SERVER_IS_STATELESS = should(  # a server may revoke a handle at any time (section 2.5)
    "RFC 1813", "1.6", "the server needs no state of its clients: their handles should work after it restarts"
)


@pytest.mark.parametrize("control", ["crash", "restart"])
@across("control")
@proves(SERVER_IS_STATELESS, killed_by="getattr3-handles-are-stale-after-restart")
def test_survive(scratch: Nfs3Scratch, target: TargetView, control: str) -> Steps:
    """Handles work after a crash or a restart."""
    handles = {"file": scratch.file("f", b"data"), "directory": scratch.directory("d")}
    known = {what: scratch.attributes(handle).type for what, handle in handles.items()}
    yield Pause(control)
    for what, handle in handles.items():
        reply = target.client(Nfs3).getattr(handle)
        observe(f"GETATTR of the {what} after the {control}", reply.status)
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.type").equals(known[what])


@EACH_VERSION
@ENDINGS
@across("ending")
@proves(
    HANDLE_IS_OF_ONE_FILE,
    V2_HANDLE_IS_OF_ONE_FILE,
    killed_by="removed-handles-reach-files-of-after-a-restart",
)
def test_removed(either: Either, ending: str) -> Steps:
    """The handle of a file that was removed before a crash or a restart does not reach a file made after it."""
    old = either.scratch.file("f", b"old data")
    either.remove(b"f")
    yield Pause(ending)
    either.again()
    new = [either.scratch.file(name, b"new data") for name in ("f", "g", "h")]
    _expect_nothing_of(either, old, b"new data")
    _expect_unharmed(either, old, new)


@EACH_VERSION
@ENDINGS
@across("ending")
@proves(
    HANDLE_IS_OF_ONE_FILE, V2_HANDLE_IS_OF_ONE_FILE, killed_by="handles-reach-the-next-file-after-a-restart"
)
def test_made_again(either: Either, ending: str) -> Steps:
    """The handle of a file that is removed after a crash or a restart does not reach the next file."""
    old = either.scratch.file("f", b"old data")
    yield Pause(ending)
    either.again()
    either.remove(b"f")
    new = [either.scratch.file(name, b"new data") for name in ("f", "g", "h")]
    _expect_nothing_of(either, old, b"new data")
    _expect_unharmed(either, old, new)


@EACH_VERSION
@ENDINGS
@across("ending")
@proves(
    HANDLE_IS_OF_ONE_FILE,
    V2_HANDLE_IS_OF_ONE_FILE,
    killed_by="replaced-handles-reach-the-new-file-after-a-restart",
)
def test_replaced(either: Either, ending: str) -> Steps:
    """The handle of a file that RENAME has replaced does not reach the new file after a crash or a restart."""
    old = either.scratch.file("f", b"old data")
    new = either.scratch.file("new", b"new data")
    either.rename(b"new", b"f")
    yield Pause(ending)
    either.again()
    _expect_nothing_of(either, old, b"new data")
    _expect_unharmed(either, old, [either.scratch.lookup("f") or new])


@EACH_VERSION
@ENDINGS
@across("ending")
@proves(HANDLE_IS_OF_ONE_FILE, V2_HANDLE_IS_OF_ONE_FILE, killed_by="handles-change-places-after-a-restart")
def test_not_mixed_up(either: Either, ending: str) -> Steps:
    """Each of twenty handles reaches its own file after a crash or a restart, or none."""
    files = {either.scratch.file(f"f{number}", b"%04d" % number): b"%04d" % number for number in range(20)}
    yield Pause(ending)
    either.again()
    for handle, data in files.items():
        reply = either.client.read(handle, 0, 4)
        if reply.resok is not None:
            rule = either.rule(V2_HANDLE_IS_OF_ONE_FILE, HANDLE_IS_OF_ONE_FILE)
            seen = bytes(reply.resok.data)  # a READ may be short
            expect_data(seen, data[: len(seen)], "data by an old handle", of="range", because=rule)


@EACH_VERSION
@ENDINGS
@across("ending")
@proves(FSID_IS_OF_ALL, killed_by="new-files-have-another-fsid-after-a-restart")
def test_fsid(either: Either, ending: str) -> Steps:
    """Files made before and after a crash or a restart have the fsid of their directory."""
    either.scratch.file("old")
    known = either.scratch.attributes().fsid
    yield Pause(ending)
    either.again()
    either.scratch.file("new")
    here = either.scratch.attributes().fsid
    observe(f"fsid after a {ending}", "the same" if here == known else "another one")
    for name in (b"old", b"new"):
        seen = either.scratch.attributes(either.found(name)).fsid
        expect(seen, f"fsid of {show(name)}", field="fsid").equals(here)


def _expect_nothing_of(either: Either, old: bytes, data: bytes) -> None:
    """Expect that READ by an old handle does not return the data of another file."""
    __tracebackhide__ = True
    reply = either.client.read(old, 0, 100)
    observe("READ by the old handle", reply.status)
    seen = b"" if reply.resok is None else bytes(reply.resok.data)
    rule = either.rule(V2_HANDLE_IS_OF_ONE_FILE, HANDLE_IS_OF_ONE_FILE)
    what = "data by the handle of another file"
    expect_that(seen != data, "other data, or an error", show(seen), what, reply=reply, because=rule)


def _expect_unharmed(either: Either, old: bytes, files: list[bytes]) -> None:
    """Expect that WRITE by an old handle changes none of the files."""
    __tracebackhide__ = True
    either.client.write(old, 0, b"harm")
    rule = either.rule(V2_HANDLE_IS_OF_ONE_FILE, HANDLE_IS_OF_ONE_FILE)
    for file in files:
        seen = either.scratch.read(file)
        expect_data(seen, b"new data", "data after WRITE by the handle of another file", because=rule)
