# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_garbage.py catch."""

from __future__ import annotations

import socket
import typing as t

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.record import LAST_FRAGMENT, Record, RecordAssembler
from nfsclient.rpc.server import Connection
from nfsclient.xdr import Buffer
from nfsmutants.form import Message, transport_mutant, wire_mutant
from nfsmutants.rpc.bending import Mortal
from nfsmutants.rpc.headers import head_of, header_of
from nfsserver.middleware import Answer
from nfsserver.server import Server
from nfsserver.transport import AnswerDatagram, AnswerRecord, TransportMiddleware

_ONES = 2**32 - 1
_PLAUSIBLE = 1 << 20
"""In bytes: the longest record that may be a call. A WRITE with more data has its own mutant."""
_MARK_AND_XID = 8
_GARBAGE_ARGS = accepted(0, AcceptStat.GARBAGE_ARGS).to_xdr()[4:]


def _looks_broken(data: bytes) -> bool:
    """Whether the bytes at the start of a stream are not a record, or are a short part of one."""
    if len(data) < 4:
        return True
    mark = int.from_bytes(data[:4], "big")
    length = mark & ~LAST_FRAGMENT
    if not mark & LAST_FRAGMENT or not 4 <= length <= _PLAUSIBLE:
        return True
    return len(data) < 4 + length and len(data) < 400


@transport_mutant(only_raw=True)
class RpcStopsAfterBrokenStreams(Mortal):
    """No client is served after bytes that are not records"""

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        mortal = self

        class Assembler(RecordAssembler):
            is_new = True

            def feed(self, data: bytes) -> list[Record]:
                mortal.is_dead |= self.is_new and bool(data) and _looks_broken(data)
                self.is_new = False
                return super().feed(data)

        return Assembler(max_record)


@transport_mutant(only_raw=True)
class RpcStopsAfterBrokenMessages(Mortal):
    """No client is served after a message that is not a call, or has a header that does not decode"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        self.is_dead |= _is_broken(message)
        proceed(connection, message)


@wire_mutant(only_raw=True)
def rpc_restarts_after_broken_messages(message: Message) -> Answer:
    """A message that is not a call, or has a header that does not decode, crashes the server, which is started again"""
    if not _is_broken(message.data):
        return message.proceed()
    t.cast("Server", message.server).crash()
    return None


def _is_broken(message: bytes) -> bool:
    """Whether it is not a call, or the header does not decode."""
    gss = message[32:36] == (6).to_bytes(4, "big")
    broken = header_of(message) is None or head_of(message)[1] != 0 or gss or _has_bad_groups(message)
    return broken and _ONES not in head_of(message)[1:]


def _has_bad_groups(message: bytes) -> bool:
    """Whether AUTH_SYS claims more content than its body has."""
    return message[24:28] == (1).to_bytes(4, "big") and _ONES.to_bytes(4, "big") in message[32:52]


@transport_mutant(only_raw=True)
class RpcStopsAfterAHeaderWordOfOnes(Mortal):
    """No client is served after a call with AUTH_NONE and a word in the header with all bits set"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        words = [message[at : at + 4] for at in range(4, len(message), 4)]
        self.is_dead |= len(message) == 40 and _ONES.to_bytes(4, "big") in words
        proceed(connection, message)


@transport_mutant()
class RpcStopsAfterGarbageArguments(Mortal):
    """No client is served after arguments that do not decode"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """See the reply on its way."""
        usual = connection.send

        def send(buffers: list[Buffer]) -> None:
            self.is_dead |= b"".join(buffers)[_MARK_AND_XID:] == _GARBAGE_ARGS
            usual(buffers)

        vars(connection)["send"] = send
        try:
            proceed(connection, message)
        finally:
            del vars(connection)["send"]


class _Keeps(TransportMiddleware):
    """Answers GARBAGE_ARGS to the call after a broken one."""

    def __init__(self) -> None:
        self.is_spoilt = False


@transport_mutant(only_raw=True)
class RpcBrokenDatagramSpoilsTheNextCall(_Keeps):
    """The call after a datagram with a header that does not decode is answered GARBAGE_ARGS"""

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        is_call = header_of(message) is not None and head_of(message)[1] == 0
        if is_call and self.is_spoilt:
            sock.sendto(message[:4] + _GARBAGE_ARGS, peer)
        else:
            proceed(sock, message, peer)
        self.is_spoilt = not is_call or head_of(message)[2] != 2


@transport_mutant(only_raw=True)
class RpcGarbageSpoilsALaterCall(_Keeps):
    """The second NULL after arguments of eight bytes with all bits set is answered GARBAGE_ARGS"""

    def __init__(self) -> None:
        super().__init__()
        self.nulls = 0

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        if message.endswith(b"\xff" * 8):
            self.is_spoilt, self.nulls = True, 0
        elif self.is_spoilt and head_of(message)[5] == 0:
            self.nulls += 1
            if self.nulls == 2:
                connection.send([(LAST_FRAGMENT | 24).to_bytes(4, "big"), message[:4] + _GARBAGE_ARGS])
                return
        proceed(connection, message)
