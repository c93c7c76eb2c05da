# SPDX-License-Identifier: MIT
"""A crash in the middle of streams of calls from two clients, several calls of each under way.

What was acknowledged is there. A call that was not answered was executed, or it was not, and no name is half changed.
The seed of the run chooses after how many answers the crash comes.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.files import Stable, Steps, Written, v3
from nfsclient.protocol import nfs3 as p
from nfsjudge import expect, expect_that, proves, show, skip
from suites.losses import Losses
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, FILE_SYNC_DATA_IS_STABLE
from suites.nfs3.contents import pattern, read_range
from suites.recovery.after_crash import directory_again
from suites.recovery.either import V3_NAMES_ARE_SYNCHRONOUS
from suites.recovery.streams import BLOCK, CLIENTS, COUNT, Stream, creation, name_of
from suites.recovery.test_write import DATA_SYNC_DATA_IS_STABLE

FILES: t.Final = v3.Files(checked=False)


def _found(nfs3: Nfs3, directory: bytes, name: bytes) -> p.Lookup3ResOk | None:
    reply = nfs3.lookup(directory, name)
    if reply.resok is None and reply.status != p.Nfsstat3.NFS3ERR_NOENT:
        skip(f"cannot look for {show(name)} after the crash: LOOKUP answers {reply.status}")
    return reply.resok


def _expect_name(nfs3: Nfs3, directory: bytes, name: bytes, *, there: bool = True) -> None:
    __tracebackhide__ = True
    is_there = _found(nfs3, directory, name) is not None
    words = {True: "a name", False: "no such name"}
    expect_that(is_there == there, words[there], words[is_there], f"{show(name)} after the crash")


# ---------------------------------------------------------------- names


@pytest.mark.exclusive
@pytest.mark.parametrize("procedure", ["create", "mkdir", "symlink"])
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_created(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream, procedure: str) -> None:
    """All objects that two clients had created when the server crashed are there, and none that nobody created."""
    survivor = stream.run(
        lambda client, number: creation(FILES, procedure, scratch.handle, name_of(client, number))
    )
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, name_of(client, number))
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_renamed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """Each file that two clients were renaming in a crash has one name: the new one, if RENAME was answered."""
    for client in CLIENTS:
        for number in range(COUNT):
            scratch.file(name_of(client, number, b"old"))

    def rename(client: bytes, number: int) -> Steps[None]:
        old, new = (name_of(client, number, kind) for kind in (b"old", b"new"))
        return FILES.rename(scratch.handle, old, scratch.handle, new)

    survivor = stream.run(rename)
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, name_of(client, number, b"new"))
        _expect_name(survivor, directory, name_of(client, number, b"old"), there=False)
    for client, number in stream.open:
        old, new = (_found(survivor, directory, name_of(client, number, kind)) for kind in (b"old", b"new"))
        names = sum(each is not None for each in (old, new))
        # Two are legal after a crash: section 1.6 is about calls that have returned.
        expect(names, "number of names of a file whose RENAME was not answered").at_least(1)
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_removed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """No file that two clients had removed when the server crashed is there again."""
    for client in CLIENTS:
        for number in range(COUNT):
            scratch.file(name_of(client, number))
    survivor = stream.run(lambda client, number: FILES.remove(scratch.handle, name_of(client, number)))
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, name_of(client, number), there=False)
    unsent = [
        (client, number)
        for client in CLIENTS
        for number in range(COUNT)
        if (client, number) not in stream.sent
    ]
    for client, number in unsent:
        _expect_name(survivor, directory, name_of(client, number))
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection", needs="hardlink")
def test_linked(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """A file to which two clients were making links in a crash has as many links as names."""
    file = scratch.file("f")
    survivor = stream.run(lambda client, number: FILES.link(file, scratch.handle, name_of(client, number)))
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, name_of(client, number))
    names = [
        found for key in stream.sent if (found := _found(survivor, directory, name_of(*key))) is not None
    ]
    handle = _found(survivor, directory, b"f")
    if handle is None:
        skip("the file did not survive: recovery/names judges that")
    reply = survivor.getattr(handle.object)
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.nlink").equals(len(names) + 1)
    losses.need_metadata()


# ---------------------------------------------------------------- data


@pytest.mark.exclusive
@pytest.mark.parametrize("level", ["file-sync", "data-sync"])
@proves(
    FILE_SYNC_DATA_IS_STABLE, DATA_SYNC_DATA_IS_STABLE, killed_by="write3-crash-loses-data-of-one-connection"
)
def test_written(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream, level: str) -> None:
    """All blocks of one file that two clients had written stably when the server crashed are there."""
    stable = Stable.FILE_SYNC if level == "file-sync" else Stable.DATA_SYNC
    clause = FILE_SYNC_DATA_IS_STABLE if level == "file-sync" else DATA_SYNC_DATA_IS_STABLE
    _judge_blocks(scratch, losses, stream, stable, clause)


@pytest.mark.exclusive
@proves(COMMIT_FLUSHES_DATA, killed_by="write3-crash-loses-data-of-one-connection")
def test_committed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """The data of each client that a COMMIT in its stream has followed is there after a crash."""
    files = {client: scratch.file(name_of(client, 0, b"f")) for client in CLIENTS}

    def make(client: bytes, number: int) -> Steps[t.Any]:
        if number % 8 == 7:
            return FILES.commit(files[client])
        data = pattern(BLOCK, salt=number + 1)
        return FILES.write(files[client], number * BLOCK, data, Stable.UNSTABLE)

    survivor = stream.run(make)
    directory = directory_again(losses.target, scratch)
    for client in CLIENTS:
        for block in _committed_blocks(stream, client):
            count = stream.result(client, block).count
            seen = _block(survivor, directory, name_of(client, 0, b"f"), block, count)
            expect(seen, f"block {block} after the crash").equals(pattern(BLOCK, salt=block + 1)[:count])
    losses.need_data()


def _committed_blocks(stream: Stream, client: bytes) -> Iterator[int]:
    """Those whose WRITE was answered before a COMMIT was sent that was answered, too, with the same verifier."""
    mine = [number for who, number in stream.answered if who == client]
    for number in (number for number in mine if number % 8 != 7):
        later = [at for at in mine if at % 8 == 7 and (client, number) in stream.before[client, at]]
        verifiers = {stream.result(client, commit) for commit in later}
        if stream.result(client, number).verifier in verifiers:
            yield number


def _judge_blocks(
    scratch: Nfs3Scratch, losses: Losses, stream: Stream, stable: Stable, clause: t.Any
) -> None:
    __tracebackhide__ = True
    file = scratch.file("f", bytes(2 * COUNT * BLOCK))

    def make(client: bytes, number: int) -> Steps[Written]:
        at = (2 * number + CLIENTS.index(client)) * BLOCK
        return FILES.write(file, at, pattern(BLOCK, salt=number + 1), stable)

    survivor = stream.run(make)
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        block = 2 * number + CLIENTS.index(client)
        count = stream.result(client, number).count
        seen = _block(survivor, directory, b"f", block, count)
        expect(seen, f"block {block} after the crash", because=clause).equals(
            pattern(BLOCK, salt=number + 1)[:count]
        )
    losses.need_data()


def _block(nfs3: Nfs3, directory: bytes, name: bytes, block: int, count: int) -> bytes:
    found = _found(nfs3, directory, name)
    if found is None:
        skip(f"the file {show(name)} did not survive: recovery/names judges that")
    return read_range(nfs3, found.object, block * BLOCK, count)
