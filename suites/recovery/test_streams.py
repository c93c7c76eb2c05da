# SPDX-License-Identifier: MIT
"""A crash in the middle of streams of calls from two clients, several calls of each under way.

What was acknowledged is there. A call that was not answered was executed, or it was not, and no name is half changed.
The seed of the run chooses after how many answers the crash comes.
"""

from __future__ import annotations

import itertools
import random
import typing as t
from collections.abc import Callable, Iterator

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsjudge import expect, expect_that, observe, proves, show, skip
from suites.losses import Losses
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, FILE_SYNC_DATA_IS_STABLE
from suites.nfs3.contents import pattern, read_range
from suites.recovery.after_crash import directory_again
from suites.recovery.either import V3_NAMES_ARE_SYNCHRONOUS
from suites.recovery.test_write import DATA_SYNC_DATA_IS_STABLE

COUNT: t.Final = 40
"""Calls of each client, at most."""
WINDOW: t.Final = 4
"""Calls of each client that are under way."""
BLOCK: t.Final = 3000
CLIENTS: t.Final = (b"a", b"b")

AnyProcedure: t.TypeAlias = Procedure[t.Any, t.Any]
Make: t.TypeAlias = Callable[[bytes, int], tuple[AnyProcedure, t.Any]]
"""The call of a client with a number: its procedure and arguments."""


class Stream:
    """Two clients that send calls without waiting for each answer, and the crash among them."""

    def __init__(self, connect: Callable[..., RpcClient], losses: Losses, seed: int) -> None:
        self._rpc = {client: connect("nfs") for client in CLIENTS}
        self._losses = losses
        self._stop = random.Random(seed).randrange(WINDOW, COUNT * len(CLIENTS) - 2 * WINDOW)
        self.sent: dict[tuple[bytes, int], Pending[t.Any]] = {}
        self.before: dict[tuple[bytes, int], set[tuple[bytes, int]]] = {}
        """For each call those that were answered when it was sent."""
        observe("seed", seed)
        observe("answers before the crash", self._stop)

    def run(self, make: Make) -> Nfs3:
        """Send calls until enough are answered, then crash. SKIP if a call is refused. A client of afterwards."""
        numbers = {client: iter(range(COUNT)) for client in CLIENTS}
        while sum(each.done for each in self.sent.values()) < self._stop:
            for client in CLIENTS:
                self._fill(client, numbers[client], make)
            waiting = [each for each in self.sent.values() if not each.done]
            if not waiting:
                break
            for client in CLIENTS:
                mine = [
                    pending for (who, _), pending in self.sent.items() if who == client and not pending.done
                ]
                if mine:
                    self._rpc[client].wait_any(mine)
        for client in CLIENTS:  # some of these are under way in the crash
            self._fill(client, numbers[client], make)
        self._losses.leave()  # after all calls are sent: they may make everything stable that was there before
        self._answered = {key for key, pending in self.sent.items() if self._is_ok(pending)}
        for rpc in self._rpc.values():
            rpc.close()  # nothing is sent again to the server that comes back
        self._losses.target.crash()
        return self._losses.target.client(Nfs3)

    def _fill(self, client: bytes, numbers: Iterator[int], make: Make) -> None:
        under_way = sum(who == client and not pending.done for (who, _), pending in self.sent.items())
        for number in itertools.islice(numbers, WINDOW - under_way):
            self.before[client, number] = {key for key, pending in self.sent.items() if pending.done}
            self.sent[client, number] = self._rpc[client].submit(*make(client, number))

    @staticmethod
    def _is_ok(pending: Pending[t.Any]) -> bool:
        if pending.result is None:
            return False
        if pending.result.status != p.Nfsstat3.NFS3_OK:
            skip(
                f"a call of the stream is refused: {pending.procedure.name} answers {show(pending.result.status)}"
            )
        return True

    @property
    def answered(self) -> list[tuple[bytes, int]]:
        """Those that the server has acknowledged."""
        return sorted(self._answered)

    def result(self, client: bytes, number: int) -> t.Any:
        """What the server has answered to a call that it has acknowledged."""
        found = self.sent[client, number].result
        assert found is not None
        return found.resok

    @property
    def open(self) -> list[tuple[bytes, int]]:
        """Those that were sent and not answered."""
        return sorted(self.sent.keys() - self._answered)


@pytest.fixture
def stream(rpc_connect: Callable[..., RpcClient], losses: Losses, seed: int) -> Stream:
    """Two clients, and a crash in the middle of what they do."""
    return Stream(rpc_connect, losses, seed)


def _name(client: bytes, number: int, kind: bytes = b"") -> bytes:
    return b"%s%s%d" % (client, kind, number)


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


def _call_to_make(procedure: str, directory: bytes, name: bytes) -> tuple[AnyProcedure, t.Any]:
    where = p.Diropargs3(directory, name)
    match procedure:
        case "create":
            how = p.Createhow3(p.CreateMode3.UNCHECKED, obj_attributes=p.Sattr3(mode=0o644))
            return p.CREATE, p.Create3Args(where, how)
        case "mkdir":
            return p.MKDIR, p.Mkdir3Args(where, p.Sattr3(mode=0o755))
        case _:
            link = p.Symlinkdata3(p.Sattr3(mode=0o777), b"text of " + name)
            return p.SYMLINK, p.Symlink3Args(where, link)


