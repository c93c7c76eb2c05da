# SPDX-License-Identifier: MIT
"""Mutants of what lies below messages: fragments, records, connections, datagrams."""

from __future__ import annotations

import struct
import weakref

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.record import LAST_FRAGMENT, Record, RecordAssembler, frame
from nfsclient.rpc.server import Connection
from nfsserver.mutants import transport_mutant
from nfsserver.transport import AnswerRecord, Bend

_SECTION_10 = "RFC 1831 section 10"
_SMALL = 400
"""Messages up to this size are bent: so small are those that were cut on purpose."""
_WORD = struct.Struct(">I")


_END = _WORD.pack(LAST_FRAGMENT | 0x7FFF_FFFF)
"""The mark of a record that is too long for this server: the connection ends behind what comes before it.

Mutants that lose something end the connection too, so that nobody has to wait for what does not come.
"""


def _fragments(data: bytes) -> list[bytes] | None:
    """The fragments in `data`, with their marks; None when it ends in the middle of one."""
    found, at = [], 0
    while at < len(data):
        if len(data) - at < 4:
            return None
        end = at + 4 + (_WORD.unpack_from(data, at)[0] & ~LAST_FRAGMENT)
        found.append(data[at:end])
        at = end
    return found if at == len(data) else None


def _is_last(piece: bytes) -> bool:
    return bool(piece[0] & 0x80)


class _Bent(RecordAssembler):
    """Looks at the fragments of what arrives, where they are whole and small, before they are put together."""

    def feed(self, data: bytes) -> list[Record]:
        """The records that `data` completes."""
        pieces = _fragments(data) if self.is_idle else None
        if not pieces or len(pieces) > _SMALL or any(len(piece) > _SMALL for piece in pieces):
            return super().feed(data)
        return super().feed(b"".join(self.bend(pieces)))

    def bend(self, pieces: list[bytes]) -> list[bytes]:
        """The fragments as they are taken."""
        return pieces


def _kind(assembler: type[RecordAssembler]) -> type[Bend]:
    class Kind(Bend):
        def make_assembler(self, max_record: int, /) -> RecordAssembler:
            return assembler(max_record)

    return Kind


class _TakesFragmentsForRecords(_Bent):
    """A fragment is a record where it is one of two."""

    def bend(self, pieces: list[bytes]) -> list[bytes]:
        if [_is_last(piece) for piece in pieces] != [False, True] or not all(
            len(each) > 4 for each in pieces
        ):
            return pieces
        return [*(bytes([piece[0] | 0x80]) + piece[1:] for piece in pieces), _END]


class _LosesFragmentsThatEndInAnOpaque(_Bent):
    """Only a cut after 39 bytes, inside of the credential."""

    def bend(self, pieces: list[bytes]) -> list[bytes]:
        kept = [piece for piece in pieces if _is_last(piece) or len(piece) != 4 + 39]
        return kept if kept == pieces else [*kept, _END]


class _TakesFourFragments(_Bent):
    """The fifth fragment with data and what follows is lost."""

    def bend(self, pieces: list[bytes]) -> list[bytes]:
        filled = [piece for piece in pieces if len(piece) > 4]
        if len(filled) <= 4 or sum(map(_is_last, pieces)) != 1:
            return pieces
        return [*filled[:3], pieces[-1], _END]


class _DropsOneByteFragments(_Bent):
    """What has one byte is taken for noise where it comes first and last."""

    def bend(self, pieces: list[bytes]) -> list[bytes]:
        if len(pieces) == 3 and [len(pieces[0]), len(pieces[2])] == [5, 5]:
            return [bytes([pieces[1][0] | 0x80]) + pieces[1][1:], _END]
        return pieces


class _AnswersOneRecordOfASegment(_Bent):
    """Behind the first record of a segment nothing is looked at, unless there are very many."""

    def bend(self, pieces: list[bytes]) -> list[bytes]:
        ends = [number for number, piece in enumerate(pieces, 1) if _is_last(piece)]
        return [*pieces[: ends[0]], _END] if len(ends) in {2, 3, 20} else pieces


class _ForgetsHalfARecord(RecordAssembler):
    """What is left of a segment behind its last whole record is forgotten, if it is small."""

    _has_forgotten = False

    def feed(self, data: bytes) -> list[Record]:
        if self._has_forgotten:
            return super().feed(_END)
        records = super().feed(data)
        if self.buffered and len(data) < _SMALL:
            self._tail.clear()
            self._has_forgotten = True
        return records


