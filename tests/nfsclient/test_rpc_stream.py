# SPDX-License-Identifier: MIT
"""TLS by memory BIO between the clients and the reference server, and what a hostile peer of it can do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc import aio
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.stream import TlsStream
from nfsclient.xdr import Void
from nfsserver import ManualClock, Server
from tests.needs import need

NAME = "nfs.example"
BULK = 1 << 20
ROOT = AuthSys(0, 0)


@dataclass
class Contexts:
    """Both sides of TLS, with one certificate for `NAME` that its client trusts."""

    server: ssl.SSLContext
    client: ssl.SSLContext
    stranger: ssl.SSLContext
    """A client that trusts nobody."""


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Contexts:
    need("openssl")
    folder = tmp_path_factory.mktemp("tls")
    certificate = _certificate(folder)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, folder / "key.pem")
    return Contexts(
        server, ssl.create_default_context(cafile=str(certificate)), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )


def _certificate(folder: Path) -> Path:
    """A certificate that signs itself, and its key."""
    subprocess.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2"
        f" -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}".split(),
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder / "cert.pem"


class House:
    """The reference server with TLS, and one loop for it and its clients."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self.loop = Loop()
        self.server = Server(clock=ManualClock(), seed=1)
        self.server.listen(self.loop, tls=tls)
        self.root = self.server.backend.handle_of(self.server.fs.root)

    def connect(self, loop: Loop | None = None) -> RpcClient:
        return connect_tcp("127.0.0.1", self.server.port, loop=loop or self.loop, credential=ROOT)

    def close(self) -> None:
        self.server.close()
        self.loop.close()


@pytest.fixture
def house(contexts: Contexts) -> Iterator[House]:
    made = House(contexts.server)
    yield made
    made.close()
    assert [str(error) for _, error in made.server.messages.faults] == []


@contextlib.contextmanager
def served(house: House) -> Iterator[None]:
    """Serve from a thread, as another process would."""
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            house.loop.run_once(house.loop.clock() + 0.02)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def made_file(client: RpcClient, root: bytes) -> bytes:
    made = Nfs3(client).create(root, b"file").resok
    assert made is not None
    assert made.obj is not None
    return made.obj


