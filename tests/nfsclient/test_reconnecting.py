# SPDX-License-Identifier: MIT
"""A path client outlives its server's restarts: refused, closed and silent connections, and data lost by a crash."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient import ServerDown
from nfsclient.clients import Patience
from nfsclient.errors import ConnectionLost, NfsStatusError
from nfsclient.nfs3 import NfsClient
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp, connect_udp
from tests.nfsclient.conftest import Stage

DATA = bytes(range(256)) * 160


class Reconnectable(Stage):
    """A client that reconnects, and a server that can be away. Time passes in pauses only."""

    def __init__(self) -> None:
        super().__init__()
        self.client.close()
        self.port = self.server.port
        self.away = 0
        """Pauses until the server is back."""
        self.client = self.connect()

    def connect(self, *, udp: bool = False, patience: Patience | None = None) -> NfsClient:
        """A new client with a timeout of 0.2 s a call."""
        make = connect_udp if udp else connect_tcp
        rpc = make("127.0.0.1", self.port, loop=self.loop, credential=AuthSys(0, 0), timeout=0.2)
        waiting = patience or Patience(self._wait, lambda: self.pauses.now)
        return NfsClient(rpc, self.root, base=b"/export", patience=waiting, reconnect=True)

    def _wait(self, seconds: float) -> None:
        self.pauses.waited.append(seconds)
        self.pauses.now += seconds
        self.away -= 1
        if self.away == 0:
            self.server.messages.replays.clear()
            self.server.listen(self.loop, port=self.port)

    def leave(self, pauses: int) -> None:
        """The server goes, and comes back after this many pauses; it loses what was not stable."""
        self.server.close()
        self.lose_uncommitted_data()
        self.away = pauses

    def at_call(self, procedure: t.Any, number: int, deed: t.Callable[[], None], *, after: bool) -> None:
        """Do something at the n-th call of a procedure, before or after it is executed; its reply is lost."""
        counted = 0

        def middleware(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal counted
            counted += 1
            if counted != number:
                return proceed(context, args)
            reply = proceed(context, args) if after else None
            deed()
            self.server.keep_silent(done=after)
            return reply if reply is not None else proceed(context, args)

        self._interpose(procedure, middleware)


@pytest.fixture
def stage() -> Iterator[Reconnectable]:
    made = Reconnectable()
    yield made
    made.close()


def test_a_closed_connection_is_replaced_at_once(stage: Reconnectable) -> None:
    stage.client.write_file("f", b"data")
    stage.server.restart()
    assert stage.client.read_file("f") == b"data"
    assert stage.pauses.waited == []


@pytest.mark.parametrize("pauses", [1, 5])
def test_a_refused_connection_is_tried_until_the_server_is_back(stage: Reconnectable, pauses: int) -> None:
    stage.client.write_file("f", b"data")
    stage.leave(pauses)
    assert stage.client.read_file("f") == b"data"
    assert len(stage.pauses.waited) == pauses


def test_a_server_that_stays_away_is_a_typed_error(stage: Reconnectable) -> None:
    stage.client.write_file("f", b"data")
    stage.leave(10_000)
    with pytest.raises(
        ServerDown, match=r"no answer from 127\.0\.0\.1:\d+ for 30\.0 s, in \d+ attempts"
    ) as caught:
        stage.client.read_file("f")
    assert caught.value.attempts == len(stage.pauses.waited) + 1
    assert "refused" in caught.value.cause
    stage.server.listen(stage.loop, port=stage.port)
    assert stage.client.read_file("f") == b"data"  # a later call has its own patience


def test_silence_is_answered_by_the_same_call_on_a_new_connection(stage: Reconnectable) -> None:
    stage.client.write_file("f", b"data")
    stage.at_call(p.GETATTR, 1, lambda: None, after=False)
    stage.watch(p.GETATTR)
    stage.client.session.ok(stage.client.session.nfs.getattr(stage.root), b"")
    assert len({xid for _, _, xid in stage.calls}) == 1
    assert len(stage.calls) == 2


def test_silence_without_end_is_a_typed_error(stage: Reconnectable) -> None:
    def middleware(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        stage.server.keep_silent()
        stage.pauses.now += 10.0
        return proceed(context, args)

    stage._interpose(p.GETATTR, middleware)
    with pytest.raises(ServerDown, match="not answered within"):
        stage.client.session.nfs.getattr(stage.root)


def test_over_udp_the_call_is_repeated_on_the_same_socket(stage: Reconnectable) -> None:
    client = stage.connect(udp=True)
    port = client.session.rpc.local_address[1]
    stage.at_call(p.GETATTR, 1, lambda: None, after=False)
    assert client.session.nfs.getattr(stage.root).status == p.Nfsstat3.NFS3_OK
    assert client.session.rpc.local_address[1] == port
    client.close()


def test_an_executed_call_may_answer_differently_the_second_time(stage: Reconnectable) -> None:
    stage.client.write_file("f", b"")
    stage.at_call(
        p.REMOVE, 1, lambda: stage.leave(1), after=True
    )  # the crash loses the cache of replies as well
    with pytest.raises(NfsStatusError) as caught:
        stage.client.remove("f")
    assert caught.value.status == p.Nfsstat3.NFS3ERR_NOENT
    assert caught.value.__notes__ == ["the call was sent 2 times: an earlier one may have been carried out"]


def test_an_exclusive_create_is_the_same_the_second_time(stage: Reconnectable) -> None:
    stage.at_call(p.CREATE, 1, lambda: stage.leave(1), after=True)
    with stage.client.open("new", "x") as file:
        file.write(b"mine")
    assert stage.client.read_file("new") == b"mine"


def test_without_reconnect_a_loss_is_raised_at_once() -> None:
    stage = Stage()
    try:
        stage.client.stat("")
        stage.server.restart()
        with pytest.raises(ConnectionLost):
            stage.client.stat("")
    finally:
        stage.close()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_listing_goes_on(stage: Reconnectable, number: int) -> None:
    names = [f"name-{index:03}" for index in range(60)]
    for name in names:
        stage.client.write_file(name, b"")
    stage.limit(page=1024)
    stage.at_call(p.READDIR, number, lambda: stage.leave(2), after=False)
    assert sorted(stage.client.listdir("")) == names


def test_many_reads_under_way_are_all_made_again(stage: Reconnectable) -> None:
    stage.client.write_file("f", DATA)
    stage.limit(read=1000)
    stage.at_call(p.READ, 7, lambda: stage.leave(3), after=False)
    assert stage.client.read_file("f") == DATA


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    number=st.integers(1, 45),
    procedure=st.sampled_from([p.WRITE, p.COMMIT]),
    after=st.booleans(),
    pauses=st.integers(1, 3),
    dies=st.booleans(),
)
def test_a_stream_is_equal_end_to_end(
    number: int, procedure: t.Any, after: bool, pauses: int, dies: bool
) -> None:
    """The connection or the server goes at any WRITE or COMMIT, before or after it: what is committed is there."""
    stage = Reconnectable()
    stage.limit(write=1000)
    deed = (lambda: stage.leave(pauses)) if dies else stage.server.restart
    stage.at_call(procedure, number if procedure is p.WRITE else 1, deed, after=after)
    stage.client.write_file("f", DATA)
    stage.lose_uncommitted_data()
    assert stage.client.read_file("f") == DATA
    stage.close()


def test_pauses_begin_again_with_each_spell(stage: Reconnectable) -> None:
    stage.client.write_file("f", b"data")
    for _ in range(3):
        stage.leave(3)
        assert stage.client.read_file("f") == b"data"
    assert stage.pauses.waited == [0.05, 0.1, 0.2] * 3


def test_a_closed_client_stays_closed(stage: Reconnectable) -> None:
    stage.client.close()
    with pytest.raises(ConnectionLost, match="closed by us"):
        stage.client.stat()
    with pytest.raises(ConnectionLost, match="closed by us"):
        stage.client.listdir()
    assert not stage.pauses.waited


def test_after_the_patience_each_call_tries_once_until_there_is_an_answer(stage: Reconnectable) -> None:
    stage.leave(0)
    with pytest.raises(ServerDown):
        stage.client.stat()
    stage.pauses.waited.clear()
    with pytest.raises(ServerDown) as caught:
        stage.client.stat()
    assert caught.value.attempts == 1
    assert not stage.pauses.waited
    stage.server.listen(stage.loop, port=stage.port)
    stage.client.stat()
    stage.leave(2)
    stage.client.stat()
    assert len(stage.pauses.waited) == 2


def test_a_lost_reply_comes_from_the_replay_cache(stage: Reconnectable) -> None:
    """Which knows a caller by its address and port, as that of Linux does."""
    stage.watch(p.REMOVE)
    for name in ("f", "g", "h", "i"):
        stage.client.write_file(name, b"data")
        local, before = stage.client.session.rpc.local_address, len(stage.called("REMOVE"))
        stage.at_call(p.REMOVE, 1, lambda: None, after=True)
        try:
            stage.client.remove(name)
        except (
            FileNotFoundError
        ):  # another program has taken the port meanwhile: that can happen, but not each time
            assert stage.client.session.rpc.local_address != local
            continue
        assert len(stage.called("REMOVE")) == before + 1
        assert stage.client.session.rpc.local_address == local
        return
    pytest.fail("the client never came back from the port that it had")
