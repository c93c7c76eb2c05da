# SPDX-License-Identifier: MIT
"""Delegations and the path client: wanted only by who asks for them, and never in the way of another client."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from nfsclient import NfsUrl, UrlError, connect
from nfsclient.highlevel.shared_loop import loop_of_thread
from nfsclient.nfs4 import NfsClient
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from tests.nfsclient.nfs4_peer import Stage4

READ = p.OpenDelegationType4.OPEN_DELEGATE_READ
WRITE = p.OpenDelegationType4.OPEN_DELEGATE_WRITE
NONE = p.OpenDelegationType4.OPEN_DELEGATE_NONE


def opened_with(stage: Stage4) -> list[int]:
    """The share_access of each OPEN from now on."""
    seen: list[int] = []

    def note(args: p.Open4Args, proceed: object) -> object:
        seen.append(args.share_access)
        assert callable(proceed)
        return proceed()

    stage.server.script("OPEN", *[note] * 10)
    return seen


@pytest.fixture(params=[False, True], ids=["not wanted", "wanted"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage4]:
    made = Stage4(delegations=request.param)
    made.server.files[b"f"] = bytearray(b"data")
    yield made
    made.close()


@pytest.mark.parametrize("stage", [False], indirect=True, ids=["not wanted"])
def test_none_is_requested_and_what_comes_goes_back_at_once(stage: Stage4) -> None:
    accesses = opened_with(stage)
    stage.server.grants = READ
    with stage.client.open("f") as file:
        assert accesses == [p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG]
        assert file.delegation == NONE
        assert file.read() == b"data"
        assert stage.server.count("DELEGRETURN") == 1
        assert "delegation" not in stage.server.stateids.values()


@pytest.mark.parametrize("stage", [True], indirect=True, ids=["wanted"])
def test_wanted_one_goes_back_with_the_last_close(stage: Stage4) -> None:
    accesses = opened_with(stage)
    stage.server.grants = READ
    first = stage.client.open("f")
    stage.server.grants = None
    with stage.client.open("f"):
        assert accesses == [p.OPEN4_SHARE_ACCESS_READ] * 2
    assert first.delegation == READ
    assert first.read() == b"data"
    first.close()
    assert stage.client.live.held.delegations == {}
    assert stage.server.called[-1] == ["SEQUENCE", "PUTFH", "DELEGRETURN"]
    assert not stage.client.live.rpc.core.pending


def test_connection_that_is_lost_at_the_last_close(stage: Stage4) -> None:
    stage.server.grants = READ
    file = stage.client.open("f")
    stage.server.drops = 1
    file.close()
    assert stage.client.read_file("f") == b"data"
    assert "delegation" not in stage.server.stateids.values()


def _serve(**knobs: int) -> Iterator[str]:
    loop, server = Loop(), Server(seed=1)
    server.knobs.update(**knobs)
    server.listen(loop)
    ended = threading.Event()
    thread = threading.Thread(target=lambda: loop.run_until(ended.is_set, float("inf")))
    thread.start()
    yield f"nfs://127.0.0.1:{server.port}/export?version=4.1&uid=0&gid=0"
    ended.set()
    socket.create_connection(("127.0.0.1", server.port)).close()  # wakes the thread
    thread.join()
    server.close()
    loop.close()


@pytest.fixture
def url() -> Iterator[str]:
    """A server in another thread, which delegates what it can."""
    yield from _serve()


@pytest.mark.parametrize("wanted", [False, True], ids=["not wanted", "wanted"])
def test_client_that_does_nothing_is_in_nobodys_way(url: str, wanted: bool) -> None:
    """Both are of one program, which calls them in turn: nothing else would answer CB_RECALL."""
    with connect(url, delegations=wanted) as idle, connect(url, delegations=wanted) as busy:
        assert isinstance(idle, NfsClient)
        idle.write_file("f", b"one")
        with idle.open("f", "r+") as file:
            assert file.delegation == (WRITE if wanted else NONE)
            busy.write_file("f", b"two")
            assert busy.read_file("f") == b"two"
            assert file.read() == b"two"


def test_client_that_has_closed_its_files_is_in_nobodys_way(url: str) -> None:
    """Not even one that wants delegations, and whose loop nobody serves."""
    with connect(url, delegations=True, loop=Loop()) as idle, connect(url) as busy:
        idle.write_file("f", b"one")
        busy.write_file("f", b"two")
        assert idle.read_file("f") == b"two"


def test_parameter_of_the_url(url: str) -> None:
    with connect(f"{url}&delegations=1") as client:
        assert isinstance(client, NfsClient)
        client.write_file("f", b"one")
        with client.open("f") as file:
            assert file.delegation != NONE
    assert str(NfsUrl.parse(f"{url}&delegations=1")).endswith("&delegations=1")
    assert "delegations" not in str(NfsUrl.parse(f"{url}&delegations=0"))
    with pytest.raises(UrlError, match="delegations= one of 0, 1"):
        NfsUrl.parse(f"{url}&delegations=yes")


def test_loop_of_a_thread_lasts_as_long_as_it_has_users() -> None:
    with loop_of_thread() as first:
        with loop_of_thread() as second:
            assert second is first
        first.run_once(0.0)
    with loop_of_thread() as third:
        assert third is not first
        third.run_once(0.0)


@pytest.fixture
def slots_url() -> Iterator[str]:
    """A server in another thread, which leaves each session two slots."""
    yield from _serve(slots_kept=2)


def test_a_path_client_gives_slots_back_and_goes_on(slots_url: str) -> None:
    with connect(slots_url) as client, client.open("f", "wb+") as file:
        assert isinstance(client, NfsClient)
        file.write(b"data")
        file.flush()
        slots = client.live.session.state.slots
        assert (slots.allowed, slots.recalled) == (2, None)
        assert client.stat("f").size == 4
