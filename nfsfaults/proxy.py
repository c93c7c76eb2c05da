# SPDX-License-Identifier: MIT
"""The plan between any client and any server: an asyncio proxy for TCP and UDP, without privilege.

What no rule wants passes as it comes (cut-through). Everything else goes through a `Flow`, and is written at the times
that it gives. The proxy opens one connection to the server for each of the client, from a source port that can be
chosen: duplicate request caches may look at it.

With `ports`, the proxy also stands before the server's rpcbind: it answers with its own ports, and opens a listener
for each port that a client asks for.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import socket
import typing as t
import weakref

from nfsfaults import ports, with_scapy
from nfsfaults.matcher import Flow, Matcher
from nfsfaults.messages import Toward
from nfsfaults.names import BadPlan
from nfsfaults.plan import Plan
from nfsfaults.proxy_sockets import Address, Settings, abort
from nfsfaults.proxy_tcp import Connection
from nfsfaults.proxy_udp import Datagrams

MOST_CONNECTIONS: t.Final = 4096
"""Connections at a time; a client above it is refused by a closed connection."""
_BACKLOG: t.Final = 1024
"""Connections that wait to be accepted; of more, the kernel drops the first packet, and the client waits a second."""
_MOST_LISTENERS: t.Final = 64
_ROUNDS: t.Final = 4
"""Turns of the loop in which the accept of a connection is over, and the end of one."""
_CONNECTIONS_OF_A_LISTENER: t.Final = 1 << 20


class Proxy:
    """One plan before one server. Use it as an asynchronous context manager, or call `close`."""

    def __init__(self, settings: Settings, plan: Plan | None = None) -> None:
        """Raises `BadPlan` for a plan that needs packets that no socket makes, `NoScapy` for one with a function."""
        self.settings = settings
        self.matcher = Matcher(plan or Plan())
        if "packets" in self.matcher.plan.needs:
            raise BadPlan(
                f"{self.matcher.plan.about_packets} is about packets, which a proxy does not make (docs/faults.md)"
            )
        if self.matcher.plan.needs_scapy:
            with_scapy.making()
        self.matcher.on_failure = settings.note
        self.accepted = 0
        """TCP connections so far."""
        self.connections: set[Connection] = set()
        self._ending: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()
        """Sides of connections that are over: a reset comes later, and so does an end after what waits."""
        self._listeners: dict[int, _Listener] = {}
        """By the port of the server."""
        self._host = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._rewrites = False
        self.moves = "connections" in self.matcher.plan.needs
        """Whether the plan may replace a connection to the server by another one from the same port."""

    async def __aenter__(self) -> t.Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def listen(self, host: str, port: int = 0, *, udp: bool = True) -> Address:
        """Accept clients for the port of `settings.upstream`. Raises OSError."""
        self._host = host
        listener = _Listener(self, self.settings, host)
        await listener.open(port, udp=udp)
        self._listeners[self.settings.upstream[1]] = listener
        return host, listener.port

    async def listen_for_rpcbind(self, host: str, port: int, upstream_port: int = 111) -> Address:
        """Stand before the server's rpcbind too, and rewrite the ports that it names. Raises OSError."""
        self._rewrites = True
        return await self.stand_before(upstream_port, host, port)

    async def stand_before(self, upstream_port: int, host: str, port: int = 0) -> Address:
        """Accept clients for one more port of the server, unless a listener has it. Raises OSError."""
        self._host = host
        listener = self._listeners.get(upstream_port)
        if listener is None:
            settings = dataclasses.replace(self.settings, upstream=(self.settings.upstream[0], upstream_port))
            listener = self._listeners[upstream_port] = _Listener(self, settings, host)
            await listener.open(port, udp=True)
        return host, listener.port

    async def close(self) -> None:
        """Close everything; connections end at once."""
        for listener in self._listeners.values():
            listener.pause()
        for _ in range(_ROUNDS):  # asyncio forgets a socket whose server closes while it is accepted
            await asyncio.sleep(0)
        for listener in self._listeners.values():
            listener.close()
        for connection in list(self.connections):
            connection.finish("close")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
            for connection in list(self.connections):  # accepted meanwhile
                connection.finish("close")
            for transport in list(self._ending):
                abort(transport)

    # What connections need

    def start(self, work: t.Coroutine[t.Any, t.Any, None]) -> None:
        """Run something until the proxy closes."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def forget(self, connection: Connection) -> None:
        """A connection is over."""
        self.connections.discard(connection)

    def ends(self, transport: asyncio.Transport) -> None:
        """A side of a connection that is over ends soon."""
        self._ending.add(transport)

    def flow(self) -> Flow:
        """A new flow of the plan."""
        return self.matcher.flow("tcp")

    def wants(self, program: int) -> bool:
        """Whether messages of a program are needed whole, to rewrite their ports."""
        return self._rewrites and program in {ports.PROGRAM, 0}

    def rewritten(self, data: bytes, flow: Flow, toward: Toward) -> bytes:
        """A message with the proxy's ports in place of the server's."""
        if not self._rewrites or toward != "client":
            return data
        message = flow.tracker.message(data, toward)
        if message is None or message.heading.program != ports.PROGRAM:
            return data
        return ports.rewritten(message, self._port_for, self._host)

    def _port_for(self, port: int, transport: str) -> int:  # noqa: ARG002  (a listener has both transports)
        """The proxy's port for a port of the server; a listener is bound at once, and accepts from the next turn on."""
        known = self._listeners.get(port)
        if known is None:
            if len(self._listeners) >= _MOST_LISTENERS:
                return port
            settings = dataclasses.replace(self.settings, upstream=(self.settings.upstream[0], port))
            known = self._listeners[port] = _Listener(self, settings, self._host)
            known.bind()
            self.start(known.open(0, udp=True))
        return known.port

    def new_connection(self, settings: Settings) -> Connection | None:
        """A connection for a client; None if there are too many."""
        if len(self.connections) >= MOST_CONNECTIONS:
            self.settings.note(f"more than {MOST_CONNECTIONS} connections: one more was closed")
            return None
        self.accepted += 1
        connection = Connection(self, self.accepted, settings)
        self.connections.add(connection)
        return connection


