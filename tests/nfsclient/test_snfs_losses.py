# SPDX-License-Identifier: MIT
"""What a program gets when the server has given its files to others, or when calls fail; and what is left then."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.errors import NfsStatusError
from nfsclient.highlevel.snfs import NfsClient, NfsFile, StateLost
from nfsclient.protocol import snfs as p
from tests.nfsclient.snfs_stage import BLOCK, Stage

USES: t.Final[dict[str, t.Callable[[NfsFile], object]]] = {
    "read": lambda file: file.read(1),
    "readall": lambda file: file.readall(),
    "write": lambda file: file.write(b"x"),
    "truncate": lambda file: file.truncate(1),
}
PROCEDURES: t.Final = {"read": p.READ, "readall": p.READ, "write": p.WRITE, "truncate": p.SETATTR}


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage(snfs_callback_timeout=0.05)
    yield made
    made.close()
    assert [str(error) for _, error in made.server.messages.faults] == []


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


@pytest.fixture
def b(stage: Stage) -> NfsClient:
    return stage.client()


def put(client: NfsClient, name: str, data: bytes) -> None:
    """Write a file, and leave the data in memory."""
    with client.open(name, "w") as file:
        file.write(data)


def give_up(stage: Stage, client: NfsClient, name: str) -> None:
    """The server gives a client up for a file, as if it had not answered; the client does not know."""
    directory = stage.server.fs.root.directory
    assert directory is not None
    entry = stage.server.spritely.entry(t.cast("t.Any", directory.get(name.encode())))
    assert entry is not None
    (key,) = [key for key in entry.blocks if key[1] == client.session.rpc.local_address[1]]  # type: ignore[index]
    stage.server.spritely.give_up(entry, key, lost=False)


# ---------------------------------------------------------------- STALE


@pytest.mark.parametrize("use", list(USES))
@pytest.mark.parametrize("is_shared", [False, True])
def test_a_client_that_was_given_up_gets_state_lost(
    stage: Stage, a: NfsClient, b: NfsClient, use: str, is_shared: bool
) -> None:
    """STALE is what the server says; what it means is for the client to find out."""
    put(b, "f", bytes(4 * BLOCK))
    b.sync()
    file = a.open("f", "r+")
    other = b.open("f", "r+") if is_shared else None
    if use == "write" and not is_shared:
        file.write(b"waits")
    give_up(stage, a, "f")
    with pytest.raises(StateLost):
        USES[use](file)
        file.flush()
    with pytest.raises(StateLost):
        file.size()
    file.close()
    if other is not None:
        other.close()
    with a.open("f", "r+") as again:
        assert len(again.readall()) >= 1


@pytest.mark.parametrize("use", list(USES))
def test_a_client_that_is_given_up_within_a_call_gets_state_lost(
    stage: Stage, a: NfsClient, b: NfsClient, use: str
) -> None:
    """The connection is lost, REOPEN is refused, and the call is sent again."""
    put(b, "f", bytes(4 * BLOCK))
    b.sync()
    file, other = a.open("f", "r+"), b.open("f", "r+")

    def act() -> None:
        give_up(stage, a, "f")
        stage.cut(a)

    stage.during(PROCEDURES[use], act)
    with pytest.raises(StateLost):
        USES[use](file)
    other.close()


@pytest.mark.parametrize("use", list(USES))
def test_a_file_that_was_removed_is_stale(stage: Stage, a: NfsClient, b: NfsClient, use: str) -> None:
    put(b, "f", bytes(4 * BLOCK))
    b.sync()
    file, other = a.open("f", "r+"), b.open("f", "r+")
    b.remove("f")
    with pytest.raises(NfsStatusError, match="STALE"):
        USES[use](file)
    with pytest.raises(NfsStatusError, match="STALE"):
        file.size()
    file.close()
    other.close()
