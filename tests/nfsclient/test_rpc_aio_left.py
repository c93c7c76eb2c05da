# SPDX-License-Identifier: MIT
"""A pipeline that nobody closes: the event loop has nothing to report, whatever the server answers."""

from __future__ import annotations

import asyncio
import gc
import typing as t

import pytest

from nfsclient.errors import RpcError, XdrError
from nfsclient.rpc import aio
from tests.nfsclient.rpc_peer import ECHO, EchoArgs, Peer, Script, framed, honest, success, words


def lying(calls: list[bytes]) -> bytes | None:
    """Answers each call by a result that does not decode."""
    return b"".join(framed(success(call, words(1, 2, 3))) for call in calls) if calls else None


class Left(Exception):
    """The program gives up in the middle."""


async def leave(client: aio.AsyncRpcClient) -> None:
    async for _ in client.pipeline(ECHO, map(EchoArgs, range(50)), outstanding=16):
        raise Left


@pytest.mark.parametrize("script", [honest, lying], ids=["honest", "lying"])
def test_a_pipeline_that_is_left_open(script: Script) -> None:
    """The calls are made singly, as a recorder wants them."""
    reported: list[dict[str, t.Any]] = []

    async def main(peer: Peer) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
        client = await aio.connect_tcp(peer.host, peer.port)
        client.on_exchange = lambda _exchange: None
        with pytest.raises((Left, RpcError, XdrError)):
            await leave(client)
        gc.collect()
        await client.close()

    with Peer(script) as peer:
        asyncio.run(main(peer))
    gc.collect()
    assert reported == []