class _Refusal(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class _Listener:
    """A TCP and a UDP socket with the same port, for one port of the server."""

    def __init__(self, proxy: Proxy, settings: Settings, host: str) -> None:
        self._proxy = proxy
        self._settings = settings
        self._host = host
        self._tcp: socket.socket | None = None
        self._udp: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._datagrams: Datagrams | None = None
        self.port = 0

    def bind(self, port: int = 0, *, udp: bool = True) -> None:
        """Bind both sockets to one port. Raises OSError."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        for _ in range(16):
            self._tcp = socket.create_server((self._host, port), family=family, backlog=_BACKLOG)
            self.port = self._tcp.getsockname()[1]
            if not udp:
                return
            self._udp = socket.socket(family, socket.SOCK_DGRAM)
            try:
                self._udp.bind((self._host, self.port))
            except OSError:
                self._tcp.close()
                self._udp.close()
                if port:
                    raise
            else:
                return
        raise OSError(f"no port of {self._host} is free for both TCP and UDP")

    async def open(self, port: int, *, udp: bool) -> None:
        """Accept from now on. Raises OSError."""
        if self._tcp is None:
            self.bind(port, udp=udp)
        assert self._tcp is not None
        loop = asyncio.get_running_loop()

        def make() -> asyncio.Protocol:
            connection = self._proxy.new_connection(self._settings)
            return _Refusal() if connection is None else connection.accept()

        self._server = await loop.create_server(make, sock=self._tcp, backlog=_BACKLOG)
        if self._udp is not None:
            self._udp.setblocking(False)
            first = _CONNECTIONS_OF_A_LISTENER
            datagrams = Datagrams(self._proxy.matcher, self._settings, self._proxy.rewritten, first)
            self._datagrams = datagrams
            await loop.create_datagram_endpoint(lambda: datagrams, sock=self._udp)

    def pause(self) -> None:
        """Accept nothing more, and stay open."""
        if self._server is not None and self._tcp is not None:
            with contextlib.suppress(NotImplementedError):  # the loop of Windows
                asyncio.get_running_loop().remove_reader(self._tcp)

    def close(self) -> None:
        """Accept nothing more."""
        if self._server is not None:
            self._server.close()
        elif self._tcp is not None:
            self._tcp.close()
        if self._datagrams is not None:
            self._datagrams.close()
        elif self._udp is not None:
            self._udp.close()
