# SPDX-License-Identifier: MIT
"""READ (RFC 5661 section 18.22)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, Requirement, expect, expect_data, proves
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import open_file

READS_DATA = Requirement(
    rfc="RFC 5661",
    section="18.22.3",
    gist="READ returns the data of the file from the offset on, at most count bytes",
    harm=Harm.DATA,
)
EOF_AT_THE_END = Requirement(
    rfc="RFC 5661",
    section="18.22.3",
    gist="eof is TRUE if offset + count reaches the size of the file or exceeds it, and FALSE otherwise",
)
BEYOND_IS_EMPTY = Requirement(
    rfc="RFC 5661",
    section="18.22.3",
    gist="READ at or beyond the size of the file succeeds, with no data and eof TRUE",
    harm=Harm.DATA,
)
NEEDS_A_FILE = Requirement(
    rfc="RFC 5661",
    section="18.22.3",
    gist="READ of a directory returns NFS4ERR_ISDIR, of a symbolic link NFS4ERR_SYMLINK",
)


@MINORS
@proves(READS_DATA, killed_by="read4-returns-zeros")
def test_data(session: Session4, scratch: Nfs4Scratch) -> None:
    """READ returns the bytes that were written."""
    opened = open_file(session, scratch.file("file", b"0123456789"))
    result = expect(session.compound(op.putfh(opened.handle), op.read(opened.stateid, 2, 5))).of(p.READ).ok()
    wanted = b"23456"[: len(result.data)]
    expect_data(result.data, wanted, at=2)
    expect(len(result.data), "bytes", of=result, field="data").at_least(1)
    expect(result, because=EOF_AT_THE_END).field("eof").is_false()


@MINORS
@proves(EOF_AT_THE_END, killed_by="read4-never-at-the-end")
def test_eof(session: Session4, scratch: Nfs4Scratch) -> None:
    """READ of a whole file says eof."""
    opened = open_file(session, scratch.file("file", b"data"))
    result = expect(session.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).of(p.READ).ok()
    if len(result.data) == 4:
        expect(result).field("eof").is_true()


@MINORS
@pytest.mark.parametrize("offset", [4, 5, 1 << 40])
@proves(BEYOND_IS_EMPTY, killed_by=("read4-beyond-is-inval", "read4-beyond-has-bytes"))
def test_beyond(session: Session4, scratch: Nfs4Scratch, offset: int) -> None:
    """READ beyond the end succeeds without data."""
    opened = open_file(session, scratch.file("file", b"data"))
    reply = session.compound(op.putfh(opened.handle), op.read(opened.stateid, offset, 10))
    result = expect(reply).of(p.READ).ok()
    expect(len(result.data), "bytes", of=result, field="data").equals(0)
    expect(result).field("eof").is_true()


@MINORS
@proves(NEEDS_A_FILE, killed_by="read4-of-a-directory-is-inval")
def test_directory(session: Session4, scratch: Nfs4Scratch) -> None:
    """READ of a directory fails with ISDIR."""
    reply = session.compound(op.putfh(scratch.handle), op.read(op.ANONYMOUS, 0, 10))
    expect(reply).refused(Nfsstat4.NFS4ERR_ISDIR, because=NEEDS_A_FILE)
