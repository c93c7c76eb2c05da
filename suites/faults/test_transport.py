# SPDX-License-Identifier: MIT
"""Calls that arrive in pieces, late, or not wholly (RFC 1831 section 10): the data of a file show what was executed."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.faults import (
    Action,
    FaultyWire,
    Fragments,
    MakeFaulty,
    Segments,
    Stall,
    Truncate,
    on,
)
from fixtures.checks.scratch import Scratch
from fixtures.checks.wire import RawCall
from nfsjudge import Harm, expect_data, proves, skip, stated
from suites.faults.cases import EACH_VERSION
from suites.faults.writes import SIZE, make_write, procedure_of, written
from suites.nfs3.contents import pattern

RECORD_IS_THE_SAME = stated(
    "RFC 1831", "10", "a record is the same message in whatever fragments and segments it arrives"
)
ONLY_WHOLE_RECORDS = stated(
    "RFC 1831",
    "10",
    "a record ends with its last fragment; what ends before it is no message, so it is not executed",
    harm=Harm.SUCCESS,
)
_GAP: t.Final = 0.002
_OLD, _NEW = b"\xaa" * SIZE, pattern(SIZE)
PIECES: t.Final[dict[str, tuple[Action, ...]]] = {
    "mark-apart": (Segments((4, SIZE * 2), _GAP),),
    "mark-cut": (Segments((2, SIZE * 2), _GAP),),
    "header-apart": (Segments((44, SIZE * 2), _GAP),),
    "data-cut": (Segments((1000,), _GAP),),
    "small-ends": (Segments((1, 1, SIZE, 1), _GAP),),
    "fragments": (Fragments((500,)),),
    "odd-fragments": (Fragments((1, 0, 7, 101, 1001)),),
    "slow-fragments": (Fragments((1000, 0, 1000), _GAP),),
    "fragments-cut": (Fragments((700,)), Segments((333,), _GAP)),
    "stalled": (Stall(10 * _GAP, at=1500),),
}
"""Id -> what happens to the record of a WRITE."""
CUTS: t.Final = {"data-begins": 300, "middle": 1500, "near-the-end": 3000}
"""Id -> the bytes of the record, its mark included, that arrive."""


@pytest.mark.parametrize("way", PIECES)
@EACH_VERSION
@proves(RECORD_IS_THE_SAME, killed_by="rpc-pieces-change-data")
def test_pieces(faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, way: str) -> None:
    """WRITE writes the data that were sent, however its record is divided."""
    version = int(nfs_version[1:])
    peer = faults("tcp", version, on("call", procedure_of(version), *PIECES[way]))
    file = scratch.file("f", _OLD)
    count = written(peer, make_write(peer, file, _NEW))
    expect_data(scratch.read(file), _NEW[:count] + _OLD[count:], f"data of a WRITE in pieces ({way})")


@pytest.mark.parametrize("then", ["close", "reset"])
@pytest.mark.parametrize("cut", CUTS)
@EACH_VERSION
@proves(ONLY_WHOLE_RECORDS, killed_by="rpc-executes-calls-that-are-cut")
def test_cut_off(
    faults: MakeFaulty,
    scratch: Scratch[t.Any, t.Any],
    nfs_version: str,
    cut: str,
    then: t.Literal["close", "reset"],
) -> None:
    """A WRITE whose connection ends in the middle of its record writes nothing, and what was acknowledged stays."""
    version = int(nfs_version[1:])
    file = scratch.file("f")
    rule = on("call", procedure_of(version), Truncate(CUTS[cut], then), nth=2)
    peer = faults("tcp", version, rule)
    if written(peer, make_write(peer, file, _OLD)) < SIZE:
        skip(f"WRITE takes fewer than {SIZE} bytes")
    _send_to_the_end(peer, make_write(peer, file, _NEW))
    seen = scratch.read(file)
    expect_data(seen, _OLD, f"data after a WRITE of which {CUTS[cut]} bytes arrived")


def _send_to_the_end(peer: FaultyWire, call: RawCall) -> None:
    """Send a call that ends its connection, and call on another one until the end has passed through the server."""
    peer.send_record(call.message())
    peer.client.wait_closed()
    peer.note(call, None)
    peer.client.reconnect()
    for _ in range(2):
        peer.call(peer.make())
