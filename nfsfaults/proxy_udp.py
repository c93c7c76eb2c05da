# SPDX-License-Identifier: MIT
"""Datagrams through the proxy: a socket to the server and a flow for each address of a client."""

from __future__ import annotations

import asyncio
import socket
import typing as t
from collections import OrderedDict

from nfsfaults.matcher import Flow, Matcher, SendElsewhere, Write
from nfsfaults.messages import Toward
from nfsfaults.proxy_sockets import Address, Passed, Settings, connected, other, source_of

_MOST_CLIENTS: t.Final = 1024
Rewrite: t.TypeAlias = t.Callable[[bytes, Flow, Toward], bytes]


class Datagrams(asyncio.DatagramProtocol):
    """The socket that clients send to."""

    def __init__(self, matcher: Matcher, settings: Settings, rewrite: Rewrite, first: int) -> None:
        self._matcher = matcher
        self._settings = settings
        self._rewrite = rewrite
        self._number = first
        self._clients: OrderedDict[Address, _Client] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = t.cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str | t.Any, int]) -> None:
        address = (str(addr[0]), addr[1])
        client = self._clients.get(address)
        if client is None:
            if len(self._clients) >= _MOST_CLIENTS:
                self._clients.popitem(last=False)[1].close()
            self._number += 1
            client = _Client(
                self, addr, self._number, self._matcher.flow("udp"), self._settings, self._rewrite
            )
            self._clients[address] = client
            self.start(client.open())
        self._clients.move_to_end(address)
        client.received(data, "client")

    def start(self, work: t.Coroutine[t.Any, t.Any, None]) -> None:
        """Run something that nobody waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def error_received(self, exc: Exception) -> None:
        self._settings.note(f"UDP: {exc}")

    def close(self) -> None:
        """Close all sockets."""
        for task in self._tasks:
            task.cancel()
        for client in self._clients.values():
            client.close()
        if self.transport is not None:
            self.transport.close()


class _Upstream(asyncio.DatagramProtocol):
    def __init__(self, client: _Client) -> None:
        self._client = client

    def datagram_received(self, data: bytes, addr: object) -> None:  # noqa: ARG002  (connected: always the server)
        self._client.received(data, "server")

    def error_received(self, exc: Exception) -> None:
        self._client.refused(exc)


class _Client:
    """One address of a client."""

    def __init__(
        self, owner: Datagrams, address: t.Any, number: int, flow: Flow, settings: Settings, rewrite: Rewrite
    ) -> None:
        self._owner = owner
        self._address = address
        self._number = number
        self._flow = flow
        self._settings = settings
        self._rewrite = rewrite
        self._loop = asyncio.get_running_loop()
        self._upstream: asyncio.DatagramTransport | None = None
        self._early: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    async def open(self) -> None:
        """Make the socket to the server."""
        port = source_of(self._settings.source_port, self._address)
        try:
            sock = await connected(self._settings.upstream, port, socket.SOCK_DGRAM)
        except OSError as error:
            self._settings.note(
                f"UDP client {self._number}: cannot reach {self._settings.upstream[0]}: {error}"
            )
            return
        if self._is_over:
            sock.close()
            return
        self._upstream, _ = await self._loop.create_datagram_endpoint(lambda: _Upstream(self), sock=sock)
        early, self._early = self._early, []
        for data in early:
            self._write("server", data)

    def received(self, data: bytes, side: Toward) -> None:
        """A datagram from one side."""
        self._report(side, False, data)
        toward = other(side)
        self._flow.receive(self._loop.time(), self._rewrite(data, self._flow, toward), toward)
        self._run()

    def refused(self, error: Exception) -> None:
        """The server's machine refused a datagram: the client sees silence."""
        self._settings.note(f"UDP client {self._number}: {self._settings.upstream[0]}: {error}")

    def _run(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for event in self._flow.events(self._loop.time() + self._settings.early):
            match event:
                case Write(_, toward, data):
                    self._write(toward, data)
                case SendElsewhere(_, "server", data, _):
                    self._owner.start(self._send_once(data))
                case _:
                    pass
        deadline = self._flow.deadline
        if deadline is not None and not self._is_over:
            self._timer = self._loop.call_at(deadline, self._run)

    def _write(self, toward: Toward, data: bytes) -> None:
        if toward == "client":
            if self._owner.transport is not None:
                self._report(toward, True, data)
                self._owner.transport.sendto(data, self._address)
        elif self._upstream is not None:
            self._report(toward, True, data)
            self._upstream.sendto(data)
        elif len(self._early) < _MOST_CLIENTS:
            self._early.append(data)

    async def _send_once(self, data: bytes) -> None:
        """Send from another port; nobody gets the answer."""
        sock = await connected(self._settings.upstream, 0, socket.SOCK_DGRAM)
        with sock:
            await self._loop.sock_sendall(sock, data)

    def _report(self, side: Toward, sent: bool, data: bytes) -> None:
        tap = self._settings.tap
        transport = self._owner.transport if side == "client" else self._upstream
        if tap is None or transport is None:
            return
        local = transport.get_extra_info("sockname")[:2]
        peer = self._address[:2] if side == "client" else transport.get_extra_info("peername")[:2]
        tap(Passed(self._loop.time(), self._number, side, sent, data, "udp", local, peer))

    def close(self) -> None:
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._upstream is not None:
            self._upstream.close()
