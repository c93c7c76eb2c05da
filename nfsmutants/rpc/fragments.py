# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_fragments.py catch."""

from __future__ import annotations

import struct
from collections.abc import Callable

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.record import LAST_FRAGMENT, Record, RecordAssembler, frame
from nfsclient.rpc.server import Connection
from nfsmutants.form import transport_mutant
from nfsserver.transport import AnswerRecord, TransportMiddleware

_SMALL = 400
"""In bytes. Only fragments up to this size are changed: checks that split messages on purpose send such small ones."""
_WORD = struct.Struct(">I")
_END = _WORD.pack(LAST_FRAGMENT | 0x7FFF_FFFF)
"""The mark of a record that is too long for this server: the server closes the connection after what comes before it.

Mutants that lose data also close the connection, so that clients need not wait for a reply that never comes.
"""


def _fragments(data: bytes) -> list[bytes] | None:
    """The fragments in `data`, with their marks; None if it ends in the middle of one."""
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


class _BentAssembler(RecordAssembler):
    def __init__(self, max_record: int, bend: Callable[[list[bytes]], list[bytes]]) -> None:
        super().__init__(max_record)
        self._bend = bend

    def feed(self, data: bytes) -> list[Record]:
        pieces = _fragments(data) if self.is_idle else None
        if not pieces or len(pieces) > _SMALL or any(len(piece) > _SMALL for piece in pieces):
            return super().feed(data)
        return super().feed(b"".join(self._bend(pieces)))


class _OfFragments(TransportMiddleware):
    """Changes small, complete fragments before they are assembled."""

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        return _BentAssembler(max_record, self.bend)

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        """The fragments to use instead."""
        return pieces


@transport_mutant(only_raw=True)
class RpcTreatsFragmentsAsRecords(_OfFragments):
    """The last-fragment bit is ignored in records of two fragments"""

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        in_twos = [_is_last(each) for each in pieces] == [False, True] * (len(pieces) // 2)
        if not in_twos or not all(len(each) > 4 for each in pieces):
            return pieces
        return [*(bytes([piece[0] | 0x80]) + piece[1:] for piece in pieces), _END]


@transport_mutant(only_raw=True)
class RpcDropsFragmentsThatEndInAnOpaque(_OfFragments):
    """A first fragment that ends in the middle of the credential is lost"""

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        """Only after a cut at 39 bytes, inside the credential."""
        kept = [piece for piece in pieces if _is_last(piece) or len(piece) != 4 + 39]
        return kept if kept == pieces else [*kept, _END]


@transport_mutant(only_raw=True)
class RpcDropsFragmentsAfterTheThird(_OfFragments):
    """A record in more than four fragments loses all after the third, except the last"""

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        filled = [piece for piece in pieces if len(piece) > 4]
        if len(filled) <= 4 or sum(map(_is_last, pieces)) != 1:
            return pieces
        return [*filled[:3], pieces[-1], _END]


@transport_mutant(only_raw=True)
class RpcDropsOneByteFragments(_OfFragments):
    """Fragments of one byte are dropped"""

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        kept = [piece for piece in pieces if len(piece) != 4 + 1]
        return pieces if kept == pieces else [*kept, _END]


@transport_mutant()
class RpcExecutesOneRecordOfASegment(_OfFragments):
    """Only the first of several records that arrive together is executed"""

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        """Except for other numbers of records. The kernel decides about segments: typed clients see this too."""
        ends = [number for number, piece in enumerate(pieces, 1) if _is_last(piece)]
        return [*pieces[: ends[0]], _END] if len(ends) in {2, 3, 20} else pieces


@transport_mutant()
class RpcDropsPartialRecords(TransportMiddleware):
    """The beginning of a record is lost if the rest arrives later"""

    class Assembler(RecordAssembler):
        """Drops the incomplete record at the end of a small segment."""

        _has_forgotten = False

        def feed(self, data: bytes) -> list[Record]:
            if self._has_forgotten:
                return super().feed(_END)
            records = super().feed(data)
            if self.buffered and len(data) < _SMALL:
                self._tail.clear()
                self._has_forgotten = True
            return records

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        return self.Assembler(max_record)


@transport_mutant(only_raw=True)
class RpcClosesOnEmptyFragments(_OfFragments):
    """The server closes a connection on which an empty fragment arrives"""

    def bend(self, pieces: list[bytes], /) -> list[bytes]:
        """Only for empty fragments between others; another mutant is about empty records."""
        broken = any(len(piece) == 4 for piece in pieces) and any(len(piece) > 4 for piece in pieces)
        return [_END] if broken and len(pieces) > 1 else pieces


@transport_mutant(only_raw=True)
class RpcAnswersEmptyRecords(TransportMiddleware):
    """A record of less than four bytes is answered with the XID of no call"""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        if len(message) < 4:
            connection.send(frame(accepted(0, AcceptStat.GARBAGE_ARGS).to_buffers()))
        else:
            proceed(connection, message)
