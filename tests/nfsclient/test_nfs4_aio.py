# SPDX-License-Identifier: MIT
"""Sessions of NFSv4.1 for coroutines, against a server in another thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.aio import AsyncNfs4
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.aio import connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import XdrType
from tests.nfsclient.nfs4_peer import SmallServer


@pytest.fixture
def server() -> Iterator[tuple[SmallServer, int]]:
    loop, over = Loop(), threading.Event()
    made = SmallServer(loop)
    port = made.listen_tcp()[1]

    def serve() -> None:
        while not over.is_set():
            loop.run_once(loop.clock() + 0.05)

    thread = threading.Thread(target=serve)
    thread.start()
    yield made, port
    over.set()
    thread.join()
    made.close()
    loop.close()


def test_more_compounds_than_slots(server: tuple[SmallServer, int]) -> None:
    async def main() -> None:
        rpc = await connect_tcp("127.0.0.1", server[1])
        async with rpc, await AsyncNfs4(rpc).establish(callbacks=True) as session:
            assert session.state.slots.allowed == 8
            replies = await asyncio.gather(
                *[session.compound(op.putrootfh(), op.getfh(), op.getattr("type")) for _ in range(50)]
            )
            assert {reply.ok().handle for reply in replies} == {b"root"}
            assert session.state.outstanding == set()
            with pytest.raises(FileNotFoundError):
                (await session.compound(op.putrootfh(), op.lookup(b"nothing"))).ok()

    asyncio.run(main())
    assert not server[0].sessions
    assert not server[0].clients


def test_callback_that_comes_before_its_session_is_known(server: tuple[SmallServer, int]) -> None:
    """It gets DELAY, so that the server tries it again."""
    small, port = server

    def at_once(_args: XdrType, proceed: Callable[[], XdrType]) -> XdrType:
        made = proceed()
        small.call_back(session=list(small.sessions)[-1])
        return made

    async def main() -> None:
        small.script("CREATE_SESSION", at_once)
        async with (
            await connect_tcp("127.0.0.1", port) as rpc,
            await AsyncNfs4(rpc).establish(callbacks=True),
        ):
            # The call of RECLAIM_COMPLETE went out after the answer to the callback.
            assert small.callback_answer().status == p.Nfsstat4.NFS4ERR_DELAY

    asyncio.run(main())


def test_callbacks_reach_the_session(server: tuple[SmallServer, int]) -> None:
    async def main() -> None:
        async with await connect_tcp("127.0.0.1", server[1]) as rpc:
            nfs4 = AsyncNfs4(rpc)
            session = await nfs4.establish(callbacks=True)
            args = p.CbNotifyLock4Args(b"f", p.StateOwner4(1, b"o"))
            first = p.CbSequence4Args(session.id, 1, 0, 0, False, [])
            reply = nfs4.callbacks.router.answer(p.CbCompound4Args(b"", 1, 0, [first, args]))
            assert reply.status == p.Nfsstat4.NFS4_OK
            assert session.callbacks.received[-1].args == args

    asyncio.run(main())
