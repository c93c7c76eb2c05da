# SPDX-License-Identifier: MIT
"""NFSv2 over UDP (RFC 1094 section 3.4) works like NFSv2 over TCP."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXDATA, Sattr
from nfsjudge import expect, expect_data, expect_that, proves, stated
from suites.nfs2.objects import Connect, expect_same
from suites.nfs3.contents import pattern

NFS_RUNS_OVER_UDP = stated("RFC 1094", "3.4", "NFS is normally supported over UDP")
SAME_OVER_EVERY_TRANSPORT = stated("RFC 1094", "2.2", "a procedure does the same over every transport")


@pytest.mark.parametrize("size", [1, 1000, 4096, MAXDATA])
@proves(NFS_RUNS_OVER_UDP, killed_by="nfs2-cuts-data-over-udp", needs=("nfs2", "nfs2_udp"))
def test_udp_data(rpc_connect: Connect, scratch: Nfs2Scratch, size: int) -> None:
    """WRITE and READ transfer data over UDP."""
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    file = scratch.file("f")
    expect(udp.write(file, 0, pattern(size))).ok()
    expect_data(scratch.read(file), pattern(size))
    data = bytes(expect(udp.read(file, 0, size)).ok().data)
    expect_data(data, pattern(size)[: len(data)], of="reply")


@proves(
    SAME_OVER_EVERY_TRANSPORT, killed_by="nfs2-over-udp-returns-another-owner", needs=("nfs2", "nfs2_udp")
)
def test_udp_attributes(rpc_connect: Connect, scratch: Nfs2Scratch) -> None:
    """GETATTR and LOOKUP return the same attributes over UDP as over TCP."""
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    file = scratch.file("f", b"data")
    expect_same(expect(udp.getattr(file)).ok(), scratch.attributes(file))
    expect(expect(udp.lookup(scratch.handle, b"f")).ok().attributes).field("size", "size over UDP").equals(4)


@proves(
    SAME_OVER_EVERY_TRANSPORT, killed_by="nfs2-over-udp-returns-another-owner", needs=("nfs2", "nfs2_udp")
)
def test_udp_create(rpc_connect: Connect, scratch: Nfs2Scratch) -> None:
    """CREATE over UDP makes a file that TCP shows."""
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    made = expect(udp.create(scratch.handle, b"made", Sattr(mode=0o644))).ok()
    expect_that(scratch.lookup("made") is not None, "the new file", "nothing", "LOOKUP over TCP")
    expect_same(made.attributes, expect(udp.getattr(made.file)).ok())
    expect_same(made.attributes, scratch.attributes(made.file))