_LIST = (
    (
        "rpc-takes-fragments-for-records",
        "The bit of the last fragment is ignored where a record has two fragments",
        _TakesFragmentsForRecords,
    ),
    (
        "rpc-loses-fragments-that-end-in-an-opaque",
        "A first fragment that ends in the middle of the credential is lost",
        _LosesFragmentsThatEndInAnOpaque,
    ),
    (
        "rpc-takes-four-fragments-at-most",
        "Of a record in more than four fragments the rest is lost",
        _TakesFourFragments,
    ),
    (
        "rpc-drops-one-byte-fragments",
        "A first and a last fragment of one byte are dropped",
        _DropsOneByteFragments,
    ),
    (
        "rpc-answers-one-record-of-a-segment",
        "Of several records that arrive together only the first is taken",
        _AnswersOneRecordOfASegment,
    ),
    (
        "rpc-forgets-half-a-record",
        "What arrives of a record before the rest of it is forgotten",
        _ForgetsHalfARecord,
    ),
)
_SEEN_BY_ALL = {_AnswersOneRecordOfASegment, _ForgetsHalfARecord}
"""Segments are the kernel's business; fragments are made by checks alone."""
for _name, _gist, _assembler in _LIST:
    transport_mutant(_name, breaks=_SECTION_10, gist=_gist, only_raw=_assembler not in _SEEN_BY_ALL)(
        _kind(_assembler)
    )


@transport_mutant(
    "rpc-closes-on-empty-fragments",
    only_raw=True,
    breaks=_SECTION_10,
    gist="A connection on which an empty fragment comes is closed",
)
class RpcClosesOnEmptyFragments(Bend):
    """As if zero bytes were the end of the stream."""

    class Assembler(_Bent):
        """Puts a mark that no record may have in place of an empty fragment."""

        def bend(self, pieces: list[bytes]) -> list[bytes]:
            """The stream breaks at an empty fragment; empty records are another matter."""
            broken = any(len(piece) == 4 for piece in pieces) and any(len(piece) > 4 for piece in pieces)
            return [_END] if broken and len(pieces) > 1 else pieces

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        """One that breaks."""
        return self.Assembler(max_record)


@transport_mutant(
    "rpc-answers-the-second-of-a-segment-twice",
    breaks="RFC 1831 section 3",
    gist="The second of two or more calls that arrive together is answered twice",
)
class RpcAnswersTheSecondTwice(Bend):
    """Lets the second record in twice."""

    class Assembler(RecordAssembler):
        """Repeats a record."""

        def feed(self, data: bytes) -> list[Record]:
            """The records, the second one twice."""
            records = super().feed(data)
            return [*records[:2], records[1], *records[2:]] if len(records) > 1 else records

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        """One that repeats."""
        return self.Assembler(max_record)


@transport_mutant(
    "rpc-takes-one-xid-for-one-caller",
    only_raw=True,
    breaks="RFC 1831 section 8",
    gist="A call with the XID of a call on another connection gets the reply to that one again",
)
class RpcTakesOneXidForOneCaller(Bend):
    """A cache of replies whose key is the XID alone. It makes no call of its own: the server is asked."""

    def __init__(self) -> None:
        self.replies: dict[bytes, tuple[Connection, bytes]] = {}

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer from the cache."""
        known = self.replies.get(message[:4])
        if known is not None and known[0] is not connection:
            connection.send(list(frame([known[1]])))
            return
        proceed(connection, message)
        # Only NULL has the same reply as always, so that it is known without looking at what went out.
        if message[20:24] == bytes(4):
            self.replies[message[:4]] = (
                connection,
                b"".join(accepted(int.from_bytes(message[:4], "big"), AcceptStat.SUCCESS).to_buffers()),
            )


@transport_mutant(
    "rpc-answers-on-the-latest-connection",
    breaks="RFC 1831 section 3",
    gist="While three connections are used in turn, replies go out on the one used the latest before",
)
class RpcAnswersOnTheLatestConnection(Bend):
    """Remembers on which connection a call came last."""

    def __init__(self) -> None:
        self.used: list[weakref.ref[Connection]] = []

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """From the fourth call on, when three connections made one each before."""
        before = [ref() for ref in self.used[-3:]]
        self.used.append(weakref.ref(connection))
        other = before[-1] if before else None
        usable = len({id(each) for each in before}) == 3 and other in connection.server.connections
        if not usable or other is None or other is connection:
            proceed(connection, message)
            return
        reply = connection.server.answerer.answer(message, connection.peer, "tcp")
        if reply is not None:
            other.send(frame(reply))
            other.on_writable()


@transport_mutant(
    "rpc-says-goodbye-to-half-closed-connections",
    only_raw=True,
    breaks="RFC 1831 section 8",
    gist="Before a half-closed connection is closed, a reply to no call is sent on it",
)
class RpcSaysGoodbye(Bend):
    """Says so behind each reply that goes out when the stream of calls has ended."""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Look whether more can come."""
        proceed(connection, message)
        if connection.has_ended():
            connection.send(frame(accepted(0xDEAD_BEEF, AcceptStat.SYSTEM_ERR).to_buffers()))


@transport_mutant(
    "rpc-answers-empty-records",
    only_raw=True,
    breaks=_SECTION_10,
    gist="A record of less than four bytes is answered, with an XID that no call had",
)
class RpcAnswersEmptyRecords(Bend):
    """Zeros stand for what is not there."""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer what is too short."""
        if len(message) < 4:
            connection.send(frame(accepted(0, AcceptStat.GARBAGE_ARGS).to_buffers()))
        else:
            proceed(connection, message)
