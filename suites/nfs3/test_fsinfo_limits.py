# SPDX-License-Identifier: MIT
"""FSINFO (RFC 1813 section 3.3.19): the transfer sizes that the server announces are those that it uses."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import expect, observe, proves, skip, stated
from suites.nfs3.limits import fsinfo, transfer_size

MAXIMA_ARE_TRUE = stated(
    "RFC 1813",
    "3.3.19",
    "rtmax and wtmax are the largest READ and WRITE that the server supports: if it serves any, they are not 0",
)
DTPREF_IS_SERVED = stated(
    "RFC 1813",
    "3.3.19",
    "dtpref is the size of READDIR that the server prefers: it serves READDIR of that size",
)


@proves(MAXIMA_ARE_TRUE, killed_by=("fsinfo3-returns-rtmax-0", "fsinfo3-returns-wtmax-0"))
def test_one_byte_fits(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """A server that reads and writes one byte announces an rtmax and a wtmax of at least one byte."""
    file = scratch.file("f", b"data")
    limits = fsinfo(nfs3, root)
    read = expect(nfs3.read(file, 0, 1)).ok().count
    expect(limits).field("rtmax").at_least(read)
    written = expect(nfs3.write(file, 0, b"m")).ok().count
    expect(limits).field("wtmax").at_least(written)


@proves(DTPREF_IS_SERVED, killed_by="readdir3-refuses-dtpref")
def test_dtpref(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """READDIR of dtpref bytes returns entries."""
    size = fsinfo(nfs3, root).dtpref
    observe("dtpref", size)
    if not size:
        skip("FSINFO returns a dtpref of 0")
    scratch.file("f")
    reply = nfs3.readdir(scratch.handle, 0, bytes(8), transfer_size(size))
    expect(reply).field("status", "status of READDIR").differs_from(Nfsstat3.NFS3ERR_TOOSMALL)
    entries = expect(reply).ok().entries
    expect(len(entries), "entries", of=reply, field="resok.entries").at_least(1)
