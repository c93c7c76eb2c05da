# SPDX-License-Identifier: MIT
"""The sockets of the reference server, and where mutants can bend what lies below messages.

A `Bend` has four places to do it; what it leaves alone is done as `nfsclient.rpc.server` does it. It is made anew
each time that its mutant is switched on.
"""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Callable

from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import RecordAssembler
from nfsclient.rpc.server import Answerer, Connection, RpcServer
from nfsclient.rpc.sockets import Address

AnswerRecord: t.TypeAlias = Callable[[Connection, bytes], None]
AnswerDatagram: t.TypeAlias = Callable[[socket.socket, bytes, t.Any], None]


class Bend:
    """Does nothing out of the way. A mutant overrides what it bends."""

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


class BendableRpcServer(RpcServer):
    """An `RpcServer` that asks at each step what is to be bent."""

    def __init__(self, loop: Loop, answerer: Answerer, bends: Callable[[], list[Bend]]) -> None:
        super().__init__(loop, answerer)
        self._bends = bends

    def admits(self, peer: Address) -> bool:
        """Whether a new connection is served."""
        return super().admits(peer) and all(bend.admits(peer) for bend in self._bends())

    def make_assembler(self) -> RecordAssembler:
        """What makes records of the bytes of a new connection."""
        for bend in self._bends():
            assembler = bend.make_assembler(self.max_record)
            if assembler is not None:
                return assembler
        return super().make_assembler()

    def answer_record(self, connection: Connection, message: bytes) -> None:
        """Answer a call of a connection."""
        proceed: AnswerRecord = super().answer_record
        for bend in self._bends():
            proceed = _around_record(bend, proceed)
        proceed(connection, message)

    def answer_datagram(self, sock: socket.socket, message: bytes, peer: t.Any) -> None:
        """Answer a call that came to `sock` from `peer`."""
        proceed: AnswerDatagram = super().answer_datagram
        for bend in self._bends():
            proceed = _around_datagram(bend, proceed)
        proceed(sock, message, peer)


def _around_record(bend: Bend, proceed: AnswerRecord) -> AnswerRecord:
    return lambda connection, message: bend.answer_record(connection, message, proceed)


def _around_datagram(bend: Bend, proceed: AnswerDatagram) -> AnswerDatagram:
    return lambda sock, message, peer: bend.answer_datagram(sock, message, peer, proceed)
