# SPDX-License-Identifier: MIT
"""A client of Spritely NFS and servers that say what is not so, or what is at the end of 32 bits."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.errors import ImpossibleResult, NoProgress, NotInVersion, ServerViolation
from nfsclient.highlevel.snfs import NfsClient
from nfsclient.highlevel.snfs.cache import LARGEST
from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from tests.nfsclient.snfs_stage import BLOCK, Stage, put, staged


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield from staged()


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


# ---------------------------------------------------------------- 32 bits


def test_the_last_bytes_that_can_be_numbered_are_written_and_read(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w") as file:
        file.seek(LARGEST - 5)
        file.write(b"these")
    a.sync()
    with stage.client().open("f") as other:
        other.seek(LARGEST - BLOCK)
        assert other.read(2 * BLOCK) == bytes(BLOCK - 5) + b"these"


def test_a_byte_that_cannot_be_numbered_is_refused_and_those_before_it_are_read(
    stage: Stage, a: NfsClient
) -> None:
    put(a, "f", b"")
    other = stage.other()
    other.truncate("f", LARGEST + 1)
    other.close()
    with a.open("f") as file:
        assert file.size() == LARGEST + 1
        file.seek(LARGEST - BLOCK)
        assert file.read(BLOCK) == bytes(BLOCK)
        with pytest.raises(NotInVersion):
            file.read(1)


def test_one_file_that_cannot_be_written_does_not_keep_others_from_it(
    stage: Stage, a: NfsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(a, "f", b"first")
    put(a, "g", b"second")
    write_back = a.caching.write_back

    def fail(file: t.Any) -> None:
        if file.path.endswith(b"f"):
            raise NoProgress("f")
        write_back(file)

    monkeypatch.setattr(a.caching, "write_back", fail)
    with pytest.raises(NoProgress, match="f"):
        a.sync()
    assert stage.contents("g") == b"second"
    assert stage.contents("f") == b""


# ---------------------------------------------------------------- sizes that are not so


def lie(stage: Stage, procedure: t.Any, change: t.Callable[[t.Any], None]) -> None:
    """From now on, replies to a procedure are others."""

    def middleware(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        reply = proceed(context, args)
        if reply.resok is not None:
            change(reply.resok)
        return reply

    stage.server.interpose(procedure, middleware)


def size_of_open(size: int) -> t.Callable[[t.Any], None]:
    return lambda ok: setattr(ok.attributes, "size", size)


@pytest.mark.parametrize("size", [100, 0xFFFF_FFFE, 0xFFFF_FFFF, 20, 1])
def test_a_size_that_read_contradicts_is_an_error(stage: Stage, a: NfsClient, size: int) -> None:
    """Neither zeros in place of data, nor data that is cut off in silence."""
    stage.client().write_file("f", bytes(range(40)))
    lie(stage, p.OPEN, size_of_open(size))
    with a.open("f") as file, pytest.raises(ServerViolation, match="/f"):
        file.readall()
    assert stage.calls["READ"] < 100


@pytest.mark.parametrize("count", [0, 5])
def test_a_read_that_ends_early_is_an_error(stage: Stage, a: NfsClient, count: int) -> None:
    stage.client().write_file("f", bytes(range(40)))

    def end_early(ok: t.Any) -> None:
        ok.data, ok.attributes.size = bytes(ok.data)[:count], 0

    lie(stage, p.READ, end_early)
    with a.open("f") as file, pytest.raises(ServerViolation, match="end of the file"):
        file.readall()


def test_a_read_that_never_gives_anything_ends(stage: Stage, a: NfsClient) -> None:
    stage.client().write_file("f", bytes(range(40)))
    lie(stage, p.READ, lambda ok: setattr(ok, "data", b""))
    with a.open("f") as file, pytest.raises(NoProgress):
        file.readall()


def test_a_read_of_more_than_was_requested_is_an_error(stage: Stage, a: NfsClient) -> None:
    stage.client().write_file("f", bytes(range(40)))
    lie(stage, p.READ, lambda ok: setattr(ok, "data", bytes(ok.data) + b"more"))
    with a.open("f") as file, pytest.raises(ImpossibleResult):
        file.readall()


def test_data_that_waits_is_read_beyond_what_the_server_has(stage: Stage, a: NfsClient) -> None:
    """READ ends where the server ends, and that is right."""
    stage.client().write_file("f", bytes(range(20)))
    with a.open("f", "r+") as file:
        file.seek(30)
        file.write(b"beyond")
        file.seek(0)
        assert file.read() == bytes(range(20)) + bytes(10) + b"beyond"


# ---------------------------------------------------------------- callbacks and versions


def called(stage: Stage, client: NfsClient, handle: bytes, mode: t.Any) -> p.Snfsstat:
    """The answer to a callback from the server, on the connection of the client."""
    (channel,) = [
        each
        for key, each in stage.server.spritely.channels.items()
        if t.cast("t.Any", key)[1] == client.session.rpc.local_address[1]
    ]
    attributes: t.Any = stage.raw().call(p.GETATTR, nfs2.FhandleArgs(client.find("/").handle)).resok
    replies: list[t.Any] = []
    channel.call(p.CALLBACK, p.Callbackargs(handle, mode, 0, attributes), replies.append, timeout=5.0)
    stage.loop.run_until(lambda: bool(replies), stage.loop.clock() + 5)
    status: p.Snfsstat = replies[0].result.status
    return status


def test_a_callback_about_nothing_is_stale_and_changes_nothing(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w") as file:
        file.write(b"data")
        for handle in (bytes(32), b"\xff" * 32):
            assert called(stage, a, handle, p.CbMode.SNFS_WRINVAL) == p.Snfsstat.NFSERR_STALE
        assert file.is_cached
        assert len(a.caching.cache.files) == 1


@pytest.mark.parametrize("mode", [0, 4, -1])
def test_a_callback_of_no_known_mode_is_an_error_and_loses_nothing(
    stage: Stage, a: NfsClient, mode: int
) -> None:
    with a.open("f", "w") as file:
        file.write(b"data")
        wanted = p.CbMode(mode)
        assert called(stage, a, a.find("f").handle, wanted) == p.Snfsstat.NFSERR_IO
        assert file.is_cached
        file.flush()
    assert stage.contents("f") == b"data"


@pytest.mark.parametrize("version", [0, 1, 0xFFFF_FFFE, 0xFFFF_FFFF])
def test_versions_are_compared_for_equality_only(stage: Stage, a: NfsClient, version: int) -> None:
    """They may wrap: all that counts is whether a version is the same."""
    versions = iter([version, version, (version + 1) % (1 << 32), (version + 1) % (1 << 32), 7])

    def set_versions(ok: t.Any) -> None:
        ok.cache_version = next(versions)
        ok.old_cache_vers = version if ok.cache_version != 7 else 6

    b = stage.client()
    b.write_file("f", b"data")
    lie(stage, p.OPEN, set_versions)
    assert a.read_file("f") == b"data"
    assert a.read_file("f") == b"data"
    assert stage.calls["READ"] == 1
    with a.open("f", "r+"):
        pass
    assert a.read_file("f") == b"data"
    assert stage.calls["READ"] == 1
    assert a.read_file("f") == b"data"
    assert stage.calls["READ"] == 2
