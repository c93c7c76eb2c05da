# SPDX-License-Identifier: MIT
"""READ (RFC 5661 section 18.22)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, proves, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import open_file

READS_DATA = stated(
    "RFC 5661",
    "18.22.3",
    "READ returns the data of the file from the offset on, at most count bytes",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.23.4")},
)
EOF_AT_THE_END = stated(
    "RFC 5661",
    "18.22.3",
    "eof is TRUE if offset + count reaches the size of the file or exceeds it, and FALSE otherwise",
    also={"4.0": ("RFC 7530", "16.23.4")},
)
BEYOND_IS_EMPTY = stated(
    "RFC 5661",
    "18.22.3",
    "READ at or beyond the size of the file succeeds, with no data and eof TRUE",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.23.4")},
)
NEEDS_A_FILE = stated(
    "RFC 5661", "18.22.3", "READ of a directory returns NFS4ERR_ISDIR, of a symbolic link NFS4ERR_SYMLINK"
)


@MINORS
@proves(READS_DATA, killed_by="read4-returns-zeros")
def test_data(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ returns the bytes that were written."""
    opened = open_file(compounds, scratch.file("file", b"0123456789"))
    result = (
        expect(compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 2, 5))).of(p.READ).ok()
    )
    wanted = b"23456"[: len(result.data)]
    expect_data(result.data, wanted, at=2)
    expect(len(result.data), "bytes", of=result, field="data").at_least(1)
    expect(result, because=EOF_AT_THE_END).field("eof").is_false()


@MINORS
@proves(EOF_AT_THE_END, killed_by="read4-never-at-the-end")
def test_eof(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of a whole file says eof."""
    opened = open_file(compounds, scratch.file("file", b"data"))
    result = (
        expect(compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).of(p.READ).ok()
    )
    if len(result.data) == 4:
        expect(result).field("eof").is_true()


@MINORS
@pytest.mark.parametrize("offset", [4, 5, 1 << 40])
@proves(BEYOND_IS_EMPTY, killed_by=("read4-beyond-is-inval", "read4-beyond-has-bytes"))
def test_beyond(compounds: Compounds, scratch: Nfs4Scratch, offset: int) -> None:
    """READ beyond the end succeeds without data."""
    opened = open_file(compounds, scratch.file("file", b"data"))
    reply = compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, offset, 10))
    result = expect(reply).of(p.READ).ok()
    expect(len(result.data), "bytes", of=result, field="data").equals(0)
    expect(result).field("eof").is_true()


@MINORS
@proves(NEEDS_A_FILE, killed_by="read4-of-a-directory-is-inval")
def test_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of a directory fails with ISDIR."""
    reply = compounds.compound(op.putfh(scratch.handle), op.read(op.ANONYMOUS, 0, 10))
    expect(reply).refused(Nfsstat4.NFS4ERR_ISDIR, because=NEEDS_A_FILE)
