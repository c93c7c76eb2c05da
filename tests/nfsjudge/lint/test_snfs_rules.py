# SPDX-License-Identifier: MIT
"""The rules for Spritely NFS are silent where the exchanges do not show that the server is wrong."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs3 import Nfs3
from nfsclient.clients.snfs import Snfs, SnfsCallbacks
from nfsclient.protocol import snfs
from nfsclient.protocol.nfs2 import Sattr
from nfsclient.protocol.snfs import Snfsstat
from nfsclient.rpc.blocking import RpcClient
from nfsjudge.lint import Event, Happening, lint, snfs_views
from nfsjudge.lint.seen import Source
from nfsjudge.lint.snfs_opens import Openers
from tests.nfsjudge.lint.scenes import Scene, Scene2
from tests.nfsserver.conftest import Rig


class Stage:
    """A new file in a new directory, and clients of it."""

    def __init__(self, rig: Rig) -> None:
        self.scene = Scene(rig)
        self.maker: t.Any = Snfs(self.scene.rpc)
        made: t.Any = self.maker.mkdir(Scene2(self.scene).top, b"top", Sattr(mode=0o755))
        self.top: bytes = made.resok.file
        self.file = self.create(b"file")

    def create(self, name: bytes) -> bytes:
        handle: bytes = self.maker.create(self.top, name, Sattr(mode=0o644)).resok.file
        return handle

    def client(self) -> tuple[RpcClient, Snfs, SnfsCallbacks]:
        rpc = self.scene.connection()
        return rpc, Snfs(rpc), SnfsCallbacks(rpc)

    @property
    def broken(self) -> set[str]:
        return self.broken_with()

    def broken_with(self, *events: Event) -> set[str]:
        return {finding.rule.name for finding in lint(self.scene.exchanges, events)}


def test_a_file_that_was_closed_in_a_callback_is_cached_by_the_next(rig: Rig) -> None:
    stage = Stage(rig)
    _, first, callbacks = stage.client()
    callbacks.on = lambda _args: Snfsstat.SNFS_CLOSED
    first.open(stage.file, write_mode=True)
    _, second, _ = stage.client()
    opened: t.Any = second.open(stage.file, write_mode=True)
    assert opened.openok.cache_enabled
    first.read(stage.file, 0, 1)
    assert stage.broken == set()


def test_a_client_that_was_given_up_and_comes_back(rig: Rig) -> None:
    stage = Stage(rig)
    _, first, callbacks = stage.client()
    callbacks.on = lambda _args: Snfsstat.NFSERR_IO
    first.open(stage.file, write_mode=True)
    _, second, _ = stage.client()
    opened: t.Any = second.open(stage.file, write_mode=True)
    assert opened.status == Snfsstat.SNFS_INCONSISTENT
    assert opened.openok.cache_enabled
    first.read(stage.file, 0, 1)
    assert stage.broken == set()


def test_a_reader_that_has_written_before_is_called_for_a_write_back(rig: Rig) -> None:
    stage = Stage(rig)
    _, first, callbacks = stage.client()
    first.open(stage.file, write_mode=True)
    first.close(stage.file, write_mode=True)
    first.open(stage.file)
    _, second, _ = stage.client()
    second.open(stage.file)
    assert [each.cbmode.name for each in callbacks.received] == ["SNFS_CBWRITE"]
    assert stage.broken == set()


def _openers(*opens: tuple[str, bool, bool]) -> Openers:
    found = Openers(0)
    for client, writes, caches in opens:
        found.opened(client, Source(1, None), writes=writes, may_cache=caches, is_sure=True)
    return found


@pytest.mark.parametrize(
    ("opens", "is_wrong"),
    [
        ((("a", True, True), ("b", False, True)), True),
        ((("a", False, True), ("b", True, True)), True),
        ((("a", False, True), ("b", False, True)), False),
        ((("a", True, True), ("b", False, False)), False),
        ((("b", False, True), ("a", True, True)), False),
        ((("a", False, True), ("b", False, True), ("a", True, False)), False),
        ((("a", True, True), ("b", True, True), ("b", True, False)), False),
        ((("a", False, True), ("b", True, True), ("a", False, False)), False),
        ((("a", False, True), ("b", True, True), ("a", False, False), ("c", True, True)), True),
    ],
    ids=["read", "write", "readers", "uncached", "before", "writes-later", "again", "given-up", "after-it"],
)
def test_caching_with_another_client(opens: tuple[tuple[str, bool, bool], ...], is_wrong: bool) -> None:
    assert (_openers(*opens).granted_with("a") is not None) is is_wrong


def test_an_open_at_the_same_time_as_others_says_nothing() -> None:
    found = _openers(("a", True, True))
    found.opened("a", Source(2, None), writes=True, may_cache=True, is_sure=False)
    found.opened("b", Source(3, None), writes=True, may_cache=True, is_sure=True)
    assert found.granted_with("a") is None


# ---------------------------------------------------------------- a file that CREATE has not made


def _written(stage: Stage, file: bytes) -> SnfsCallbacks:
    """A client has written a file, and is called when another one empties it."""
    _, writer, callbacks = stage.client()
    writer.open(file, write_mode=True)
    writer.close(file, write_mode=True)
    return callbacks


def _empty(stage: Stage, name: bytes, writer: SnfsCallbacks) -> None:
    """CREATE on a name that exists calls the last writer."""
    stage.maker.create(stage.top, name, Sattr(size=0))
    assert len(writer.received) == 1


def test_create_of_what_another_version_has_made(rig: Rig) -> None:
    stage = Stage(rig)
    nfs3: t.Any = Nfs3(stage.scene.rpc)
    above = nfs3.lookup(rig.root, b"scene of version 2").resok.object
    nfs3.create(nfs3.lookup(above, b"top").resok.object, b"old")
    _empty(stage, b"old", _written(stage, stage.maker.lookup(stage.top, b"old").resok.file))
    assert stage.broken == set()


def test_create_of_a_file_that_the_lint_has_forgotten(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snfs_views, "MOST_FILES", 1)
    stage = Stage(rig)
    writer = _written(stage, stage.file)
    stage.create(b"another")
    _empty(stage, b"file", writer)
    assert stage.broken == set()


def test_create_of_a_file_from_before_a_restart(rig: Rig) -> None:
    stage = Stage(rig)
    writer = _written(stage, stage.file)
    restart = Event(rig.loop.clock(), Happening.RESTART)
    _empty(stage, b"file", writer)
    assert stage.broken_with(restart) == set()


# ---------------------------------------------------------------- several handles of a file

Play: t.TypeAlias = t.Callable[[Stage, int], bool]


def _called_by_another_handle(stage: Stage, shift: int) -> bool:
    """Opened by a handle of LOOKUP, called with that of CREATE; whether it was."""
    _, writer, callbacks = stage.client()
    found: t.Any = writer.lookup(stage.top, b"file")
    writer.open(found.resok.file, write_mode=True)
    _turn(stage, shift)
    stage.maker.open(stage.file)
    return [each.file for each in callbacks.received] == [stage.file]


def _called_by_the_handle_of_a_later_create(stage: Stage, shift: int) -> bool:
    """Opened by the handle of the first CREATE, before another file was removed."""
    stage.create(b"another")
    _, writer, callbacks = stage.client()
    writer.open(stage.file, write_mode=True)
    stage.maker.remove(stage.top, b"another")
    again = stage.create(b"file")
    _turn(stage, shift)
    stage.maker.open(again)
    return [each.file for each in callbacks.received] == [again]


def _turn(stage: Stage, shift: int) -> None:
    """The server gives the handles of all objects in turn: have it go on by some."""
    for number in range(shift):
        stage.create(b"turn%d" % number)


@pytest.mark.parametrize("play", [_called_by_another_handle, _called_by_the_handle_of_a_later_create])
def test_a_callback_with_another_handle_of_the_file(make_rig: t.Callable[..., Rig], play: Play) -> None:
    hits = 0
    for shift in range(3):
        stage = Stage(make_rig(knobs={"several_handles": True}))
        hits += play(stage, shift)
        assert stage.broken == set()
    assert hits == 1


# ---------------------------------------------------------------- what exchanges do not show


def test_a_reader_that_was_given_up_opens_again(make_rig: t.Callable[..., Rig]) -> None:
    stage = Stage(make_rig(knobs={"snfs_callback_timeout": 0.05}))
    _, reader, callbacks = stage.client()
    reader.open(stage.file)
    callbacks.holds = True
    _, writer, _ = stage.client()
    opened: t.Any = writer.open(stage.file, write_mode=True)
    assert opened.status == Snfsstat.NFS_OK
    assert opened.openok.cache_enabled
    callbacks.holds = False
    callbacks.release()  # too late
    reader.lookup(stage.top, b"file")
    again: t.Any = reader.open(stage.file)
    assert not again.openok.cache_enabled
    assert reader.read(stage.file, 0, 1).resok is not None
    assert stage.broken == set()


def test_an_open_that_has_the_xid_of_another_client(rig: Rig) -> None:
    stage = Stage(rig)
    _, first, _ = stage.client()
    first.open(stage.file)
    first.close(stage.file)
    _, second, callbacks = stage.client()
    second.open(stage.file, write_mode=True)
    opens = [each for each in stage.scene.exchanges if each.procedure is snfs.OPEN]
    opens[1].xid = opens[0].xid
    stage.maker.open(stage.file)
    assert len(callbacks.received) == 1
    assert stage.broken == set()


def _recovers(_stage: Stage, client: Snfs) -> None:
    client.recovered()


def _reopens(stage: Stage, client: Snfs) -> None:
    client.reopen(stage.create(b"another"), readers=1)


def _is_refused(stage: Stage, client: Snfs) -> None:
    client.close(stage.create(b"another"))
    stage.scene.exchanges[-1].result = snfs.Closeopres(Snfsstat.SNFS_RECOVERING)


@pytest.mark.parametrize("sign", [_recovers, _reopens, _is_refused])
def test_a_sign_of_a_restart(rig: Rig, sign: t.Callable[[Stage, Snfs], None]) -> None:
    """A client that has not opened a file again since a restart is nobody to whom caching by others matters."""
    stage = Stage(rig)
    _, first, _ = stage.client()
    first.open(stage.file, write_mode=True)
    _, second, _ = stage.client()
    sign(stage, second)
    rig.mutants.add("snfs-always-caches")  # as a server does that has forgotten the first client
    second.open(stage.file)
    assert first.write(stage.file, 0, b"data").resok is not None
    assert stage.broken == set()


def test_clients_without_addresses(rig: Rig) -> None:
    """As in captures: these rules are silent."""
    rig.mutants.add("snfs-always-caches")
    rig.mutants.add("snfs-calls-everybody")
    stage = Stage(rig)
    for _ in range(2):
        _, client, _ = stage.client()
        client.open(stage.file, write_mode=True)
        client.write(stage.file, 0, b"data")
    for exchange in stage.scene.exchanges:
        exchange.local = ""
    assert stage.broken == set()
