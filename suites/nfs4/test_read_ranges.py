# SPDX-License-Identifier: MIT
"""READ (RFC 5661 section 18.22) of nothing, of ranges beyond what offsets can name, and what it leaves alone."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, observe, proves, should, skip, stated
from suites.steady import expect_steady

NOTHING_IS_READ = stated(
    "RFC 5661",
    "18.22.3",
    "READ with a count of zero succeeds and returns zero bytes",
    also={"4.0": ("RFC 7530", "16.23.4")},
)
BEYOND_IS_EMPTY = stated(
    "RFC 5661",
    "18.22.3",
    "READ at an offset beyond the size of the file returns no data, wherever its range ends",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.23.4")},
)
READ_MODIFIES_NOTHING = stated(
    "RFC 5661",
    "5.8.2.43",
    "time_modify is the time of the last modification: READ does not change it",
    also={"4.0": ("RFC 7530", "5.8.2.39")},
)
BEYOND_IS_EOF = stated(
    "RFC 5661",
    "18.22.3",
    "READ at an offset beyond the size of the file that succeeds says eof, wherever its range ends",
    also={"4.0": ("RFC 7530", "16.23.4")},
)
BEYOND_SUCCEEDS = should(  # offsets have 64 bits, of which many file systems have one less
    "RFC 5661",
    "18.22.3",
    "READ of a range beyond the size of the file should succeed, wherever 64 bits can say that it ends",
    also={"4.0": ("RFC 7530", "16.23.4")},
)
_OFFSETS = {"int64": 2**63 - 8, "uint64": 2**64 - 8}


@proves(NOTHING_IS_READ, killed_by="read4-of-nothing-is-inval")
def test_zero_count(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of 0 bytes succeeds and returns no data."""
    reply = compounds.compound(op.putfh(scratch.file("file", b"data")), op.read(op.ANONYMOUS, 2, 0))
    result = expect(reply).of(p.READ).ok()
    expect(len(result.data), "bytes", of=result, field="data").equals(0)


@pytest.mark.parametrize("end", _OFFSETS)
@proves(
    BEYOND_IS_EMPTY,
    BEYOND_IS_EOF,
    killed_by=("read4-wraps-around", "read4-far-beyond-is-not-eof"),
)
def test_offset_overflow(compounds: Compounds, scratch: Nfs4Scratch, end: str) -> None:
    """READ of a range that signed or unsigned 64 bits cannot express returns no data, and eof."""
    file = scratch.file("file", bytes(range(100)))
    reply = compounds.compound(op.putfh(file), op.read(op.ANONYMOUS, _OFFSETS[end], 64))
    observe(f"READ of a range that ends beyond {end}", reply.status)
    if reply.status != Nfsstat4.NFS4_OK:
        expect(reply).refused()
        return
    result = expect(reply).of(p.READ).ok()
    expect(len(result.data), "bytes", of=result, field="data").equals(0)
    expect(result, because=BEYOND_IS_EOF).field("eof").is_true()


@proves(BEYOND_SUCCEEDS, killed_by="read4-far-beyond-is-inval")
def test_beyond_int64(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of a range that ends beyond 2^63, and not beyond 2^64, succeeds."""
    file = scratch.file("file", b"data")
    expect(compounds.compound(op.putfh(file), op.read(op.ANONYMOUS, _OFFSETS["int64"], 64))).ok()


@proves(READ_MODIFIES_NOTHING, killed_by="read4-changes-the-time")
def test_keeps_time(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ does not change time_modify."""
    file = scratch.file("file", b"data")
    before = scratch.attributes(file, "time_modify").time_modify
    if before is None:
        skip("the server does not support time_modify")
    expect_steady(
        lambda: scratch.attributes(file, "time_modify").time_modify,
        lambda: expect(compounds.compound(op.putfh(file), op.read(op.ANONYMOUS, 0, 4))).ok(),
        "time_modify after READ",
        known=before,
    )
