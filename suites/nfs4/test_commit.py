# SPDX-License-Identifier: MIT
"""COMMIT (RFC 5661 section 18.3)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, observe, proves, should, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, open_file

KEEPS_DATA = stated(
    "RFC 5661",
    "18.3.3",
    "COMMIT flushes data to stable storage: the data that READ returns stays as it was written",
    harm=Harm.DATA,
)
KEEPS_THE_SIZE = stated(
    "RFC 5661",
    "18.3.3",
    "COMMIT flushes data that was written: it does not change the size of the file",
    harm=Harm.DATA,
)
TYPE_IS_CHECKED = should(  # no text says that COMMIT does not allow one
    "RFC 5661",
    "15.1.2.3",
    "NFS4ERR_ISDIR: the current filehandle designates a directory where that is not allowed",
    also={"4.0": ("RFC 7530", "13.1.2.3")},
)


@MINORS
@proves(KEEPS_DATA, killed_by="commit4-loses-the-data")
def test_data(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """COMMIT of a range leaves all data as it was written."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    writing = op.write(opened.stateid, 0, b"0123456789", p.StableHow4.UNSTABLE4)
    written = expect(compounds.compound(op.putfh(opened.handle), writing)).of(p.WRITE).ok()
    expect(compounds.compound(op.putfh(opened.handle), op.commit(2, 4))).ok()
    expect_data(scratch.read(opened.handle), b"0123456789"[: written.count])


@proves(KEEPS_DATA, killed_by="commit4-fails-the-second-time")
def test_again(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """COMMIT succeeds each time after further WRITEs, and when nothing was written since."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    for data in (b"first", b"other", b"third"):
        writing = op.write(opened.stateid, 0, data, p.StableHow4.UNSTABLE4)
        written = expect(compounds.compound(op.putfh(opened.handle), writing)).of(p.WRITE).ok()
        expect(compounds.compound(op.putfh(opened.handle), op.commit())).ok()
    expect(compounds.compound(op.putfh(opened.handle), op.commit(0, 5))).ok()
    expect_data(scratch.read(opened.handle)[: written.count], b"third"[: written.count])


@MINORS
@proves(TYPE_IS_CHECKED, killed_by="commit4-of-a-directory-is-inval")
def test_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """COMMIT of a directory succeeds, as fsync of one does, or fails with ISDIR or WRONG_TYPE."""
    reply = compounds.compound(op.putfh(scratch.handle), op.commit())
    observe("COMMIT of a directory", reply.status.name)
    if reply.status == Nfsstat4.NFS4_OK:
        return
    expect(reply).refused(Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_WRONG_TYPE, because=TYPE_IS_CHECKED)


@proves(KEEPS_THE_SIZE, killed_by="commit4-extends-the-file")
def test_beyond_eof(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """COMMIT of a range beyond the end does not extend the file."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    writing = op.write(opened.stateid, 0, b"0123456789", p.StableHow4.UNSTABLE4)
    written = expect(compounds.compound(op.putfh(opened.handle), writing)).of(p.WRITE).ok()
    observe("COMMIT", compounds.compound(op.putfh(opened.handle), op.commit(5, 10_000)).status)
    expect(scratch.attributes(opened.handle)).field("size").equals(written.count)
