# SPDX-License-Identifier: MIT
"""The streams of `test_streams.py` by NFSv2, in which all changes are stable when they are answered (RFC 1094 2.2)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.files import Steps, Written, v2
from nfsclient.protocol import nfs2 as p
from nfsjudge import expect, expect_data, expect_that, proves, show, skip
from suites.losses import Losses
from suites.nfs2.objects import reconnect
from suites.nfs3.contents import pattern
from suites.recovery.either import V2_IS_SYNCHRONOUS
from suites.recovery.streams import BLOCK, CLIENTS, COUNT, Stream, creation, name_of

FILES: t.Final = v2.Files(checked=False)


def _go_on(losses: Losses, scratch: Nfs2Scratch) -> Nfs2:
    """A client of after the crash. SKIP if the directory of the check is lost."""
    reconnect(losses.target, scratch)
    return losses.target.client(Nfs2)


def _found(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> p.Diropok | None:
    reply = nfs2.lookup(scratch.handle, name)
    if reply.resok is None and reply.status != p.Nfsstat2.NFSERR_NOENT:
        skip(f"cannot look for {show(name)} after the crash: LOOKUP answers {reply.status}")
    return reply.resok


def _expect_name(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes, *, there: bool = True) -> None:
    __tracebackhide__ = True
    is_there = _found(nfs2, scratch, name) is not None
    words = {True: "a name", False: "no such name"}
    expect_that(is_there == there, words[there], words[is_there], f"{show(name)} after the crash")


@pytest.mark.exclusive
@pytest.mark.parametrize("procedure", ["create", "mkdir", "symlink"])
@proves(V2_IS_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_created(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, stream: Stream, procedure: str) -> None:
    """All objects that two clients had created by NFSv2 when the server crashed are there."""
    stream.send(lambda client, number: creation(FILES, procedure, scratch.handle, name_of(client, number)))
    survivor = _go_on(losses, scratch)
    for key in stream.answered:
        _expect_name(survivor, scratch, name_of(*key))
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V2_IS_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_renamed(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, stream: Stream) -> None:
    """Each file that two clients were renaming by NFSv2 in a crash has a name: the new one, if RENAME was answered."""
    for client in CLIENTS:
        for number in range(COUNT):
            scratch.file(name_of(client, number, b"old"))

    def rename(client: bytes, number: int) -> Steps[None]:
        old, new = (name_of(client, number, kind) for kind in (b"old", b"new"))
        return FILES.rename(scratch.handle, old, scratch.handle, new)

    stream.send(rename)
    survivor = _go_on(losses, scratch)
    for key in stream.answered:
        _expect_name(survivor, scratch, name_of(*key, b"new"))
        _expect_name(survivor, scratch, name_of(*key, b"old"), there=False)
    for key in stream.open:
        names = [
            kind for kind in (b"old", b"new") if _found(survivor, scratch, name_of(*key, kind)) is not None
        ]
        # Two are legal after a crash: section 2.2 is about calls that have returned.
        expect(len(names), "number of names of a file whose RENAME was not answered").at_least(1)
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V2_IS_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_removed(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, stream: Stream) -> None:
    """No file that two clients had removed by NFSv2 when the server crashed is there again, and all others are."""
    for client in CLIENTS:
        for number in range(COUNT):
            scratch.file(name_of(client, number))
    stream.send(lambda client, number: FILES.remove(scratch.handle, name_of(client, number)))
    survivor = _go_on(losses, scratch)
    for key in stream.answered:
        _expect_name(survivor, scratch, name_of(*key), there=False)
    for key in ((client, number) for client in CLIENTS for number in range(COUNT)):
        if key not in stream.sent:
            _expect_name(survivor, scratch, name_of(*key))
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V2_IS_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection", needs="nfs2_hardlink")
def test_linked(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, stream: Stream) -> None:
    """A file to which two clients were making links by NFSv2 in a crash has as many links as names."""
    file = scratch.file("f")
    stream.send(lambda client, number: FILES.link(file, scratch.handle, name_of(client, number)))
    survivor = _go_on(losses, scratch)
    for key in stream.answered:
        _expect_name(survivor, scratch, name_of(*key))
    names = [key for key in stream.sent if _found(survivor, scratch, name_of(*key)) is not None]
    found = _found(survivor, scratch, b"f")
    if found is None:
        skip("the file did not survive: recovery/nfs2 judges that")
    reply = survivor.getattr(found.file)
    expect(reply).ok()
    expect(reply).field("attributes.nlink", "nlink").equals(len(names) + 1)
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V2_IS_SYNCHRONOUS, killed_by="write2-crash-loses-data-of-one-connection")
def test_written(nfs2: Nfs2, scratch: Nfs2Scratch, losses: Losses, stream: Stream) -> None:
    """All blocks of one file that two clients had written by NFSv2 when the server crashed are there."""
    file = scratch.file("f", bytes(2 * COUNT * BLOCK))

    def make(client: bytes, number: int) -> Steps[Written]:
        return FILES.write(file, _block(client, number) * BLOCK, pattern(BLOCK, salt=number + 1))

    stream.send(make)
    survivor = _go_on(losses, scratch)
    found = _found(survivor, scratch, b"f")
    if found is None:
        skip("the file did not survive: recovery/nfs2 judges that")
    data = scratch.read(found.file)
    for client, number in stream.answered:
        at = _block(client, number) * BLOCK
        seen = data[at : at + BLOCK]
        expect_data(seen, pattern(BLOCK, salt=number + 1), "a block after the crash", at=at, of="range")
    losses.need_data()


def _block(client: bytes, number: int) -> int:
    return 2 * number + CLIENTS.index(client)
