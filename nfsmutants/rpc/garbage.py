# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_garbage.py catch."""

from __future__ import annotations

import socket
import typing as t

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.record import LAST_FRAGMENT, Record, RecordAssembler
from nfsclient.rpc.server import Connection
from nfsmutants.form import transport_mutant
from nfsmutants.rpc.bending import Mortal
from nfsmutants.rpc.headers import head_of, header_of
from nfsmutants.rules import RFC1831_TRANSPORT
from nfsserver.transport import AnswerDatagram, AnswerRecord, TransportMiddleware

_ONES = 2**32 - 1
_PLAUSIBLE = 1 << 20
"""Longest record that looks like a call; a WRITE of more has its own place in the stream."""
_GARBAGE_ARGS = accepted(0, AcceptStat.GARBAGE_ARGS).to_xdr()[4:]


def _looks_broken(data: bytes) -> bool:
    """Whether bytes at the start of a stream are no record, or no whole one though they are few."""
    if len(data) < 4:
        return True
    mark = int.from_bytes(data[:4], "big")
    length = mark & ~LAST_FRAGMENT
    if not mark & LAST_FRAGMENT or not 4 <= length <= _PLAUSIBLE:
        return True
    return len(data) < 4 + length and len(data) < 400


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcDiesOfBrokenStreams(Mortal):
    """Nobody is served any more after bytes that are no records"""

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        """One that looks at them."""
        mortal = self

        class Assembler(RecordAssembler):
            is_new = True

            def feed(self, data: bytes) -> list[Record]:
                mortal.is_dead |= self.is_new and bool(data) and _looks_broken(data)
                self.is_new = False
                return super().feed(data)

        return Assembler(max_record)


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcDiesOfBrokenMessages(Mortal):
    """Nobody is served any more after a message that is no call, or whose header does not decode"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer, and die where there is something wrong."""
        gss = message[32:36] == (6).to_bytes(4, "big")
        broken = header_of(message) is None or head_of(message)[1] != 0 or gss or _has_bad_groups(message)
        self.is_dead |= broken and _ONES not in head_of(message)[1:]
        proceed(connection, message)


def _has_bad_groups(message: bytes) -> bool:
    """Whether AUTH_SYS says that there is more in it than its body has."""
    return message[24:28] == (1).to_bytes(4, "big") and _ONES.to_bytes(4, "big") in message[32:52]


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcDiesOfOnes(Mortal):
    """Nobody is served any more after a call with AUTH_NONE in whose header a word has all bits set"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer, and die where there is something wrong."""
        words = [message[at : at + 4] for at in range(4, len(message), 4)]
        self.is_dead |= len(message) == 40 and _ONES.to_bytes(4, "big") in words
        proceed(connection, message)


@transport_mutant(RFC1831_TRANSPORT)
class RpcDiesOfGarbageArguments(Mortal):
    """Nobody is served any more after arguments that do not decode"""

    def answer_record(self, connection: Connection, message: bytes, _proceed: AnswerRecord, /) -> None:
        """Ask what the answer is; GARBAGE_ARGS has no effect that would be there twice."""
        reply = connection.server.answerer.answer(message, connection.peer, "tcp")
        if reply is None:
            return
        data = b"".join(reply)
        self.is_dead |= data[4:] == _GARBAGE_ARGS
        connection.send([(LAST_FRAGMENT | len(data)).to_bytes(4, "big"), data])


class _Keeps(TransportMiddleware):
    """The answer to the call after a broken one is GARBAGE_ARGS."""

    def __init__(self) -> None:
        self.is_spoilt = False


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcKeepsBrokenDatagrams(_Keeps):
    """The call after a datagram whose header does not decode is taken for garbage"""

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Refuse what comes next."""
        is_call = header_of(message) is not None and head_of(message)[1] == 0
        if is_call and self.is_spoilt:
            sock.sendto(message[:4] + _GARBAGE_ARGS, peer)
        else:
            proceed(sock, message, peer)
        self.is_spoilt = not is_call or head_of(message)[2] != 2


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcKeepsGarbageForTheNextCall(_Keeps):
    """The second NULL after arguments of eight bytes that are all ones is taken for garbage too"""

    def __init__(self) -> None:
        super().__init__()
        self.nulls = 0

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Refuse a NULL."""
        if message.endswith(b"\xff" * 8):
            self.is_spoilt, self.nulls = True, 0
        elif self.is_spoilt and head_of(message)[5] == 0:
            self.nulls += 1
            if self.nulls == 2:
                connection.send([(LAST_FRAGMENT | 24).to_bytes(4, "big"), message[:4] + _GARBAGE_ARGS])
                return
        proceed(connection, message)
