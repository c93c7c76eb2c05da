# SPDX-License-Identifier: MIT
"""Statistics of calls: counted by procedure, summed over processes, percentiles within 5 %."""

from __future__ import annotations

import random
import struct

import pytest

from nfsclient.protocol import nfs3, rpcbind
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void
from nfsjudge.records import ProcedureStatistics, from_line, to_line
from nfsjudge.tally import Tally


def exchange(
    procedure: object = nfs3.GETATTR, *, took: float | None = 0.001, call: bytes = b"c" * 100, resent: int = 0
) -> Exchange:
    reply = None if took is None else b"r" * 50
    at = None if took is None else 1.0 + took
    assert procedure is None or isinstance(procedure, Procedure)
    return Exchange(
        1, procedure, None, AuthNone(), call, 1.0, "x:1", "udp", reply=reply, received_at=at, resent=resent
    )


def rows(tally: Tally) -> dict[tuple[str, str], ProcedureStatistics]:
    return {(row.protocol, row.procedure): row for row in tally.record().procedures}


def test_calls_replies_retransmissions_and_bytes() -> None:
    tally = Tally()
    tally.add(exchange())
    tally.add(exchange(took=None, resent=2))
    row = rows(tally)["nfs3", "GETATTR"]
    assert (row.calls, row.replies, row.retransmissions) == (2, 1, 2)
    assert (row.bytes_sent, row.bytes_received) == (400, 50)


def test_bytes_of_a_check_are_counted_by_what_they_call() -> None:
    tally = Tally()
    tally.add(exchange(None, call=struct.pack(">6I", 1, 0, 2, 100003, 3, 1)))
    tally.add(exchange())
    tally.add(exchange(None, call=struct.pack(">6I", 1, 0, 2, 100003, 9, 1)))
    tally.add(exchange(None, call=struct.pack(">6I", 1, 9, 2, 100003, 3, 1)))
    tally.add(exchange(None, call=b"short"))
    tally.add(exchange(rpcbind.RPCBIND4.by_name["GETADDR"]))
    tally.add(exchange(Procedure(0x20000000, 1, 0, "NULL", Void, Void)))
    assert {name: row.calls for name, row in rows(tally).items()} == {
        ("nfs3", "GETATTR"): 2,
        ("portmap", "GETADDR"): 1,
        ("rpc", "other"): 4,
    }


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_are_right_within_five_percent(seed: int) -> None:
    chance = random.Random(seed)
    times = [10 ** chance.uniform(-5, 1) for _ in range(2000)]
    tally = Tally()
    for took in times:
        tally.add(exchange(took=took))
    found = rows(tally)["nfs3", "GETATTR"].latency
    times.sort()
    for name, at in (("p50", 999), ("p90", 1799), ("p99", 1979)):
        assert found[name] == pytest.approx(times[at], rel=0.05)
    assert found["max"] == pytest.approx(times[-1], rel=0.001)
    assert found["mean"] == pytest.approx(sum(times) / len(times), rel=0.001)


def test_no_percentile_is_above_the_maximum_and_none_is_without_replies() -> None:
    tally = Tally()
    tally.add(exchange(took=0.0))
    assert set(rows(tally)["nfs3", "GETATTR"].latency.values()) == {0.0}
    silent = Tally()
    silent.add(exchange(took=None))
    assert rows(silent)["nfs3", "GETATTR"].latency == {}


def test_the_sum_of_two_processes_is_what_one_would_have_counted() -> None:
    chance = random.Random(1)
    whole, first, other = Tally(), Tally(), Tally()
    for _ in range(500):
        each = exchange(chance.choice([nfs3.GETATTR, nfs3.READ]), took=chance.random())
        whole.add(each)
        chance.choice([first, other]).add(each)
    total = Tally()
    total.merge(first.to_plain())
    total.merge(other.to_plain())
    for name, row in rows(whole).items():
        summed = rows(total)[name]
        assert summed.latency.pop("mean") == pytest.approx(row.latency.pop("mean"))
        assert summed == row


def test_the_record_survives_its_line() -> None:
    tally = Tally()
    tally.add(exchange())
    record = tally.record()
    assert from_line(to_line(record)) == record