def work(client: RpcClient, root: bytes) -> None:
    """Small calls, calls in bulk, and bulk data both ways."""
    file = made_file(client, root)
    data = bytes(range(256)) * (BULK // 256)
    written = client.call(p.WRITE, p.Write3Args(file, 0, BULK, p.StableHow.UNSTABLE, data)).resok
    assert written is not None
    assert written.count == BULK
    read = client.call(p.READ, p.Read3Args(file, 0, BULK)).resok
    assert read is not None
    assert read.data == data
    room = bytearray(BULK)
    assert client.call(p.READ, p.Read3Args(file, 0, BULK), into=memoryview(room)).resok is not None
    assert room == data
    reads = client.pipeline(p.READ, (p.Read3Args(file, at, BULK) for at in range(8)), outstanding=8)
    assert sum(result.resok.data == data[args.offset :] for args, result in reads if result.resok) == 8
    stats = client.pipeline(p.GETATTR, (p.Getattr3Args(file) for _ in range(500)))
    assert sum(result.resok is not None for _, result in stats) == 500


def test_one_loop_carries_both_sides(house: House, contexts: Contexts) -> None:
    with house.connect() as client:
        client.start_tls(contexts.client, NAME)
        work(client, house.root)


def test_client_alone_on_its_loop(house: House, contexts: Contexts) -> None:
    with served(house), house.connect(Loop()) as client:
        client.start_tls(contexts.client, NAME)
        work(client, house.root)


def test_asyncio_client(house: House, contexts: Contexts) -> None:
    async def story() -> None:
        async with (
            asyncio.timeout(30),
            await aio.connect_tcp("127.0.0.1", house.server.port, credential=ROOT) as client,
        ):
            await client.start_tls(contexts.client, NAME)
            args = p.Getattr3Args(house.root)
            results = await asyncio.gather(*(client.call(p.GETATTR, args) for _ in range(100)))
            assert all(result.resok is not None for result in results)
            stats = client.pipeline(p.GETATTR, (args for _ in range(500)))
            assert len([result async for _, result in stats]) == 500
            with pytest.raises(NotImplementedError):
                client.shutdown_write()

    with served(house):
        asyncio.run(story())


def test_new_connection_uses_tls_again(house: House, contexts: Contexts) -> None:
    with house.connect() as client:
        client.start_tls(contexts.client, NAME)
        made_file(client, house.root)
        client.reconnect(same_port=True)
        work(client, house.root)


def test_half_closed_connection_gets_its_replies(house: House, contexts: Contexts) -> None:
    with house.connect() as client:
        client.start_tls(contexts.client, NAME)
        calls = [client.submit(p.GETATTR, p.Getattr3Args(house.root)) for _ in range(3)]
        client.shutdown_write()
        assert all(client.wait(call).resok is not None for call in calls)
        assert client.wait_closed()


def test_server_ends_the_connection(house: House, contexts: Contexts) -> None:
    with house.connect() as client:
        client.start_tls(contexts.client, NAME)
        pending = client.submit(p.GETATTR, p.Getattr3Args(house.root))
        house.server.restart()
        with pytest.raises(ConnectionLost):
            client.wait(pending)


def test_tap_sees_what_is_encrypted(house: House, contexts: Contexts) -> None:
    passed: list[bytes] = []
    with house.connect() as client:
        client.on_wire = lambda _sent, data, _end: passed.append(data)
        client.start_tls(contexts.client, NAME)
        made_file(client, house.root)
    assert passed[0][:2] == b"\x16\x03"
    assert b"file" not in b"".join(passed)


@pytest.mark.parametrize("name", ["stranger", "wrong name"])
def test_certificate_is_judged(house: House, contexts: Contexts, name: str) -> None:
    trust = contexts.stranger if name == "stranger" else contexts.client
    host = NAME if name == "stranger" else "other.example"
    with house.connect() as client, pytest.raises(ConnectionLost, match="certificate verify failed"):
        client.start_tls(trust, host)
    with house.connect() as client:  # the server goes on
        client.start_tls(contexts.client, NAME)
        made_file(client, house.root)


def test_asyncio_client_judges_the_certificate(house: House, contexts: Contexts) -> None:
    async def story() -> None:
        client = await aio.connect_tcp("127.0.0.1", house.server.port)
        with pytest.raises(ConnectionLost, match="certificate verify failed"):
            await client.start_tls(contexts.stranger, NAME)
        await client.close()

    with served(house):
        asyncio.run(story())


def test_plain_calls_end_the_connection(house: House) -> None:
    with house.connect() as client, pytest.raises(ConnectionLost):
        client.call(p.GETATTR, p.Getattr3Args(house.root))


def test_order_of_tap_and_calls_and_tls(house: House, contexts: Contexts) -> None:
    with house.connect() as client:
        client.submit(p.NULL, Void())
        with pytest.raises(ValueError, match="calls are under way"):
            client.start_tls(contexts.client, NAME)
    with house.connect() as client:
        client.start_tls(contexts.client, NAME)
        with pytest.raises(TypeError):
            client.start_tls(contexts.client, NAME)
        with pytest.raises(ValueError, match="before start_tls"):
            client.on_wire = lambda *_: None


def test_silent_server_is_given_up(contexts: Contexts) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = connect_tcp("127.0.0.1", listener.getsockname()[1], timeout=0.2)
        with pytest.raises(RpcTimeout):
            client.start_tls(contexts.client, NAME)
        assert not client.is_open


# ---------------------------------------------------------------- the stream alone


@pytest.fixture
def ends(contexts: Contexts) -> Iterator[tuple[TlsStream, TlsStream]]:
    """A client's and a server's stream over a pair of sockets, after the handshake."""
    left, right = socket.socketpair()
    for sock in (left, right):
        sock.setblocking(False)
    client = TlsStream(left, contexts.client, server_hostname=NAME)
    server = TlsStream(right, contexts.server, server_side=True)
    for _ in range(10):
        for end in (client, server):
            with contextlib.suppress(BlockingIOError):
                end.flush()
                end.recv(100)
    assert client.is_ready
    assert server.is_ready
    yield client, server
    client.close()
    server.close()


def test_data_in_single_bytes_arrives(contexts: Contexts) -> None:
    """However the kernel cuts it, nothing blocks and nothing is lost."""
    left, relay_left = socket.socketpair()
    relay_right, right = socket.socketpair()
    for sock in (left, relay_left, relay_right, right):
        sock.setblocking(False)
    client = TlsStream(left, contexts.client, server_hostname=NAME)
    server = TlsStream(right, contexts.server, server_side=True)
    sent, received = False, b""
    for _ in range(20_000):
        for source, sink in ((relay_left, relay_right), (relay_right, relay_left)):
            with contextlib.suppress(BlockingIOError):
                sink.send(source.recv(1))
        with contextlib.suppress(BlockingIOError):
            received += server.recv(100)
        with contextlib.suppress(BlockingIOError):
            client.recv(100)
        if client.is_ready and not sent:
            sent = client.send(b"hello") == 5
        if received == b"hello":
            break
    assert received == b"hello"
    for endpoint in (client, server, relay_left, relay_right):
        endpoint.close()


def test_output_waits_encrypted_and_is_bounded(ends: tuple[TlsStream, TlsStream]) -> None:
    client, server = ends
    taken = 0
    with contextlib.suppress(BlockingIOError):
        while taken < 64 << 20:
            taken += client.send(bytes(1 << 20))
    assert taken < 8 << 20
    assert client.wants_to_write(has_data=False)
    received = 0
    while received < taken:
        with contextlib.suppress(BlockingIOError):
            received += len(server.recv(1))
        with contextlib.suppress(BlockingIOError):
            client.flush()
    assert not client.wants_to_write(has_data=False)
    assert client.wants_to_write(has_data=True)


def test_announced_end_needs_no_socket(ends: tuple[TlsStream, TlsStream]) -> None:
    client, server = ends
    client.send(b"last words")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.tls.unwrap()
    client.flush()
    assert server.recv(100) == b"last words"
    assert server.has_ended
    assert server.recv(100) == b""


@pytest.mark.parametrize(
    "garbage", [b"\x80\0\0\x28" + bytes(40), b"\x16\3\1\0\x28" + bytes(40)], ids=["rpc", "tls"]
)
def test_garbage_is_an_error_of_the_os(contexts: Contexts, garbage: bytes) -> None:
    left, right = socket.socketpair()
    left.setblocking(False)
    server = TlsStream(right, contexts.server, server_side=True)
    left.send(garbage)
    with pytest.raises(ssl.SSLError):
        server.recv(100)
    server.close()
    answer = b""
    with contextlib.suppress(ConnectionError):
        answer = left.recv(100)
    assert answer[:1] in (b"", b"\x15")  # OpenSSL sends an alert, where the garbage looks like TLS
    left.close()
