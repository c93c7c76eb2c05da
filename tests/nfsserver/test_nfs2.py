# SPDX-License-Identifier: MIT
"""NFSv2 on the reference server, over a loop: what no check of the suites proves."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed, GarbageArgs
from nfsclient.protocol.nfs2 import (
    LOOKUP,
    MAXDATA,
    PROGRAM,
    REMOVE,
    Diropargs,
    Diropres,
    Ftype,
    Nfsstat2,
    Sattr,
    Timeval,
)
from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import FixedOpaque, String, Struct
from nfsserver import Limits
from tests.nfsserver.conftest import Rig

S = Nfsstat2
OK = S.NFS_OK
LARGEST = 2**32 - 1

AnyNfs2: t.TypeAlias = t.Any


@pytest.fixture
def nfs2(rig: Rig) -> AnyNfs2:
    return Nfs2(rig.rpc())


def made(nfs2: AnyNfs2, root: bytes, name: bytes = b"f", data: bytes = b"") -> bytes:
    handle: bytes = nfs2.create(root, name, Sattr(mode=0o644)).resok.file
    if data:
        assert nfs2.write(handle, 0, data).status == OK
    return handle


def attributes(nfs2: AnyNfs2, handle: bytes) -> t.Any:
    return nfs2.getattr(handle).resok


# ---------------------------------------------------------------- service


def test_it_is_published_over_both_transports(rig: Rig) -> None:
    for prot in (IPPROTO_TCP, IPPROTO_UDP):
        assert rig.portmap().getport(PROGRAM, 2, prot) == rig.server.port


@pytest.mark.parametrize("proto", ["tcp", "udp"])
def test_the_void_procedures_answer_void(rig: Rig, proto: str) -> None:
    nfs2 = Nfs2(rig.rpc(proto=proto))
    nfs2.null()
    nfs2.root()
    nfs2.writecache()


def test_nobody_in_particular_may_only_call_null(rig: Rig, root: bytes) -> None:
    nameless = Nfs2(rig.rpc(AuthNone()))
    nameless.null()
    with pytest.raises(AuthFailed):
        nameless.getattr(root)


def test_a_name_over_255_bytes_is_garbage(rig: Rig, root: bytes) -> None:
    class Wide(Struct):
        dir: t.Annotated[bytes, FixedOpaque(32)]
        name: t.Annotated[bytes, String()]

    wide = Procedure(PROGRAM, 2, LOOKUP.number, "LOOKUP", Wide, Diropres)
    with pytest.raises(GarbageArgs):
        rig.rpc().call(wide, Wide(root, b"n" * 256))
    assert rig.rpc().call(LOOKUP, Diropargs(root, b"n" * 255)).status == S.NFSERR_NOENT


def test_a_retransmitted_call_is_answered_from_memory(rig: Rig, root: bytes) -> None:
    rpc = rig.rpc(proto="udp")
    nfs2 = Nfs2(rpc)
    made(nfs2, root)
    first = rpc.submit(REMOVE, Diropargs(root, b"f"), xid=77)
    assert rpc.wait(first).status == OK
    again = rpc.submit(REMOVE, Diropargs(root, b"f"), xid=77)
    assert rpc.wait(again).status == OK


# ---------------------------------------------------------------- attributes


def test_getattr_tells_everything(nfs2: AnyNfs2, root: bytes) -> None:
    got = attributes(nfs2, made(nfs2, root, data=b"12345"))
    assert (got.type, got.mode, got.nlink, got.size) == (Ftype.NFREG, 0o100644, 1, 5)
    assert (got.blocksize, got.blocks) == (4096, 1)
    assert got.ctime.useconds < 1_000_000


def test_a_field_of_minus_1_is_left_alone(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root, data=b"12345")
    everything = Sattr(0o100600, 7, 8, 3, Timeval(1, 2), Timeval(3, 4))
    assert nfs2.setattr(handle, everything).status == OK
    got = nfs2.setattr(handle, Sattr()).resok
    assert (got.mode, got.uid, got.gid, got.size) == (0o100600, 7, 8, 3)
    assert (got.atime, got.mtime) == (Timeval(1, 2), Timeval(3, 4))
    got = nfs2.setattr(handle, Sattr(size=0)).resok
    assert (got.mode, got.size) == (0o100600, 0)


def test_a_million_microseconds_are_now(rig: Rig, nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root)
    nfs2.setattr(handle, Sattr(mtime=Timeval(5, 0)))
    assert nfs2.setattr(handle, Sattr(mtime=Timeval(5, 1_000_000))).resok.mtime.seconds == 1_000_000_000
    assert nfs2.setattr(handle, Sattr(mtime=Timeval(5, 1_000_001))).status == S.NFSERR_ACCES


def test_statfs(nfs2: AnyNfs2, root: bytes) -> None:
    info = nfs2.statfs(root).resok
    assert (info.tsize, info.bsize) == (8192, 4096)
    assert 0 < info.bavail <= info.bfree <= info.blocks


# ---------------------------------------------------------------- data


def test_a_read_carries_8192_bytes_at_most(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root, data=b"x" * MAXDATA)
    nfs2.write(handle, MAXDATA, b"y" * MAXDATA)
    assert bytes(nfs2.read(handle, 1, LARGEST).resok.data) == b"x" * (MAXDATA - 1) + b"y"


def test_a_file_ends_where_32_bits_do(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root)
    assert nfs2.write(handle, LARGEST - 1, b"x").resok.size == LARGEST
    assert nfs2.write(handle, LARGEST, b"x").status == S.NFSERR_FBIG


def test_a_write_without_room_leaves_nothing(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(limits=Limits(capacity=3 * 4096))
    nfs2: AnyNfs2 = Nfs2(rig.rpc())
    handle = made(nfs2, rig.root, data=b"a" * 4096 + b"b" * 96)
    assert nfs2.write(handle, 4190, b"c" * MAXDATA).status == S.NFSERR_NOSPC
    assert attributes(nfs2, handle).size == 4192
    assert bytes(nfs2.read(handle, 4000, 1000).resok.data) == b"a" * 96 + b"b" * 96


# ---------------------------------------------------------------- names


def test_create_takes_a_file_that_exists(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root, data=b"data")
    assert nfs2.create(root, b"f", Sattr(mode=0)).resok.file == handle
    assert (attributes(nfs2, handle).size, attributes(nfs2, handle).mode) == (4, 0o100644)
    assert nfs2.create(root, b"f", Sattr(size=0)).resok.attributes.size == 0
    nfs2.mkdir(root, b"d")
    assert nfs2.create(root, b"d").status == S.NFSERR_EXIST


def test_a_page_is_no_larger_than_asked(nfs2: AnyNfs2, root: bytes) -> None:
    for number in range(30):
        made(nfs2, root, b"n" * number + b"x")
    for count in range(0, 200, 7):
        reply = nfs2.readdir(root, bytes(4), count)
        if count < 28:  # an entry of a short name, and the end
            assert reply.status == S.NFSERR_IO
            continue
        assert len(reply.to_xdr()) - 4 <= count
        assert reply.resok.entries
        assert not reply.resok.eof
