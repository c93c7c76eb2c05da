# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_transport.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.rpc.record import LAST_FRAGMENT, Record, RecordAssembler
from nfsmutants.form import transport_mutant
from nfsserver.transport import TransportMiddleware

_LARGE: t.Final = range(1000, 8192)
"""Bytes of a record that carries data."""
_WHERE: t.Final = 500
"""The byte that changes, from the end."""
_ENOUGH: t.Final = 250
"""Bytes of a record after which it is executed."""


@transport_mutant(only_raw=True)
class RpcPiecesChangeData(TransportMiddleware):
    """A byte changes in records with data that arrive in several segments or fragments"""

    class Assembler(RecordAssembler):
        """Changes the first record that a later piece completes."""

        def feed(self, data: bytes) -> list[Record]:
            in_pieces = self.buffered > 0 or (len(data) >= 4 and not data[0] & 0x80)
            records = super().feed(data)
            if in_pieces and records and records[0].end - records[0].start in _LARGE:
                payload = bytearray(records[0].payload())
                payload[-_WHERE] ^= 0xFF
                records[0] = Record(bytes(payload), 0, len(payload))
            return records

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        return self.Assembler(max_record)


@transport_mutant(only_raw=True)
class RpcExecutesCallsThatAreCut(TransportMiddleware):
    """A call with data is executed as soon as its beginning is there, with zeros for the rest"""

    class Assembler(RecordAssembler):
        """Gives an incomplete record once."""

        _is_given = False

        def feed(self, data: bytes) -> list[Record]:
            records = super().feed(data)
            if len(self._tail) < _ENOUGH:
                self._is_given = False
                return records
            length = int.from_bytes(self._tail[:4], "big") & ~LAST_FRAGMENT
            if not self._is_given and length in _LARGE:
                self._is_given = True
                payload = bytes(self._tail[4:]).ljust(length, b"\0")
                records.append(Record(payload, 0, length))
            return records

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        return self.Assembler(max_record)
