# SPDX-License-Identifier: MIT
"""The sockets of the reference server, and where middleware can change what is below messages.

`TransportMiddleware` has four methods for it; what it does not override is done as `nfsclient.rpc.server` does it.
"""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Callable

from nfsclient.rpc.channel import Answerer
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import RecordAssembler
from nfsclient.rpc.server import Connection, RpcServer
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Buffer
from nfsserver.bounds import MOST

AnswerRecord: t.TypeAlias = Callable[[Connection, bytes], None]
AnswerDatagram: t.TypeAlias = Callable[[socket.socket, bytes, t.Any], None]

_BINDING_ATTEMPTS = 20


class TransportMiddleware:
    """Changes nothing. Subclasses override what they change."""

    def admits(self, _peer: Address, /) -> bool:
        """Whether a new connection is served."""
        return True

    def make_assembler(self, _max_record: int, /) -> RecordAssembler | None:
        """What makes records of the bytes of a new connection; None: the usual."""
        return None

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer a call of a connection."""
        proceed(connection, message)

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Answer a call that came to `sock` from `peer`."""
        proceed(sock, message, peer)


class FreeAnswerer(Answerer, t.Protocol):
    """An answerer that also decides what becomes of a connection."""

    @property
    def ends_connection(self) -> bool:
        """Whether the connection of the last call must end."""

    @property
    def reverses_replies(self) -> bool:
        """Whether calls that arrive together are answered in reverse order."""


class SurroundedRpcServer(RpcServer):
    """An `RpcServer` that asks its middleware at each step."""

    def __init__(
        self, loop: Loop, answerer: FreeAnswerer, middleware: Callable[[], list[TransportMiddleware]]
    ) -> None:
        super().__init__(loop, answerer, max_buffered=MOST.buffered_bytes)
        self._free = answerer
        self._middleware = middleware

    def admits(self, peer: Address) -> bool:
        """Whether a new connection is served."""
        return super().admits(peer) and all(middleware.admits(peer) for middleware in self._middleware())

    def make_assembler(self) -> RecordAssembler:
        """What makes records of the bytes of a new connection."""
        for middleware in self._middleware():
            assembler = middleware.make_assembler(self.max_record)
            if assembler is not None:
                return assembler
        return super().make_assembler()

    def answer_record(self, connection: Connection, message: bytes) -> None:
        """Answer a call of a connection."""
        middleware = self._middleware()
        if not middleware:
            super().answer_record(connection, message)
        else:
            proceed: AnswerRecord = super().answer_record
            for each in middleware:
                proceed = _around_record(each, proceed)
            proceed(connection, message)
        if self._free.ends_connection:
            connection.end()

    def in_order(self, replies: list[list[Buffer]]) -> list[list[Buffer]]:
        """Replies to calls that were received together, in the order in which they are sent."""
        return replies[::-1] if len(replies) > 1 and self._free.reverses_replies else replies

    def answer_datagram(self, sock: socket.socket, message: bytes, peer: t.Any) -> None:
        """Answer a call that came to `sock` from `peer`."""
        proceed: AnswerDatagram = super().answer_datagram
        for middleware in self._middleware():
            proceed = _around_datagram(middleware, proceed)
        proceed(sock, message, peer)


def _around_record(middleware: TransportMiddleware, proceed: AnswerRecord) -> AnswerRecord:
    return lambda connection, message: middleware.answer_record(connection, message, proceed)


def _around_datagram(middleware: TransportMiddleware, proceed: AnswerDatagram) -> AnswerDatagram:
    return lambda sock, message, peer: middleware.answer_datagram(sock, message, peer, proceed)


def listen(
    make: Callable[[], SurroundedRpcServer], host: str, port: int, *, udp: bool
) -> tuple[SurroundedRpcServer, Address]:
    """A new RPC server that listens on one port, over TCP and UDP, and its address. Raises OSError."""
    for attempt in range(_BINDING_ATTEMPTS):
        rpc = make()
        try:
            address = rpc.listen_tcp(host, port)
            if udp:
                rpc.listen_udp(host, address[1])
        except OSError:
            # An ephemeral port that is free for TCP may be taken for UDP: draw another one.
            rpc.close()
            if port or attempt == _BINDING_ATTEMPTS - 1:
                raise
        else:
            return rpc, address
    raise AssertionError
