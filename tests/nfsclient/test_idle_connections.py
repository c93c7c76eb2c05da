# SPDX-License-Identifier: MIT
"""Connections that the server closes while they are idle: calls go on over a new one, and a call is lost only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from nfsclient.clients.nfs4 import Nfs4
from nfsclient.errors import ConnectionLost
from nfsclient.protocol import nfs3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import IDLE, RpcClient, connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import Connection
from nfsserver import ManualClock, Server
from nfsserver.middleware import AnyAroundCall
from nfsserver.transport import AnswerRecord, TransportMiddleware
from suites.replies import copies_sent

SECONDS = 0.5


class _Closing(TransportMiddleware):
    """Closes the connections of the next calls, which it does not execute."""

    def __init__(self) -> None:
        self.left = 0
        self.unanswered: list[Connection] | None = None
        """If it is a list, where the calls after the first ten came from: they are read, and not answered."""
        self.executed = 0

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        if self.left:
            self.left -= 1
            connection.close()
        elif self.unanswered is not None and self.executed >= 10:
            self.unanswered.append(connection)
        else:
            self.executed += 1
            proceed(connection, message)

    def around_calls(self, _operation: object, /) -> Sequence[AnyAroundCall]:
        return ()

    def around_messages(self) -> tuple[()]:
        return ()

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return (self,)


class Rig:
    """A server that closes idle connections, a client of it, and the time of both."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.loop = Loop(clock=lambda: self.now)
        self.server = Server(clock=ManualClock(), seed=1, knobs={"idle_close": SECONDS})
        self.closing = _Closing()
        self.server.surround(self.closing)
        self.server.listen(self.loop)
        self.root = self.server.backend.handle_of(self.server.fs.root)
        self.exchanges: list[Exchange] = []
        self.rpc = self.connect()

    def connect(self) -> RpcClient:
        rpc = connect_tcp("127.0.0.1", self.server.port, loop=self.loop, credential=AuthSys(0, 0))
        rpc.outlives_idleness = True
        rpc.on_exchange = self.exchanges.append
        return rpc

    def pass_time(self, seconds: float) -> None:
        """In steps, so that the server looks for idle connections as often as it wants to."""
        end = self.now + seconds
        while self.now < end:
            self.now += SECONDS / 10
            self.loop.run_once(self.now)
            self.loop.catch_up()

    def getattr(self, rpc: RpcClient | None = None) -> nfs3.Nfsstat3:
        return nfs3.Nfsstat3((rpc or self.rpc).call(nfs3.GETATTR, nfs3.Getattr3Args(self.root)).status)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.rpc.close()
    made.server.close()
    made.loop.close()


def test_the_next_call_makes_the_connection_again(rig: Rig) -> None:
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    rig.pass_time(2 * SECONDS)
    assert not rig.rpc.is_open
    assert rig.rpc.is_usable
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    assert copies_sent(rig.rpc) == 0
    assert [exchange.error for exchange in rig.exchanges] == [None, None]


def test_without_that_the_call_is_lost(rig: Rig) -> None:
    rig.rpc.outlives_idleness = False
    rig.pass_time(2 * SECONDS)
    with pytest.raises(ConnectionLost):
        rig.getattr()


def test_a_call_that_crosses_the_close_is_sent_again_with_its_xid(rig: Rig) -> None:
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    rig.now += 2 * IDLE
    rig.closing.left = 1
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    _, lost, again = rig.exchanges
    assert isinstance(lost.error, ConnectionLost)
    assert (again.xid, again.error) == (lost.xid, None)
    assert (rig.rpc.sent_again, copies_sent(rig.rpc)) == (1, 1)


def test_all_calls_that_cross_it_are_sent_again(rig: Rig) -> None:
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    rig.now += 2 * IDLE
    rig.closing.left = 1
    args = [nfs3.Getattr3Args(rig.root)] * 20
    statuses = [reply.status for _, reply in rig.rpc.pipeline(nfs3.GETATTR, args, outstanding=8)]
    assert statuses == [nfs3.Nfsstat3.NFS3_OK] * 20


def test_none_is_sent_again_after_a_reply_to_one_of_them(rig: Rig) -> None:
    """The server has read what came after the idle time, so it does not close what is idle."""
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    rig.now += 2 * IDLE
    rig.closing.executed, rig.closing.unanswered = 0, []
    pendings = [rig.rpc.submit(nfs3.GETATTR, nfs3.Getattr3Args(rig.root)) for _ in range(20)]
    while len(rig.closing.unanswered) < 10 or len(rig.rpc.core.pending) > 10:
        rig.loop.run_once(rig.now)
    rig.closing.unanswered[0].close()
    rig.closing.unanswered = None
    assert [rig.rpc.wait(pending).status for pending in pendings[:10]] == [nfs3.Nfsstat3.NFS3_OK] * 10
    for pending in pendings[10:]:
        with pytest.raises(ConnectionLost):
            rig.rpc.wait(pending)
    assert rig.closing.executed == 10


@pytest.mark.parametrize(("idle", "times"), [(0.0, 1), (2 * IDLE, 2)])
def test_a_server_that_closes_it_for_the_call_is_not_excused(rig: Rig, idle: float, times: int) -> None:
    """On a connection that is in use at once, and on an idle one when the new connection is closed as well."""
    assert rig.getattr() == nfs3.Nfsstat3.NFS3_OK
    rig.now += idle
    rig.closing.left = times
    with pytest.raises(ConnectionLost):
        rig.getattr()


def test_a_backchannel_is_bound_again(rig: Rig) -> None:
    session = Nfs4(rig.rpc).establish(callbacks=True)
    rig.pass_time(2 * SECONDS)
    assert rig.rpc.why_closed
    assert not session.await_callbacks(1, 0.0)
    assert rig.rpc.is_open
    known = rig.server.states.sessions.require(session.id)
    assert known.back_connection is not None
    session.renew().ok()
    session.destroy()
    assert not [call for call in rig.rpc.on_reopened if call.__name__ == "bind_again"]
