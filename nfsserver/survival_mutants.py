# SPDX-License-Identifier: MIT
"""Mutants of a server's endurance: what makes it turn away everybody that comes later."""

from __future__ import annotations

import socket
import typing as t
import weakref

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.record import LAST_FRAGMENT, Record, RecordAssembler
from nfsclient.rpc.server import Connection
from nfsclient.rpc.sockets import Address
from nfsserver.mutants import transport_mutant
from nfsserver.rpc_mutants import head_of, header_of
from nfsserver.transport import AnswerDatagram, AnswerRecord, Bend

_SECTION_3 = "RFC 1831 section 3"
_ONES = 2**32 - 1
_PLAUSIBLE = 1 << 20
"""Longest record that looks like a call; a WRITE of more has its own place in the stream."""
_GARBAGE_ARGS = accepted(0, AcceptStat.GARBAGE_ARGS).to_xdr()[4:]


class Mortal(Bend):
    """Once dead it closes every new connection; those that there are it goes on to serve."""

    def __init__(self) -> None:
        self.is_dead = False

    def admits(self, _peer: Address, /) -> bool:
        """Nobody, when dead."""
        return not self.is_dead


def _looks_broken(data: bytes) -> bool:
    """Whether bytes at the start of a stream are no record, or no whole one though they are few."""
    if len(data) < 4:
        return True
    mark = int.from_bytes(data[:4], "big")
    length = mark & ~LAST_FRAGMENT
    if not mark & LAST_FRAGMENT or not 4 <= length <= _PLAUSIBLE:
        return True
    return len(data) < 4 + length and len(data) < 400


@transport_mutant(
    "rpc-dies-of-broken-streams",
    only_raw=True,
    breaks=_SECTION_3,
    gist="Nobody is served any more after bytes that are no records",
)
class RpcDiesOfBrokenStreams(Mortal):
    """Looks at the first bytes of each connection."""

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


@transport_mutant(
    "rpc-dies-of-broken-messages",
    only_raw=True,
    breaks=_SECTION_3,
    gist="Nobody is served any more after a message that is no call, or whose header does not decode",
)
class RpcDiesOfBrokenMessages(Mortal):
    """Looks at headers."""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer, and die where there is something wrong."""
        gss = message[32:36] == (6).to_bytes(4, "big")
        broken = header_of(message) is None or head_of(message)[1] != 0 or gss or _has_bad_groups(message)
        self.is_dead |= broken and _ONES not in head_of(message)[1:]
        proceed(connection, message)


def _has_bad_groups(message: bytes) -> bool:
    """Whether AUTH_SYS says that there is more in it than its body has."""
    return message[24:28] == (1).to_bytes(4, "big") and _ONES.to_bytes(4, "big") in message[32:52]


@transport_mutant(
    "rpc-dies-of-ones",
    only_raw=True,
    breaks=_SECTION_3,
    gist="Nobody is served any more after a call with AUTH_NONE in whose header a word has all bits set",
)
class RpcDiesOfOnes(Mortal):
    """Looks at messages of forty bytes."""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer, and die where there is something wrong."""
        words = [message[at : at + 4] for at in range(4, len(message), 4)]
        self.is_dead |= len(message) == 40 and _ONES.to_bytes(4, "big") in words
        proceed(connection, message)


@transport_mutant(
    "rpc-dies-of-garbage-arguments",
    breaks=_SECTION_3,
    gist="Nobody is served any more after arguments that do not decode",
)
class RpcDiesOfGarbageArguments(Mortal):
    """Looks at answers."""

    def answer_record(self, connection: Connection, message: bytes, _proceed: AnswerRecord, /) -> None:
        """Ask what the answer is; GARBAGE_ARGS has no effect that would be there twice."""
        reply = connection.server.answerer.answer(message, connection.peer, "tcp")
        if reply is None:
            return
        data = b"".join(reply)
        self.is_dead |= data[4:] == _GARBAGE_ARGS
        connection.send([(LAST_FRAGMENT | len(data)).to_bytes(4, "big"), data])


@transport_mutant(
    "rpc-stops-at-clients-that-do-not-read",
    breaks=_SECTION_3,
    gist="Nobody new is served beside a connection on which more than 1500 calls came",
)
class RpcStopsAtClientsThatDoNotRead(Bend):
    """Counts calls. A client that reads would have had its replies by then."""

    most: t.ClassVar[int] = 1500

    def __init__(self) -> None:
        self.calls: weakref.WeakKeyDictionary[Connection, int] = weakref.WeakKeyDictionary()

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Count."""
        self.calls[connection] = self.calls.get(connection, 0) + 1
        proceed(connection, message)

    def admits(self, _peer: Address, /) -> bool:
        """Nobody beside one that made many calls."""
        return all(count <= self.most for count in self.calls.values())


@transport_mutant(
    "rpc-dies-of-clients-that-leave",
    only_raw=True,
    breaks=_SECTION_3,
    gist="Nobody is served any more when a client has left that made more than 250 calls at once",
)
class RpcDiesOfClientsThatLeave(Mortal):
    """Looks who is still there when all calls of a segment are read."""

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        """One that counts."""
        mortal = self

        class Assembler(RecordAssembler):
            def feed(self, data: bytes) -> list[Record]:
                records = super().feed(data)
                mortal.is_dead |= 250 < len(records) < 290
                return records

        return Assembler(max_record)


@transport_mutant(
    "rpc-counts-connections-that-are-gone",
    breaks=_SECTION_3,
    gist="After fifty connections nobody is served any more, though they are closed",
)
class RpcCountsConnectionsThatAreGone(Bend):
    """Never counts down."""

    def __init__(self) -> None:
        self.count = 0

    def admits(self, _peer: Address, /) -> bool:
        """Fifty."""
        self.count += 1
        return self.count <= 50


@transport_mutant(
    "rpc-waits-for-the-slow",
    only_raw=True,
    breaks=_SECTION_3,
    gist="Beside twenty connections on which nothing whole has come, nobody is served",
)
class RpcWaitsForTheSlow(Bend):
    """Counts connections without a call."""

    def __init__(self) -> None:
        self.waiting = 0

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        """One that counts itself until it has a record."""
        bend = self
        bend.waiting += 1

        class Assembler(RecordAssembler):
            is_waiting = True

            def feed(self, data: bytes) -> list[Record]:
                records = super().feed(data)
                if self.is_waiting and (records or not data):
                    self.is_waiting = False
                    bend.waiting -= 1
                return records

        return Assembler(max_record)

    def admits(self, _peer: Address, /) -> bool:
        """Twenty."""
        return self.waiting < 20


class _Keeps(Bend):
    """The answer to the call after a broken one is GARBAGE_ARGS."""

    def __init__(self) -> None:
        self.is_spoilt = False


@transport_mutant(
    "rpc-keeps-broken-datagrams",
    only_raw=True,
    breaks=_SECTION_3,
    gist="The call after a datagram whose header does not decode is taken for garbage",
)
class RpcKeepsBrokenDatagrams(_Keeps):
    """What is left in a buffer."""

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


@transport_mutant(
    "rpc-keeps-garbage-for-the-next-call",
    only_raw=True,
    breaks=_SECTION_3,
    gist="The second NULL after arguments of eight bytes that are all ones is taken for garbage too",
)
class RpcKeepsGarbage(_Keeps):
    """What is left in a buffer."""

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
