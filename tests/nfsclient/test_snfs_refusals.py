# SPDX-License-Identifier: MIT
"""What a client of Spritely NFS keeps when a write is refused, or a callback comes during a cut: nothing stale."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from nfsclient.errors import NfsStatusError
from nfsclient.highlevel.snfs import NfsClient, StateLost
from nfsclient.protocol import snfs as p
from tests.nfsclient.snfs_stage import Stage, staged

DATA: t.Final = bytes(range(40))


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield from staged()


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


@pytest.fixture
def b(stage: Stage) -> NfsClient:
    return stage.client()


def put(client: NfsClient, name: str) -> None:
    with client.open(name, "w") as file:
        file.write(DATA)


def test_data_beyond_a_cut_does_not_come_back_by_a_callback(stage: Stage, a: NfsClient) -> None:
    """The callback arrives while the reply to SETATTR is on its way; what it causes is written after the cut."""
    with a.open("f", "w+") as file:
        file.write(DATA)
        handle = a.find("f").handle
        attributes: t.Any = None
        callback: t.Any = SimpleNamespace(
            args=p.Callbackargs(handle, p.CbMode.SNFS_WRINVAL, 0, attributes), answer=lambda _status: None
        )
        stage.during(p.SETATTR, lambda: a.caching._called(callback))
        file.truncate(5)
        a.sync()
        assert stage.contents("f") == DATA[:5]
        assert file.size() == 5


def test_a_file_is_no_longer_than_what_the_server_has_accepted(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w+") as file:
        file.write(b"accepted")
        file.flush()
        file.write(b"refused" * 5)
        stage.server.knobs.update(max_file_size=8)
        with pytest.raises(NfsStatusError, match="FBIG"):
            file.flush()
        assert file.size() == 8
        file.seek(0)
        assert file.read() == b"accepted"


def test_a_client_that_could_not_write_back_uses_nothing_that_it_kept(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    """Who answers a callback by an error counts as dead, and is not called when others write."""
    with a.open("f", "w") as file:
        file.write(b"accepted")
        file.flush()
        file.write(b"refused" * 5)
    reader = a.open("f")
    stage.server.knobs.update(max_file_size=8)
    b.read_file("f")
    with pytest.raises(NfsStatusError, match="FBIG"):
        reader.read()
    with b.open("f", "r+") as other:
        other.write(b"new data")
    with pytest.raises(StateLost):
        reader.read()


def test_the_end_of_a_client_reports_each_file_that_lost_data(stage: Stage, a: NfsClient) -> None:
    for name in ("f", "g", "h"):
        put(a, name)
    stage.server.knobs.update(max_file_size=8)
    with pytest.raises(NfsStatusError, match="/f") as caught:
        a.close()
    stage.clients.remove(a)
    assert [name for name in ("/g", "/h") for note in caught.value.__notes__ if name in note] == ["/g", "/h"]
