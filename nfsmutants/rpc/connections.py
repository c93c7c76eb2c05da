# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_connections.py catch."""

from __future__ import annotations

import weakref

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.record import Record, RecordAssembler, frame
from nfsclient.rpc.server import Connection
from nfsclient.rpc.sockets import Address
from nfsmutants.form import transport_mutant
from nfsmutants.rpc.bending import Mortal
from nfsserver.transport import AnswerRecord, TransportMiddleware


@transport_mutant()
class RpcAnswersTheSecondOfASegmentTwice(TransportMiddleware):
    """The second of two or more calls that arrive together is answered twice"""

    class Assembler(RecordAssembler):
        """Repeats a record."""

        def feed(self, data: bytes) -> list[Record]:
            records = super().feed(data)
            return [*records[:2], records[1], *records[2:]] if len(records) > 1 else records

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        return self.Assembler(max_record)


@transport_mutant()
class RpcAnswersOnTheLatestConnection(TransportMiddleware):
    """While a client uses three connections in turn, replies go to the one used last before the call"""

    def __init__(self) -> None:
        self.used: list[weakref.ref[Connection]] = []

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """From the fourth call on, if the three connections before made one call each."""
        before = [ref() for ref in self.used[-3:]]
        self.used.append(weakref.ref(connection))
        other = before[-1] if before else None
        usable = len({id(each) for each in before}) == 3 and other in connection.server.connections
        if not usable or other is None or other is connection:
            proceed(connection, message)
            return
        reply = connection.server.answerer.answer(message, connection.peer, "tcp", connection.channel)
        if reply is not None:
            other.send(frame(reply))
            other.on_writable()


@transport_mutant(only_raw=True)
class RpcHalfCloseGetsASurplusReply(TransportMiddleware):
    """Before the server closes a half-closed connection, it sends a reply to no call"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        proceed(connection, message)
        if connection.has_ended():
            connection.send(frame(accepted(0xDEAD_BEEF, AcceptStat.SYSTEM_ERR).to_buffers()))


@transport_mutant(only_raw=True)
class RpcStopsAtClientsThatDoNotRead(Mortal):
    """No client is served any more once replies have waited for a client that does not read"""

    def __init__(self) -> None:
        super().__init__()
        self.connections: weakref.WeakSet[Connection] = weakref.WeakSet()

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        # What waits here has not found room since the calls before.
        self.is_dead |= connection.wants_to_write() and connection in self.connections
        self.connections.add(connection)
        proceed(connection, message)

    def admits(self, peer: Address, /) -> bool:
        self.is_dead |= any(each.wants_to_write() for each in self.connections)
        return super().admits(peer)


@transport_mutant(only_raw=True)
class RpcStopsAfterAClientLeaves(Mortal):
    """No client is served after one that made more than 250 calls at once has left"""

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        mortal = self

        class Assembler(RecordAssembler):
            def feed(self, data: bytes) -> list[Record]:
                records = super().feed(data)
                mortal.is_dead |= 250 < len(records) < 290
                return records

        return Assembler(max_record)


@transport_mutant()
class RpcLimitsConnectionsIncludingClosed(TransportMiddleware):
    """No client is served after 256 connections, even if they are closed"""

    def __init__(self) -> None:
        self.count = 0

    def admits(self, _peer: Address, /) -> bool:
        self.count += 1
        return self.count <= 256


@transport_mutant()
class RpcStopsAtItsLimitOfConnections(Mortal):
    """No client is served any more once 128 connections were open at once"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        self.is_dead |= len(connection.server.connections) >= 128
        proceed(connection, message)


@transport_mutant(only_raw=True)
class RpcPartialRecordsKeepTheirSlots(TransportMiddleware):
    """No client is served after twenty connections have ended without a whole record"""

    def __init__(self) -> None:
        self.waiting = 0

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        bend = self
        bend.waiting += 1

        class Assembler(RecordAssembler):
            is_waiting = True

            def feed(self, data: bytes) -> list[Record]:
                records = super().feed(data)
                if self.is_waiting and records:
                    self.is_waiting = False
                    bend.waiting -= 1
                return records

        return Assembler(max_record)

    def admits(self, _peer: Address, /) -> bool:
        return self.waiting < 20
