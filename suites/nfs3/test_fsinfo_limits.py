# SPDX-License-Identifier: MIT
"""FSINFO (RFC 1813 section 3.3.19): the transfer sizes that the server announces are those that it uses."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsjudge import Requirement, expect, proves
from suites.nfs3.limits import fsinfo

MAXIMA_ARE_TRUE = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="rtmax and wtmax are the largest READ and WRITE that the server supports: if it serves any, they are not 0",
)


@proves(MAXIMA_ARE_TRUE, killed_by=("fsinfo3-returns-rtmax-0", "fsinfo3-returns-wtmax-0"))
def test_one_byte_fits(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """A server that reads and writes one byte announces an rtmax and a wtmax of at least one byte."""
    file = scratch.file("f", b"data")
    told = fsinfo(nfs3, root)
    read = expect(nfs3.read(file, 0, 1)).ok().count
    expect(told.rtmax, "rtmax").at_least(read)
    written = expect(nfs3.write(file, 0, b"m")).ok().count
    expect(told.wtmax, "wtmax").at_least(written)
