# SPDX-License-Identifier: MIT
"""A client of Spritely NFS and servers that say what is not so, or what is at the end of 32 bits."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.errors import NoProgress, NotInVersion
from nfsclient.highlevel.snfs import NfsClient
from nfsclient.highlevel.snfs.cache import LARGEST
from tests.nfsclient.snfs_stage import BLOCK, Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


def put(client: NfsClient, name: str, data: bytes) -> None:
    """Write a file, and leave the data in memory."""
    with client.open(name, "w") as file:
        file.write(data)


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
