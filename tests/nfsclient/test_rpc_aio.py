# SPDX-License-Identifier: MIT
"""The asyncio client against scripted peers."""

from __future__ import annotations

import asyncio
import itertools
import socket
import typing as t
from collections.abc import Coroutine

import pytest

from nfsclient.errors import BadReply, ConnectFailed, ConnectionLost, GarbageArgs, RpcTimeout, XdrError
from nfsclient.rpc import aio
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.exchange import Exchange
from tests.nfsclient.rpc_peer import (
    ECHO,
    FETCH,
    PATTERN,
    STORE,
    EchoArgs,
    EchoRes,
    FetchArgs,
    HangUp,
    Peer,
    Script,
    StoreArgs,
    answer,
    framed,
    honest,
    success,
    words,
)

BIG = 300_001
SHORT = 0.2


def run(
    story: t.Callable[[aio.AsyncRpcClient], Coroutine[t.Any, t.Any, None]],
    script: Script = honest,
    host: str = "127.0.0.1",
    **options: t.Any,
) -> None:
    """Run a coroutine with a client that is connected to a peer."""

    async def main(peer: Peer) -> None:
        async with asyncio.timeout(30), await aio.connect_tcp(peer.host, peer.port, **options) as client:
            await story(client)

    with Peer(script, host) as peer:
        asyncio.run(main(peer))


def test_calls_bring_results() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        for number in range(5):
            assert await client.call(ECHO, EchoArgs(number, b"abc")) == EchoRes(number, b"abc")
        assert client.peer_address[0] == "127.0.0.1"
        assert client.core.peer == f"127.0.0.1:{client.peer_address[1]}"

    run(story)


def test_many_calls_at_once() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        replies = await asyncio.gather(*(client.call(ECHO, EchoArgs(number)) for number in range(200)))
        assert replies == [EchoRes(number) for number in range(200)]

    run(story)


def test_calls_that_are_ready_together_go_out_together() -> None:
    bursts: list[int] = []

    def script(calls: list[bytes]) -> bytes | None:
        bursts.append(len(calls))
        return honest(calls)

    async def story(client: aio.AsyncRpcClient) -> None:
        await asyncio.gather(*(client.call(ECHO, EchoArgs(number)) for number in range(20)))

    run(story, script)
    assert bursts == [20]


@pytest.mark.parametrize("size", [0, 10, BIG])
def test_data_both_ways(size: int) -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        place = bytearray(size)
        fetched = await client.call(FETCH, FetchArgs(size), into=memoryview(place))
        assert place == PATTERN[:size]
        assert fetched.resok is not None
        assert bytes(fetched.resok.data) == PATTERN[:size]
        assert (await client.call(STORE, StoreArgs(PATTERN[:size]))).count == size

    run(story)


@pytest.mark.parametrize("outstanding", [1, 7, 64])
def test_a_pipeline_answers_every_call_once(outstanding: int) -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        seen = []
        async for args, reply in client.pipeline(ECHO, map(EchoArgs, range(300)), outstanding=outstanding):
            assert reply == EchoRes(args.number)
            seen.append(args.number)
        assert sorted(seen) == list(range(300))

    run(story)


def test_leaving_a_pipeline_early() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        for _ in range(3):
            pipeline = client.pipeline(ECHO, map(EchoArgs, itertools.count()), outstanding=16)
            async for args, reply in pipeline:
                assert reply.number == args.number
                break
            await pipeline.aclose()
            assert await client.call(ECHO, EchoArgs(7)) == EchoRes(7)

    run(story)


def test_calls_during_a_pipeline() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        async for args, reply in client.pipeline(ECHO, map(EchoArgs, range(40)), outstanding=10):
            assert reply.number == args.number
            assert await client.call(ECHO, EchoArgs(1000)) == EchoRes(1000)

    run(story)


def test_two_pipelines_at_once() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        async def count() -> int:
            seen = 0
            async for args, reply in client.pipeline(ECHO, map(EchoArgs, range(100)), outstanding=8):
                assert reply.number == args.number
                seen += 1
            return seen

        assert sum(await asyncio.gather(count(), count())) == 200

    run(story)


def test_errors_of_replies() -> None:
    def script(calls: list[bytes]) -> bytes | None:
        kinds = {1: words(1, 0, 0, 0, 4), 2: words(1, 0, 0, 0, 0, 1), 3: words(1, 9)}
        out = b""
        for call in calls:
            number = int.from_bytes(call[40:44], "big")
            out += framed(call[:4] + kinds[number] if number in kinds else answer(call))
        return out or None

    async def story(client: aio.AsyncRpcClient) -> None:
        for number, error in ((1, GarbageArgs), (2, XdrError), (3, BadReply)):
            with pytest.raises(error):
                await client.call(ECHO, EchoArgs(number))
            with pytest.raises(error):
                async for _ in client.pipeline(ECHO, map(EchoArgs, [9, 9, number, 9])):
                    pass
        assert await client.call(ECHO, EchoArgs(4)) == EchoRes(4)

    run(story, script)


