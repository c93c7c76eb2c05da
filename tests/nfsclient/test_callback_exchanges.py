# SPDX-License-Identifier: MIT
"""Whoever records the exchanges of a connection gets the callbacks too, as calls of the server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from tests.waiting import AT_MOST

OK = p.Nfsstat4.NFS4_OK


class Pair:
    """A client with a read delegation, another that wants to write, and what was recorded of the first one."""

    def __init__(self, loop: Loop, port: int) -> None:
        self.loop = loop
        self.seen: list[Exchange] = []
        self.opened: list[RpcClient] = []
        self.rpc = self._connect(port)
        self.rpc.on_exchange = self.seen.append
        self.holder = Nfs4(self.rpc).establish(callbacks=True)
        self.other = Nfs4(self._connect(port)).establish()
        export = (op.putrootfh(), op.lookup(b"export"))
        access = p.OPEN4_SHARE_ACCESS_READ
        creating = op.open(b"f", access, owner=b"maker", how=op.guarded())
        made = self.other.compound(*export, creating, op.getfh()).ok()
        self.file = made.handle
        self.other.compound(op.putfh(self.file), op.close(made.stateid)).ok()
        wanted = op.open(None, access | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG, owner=b"holder")
        result = self.holder.compound(op.putfh(self.file), wanted).ok().of(p.OPEN).resok4
        assert result is not None
        assert result.delegation.read is not None

    def _connect(self, port: int) -> RpcClient:
        self.opened.append(connect_tcp("127.0.0.1", port, loop=self.loop, credential=AuthSys(0, 0)))
        return self.opened[-1]

    def close(self) -> None:
        """Close both connections."""
        for channel in self.opened:
            channel.close()

    def recall(self) -> None:
        """Have the delegation recalled, and wait for the callback."""
        opening = op.open(None, p.OPEN4_SHARE_ACCESS_BOTH, owner=b"writer")
        reply = self.other.compound(op.putfh(self.file), opening)
        assert reply.status == p.Nfsstat4.NFS4ERR_DELAY
        assert _callbacks_come(self.holder)

    @property
    def callbacks(self) -> list[Exchange]:
        return [exchange for exchange in self.seen if exchange.is_callback]


def _callbacks_come(session: Session) -> bool:
    return session.await_callbacks(1, AT_MOST)


@pytest.fixture
def pair() -> Iterator[Pair]:
    loop, server = Loop(), Server()
    server.listen(loop)
    made = Pair(loop, server.port)
    yield made
    made.close()
    server.close()
    loop.close()


def test_a_callback_is_recorded_with_its_reply(pair: Pair) -> None:
    pair.recall()
    (callback,) = pair.callbacks
    assert [step.operation for step in callback.steps] == [p.CB_SEQUENCE, p.CB_RECALL]
    assert (callback.procedure, callback.error, callback.local) == (p.CB_COMPOUND, None, pair.rpc.core.local)
    assert callback.result.status == OK
    assert callback.call[:4] == (callback.reply or b"")[:4] == callback.xid.to_bytes(4, "big")
    assert callback.received_at is not None
    assert callback.received_at >= callback.sent_at
    # What the server says stands in the arguments, and is what the session has received.
    assert callback.of_server is callback.args
    assert pair.holder.callbacks.received[-1].args is callback.args.argarray[1]


def test_one_whose_reply_is_withheld_has_none_until_it_is_released(pair: Pair) -> None:
    pair.holder.nfs4.callbacks.holds = True
    pair.recall()
    (callback,) = pair.callbacks
    assert (callback.reply, callback.received_at) == (None, None)
    assert pair.holder.nfs4.callbacks.release() == 1
    assert callback.reply is not None
    assert callback.received_at is not None


def test_nothing_is_made_where_nobody_records(pair: Pair) -> None:
    pair.rpc.on_exchange = None
    pair.recall()
    assert pair.callbacks == []
