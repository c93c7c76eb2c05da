# SPDX-License-Identifier: MIT
"""NFSv2 over UDP (RFC 1094 section 3.4), unknown procedures and retransmitted calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.raw import fresh_xid
from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed, ProcUnavail, ProgMismatch
from nfsclient.protocol.nfs2 import MAXDATA, PROGRAM, REMOVE, VERSION, Diropargs, Sattr
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void
from nfsjudge import Requirement, expect, expect_error, observe, proves
from suites.nfs2.objects import expect_same, size_id
from suites.nfs3.contents import difference, pattern

NFS_RUNS_OVER_UDP = Requirement(rfc="RFC 1094", section="3.4", gist="NFS is normally supported over UDP")
SAME_OVER_EVERY_TRANSPORT = Requirement(
    rfc="RFC 1094", section="2.2", gist="a procedure does the same over every transport"
)
UNKNOWN_PROCEDURE_IS_UNAVAIL = Requirement(
    rfc="RFC 1831",
    section="7.1",
    gist="a call of a procedure that does not exist is answered with PROC_UNAVAIL",
)
REPEATED_REMOVE_IS_HARMLESS = Requirement(
    rfc="RFC 1094",
    section="2.2.11",
    gist="REMOVE removes its entry and no other one, even if the call arrives twice",
)

Connect = Callable[..., RpcClient]


@pytest.mark.parametrize("size", [1, 1000, 4096, MAXDATA])
@proves(NFS_RUNS_OVER_UDP, killed_by="nfs2-cuts-data-over-udp", needs=("nfs2", "udp2"))
def test_data_goes_over_udp(rpc_connect: Connect, scratch2: Scratch2, size: int) -> None:
    """WRITE and READ transfer data over UDP."""
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    file = scratch2.file("f")
    expect(udp.write(file, 0, pattern(size))).ok()
    expect(difference(scratch2.read(file), pattern(size)), "where written data differs").is_absent()
    data = bytes(expect(udp.read(file, 0, size)).ok().data)
    expect(difference(data, pattern(size)[: len(data)]), "where read data differs").is_absent()


@proves(SAME_OVER_EVERY_TRANSPORT, killed_by="nfs2-has-other-attributes-over-udp", needs=("nfs2", "udp2"))
def test_attributes_are_the_same_over_udp(rpc_connect: Connect, scratch2: Scratch2) -> None:
    """GETATTR and LOOKUP return the same attributes over UDP as over TCP."""
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    file = scratch2.file("f", b"data")
    expect_same(expect(udp.getattr(file)).ok(), scratch2.attributes(file))
    expect(expect(udp.lookup(scratch2.handle, b"f")).ok().attributes.size, "size").equals(4)


@proves(SAME_OVER_EVERY_TRANSPORT, killed_by="nfs2-has-other-attributes-over-udp", needs=("nfs2", "udp2"))
def test_names_go_over_udp(rpc_connect: Connect, scratch2: Scratch2) -> None:
    """CREATE over UDP makes a file that TCP shows."""
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    made = expect(udp.create(scratch2.handle, b"made", Sattr(mode=0o644))).ok()
    expect(scratch2.lookup("made") is not None, "that the file is there").is_true()
    expect_same(made.attributes, expect(udp.getattr(made.file)).ok())
    expect_same(made.attributes, scratch2.attributes(made.file))


@pytest.mark.parametrize("number", [18, 19, 2**32 - 1], ids=size_id)
@proves(UNKNOWN_PROCEDURE_IS_UNAVAIL, killed_by="nfs2-has-more-procedures", needs="nfs2")
def test_there_are_no_further_procedures(rpc_connect: Connect, number: int) -> None:
    """A call of an unknown procedure is rejected with an RPC error."""
    rpc = rpc_connect("nfs")
    unknown = Procedure(PROGRAM, VERSION, number, f"procedure {number}", Void, Void)
    # A server may check the credential first.
    expect_error((ProcUnavail, ProgMismatch, AuthFailed), lambda: rpc.call(unknown, Void()))


@proves(REPEATED_REMOVE_IS_HARMLESS, killed_by="remove2-does-nothing", needs=("nfs2", "udp2"))
def test_a_repeated_call_is_answered(rpc_connect: Connect, scratch2: Scratch2) -> None:
    """A retransmitted REMOVE is answered, and the file is gone."""
    # The server may repeat its first reply, or execute the call again and answer NOENT.
    rpc = rpc_connect("nfs", proto="udp")
    scratch2.file("f")
    # Use a fresh XID: a reply cache may still have one from an earlier run.
    xid, where = fresh_xid(), Diropargs(scratch2.handle, b"f")
    answers = [rpc.wait(rpc.submit(REMOVE, where, xid=xid)).status for _ in range(2)]
    observe("second answer", answers[1])
    expect(scratch2.names(), "the names after both").equals([])