def test_silence_ends_at_the_deadline() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        late = asyncio.create_task(client.call(ECHO, EchoArgs(1), timeout=20))
        with pytest.raises(RpcTimeout):
            await client.call(ECHO, EchoArgs(2), timeout=SHORT)
        with pytest.raises(RpcTimeout):
            await client.receive_record(SHORT)
        with pytest.raises(RpcTimeout):
            async for _ in client.pipeline(ECHO, [EchoArgs(1)], timeout=SHORT):
                pass
        assert not late.done()
        await client.close()
        with pytest.raises(ConnectionLost):
            await late

    run(story, lambda _calls: None)


def test_a_cancelled_call_is_forgotten() -> None:
    def script(calls: list[bytes]) -> bytes | None:
        return honest(calls) if len(calls) == 2 else None

    async def story(client: aio.AsyncRpcClient) -> None:
        task = asyncio.create_task(client.call(ECHO, EchoArgs(1)))
        await asyncio.sleep(0)  # let it begin
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await client.call(ECHO, EchoArgs(2)) == EchoRes(2)
        assert (await client.receive_record())[24:28] == words(1)

    run(story, script)


def test_the_end_of_the_connection() -> None:
    def script(calls: list[bytes]) -> bytes | None:
        raise HangUp(framed(answer(calls[0]))[:10])

    async def story(client: aio.AsyncRpcClient) -> None:
        waiting = asyncio.create_task(client.receive_record())
        with pytest.raises(ConnectionLost):
            await client.call(ECHO, EchoArgs(1))
        assert await client.wait_closed()
        with pytest.raises(ConnectionLost):
            await waiting
        with pytest.raises(ConnectionLost):
            await client.call(ECHO, EchoArgs(1))
        with pytest.raises(ConnectionLost):
            client.send_raw(b"abcd")
        with pytest.raises(ConnectionLost):
            async for _ in client.pipeline(ECHO, [EchoArgs(1)]):
                pass

    run(story, script)


def test_a_record_beyond_the_bound() -> None:
    async def story(client: aio.AsyncRpcClient) -> None:
        with pytest.raises(BadReply):
            await client.call(ECHO, EchoArgs(1))
        assert not client.is_open

    run(story, lambda _calls: words(0xFFFF_FFFF), max_record=1000)


def test_below_calls() -> None:
    seen: list[bytes] = []

    def script(calls: list[bytes]) -> bytes | None:
        seen.extend(calls)
        return b"".join(framed(call) for call in calls) if calls else None

    incoming = words(5, 0, 2, 1, 1, 1, 0, 0, 0, 0)

    async def story(client: aio.AsyncRpcClient) -> None:
        client.send_record(b"12345678", [3, 0])
        assert await client.receive_record() == b"12345678"
        client.on_call = lambda message: [success(message)]
        client.send_raw(framed(incoming))
        assert await client.receive_record() == success(incoming)
        client.on_call = None
        client.send_record(incoming)
        assert await client.receive_record() == incoming
        client.shutdown_write()
        assert await client.wait_closed()

    run(story, script)


def test_options_of_calls_and_recording() -> None:
    seen: list[Exchange] = []

    async def story(client: aio.AsyncRpcClient) -> None:
        client.on_exchange = seen.append
        await client.call(ECHO, EchoArgs(1), xid=77, credential=AuthSys(5, 6))
        async for _, reply in client.pipeline(ECHO, [EchoArgs(1)], credential=AuthSys(5, 6)):
            assert reply == EchoRes(0)

    def script(calls: list[bytes]) -> bytes | None:
        return b"".join(framed(success(call, words(0, 0))) for call in calls) if calls else None

    run(story, script)
    assert seen[0].call.startswith(words(77, 0, 2))
    assert [exchange.credential for exchange in seen] == [AuthSys(5, 6)] * 2


def test_a_peer_that_does_not_read() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = await aio.connect_tcp(*listener.getsockname())
            async with asyncio.timeout(30), client:
                calls = [client.call(STORE, StoreArgs(bytes(4 << 20)), timeout=SHORT) for _ in range(8)]
                outcomes = await asyncio.gather(*calls, return_exceptions=True)
                assert all(isinstance(outcome, RpcTimeout) for outcome in outcomes)

    asyncio.run(main())


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(ConnectFailed, match=str(port)):
            asyncio.run(aio.connect_tcp(host, port))


def test_a_chosen_source_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]

    async def story(client: aio.AsyncRpcClient) -> None:
        assert client.local_address == ("127.0.0.1", free)

    run(story, source_port=free)


def test_udp() -> None:
    async def main() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("127.0.0.1", 0))
            sock.setblocking(False)
            loop = asyncio.get_running_loop()
            client = await aio.connect_udp(*sock.getsockname(), first_interval=0.01)
            async with asyncio.timeout(30), client:
                task = asyncio.create_task(client.call(ECHO, EchoArgs(4)))
                first, _ = await loop.sock_recvfrom(sock, 2000)
                second, source = await loop.sock_recvfrom(sock, 2000)
                assert first == second
                await loop.sock_sendto(sock, answer(first), source)
                assert await task == EchoRes(4)
                with pytest.raises(RpcTimeout):
                    await client.call(ECHO, EchoArgs(4), timeout=SHORT)

    asyncio.run(main())
