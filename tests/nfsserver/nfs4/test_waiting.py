# SPDX-License-Identifier: MIT
"""Calls that wait for the return of a delegation: they are executed once, later, and nobody else waits with them."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.clients import Nfs3
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.xdr import XdrType
from nfsserver.bounds import MOST
from nfsserver.fs import SUPERUSER
from tests.nfsserver.nfs4.conftest import Rig4, S


@pytest.fixture
def rig4() -> Iterator[Rig4]:
    made = Rig4(knobs={"conflicts": "wait"})
    made.listen()
    yield made
    made.close()


class Held(t.NamedTuple):
    """A file, and its delegation."""

    holder: Session
    file: bytes
    stateid: p.Stateid4

    def give_back(self) -> None:
        self.holder.compound(op.putfh(self.file), op.delegreturn(self.stateid)).ok()


@pytest.fixture
def held(rig4: Rig4) -> Held:
    """A file whose reading is delegated to a client, which answers recalls and returns nothing."""
    maker = rig4.session()
    file = rig4.make(maker, b"f", b"data")
    holder = rig4.session(callbacks=True)
    holder.callbacks.on(p.CB_RECALL, S.NFS4_OK)
    access = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    opened = holder.compound(op.putfh(file), op.open(None, access, owner=b"holder")).ok().of(p.OPEN).resok4
    assert opened is not None
    assert opened.delegation.read is not None
    return Held(holder, file, opened.delegation.read.stateid)


def submit(session: Session, *operations: XdrType) -> tuple[t.Any, Pending[t.Any]]:
    request = session.state.begin(list(operations))
    return request, t.cast("RpcClient", session.nfs4.rpc).submit(p.COMPOUND, request.args)


def size_of_f(rig4: Rig4) -> int:
    return rig4.server.fs.lookup(SUPERUSER, rig4.server.fs.root, b"f").size


def settle(rig4: Rig4, seconds: float = 0.05) -> None:
    rig4.loop.run_until(lambda: False, rig4.loop.clock() + seconds)


def test_compound_goes_on_where_it_waited(rig4: Rig4, held: Held) -> None:
    other = rig4.session()
    putting = (op.putfh(rig4.root), op.mkdir(b"made"), op.putfh(held.file), op.setattr(p.Fattr4(size=1)))
    _, pending = submit(other, *putting)
    settle(rig4)
    assert not pending.done
    rig4.server.fs.lookup(SUPERUSER, rig4.server.fs.root, b"made")
    held.give_back()
    settle(rig4)
    reply = pending.result
    assert reply is not None
    assert [p.status_of(result) for result in reply.resarray] == [S.NFS4_OK] * 5


def test_call_of_nfs3_waits(rig4: Rig4, held: Held) -> None:
    client = rig4.rpc()
    pending = client.submit(nfs3.SETATTR, nfs3.Setattr3Args(held.file, nfs3.Sattr3(mode=0o600)))
    settle(rig4)
    assert not pending.done
    assert Nfs3(rig4.rpc()).getattr(held.file).status == nfs3.Nfsstat3.NFS3_OK  # others are served
    held.give_back()
    assert client.wait(pending).status == nfs3.Nfsstat3.NFS3_OK


def test_connection_of_a_call_that_waits_is_not_idle(rig4: Rig4, held: Held) -> None:
    rig4.server.knobs.update(idle_close=0.2)
    client, idle = rig4.rpc(), rig4.rpc()
    pending = client.submit(nfs3.SETATTR, nfs3.Setattr3Args(held.file, nfs3.Sattr3(mode=0o600)))
    rig4.loop.run_until(lambda: not idle.is_open, rig4.loop.clock() + 10)
    assert not idle.is_open
    assert client.is_open
    assert pending.error is None
    rig4.clock.advance(seconds=100)  # the lease of the holder is over
    assert client.wait(pending).status == nfs3.Nfsstat3.NFS3_OK
    rig4.loop.run_until(lambda: not client.is_open, rig4.loop.clock() + 10)
    assert not client.is_open


def test_datagram_does_not_wait(rig4: Rig4, held: Held) -> None:
    made = rig4.nfs3(proto="udp")
    assert made.write(held.file, 0, b"x").status == nfs3.Nfsstat3.NFS3ERR_JUKEBOX


def test_retry_of_what_waits_gets_delay(rig4: Rig4, held: Held) -> None:
    other = rig4.session()
    request, pending = submit(other, op.putfh(held.file), op.setattr(p.Fattr4(size=1)))
    settle(rig4)
    again = rig4.rpc().call(p.COMPOUND, request.args)
    assert again.status == S.NFS4ERR_DELAY
    held.give_back()
    settle(rig4)
    assert pending.done


def test_lease_ends_the_wait(rig4: Rig4, held: Held) -> None:
    _, pending = submit(rig4.session(), op.putfh(held.file), op.setattr(p.Fattr4(size=1)))
    settle(rig4)
    rig4.clock.advance(seconds=100)
    rig4.loop.run_until(lambda: pending.done, rig4.loop.clock() + 10)
    assert pending.result is not None
    assert pending.result.status == S.NFS4_OK


def test_session_that_ends_ends_the_wait(rig4: Rig4, held: Held) -> None:
    other = rig4.session()
    _, pending = submit(other, op.putfh(held.file), op.setattr(p.Fattr4(size=1)))
    settle(rig4)
    rig4.nfs4().compound(op.destroy_session(other.id)).ok()
    held.give_back()
    settle(rig4)
    assert pending.result is not None
    assert pending.result.status == S.NFS4ERR_DEADSESSION
    assert size_of_f(rig4) == 4


def test_restart_loses_what_waits(rig4: Rig4, held: Held) -> None:
    _, pending = submit(rig4.session(), op.putfh(held.file), op.setattr(p.Fattr4(size=1)))
    settle(rig4)
    rig4.server.restart()
    settle(rig4, 0.4)
    assert pending.error is not None
    assert size_of_f(rig4) == 4


def test_bound(rig4: Rig4, held: Held) -> None:
    client = rig4.rpc()
    args = nfs3.Setattr3Args(held.file, nfs3.Sattr3(mode=0o600))
    calls = [client.submit(nfs3.SETATTR, args) for _ in range(MOST.waiting_calls + 1)]
    settle(rig4, 0.3)
    done = [call for call in calls if call.done]
    assert len(done) == 1
    assert done[0].result is not None
    assert done[0].result.status == nfs3.Nfsstat3.NFS3ERR_JUKEBOX
    held.give_back()
    assert {client.wait(call).status for call in calls} == {
        nfs3.Nfsstat3.NFS3_OK,
        nfs3.Nfsstat3.NFS3ERR_JUKEBOX,
    }


def test_bound_of_bytes(rig4: Rig4, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that would wait, and for whose bytes there is no room, gets JUKEBOX at once."""
    monkeypatch.setattr(MOST, "waiting_bytes", 2000)
    client = rig4.rpc()
    small, large = (
        client.submit(nfs3.WRITE, nfs3.Write3Args(held.file, 0, size, nfs3.StableHow.FILE_SYNC, bytes(size)))
        for size in (10, 3000)
    )
    settle(rig4, 0.1)
    assert not small.done
    assert large.result is not None
    assert large.result.status == nfs3.Nfsstat3.NFS3ERR_JUKEBOX