# ---------------------------------------------------------------- names


@pytest.mark.exclusive
@pytest.mark.parametrize("procedure", ["create", "mkdir", "symlink"])
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_created(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream, procedure: str) -> None:
    """All objects that two clients had created when the server crashed are there, and none that nobody created."""
    survivor = stream.run(
        lambda client, number: _call_to_make(procedure, scratch.handle, _name(client, number))
    )
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, _name(client, number))
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection")
def test_renamed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """Each file that two clients were renaming in a crash has one name: the new one, if RENAME was answered."""
    for client in CLIENTS:
        for number in range(COUNT):
            scratch.file(_name(client, number, b"old"))

    def rename(client: bytes, number: int) -> tuple[AnyProcedure, t.Any]:
        here = p.Diropargs3(scratch.handle, _name(client, number, b"old"))
        return p.RENAME, p.Rename3Args(here, p.Diropargs3(scratch.handle, _name(client, number, b"new")))

    survivor = stream.run(rename)
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, _name(client, number, b"new"))
        _expect_name(survivor, directory, _name(client, number, b"old"), there=False)
    for client, number in stream.open:
        old, new = (_found(survivor, directory, _name(client, number, kind)) for kind in (b"old", b"new"))
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
            scratch.file(_name(client, number))
    survivor = stream.run(
        lambda client, number: (
            p.REMOVE,
            p.Remove3Args(p.Diropargs3(scratch.handle, _name(client, number))),
        )
    )
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, _name(client, number), there=False)
    unsent = [
        (client, number)
        for client in CLIENTS
        for number in range(COUNT)
        if (client, number) not in stream.sent
    ]
    for client, number in unsent:
        _expect_name(survivor, directory, _name(client, number))
    losses.need_metadata()


@pytest.mark.exclusive
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-loses-names-of-one-connection", needs="hardlink")
def test_linked(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """A file to which two clients were making links in a crash has as many links as names."""
    file = scratch.file("f")
    survivor = stream.run(
        lambda client, number: (
            p.LINK,
            p.Link3Args(file, p.Diropargs3(scratch.handle, _name(client, number))),
        )
    )
    directory = directory_again(losses.target, scratch)
    for client, number in stream.answered:
        _expect_name(survivor, directory, _name(client, number))
    names = [found for key in stream.sent if (found := _found(survivor, directory, _name(*key))) is not None]
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
    stable = p.StableHow.FILE_SYNC if level == "file-sync" else p.StableHow.DATA_SYNC
    clause = FILE_SYNC_DATA_IS_STABLE if level == "file-sync" else DATA_SYNC_DATA_IS_STABLE
    _judge_blocks(scratch, losses, stream, stable, clause)


@pytest.mark.exclusive
@proves(COMMIT_FLUSHES_DATA, killed_by="write3-crash-loses-data-of-one-connection")
def test_committed(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, stream: Stream) -> None:
    """The data of each client that a COMMIT in its stream has followed is there after a crash."""
    files = {client: scratch.file(_name(client, 0, b"f")) for client in CLIENTS}

    def make(client: bytes, number: int) -> tuple[AnyProcedure, t.Any]:
        if number % 8 == 7:
            return p.COMMIT, p.Commit3Args(files[client], 0, 0)
        data = pattern(BLOCK, salt=number + 1)
        return p.WRITE, p.Write3Args(files[client], number * BLOCK, BLOCK, p.StableHow.UNSTABLE, data)

    survivor = stream.run(make)
    directory = directory_again(losses.target, scratch)
    for client in CLIENTS:
        for block in _committed_blocks(stream, client):
            count = stream.result(client, block).count
            seen = _block(survivor, directory, _name(client, 0, b"f"), block, count)
            expect(seen, f"block {block} after the crash").equals(pattern(BLOCK, salt=block + 1)[:count])
    losses.need_data()


def _committed_blocks(stream: Stream, client: bytes) -> Iterator[int]:
    """Those whose WRITE was answered before a COMMIT was sent that was answered, too, with the same verifier."""
    mine = [number for who, number in stream.answered if who == client]
    for number in (number for number in mine if number % 8 != 7):
        later = [one for one in mine if one % 8 == 7 and (client, number) in stream.before[client, one]]
        verifiers = {stream.result(client, one).verf for one in later}
        if stream.result(client, number).verf in verifiers:
            yield number


def _judge_blocks(
    scratch: Nfs3Scratch, losses: Losses, stream: Stream, stable: p.StableHow, clause: t.Any
) -> None:
    __tracebackhide__ = True
    file = scratch.file("f", bytes(2 * COUNT * BLOCK))

    def make(client: bytes, number: int) -> tuple[AnyProcedure, t.Any]:
        at = (2 * number + CLIENTS.index(client)) * BLOCK
        return p.WRITE, p.Write3Args(file, at, BLOCK, stable, pattern(BLOCK, salt=number + 1))

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
