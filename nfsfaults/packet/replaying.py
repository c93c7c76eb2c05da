# SPDX-License-Identifier: MIT
"""Requests of RPC that are sent again with scapy: the same bytes, or the same with another XID.

A request goes as a record over a new connection of TCP, or as a datagram. What comes back is read
within bounds, because a server may send anything.
"""

from __future__ import annotations

import errno
import socket
import time
import typing as t
from collections import deque

from scapy.packet import Raw
from scapy.supersocket import SimpleSocket

from nfsclient.errors import NfsClientError
from nfsclient.rpc.record import RecordAssembler
from nfsfaults.packet import RecordMark, RpcMessage

MOST_REPLY: t.Final = 16 << 20
"""Bytes of a reply."""
_RECEIVE: t.Final = 1 << 16
_MOST_STRAYS: t.Final = 10_000
"""Other messages that may come before the reply."""


_BUSY: t.Final = "; after a connection of TCP its port stays in use for a minute"
_HINTS: t.Final = {
    errno.EACCES: "; ports below 1024 need privilege",
    errno.EADDRINUSE: _BUSY,
    errno.EADDRNOTAVAIL: _BUSY,
}


class CannotSend(Exception):
    """A request could not be sent. The text says where and why, in one line."""


def with_xid(request: bytes, xid: int) -> bytes:
    """A request with another XID; all other bytes are the same."""
    packet = RpcMessage(request)
    if isinstance(packet, Raw):  # it does not decode: the XID is the first word of any message
        return xid.to_bytes(4, "big") + request[4:]
    packet.xid = xid
    changed = bytes(packet)
    assert changed[4:] == request[4:]  # a dissected packet builds the same bytes
    return changed


class Line:
    """A way to a server: a connection of TCP, or a socket of UDP."""

    def __init__(self, sock: socket.socket, where: str, *, is_stream: bool) -> None:
        self._sock = sock
        self._where = where
        self._is_stream = is_stream
        self._records = RecordAssembler(MOST_REPLY)
        self._waiting: deque[bytes] = deque()
        """Messages that have come, and nobody has looked at."""
        self._out = SimpleSocket(sock)

    @property
    def source_port(self) -> int:
        """The port that the server sees, unless something between changes it."""
        return int(self._sock.getsockname()[1])

    def send(self, request: bytes) -> None:
        """Send a request. Raises `CannotSend`."""
        packet = RecordMark() / Raw(request) if self._is_stream else Raw(request)
        try:
            self._sock.settimeout(10.0)
            self._out.send(packet)
        except OSError as error:
            raise CannotSend(f"cannot send to {self._where}: {error.strerror or error}") from error

    def receive(self, xid: int, seconds: float) -> bytes | None:
        """The reply with this XID; None if none comes in time. Raises `CannotSend` if the connection ends."""
        deadline = time.monotonic() + seconds
        for _ in range(_MOST_STRAYS):
            message = self._message(deadline)
            if message is None or (message[:4] == xid.to_bytes(4, "big") and message[4:8] == b"\0\0\0\1"):
                return message
        return None

    def _message(self, deadline: float) -> bytes | None:
        while True:
            try:
                if self._waiting:
                    return self._waiting.popleft()
                self._sock.settimeout(max(deadline - time.monotonic(), 0.001))
                data = self._sock.recv(_RECEIVE)
            except TimeoutError:
                return None
            except OSError as error:
                raise CannotSend(f"{self._where}: {error.strerror or error}") from error
            if not self._is_stream:
                return data
            if not data:
                raise CannotSend(f"{self._where}: the server has closed the connection")
            try:
                self._waiting.extend(record.payload() for record in self._records.feed(data))
            except NfsClientError as error:
                raise CannotSend(f"{self._where}: {error}") from error

    def close(self) -> None:
        """End it."""
        self._sock.close()


def dial(transport: str, host: str, port: int, source_port: int, seconds: float) -> Line:
    """A way to a server from this source port, 0 for any. Raises `CannotSend`."""
    where = f"{host} port {port} over {transport.upper()}"
    kind = socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=kind)[0]
        sock = socket.socket(family, kind)
    except OSError as error:
        raise CannotSend(f"cannot reach {where}: {error.strerror or error}") from error
    try:
        if source_port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("", source_port))
        sock.settimeout(seconds)
        sock.connect(address)
    except OSError as error:
        sock.close()
        source = f" from port {source_port}" if source_port else ""
        hint = _HINTS.get(error.errno or 0, "") if source_port else ""
        raise CannotSend(f"cannot reach {where}{source}: {error.strerror or error}{hint}") from error
    return Line(sock, where, is_stream=transport == "tcp")
