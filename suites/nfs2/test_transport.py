# SPDX-License-Identifier: MIT
"""NFSv2 over UDP, its normal transport (RFC 1094 section 3.4), and calls that version 2 does not have."""

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
from suites.nfs2.objects import expect_same
from suites.nfs3.contents import difference, pattern

OVER_UDP = Requirement(rfc="RFC 1094", section="3.4", gist="NFS is supported normally on UDP")
SAME_FILES = Requirement(
    rfc="RFC 1094", section="2.2", gist="a procedure does the same whatever transport it was called over"
)
NO_SUCH_PROCEDURE = Requirement(
    rfc="RFC 1831", section="7.1", gist="a call of a procedure that does not exist is answered PROC_UNAVAIL"
)
REPEATED = Requirement(
    rfc="RFC 1094",
    section="2.2.11",
    gist="REMOVE removes the entry from the directory, and no other one, also when the call comes twice",
)

Connect = Callable[..., RpcClient]


@pytest.mark.parametrize("size", [1, 1000, 4096, MAXDATA])
@proves(OVER_UDP, killed_by="nfs2-cuts-data-over-udp", needs=("nfs2", "udp2"))
def test_data_goes_over_udp(rpc_connect: Connect, scratch2: Scratch2, size: int) -> None:
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    file = scratch2.file("f")
    expect(udp.write(file, 0, pattern(size))).ok()
    expect(difference(scratch2.read(file), pattern(size)), "where written data differs").is_absent()
    data = bytes(expect(udp.read(file, 0, size)).ok().data)
    expect(difference(data, pattern(size)[: len(data)]), "where read data differs").is_absent()


@proves(SAME_FILES, killed_by="nfs2-has-other-attributes-over-udp", needs=("nfs2", "udp2"))
def test_attributes_are_the_same_over_udp(rpc_connect: Connect, scratch2: Scratch2) -> None:
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    file = scratch2.file("f", b"data")
    expect_same(expect(udp.getattr(file)).ok(), scratch2.attributes(file))
    expect(expect(udp.lookup(scratch2.handle, b"f")).ok().attributes.size, "size").equals(4)


@proves(SAME_FILES, killed_by="nfs2-has-other-attributes-over-udp", needs=("nfs2", "udp2"))
def test_names_go_over_udp(rpc_connect: Connect, scratch2: Scratch2) -> None:
    udp = Nfs2(rpc_connect("nfs", proto="udp"))
    made = expect(udp.create(scratch2.handle, b"made", Sattr(mode=0o644))).ok()
    expect(scratch2.lookup("made") is not None, "that the file is there").is_true()
    expect_same(made.attributes, expect(udp.getattr(made.file)).ok())
    expect_same(made.attributes, scratch2.attributes(made.file))


@pytest.mark.parametrize("number", [18, 19, 2**32 - 1])
@proves(NO_SUCH_PROCEDURE, killed_by="nfs2-has-more-procedures", needs="nfs2")
def test_there_are_no_further_procedures(rpc_connect: Connect, number: int) -> None:
    rpc = rpc_connect("nfs")
    unknown = Procedure(PROGRAM, VERSION, number, f"procedure {number}", Void, Void)
    # A server may ask who calls before it looks further.
    expect_error((ProcUnavail, ProgMismatch, AuthFailed), lambda: rpc.call(unknown, Void()))


@proves(REPEATED, killed_by="remove2-does-nothing", needs=("nfs2", "udp2"))
def test_a_repeated_call_is_answered(rpc_connect: Connect, scratch2: Scratch2) -> None:
    # Whether by the first answer or by a second execution, whose NOENT is as good, is the server's choice.
    rpc = rpc_connect("nfs", proto="udp")
    scratch2.file("f")
    # An XID of its own: a cache may keep that of an earlier run, whatever else the call says.
    xid, where = fresh_xid(), Diropargs(scratch2.handle, b"f")
    answers = [rpc.wait(rpc.submit(REMOVE, where, xid=xid)).status for _ in range(2)]
    observe("second answer", answers[1])
    expect(scratch2.names(), "the names after both").equals([])
