# SPDX-License-Identifier: MIT
"""The directory in which pynfs works is removed, and nothing else, whatever a server shows in it."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from nfsclient.files import Entry, NewAttributes, Page, Position
from nfsclient.protocol import nfs4
from nfsclient.rpc.loop import Loop
from nfsproof.pynfs.scratch import Scratch
from nfstargets.embedded import EmbeddedTarget
from workloads.clients import Link, entries
from workloads.trouble import Stopped


@pytest.fixture(name="loop")
def make_loop() -> Iterator[Loop]:
    with closing(Loop()) as loop:
        yield loop


@pytest.fixture(name="target")
def make_target(loop: Loop) -> Iterator[EmbeddedTarget]:
    target = EmbeddedTarget()
    target.loop = loop
    target.start()
    try:
        yield target
    finally:
        target.stop()


def _link(target: EmbeddedTarget, loop: Loop) -> Link:
    return Link(target.address(), "4.1", loop, timeout=3.0, connections=1)


def _names(target: EmbeddedTarget, loop: Loop) -> list[bytes]:
    with closing(_link(target, loop)) as link:
        return sorted(entries(link, link.root()))


def _made(target: EmbeddedTarget, loop: Loop, *, is_below: bool = False) -> tuple[Scratch, bytes]:
    """A scratch directory with a tree in it, next to directories of a user, or in one; the handle of the root, too."""
    with closing(_link(target, loop)) as link:
        root, mode = link.root(), NewAttributes(mode=0o755)
        link.do(link.files.mkdir(root, b"another", mode))
        parent = link.do(link.files.mkdir(root, b"of the user", mode)).handle
        address = target.address()
        if is_below:
            address = replace(address, inside="of the user", root_handle=None)
        scratch = Scratch(address, 1, loop)
        inside = link.do(link.files.lookup(parent if is_below else root, scratch.name.encode())).handle
        deeper = link.do(link.files.mkdir(inside, b"deeper", mode)).handle
        link.do(link.files.mkdir(deeper, b"deepest", mode))
    return scratch, root


def test_it_is_removed_with_all_that_is_in_it(target: EmbeddedTarget, loop: Loop) -> None:
    scratch, _ = _made(target, loop)
    assert scratch.remove() == ""
    assert _names(target, loop) == [b"another", b"of the user"]


@pytest.mark.parametrize("is_below", [False, True], ids=["the export", "above the export"])
@pytest.mark.parametrize("name", ["scratch", "deeper"])
def test_a_server_that_shows_the_root_in_it_loses_nothing(
    target: EmbeddedTarget, loop: Loop, name: str, is_below: bool
) -> None:
    scratch, root = _made(target, loop, is_below=is_below)
    wanted = scratch.name.encode() if name == "scratch" else name.encode()
    is_shown = False

    def lookup(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        nonlocal is_shown
        is_shown = bytes(args.objname) == wanted
        return proceed(context, args)

    def getfh(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        nonlocal is_shown
        result = proceed(context, args)
        if is_shown:
            result.resok4.object = root
        is_shown = False
        return result

    target.running().interpose(nfs4.LOOKUP, lookup)
    target.running().interpose(nfs4.GETFH, getfh)
    assert "one above it" in scratch.remove()
    wanted = b""
    left = {b"another", b"of the user"} | (set() if is_below else {scratch.name.encode()})
    assert set(_names(target, loop)) == left


@pytest.mark.parametrize("is_fresh", [False, True], ids=["the same cookie", "always another cookie"])
def test_a_listing_without_names_and_without_an_end_is_refused(
    target: EmbeddedTarget, loop: Loop, is_fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workloads.clients._MOST_PAGES", 50)
    with closing(_link(target, loop)) as link:
        root, pages = link.root(), 0

        def readdir(_directory: bytes, _position: Position) -> t.Any:
            nonlocal pages
            pages += 1
            yield from ()
            return Page([Entry(b".", None, None)], eof=False, next=Position(pages if is_fresh else 7))

        monkeypatch.setattr(type(link.files), "readdir", lambda _self, *args: readdir(*args))
        with pytest.raises(Stopped, match="a listing"):
            list(entries(link, root))
    assert pages == (50 if is_fresh else 2)
