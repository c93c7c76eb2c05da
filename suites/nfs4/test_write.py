# SPDX-License-Identifier: MIT
"""WRITE (RFC 5661 section 18.32), with COMMIT (18.3)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, StableHow4
from nfsjudge import Harm, Level, Requirement, expect, expect_data, proves
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, WRITE, open_file

WRITES_DATA = Requirement(
    rfc="RFC 5661",
    section="18.32.3",
    gist="WRITE writes count bytes of the data at the offset",
    harm=Harm.DATA,
)
COMMITS_AS_ASKED = Requirement(
    rfc="RFC 5661",
    section="18.32.3",
    level=Level.MUST,
    gist="committed is at least as strong as stable in the arguments (Table 11)",
)
NEEDS_WRITE_ACCESS = Requirement(
    rfc="RFC 5661",
    section="15.1.8.8",
    gist="NFS4ERR_OPENMODE: the operation is not sanctioned by the stateid, such as WRITE after an OPEN for reading",
    harm=Harm.DATA,
)
VERIFIER_STANDS = Requirement(
    rfc="RFC 5661",
    section="18.32.3",
    level=Level.MUST,
    gist="writeverf is unchanged during a single instance of the server",
)
GROWS_BY_ZEROS = Requirement(
    rfc="RFC 5661",
    section="12.5.4.2",
    gist="a file that grows is zero extended, also by a WRITE past its end: the gap before the data reads as zeros",
    harm=Harm.DATA,
)
_HOW = {
    "data_sync": StableHow4.DATA_SYNC4,
    "file_sync": StableHow4.FILE_SYNC4,
}


@MINORS
@proves(WRITES_DATA, killed_by="write4-writes-zeros")
def test_data(session: Session4, scratch: Nfs4Scratch) -> None:
    """READ finds what WRITE has written with the stateid of an OPEN."""
    opened = open_file(session, scratch.file("file", b"0123456789"), BOTH)
    result = (
        expect(session.compound(op.putfh(opened.handle), op.write(opened.stateid, 3, b"abc")))
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
def test_gap(session: Session4, scratch: Nfs4Scratch, offset: int) -> None:
    """WRITE beyond the end of a file leaves zeros before its data."""
    opened = open_file(session, scratch.file("file", b"abc"), BOTH)
    expect(session.compound(op.putfh(opened.handle), op.write(opened.stateid, offset, b"e"))).ok()
    expect_data(scratch.read(opened.handle), b"abc".ljust(offset, b"\0") + b"e")


@MINORS
@pytest.mark.parametrize("stable", _HOW)
@proves(COMMITS_AS_ASKED, killed_by="write4-commits-nothing")
def test_committed(session: Session4, scratch: Nfs4Scratch, stable: str) -> None:
    """WRITE commits its data at least as the request says."""
    how = _HOW[stable]
    opened = open_file(session, scratch.file("file"), WRITE)
    result = (
        expect(session.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"data", how)))
        .of(p.WRITE)
        .ok()
    )
    expect(result).field("committed").one_of(*[one for one in StableHow4 if one >= how])


@MINORS
@proves(NEEDS_WRITE_ACCESS, killed_by="write4-ignores-the-open-mode")
def test_open_for_reading(session: Session4, scratch: Nfs4Scratch) -> None:
    """WRITE with the stateid of an OPEN for reading fails with OPENMODE."""
    opened = open_file(session, scratch.file("file", b"data"), READ)
    reply = session.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))
    expect_data(scratch.read(opened.handle), b"data")
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=NEEDS_WRITE_ACCESS)


@MINORS
@proves(VERIFIER_STANDS, killed_by="commit4-verifier-is-random")
def test_verifier(session: Session4, scratch: Nfs4Scratch) -> None:
    """COMMIT returns the verifier of the WRITEs before it."""
    opened = open_file(session, scratch.file("file"), WRITE)
    writing = op.write(opened.stateid, 0, b"data", StableHow4.UNSTABLE4)
    written = expect(session.compound(op.putfh(opened.handle), writing)).of(p.WRITE).ok()
    committed = expect(session.compound(op.putfh(opened.handle), op.commit())).of(p.COMMIT).ok()
    expect(committed).field("writeverf").equals(written.writeverf)
