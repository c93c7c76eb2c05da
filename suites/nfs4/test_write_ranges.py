# SPDX-License-Identifier: MIT
"""WRITE (RFC 5661 section 18.32) of nothing, and of ranges beyond what offsets can name."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import Harm, expect, expect_data, observe, proves, should, stated
from suites.nfs4.gaps import need_far

NOTHING_IS_WRITTEN = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE with a count of zero succeeds and returns a count of zero",
    also={"4.0": ("RFC 7530", "16.36.4")},
)
NOTHING_CHANGES_DATA = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE writes as many bytes as its count says: with a count of zero it changes no data",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
NOTHING_KEEPS_THE_SIZE = should(  # a file that is longer by zeros has lost nothing
    "RFC 5661", "18.32.3", "WRITE with a count of zero does not extend the file"
)
WRITES_ITS_RANGE = stated(
    "RFC 5661",
    "18.32.3",
    "the offset is where WRITE writes: it changes no data elsewhere, wherever its range ends",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
_OFFSETS = {"int64": 2**63 - 4, "uint64": 2**64 - 4}
_OLD = bytes(range(1, 65))


@proves(NOTHING_IS_WRITTEN, killed_by="write4-of-nothing-is-inval")
def test_zero_count(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE of 0 bytes succeeds and returns a count of 0."""
    reply = compounds.compound(op.putfh(scratch.file("file", b"data")), op.write(op.ANONYMOUS, 2, b""))
    expect(expect(reply).of(p.WRITE).ok()).field("count").equals(0)


@proves(
    NOTHING_CHANGES_DATA,
    NOTHING_KEEPS_THE_SIZE,
    killed_by=("write4-of-nothing-truncates", "write4-of-nothing-extends"),
)
def test_zero_count_keeps_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE of 0 bytes, inside the file or beyond the end, keeps the data and does not extend the file."""
    file = scratch.file("file", b"data")
    for offset in (2, 1000):
        reply = compounds.compound(op.putfh(file), op.write(op.ANONYMOUS, offset, b""))
        observe(f"WRITE of 0 bytes at {offset}", reply.status)
        expect_data(scratch.read(file)[:4], b"data", because=NOTHING_CHANGES_DATA)
    expect(scratch.attributes(file), because=NOTHING_KEEPS_THE_SIZE).field("size").equals(4)


@pytest.mark.parametrize("end", _OFFSETS)
@proves(WRITES_ITS_RANGE, killed_by="write4-wraps-around")
def test_offset_overflow(compounds: Compounds, scratch: Nfs4Scratch, end: str) -> None:
    """WRITE of a range that signed or unsigned 64 bits cannot express does not change the beginning of the file."""
    file = scratch.file("file", _OLD)
    with need_far(
        compounds, scratch, _OFFSETS[end]
    ):  # the bytes that fit may be written, with zeros before them
        reply = compounds.compound(op.putfh(file), op.write(op.ANONYMOUS, _OFFSETS[end], bytes(16)))
    observe(f"WRITE of a range that ends beyond {end}", reply.status)
    seen = (
        expect(compounds.compound(op.putfh(file), op.read(op.ANONYMOUS, 0, len(_OLD)))).of(p.READ).ok().data
    )
    expect_data(seen, _OLD[: max(1, len(seen))], of="range")
