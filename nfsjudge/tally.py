# SPDX-License-Identifier: MIT
"""Statistics of calls, as nfsstat users know them: cheap to add to, and to sum over the processes of a run.

Latencies are counted in buckets, eight to a doubling: a percentile is right within 5 %, however many calls there
were; mean and maximum are exact.

An operation that a compound carries has its own row with calls and replies. Bytes and times are those of the
compound: no operation in it has its own.
"""

from __future__ import annotations

import math
import struct
import typing as t
from collections.abc import Iterable

from nfsclient.protocol.registry import protocols
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import AnyOperation, Program, Step
from nfsjudge.records import ProcedureStatistics, StatisticsRecord

Named: t.TypeAlias = tuple[tuple[str, tuple[Program, ...]], ...]
"""Protocols, as in ids, with their programs."""

Name: t.TypeAlias = tuple[str, str, str]
"""Protocol, the procedure that carries the operation (empty for a call), operation."""
OTHER: t.Final[Name] = ("rpc", "", "other")
"""Calls of what no program has, and bytes that are no calls."""
_WORDS = struct.Struct(">6I")
_PER_OCTAVE = 8
_SCALE = _PER_OCTAVE / math.log(2)
_SHORTEST = 1e-9
PERCENTILES: t.Final = (("p50", 0.50), ("p90", 0.90), ("p99", 0.99))

Plain: t.TypeAlias = list[t.Any]


class _Row:
    """The calls of one operation."""

    __slots__ = ("buckets", "calls", "longest", "received", "replies", "resent", "sent", "total")

    def __init__(self) -> None:
        self.calls = self.replies = self.resent = self.sent = self.received = 0
        self.total = self.longest = 0.0
        self.buckets: dict[int, int] = {}

    def merge(self, other: _Row) -> None:
        self.calls += other.calls
        self.replies += other.replies
        self.resent += other.resent
        self.sent += other.sent
        self.received += other.received
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    def latency(self) -> dict[str, float]:
        """Seconds: percentiles, maximum and mean; empty without replies."""
        if not self.replies:
            return {}
        found = {name: self._percentile(share) for name, share in PERCENTILES}
        found |= {"max": self.longest, "mean": self.total / self.replies}
        return {name: float(f"{seconds:.4g}") for name, seconds in found.items()}

    def _percentile(self, share: float) -> float:
        """The middle of the bucket in which it lies, as it would be in a list of all; never above the maximum."""
        wanted, seen = math.ceil(share * self.replies), 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= wanted:
                return min(self.longest, math.exp((bucket + 0.5) / _SCALE))
        return self.longest


class Tally:
    """Operations of one process: those that were called, and those that compounds carried."""

    def __init__(self, named: Named | None = None) -> None:
        if named is None:
            named = tuple((protocol.name, protocol.programs) for protocol in protocols())
        self._protocols = {
            (program.number, program.version): name for name, programs in named for program in programs
        }
        self._names: dict[tuple[int, ...], Name] = {
            (procedure.program, procedure.version, procedure.number): (name, "", procedure.name)
            for name, programs in named
            for program in programs
            for procedure in program.procedures
        }
        self._by_procedure: dict[AnyOperation, _Row] = {}
        self._by_name: dict[Name, _Row] = {}

    def add(self, exchange: Exchange) -> None:
        """Count an exchange. This is done for every call of a run."""
        procedure = exchange.procedure
        row = None if procedure is None else self._by_procedure.get(procedure)
        if row is None:
            row = self._row(exchange)
        row.calls += 1
        resent = exchange.resent
        if resent:
            row.resent += resent
        row.sent += len(exchange.call) * (1 + resent)
        if procedure is not None and procedure.steps is not None:
            self._add_steps(procedure, exchange.steps)
        reply = exchange.reply
        if reply is None or exchange.received_at is None:
            return
        row.replies += 1
        row.received += len(reply)
        took = exchange.received_at - exchange.sent_at
        row.total += took
        row.longest = max(row.longest, took)
        bucket = math.floor(math.log(took) * _SCALE) if took > _SHORTEST else -240
        row.buckets[bucket] = row.buckets.get(bucket, 0) + 1

    def _add_steps(self, procedure: AnyOperation, steps: Iterable[Step]) -> None:
        for step in steps:
            operation = step.operation
            protocol = self._protocols.get((operation.program, operation.version))
            name = OTHER if protocol is None else (protocol, procedure.name, operation.name)
            row = self._by_name.setdefault(name, _Row())
            row.calls += 1
            row.replies += step.result is not None

    def _row(self, exchange: Exchange) -> _Row:
        procedure = exchange.procedure
        key: tuple[int, ...]
        if procedure is not None:
            key = (procedure.program, procedure.version, procedure.number)
        else:
            words = _WORDS.unpack_from(exchange.call) if len(exchange.call) >= _WORDS.size else (0,) * 6
            key = words[3:] if words[1:3] == (0, 2) else (0, 0, 0)
        row = self._by_name.setdefault(self._names.get(key, OTHER), _Row())
        if procedure is not None and key in self._names:
            self._by_procedure[procedure] = row
        return row

    def to_plain(self) -> Plain:
        """For another process: lists, dicts, numbers and text."""
        return [
            [
                *name,
                [row.calls, row.replies, row.resent, row.sent, row.received],
                [row.total, row.longest],
                {str(bucket): count for bucket, count in row.buckets.items()},
            ]
            for name, row in self._by_name.items()
        ]

    def merge(self, plain: Iterable[t.Any]) -> None:
        """Add what another process counted."""
        for protocol, within, operation, counts, times, buckets in plain:
            row = _Row()
            row.calls, row.replies, row.resent, row.sent, row.received = counts
            row.total, row.longest = times
            row.buckets = {int(bucket): count for bucket, count in buckets.items()}
            self._by_name.setdefault((protocol, within, operation), _Row()).merge(row)

    def record(self) -> StatisticsRecord:
        """All of it, in order of protocol and operation; calls before what they carry."""
        return StatisticsRecord(
            [
                ProcedureStatistics(
                    protocol,
                    operation,
                    row.calls,
                    row.replies,
                    row.resent,
                    row.sent,
                    row.received,
                    row.latency(),
                    within,
                )
                for (protocol, within, operation), row in sorted(self._by_name.items())
            ]
        )
