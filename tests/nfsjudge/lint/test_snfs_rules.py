# SPDX-License-Identifier: MIT
"""The rules for Spritely NFS are silent where the exchanges do not show that the server is wrong."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.snfs import Snfs, SnfsCallbacks
from nfsclient.protocol.nfs2 import Sattr
from nfsclient.protocol.snfs import Snfsstat
from nfsclient.rpc.blocking import RpcClient
from nfsjudge.lint import lint
from nfsjudge.lint.seen import Source
from nfsjudge.lint.snfs_opens import Openers
from tests.nfsjudge.lint.scenes import Scene, Scene2
from tests.nfsserver.conftest import Rig


class Stage:
    """A new file, and clients of it."""

    def __init__(self, rig: Rig) -> None:
        self.scene = Scene(rig)
        maker: t.Any = Snfs(self.scene.rpc)
        top = maker.mkdir(Scene2(self.scene).top, b"top", Sattr(mode=0o755)).resok.file
        self.file: bytes = maker.create(top, b"file", Sattr(mode=0o644)).resok.file

    def client(self) -> tuple[RpcClient, Snfs, SnfsCallbacks]:
        rpc = self.scene.connection()
        return rpc, Snfs(rpc), SnfsCallbacks(rpc)

    @property
    def broken(self) -> set[str]:
        return {finding.rule.name for finding in lint(self.scene.exchanges)}


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
    ],
    ids=["read", "write", "readers", "uncached", "before", "writes-later", "again"],
)
def test_caching_with_another_client(opens: tuple[tuple[str, bool, bool], ...], is_wrong: bool) -> None:
    assert (_openers(*opens).granted_with("a") is not None) is is_wrong


def test_an_open_at_the_same_time_as_others_says_nothing() -> None:
    found = _openers(("a", True, True))
    found.opened("a", Source(2, None), writes=True, may_cache=True, is_sure=False)
    found.opened("b", Source(3, None), writes=True, may_cache=True, is_sure=True)
    assert found.granted_with("a") is None
