# SPDX-License-Identifier: MIT
"""Sockets that answer calls, as members of a loop. Bytes from the network never raise past the loop."""

from __future__ import annotations

import contextlib
import errno
import socket
import typing as t
from collections import deque

from nfsclient.errors import BadReply
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import RecordAssembler, frame, size_of
from nfsclient.rpc.sockets import Address, address_of
from nfsclient.xdr import Buffer

MAX_RECORD = (4 << 20) + (64 << 10)
"""Longest call that is taken in: a WRITE of 4 MiB with room for its header."""
MAX_CONNECTIONS = 512
_MAX_OUTPUT = 16 << 20
"""Replies held for a client that does not read, before its calls are left unread."""
_RECEIVE = 256 << 10
_DATAGRAM = 65_535
_DATAGRAMS_AT_ONCE = 64
_MAX_UDP_REPLY = 65_000


class Answerer(t.Protocol):
    """What turns a message into a reply: `Dispatcher`, or something around one."""

    def answer(
        self, message: bytes, peer: Address, transport: t.Literal["tcp", "udp"]
    ) -> list[Buffer] | None:
        """The reply, or None for silence."""
        ...


class RpcServer:
    """Listens on any number of addresses and answers calls while the loop runs."""

    def __init__(
        self,
        loop: Loop,
        answerer: Answerer,
        *,
        max_record: int = MAX_RECORD,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self.loop = loop
        self.answerer = answerer
        self.max_record = max_record
        self.max_connections = max_connections
        self.connections: set[_Connection] = set()
        self._listeners: list[_Listener | _Datagrams] = []

    def listen_tcp(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Accept connections; the address that was bound. Raises OSError."""
        sock = _bind(host, port, socket.SOCK_STREAM)
        sock.listen(128)
        return self._serve(_Listener(self, sock))

    def listen_udp(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Answer datagrams; the address that was bound. Raises OSError."""
        return self._serve(_Datagrams(self, _bind(host, port, socket.SOCK_DGRAM)))

    def _serve(self, member: _Listener | _Datagrams) -> Address:
        self._listeners.append(member)
        self.loop.add(member)
        return address_of(member.sock.getsockname())

    def drop_connections(self) -> None:
        """Close the connections but go on listening: what clients see of a restart."""
        for connection in list(self.connections):
            connection.close()

    def close(self) -> None:
        """Close everything."""
        self.drop_connections()
        for member in self._listeners:
            self.loop.remove(member)
            member.sock.close()
        self._listeners.clear()


def _bind(host: str, port: int, kind: socket.SocketKind) -> socket.socket:
    family, _, proto, _, sockaddr = socket.getaddrinfo(host, port, type=kind, flags=socket.AI_PASSIVE)[0]
    sock = socket.socket(family, kind, proto)
    try:
        if kind is socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        sock.bind(sockaddr)
    except OSError:
        sock.close()
        raise
    return sock


class _ServerMember:
    """What the sockets of a server have in common as members of a loop."""

    def __init__(self, server: RpcServer, sock: socket.socket) -> None:
        self.server = server
        self.sock = sock

    def fileno(self) -> int:
        return self.sock.fileno()

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_writable(self) -> None:
        """Nothing waits here."""

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed here."""


class _Listener(_ServerMember):
    def on_readable(self) -> None:
        try:
            sock, peer = self.sock.accept()
        except OSError:
            return
        if len(self.server.connections) >= self.server.max_connections:
            sock.close()
            return
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = _Connection(self.server, sock, address_of(peer))
        self.server.connections.add(connection)
        self.server.loop.add(connection)


class _Connection(_ServerMember):
    """One client. Its calls are answered in order; one that does not read its replies is not read either."""

    def __init__(self, server: RpcServer, sock: socket.socket, peer: Address) -> None:
        super().__init__(server, sock)
        self.peer = peer
        self._assembler = RecordAssembler(server.max_record)
        self._output: deque[memoryview] = deque()
        self._output_size = 0
        self._peer_done = False

    def close(self) -> None:
        self.server.connections.discard(self)
        self.server.loop.remove(self)
        self.sock.close()

    def wants_to_read(self) -> bool:
        return not self._peer_done and self._output_size < _MAX_OUTPUT

    def wants_to_write(self) -> bool:
        return bool(self._output)

    def on_readable(self) -> None:
        try:
            data = self.sock.recv(_RECEIVE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        if not data:
            # A half-closed connection is still owed the replies that wait.
            self._peer_done = True
            if not self._output:
                self.close()
            return
        try:
            records = self._assembler.feed(data)
        except BadReply:
            self.close()
            return
        for record in records:
            reply = self.server.answerer.answer(record.payload(), self.peer, "tcp")
            if reply is not None:
                self.send(frame(reply))
        self.on_writable()

    def send(self, buffers: list[Buffer]) -> None:
        """Queue bytes as they are."""
        if size_of(buffers) <= _RECEIVE:
            buffers = [b"".join(buffers)]
        self._output.extend(memoryview(buffer).cast("B") for buffer in buffers if len(buffer))
        self._output_size += size_of(buffers)

    def on_writable(self) -> None:
        try:
            while self._output:
                first = self._output[0]
                sent = self.sock.send(first)
                self._output_size -= sent
                if sent == len(first):
                    self._output.popleft()
                else:
                    self._output[0] = first[sent:]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        if self._peer_done:
            self.close()


class _Datagrams(_ServerMember):
    def on_readable(self) -> None:
        for _ in range(_DATAGRAMS_AT_ONCE):
            try:
                data, peer = self.sock.recvfrom(_DATAGRAM)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno == errno.ECONNREFUSED:
                    continue
                return
            self._answer(data, peer)

    def _answer(self, data: bytes, peer: t.Any) -> None:
        reply = self.server.answerer.answer(data, address_of(peer), "udp")
        if reply is None or size_of(reply) > _MAX_UDP_REPLY:
            return
        with contextlib.suppress(OSError):
            self.sock.sendto(b"".join(reply), peer)
