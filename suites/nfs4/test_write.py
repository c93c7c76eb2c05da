# SPDX-License-Identifier: MIT
"""WRITE (RFC 5661 section 18.32), with COMMIT (18.3)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, StableHow4
from nfsjudge import Harm, expect, expect_data, must, proves, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, WRITE, open_file

WRITES_DATA = stated(
    "RFC 5661",
    "18.32.3",
    "WRITE writes count bytes of the data at the offset",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.36.4")},
)
COMMITS_AS_ASKED = must(
    "RFC 5661", "18.32.3", "committed is at least as strong as stable in the arguments (Table 11)"
)
NEEDS_WRITE_ACCESS = stated(
    "RFC 5661",
    "15.1.8.8",
    "NFS4ERR_OPENMODE: the operation is not sanctioned by the stateid, such as WRITE after an OPEN for reading",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "13.1.8.9")},
)
VERIFIER_STANDS = must(
    "RFC 5661",
    "18.32.3",
    "writeverf is unchanged during a single instance of the server",
    also={"4.0": ("RFC 7530", "16.36.4")},
)
GROWS_BY_ZEROS = stated(
    "RFC 5661",
    "12.5.4.2",
    "a file that grows is zero extended, also by a WRITE past its end: the gap before the data reads as zeros",
    harm=Harm.DATA,
)
_HOW = {
    "data_sync": StableHow4.DATA_SYNC4,
    "file_sync": StableHow4.FILE_SYNC4,
}


@MINORS
@proves(WRITES_DATA, killed_by="write4-writes-zeros")
def test_data(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ finds what WRITE has written with the stateid of an OPEN."""
    opened = open_file(compounds, scratch.file("file", b"0123456789"), BOTH)
    result = (
        expect(compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 3, b"abc")))
        .of(p.WRITE)
        .ok()
    )
    expect(result).field("count").between(1, 3)
    expect_data(
        scratch.read(opened.handle), b"012" + b"abc"[: result.count] + b"0123456789"[3 + result.count :]
    )


@MINORS
@pytest.mark.parametrize("offset", [5, 70_000], ids=["small", "large"])
@proves(GROWS_BY_ZEROS, killed_by="write4-fills-the-gap")
def test_gap(compounds: Compounds, scratch: Nfs4Scratch, offset: int) -> None:
    """WRITE beyond the end of a file leaves zeros before its data."""
    opened = open_file(compounds, scratch.file("file", b"abc"), BOTH)
    expect(compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, offset, b"e"))).ok()
    expect_data(scratch.read(opened.handle), b"abc".ljust(offset, b"\0") + b"e")


@MINORS
@pytest.mark.parametrize("stable", _HOW)
@proves(COMMITS_AS_ASKED, killed_by="write4-commits-nothing")
def test_committed(compounds: Compounds, scratch: Nfs4Scratch, stable: str) -> None:
    """WRITE commits its data at least as the request says."""
    how = _HOW[stable]
    opened = open_file(compounds, scratch.file("file"), WRITE)
    result = (
        expect(compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"data", how)))
        .of(p.WRITE)
        .ok()
    )
    expect(result).field("committed").one_of(*[stable for stable in StableHow4 if stable >= how])


@MINORS
@proves(NEEDS_WRITE_ACCESS, killed_by="write4-ignores-the-open-mode")
def test_open_for_reading(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE with the stateid of an OPEN for reading fails with OPENMODE."""
    opened = open_file(compounds, scratch.file("file", b"data"), READ)
    reply = compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))
    expect_data(scratch.read(opened.handle), b"data")
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=NEEDS_WRITE_ACCESS)


@MINORS
@proves(VERIFIER_STANDS, killed_by="commit4-verifier-is-random")
def test_verifier(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """COMMIT returns the verifier of the WRITEs before it."""
    opened = open_file(compounds, scratch.file("file"), WRITE)
    writing = op.write(opened.stateid, 0, b"data", StableHow4.UNSTABLE4)
    written = expect(compounds.compound(op.putfh(opened.handle), writing)).of(p.WRITE).ok()
    committed = expect(compounds.compound(op.putfh(opened.handle), op.commit())).of(p.COMMIT).ok()
    expect(committed).field("writeverf").equals(written.writeverf)
