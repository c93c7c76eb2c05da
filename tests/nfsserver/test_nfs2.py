# SPDX-License-Identifier: MIT
"""The NFSv2 face of the reference server, over a loop, with NFSv3 for what version 2 cannot do."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed, GarbageArgs
from nfsclient.protocol import nfs3 as p3
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
from tests.nfsserver.conftest import ALICE, BOB, ROOT_USER, AnyNfs3, Rig

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


def listing(nfs2: AnyNfs2, root: bytes, count: int) -> list[bytes]:
    """All names, a page of `count` bytes at a time."""
    names: list[bytes] = []
    cookie = bytes(4)
    while True:
        page = nfs2.readdir(root, cookie, count).resok
        names += [entry.name for entry in page.entries]
        if page.eof:
            return names
        assert page.entries
        cookie = page.entries[-1].cookie


# ---------------------------------------------------------------- service


def test_it_is_published_over_both_transports(rig: Rig) -> None:
    for prot in (IPPROTO_TCP, IPPROTO_UDP):
        assert rig.portmap().getport(PROGRAM, 2, prot) == rig.server.port


@pytest.mark.parametrize("version", [1, 2])
def test_mount_gives_a_handle_that_all_versions_take(rig: Rig, nfs2: AnyNfs2, version: int) -> None:
    root = rig.mount(version=version).mnt1(b"/export").resok
    assert root == rig.root
    assert attributes(nfs2, root).type == Ftype.NFDIR
    assert rig.nfs3().getattr(root).status == p3.Nfsstat3.NFS3_OK


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


@pytest.mark.parametrize(
    ("kind", "ftype", "bits"),
    [
        (p3.Ftype3.NF3BLK, Ftype.NFBLK, 0o060000),
        (p3.Ftype3.NF3CHR, Ftype.NFCHR, 0o020000),
        (p3.Ftype3.NF3SOCK, Ftype.NFNON, 0o140000),
        (p3.Ftype3.NF3FIFO, Ftype.NFNON, 0o010000),
    ],
)
def test_types_stand_in_the_mode_too(
    nfs2: AnyNfs2, nfs3: AnyNfs3, root: bytes, kind: p3.Ftype3, ftype: Ftype, bits: int
) -> None:
    if kind in (p3.Ftype3.NF3BLK, p3.Ftype3.NF3CHR):
        what = p3.Mknoddata3(kind, device=p3.Devicedata3(p3.Sattr3(mode=0o600), p3.Specdata3(8, 1)))
    else:
        what = p3.Mknoddata3(kind, pipe_attributes=p3.Sattr3(mode=0o600))
    handle = nfs3.mknod(root, b"special", what).resok.obj
    got = attributes(nfs2, handle)
    assert (got.type, got.mode) == (ftype, bits | 0o600)
    assert nfs2.read(handle, 0, 1).status == S.NFSERR_NXIO


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


def test_what_is_too_large_for_32_bits_is_clamped(
    rig: Rig, nfs2: AnyNfs2, nfs3: AnyNfs3, root: bytes
) -> None:
    handle = made(nfs2, root)
    nfs3.setattr(handle, p3.Sattr3(size=2**40))
    assert attributes(nfs2, handle).size == LARGEST
    nfs3.write(handle, 2**32 - 1, b"!")
    assert bytes(nfs2.read(handle, LARGEST, 1).resok.data) == b"!"


def test_statfs(nfs2: AnyNfs2, root: bytes) -> None:
    info = nfs2.statfs(root).resok
    assert (info.tsize, info.bsize) == (8192, 4096)
    assert 0 < info.bavail <= info.bfree <= info.blocks


def test_handles_are_checked(rig: Rig, nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root)
    nfs2.remove(root, b"f")
    for bad in (bytes(32), bytes([root[0] ^ 1]) + root[1:], handle):
        assert nfs2.getattr(bad).status == S.NFSERR_STALE
        assert nfs2.readdir(bad).status == S.NFSERR_STALE
        assert nfs2.rename(root, b"a", bad, b"b").status == S.NFSERR_STALE


# ---------------------------------------------------------------- data


def test_data_comes_back(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root)
    written = nfs2.write(handle, 3, b"seven 7", beginoffset=99, totalcount=LARGEST).resok
    assert written.size == 10
    read = nfs2.read(handle, 0, 100, totalcount=LARGEST).resok
    assert bytes(read.data) == b"\0\0\0seven 7"
    assert read.attributes.size == 10
    assert bytes(nfs2.read(handle, 10, 100).resok.data) == b""
    assert bytes(nfs2.read(handle, LARGEST, LARGEST).resok.data) == b""


def test_a_read_carries_8192_bytes_at_most(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root, data=b"x" * MAXDATA)
    nfs2.write(handle, MAXDATA, b"y" * MAXDATA)
    assert bytes(nfs2.read(handle, 1, LARGEST).resok.data) == b"x" * (MAXDATA - 1) + b"y"


def test_data_is_stable_when_the_reply_comes(rig: Rig, nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root, data=b"data")
    rig.server.crash()
    assert bytes(Nfs2(rig.rpc()).read(handle, 0, 10).resok.data) == b"data"  # type: ignore[union-attr]


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


def test_creating_and_finding(nfs2: AnyNfs2, root: bytes) -> None:
    file = made(nfs2, root)
    directory = nfs2.mkdir(root, b"d", Sattr(mode=0o750, size=0)).resok
    assert (directory.attributes.type, directory.attributes.mode) == (Ftype.NFDIR, 0o040750)
    assert nfs2.symlink(root, b"s", b"../x", Sattr(mode=0)).status == OK
    found = nfs2.lookup(root, b"s").resok
    assert (found.attributes.type, found.attributes.mode) == (Ftype.NFLNK, 0o120777)
    assert nfs2.readlink(found.file).resok == b"../x"
    assert nfs2.readlink(file).status == S.NFSERR_NXIO
    assert nfs2.lookup(root, b"f").resok.file == file
    assert nfs2.lookup(root, b"nobody").status == S.NFSERR_NOENT
    assert nfs2.lookup(file, b"f").status == S.NFSERR_NOTDIR
    assert nfs2.mkdir(root, b"d").status == S.NFSERR_EXIST
    assert nfs2.symlink(root, b"d", b"x").status == S.NFSERR_EXIST


def test_create_takes_a_file_that_exists(nfs2: AnyNfs2, root: bytes) -> None:
    handle = made(nfs2, root, data=b"data")
    assert nfs2.create(root, b"f", Sattr(mode=0)).resok.file == handle
    assert (attributes(nfs2, handle).size, attributes(nfs2, handle).mode) == (4, 0o100644)
    assert nfs2.create(root, b"f", Sattr(size=0)).resok.attributes.size == 0
    nfs2.mkdir(root, b"d")
    assert nfs2.create(root, b"d").status == S.NFSERR_EXIST


def test_moving_and_removing(nfs2: AnyNfs2, root: bytes) -> None:
    file = made(nfs2, root)
    directory = nfs2.mkdir(root, b"d").resok.file
    assert nfs2.link(file, directory, b"g").status == OK
    assert attributes(nfs2, file).nlink == 2
    assert nfs2.link(directory, root, b"e").status == S.NFSERR_ISDIR
    assert nfs2.rename(root, b"f", directory, b"h").status == OK
    assert nfs2.rename(root, b"d", directory, b"d").status == S.NFSERR_ACCES
    assert nfs2.remove(root, b"d").status == S.NFSERR_ISDIR
    assert nfs2.rmdir(root, b"d").status == S.NFSERR_NOTEMPTY
    assert nfs2.rmdir(directory, b"g").status == S.NFSERR_NOTDIR
    for name in (b"g", b"h"):
        assert nfs2.remove(directory, name).status == OK
    assert nfs2.rmdir(root, b"d").status == OK
    assert nfs2.remove(root, b"d").status == S.NFSERR_NOENT


def test_permissions_are_those_of_the_core(rig: Rig, root: bytes) -> None:
    handle = made(Nfs2(rig.rpc(ALICE)), root)
    stranger = Nfs2(rig.rpc(BOB))
    assert stranger.setattr(handle, Sattr(mode=0)).status == S.NFSERR_PERM
    assert stranger.write(handle, 0, b"x").status == S.NFSERR_ACCES
    rig.server.fs.read_only = True
    assert Nfs2(rig.rpc(ROOT_USER)).write(handle, 0, b"x").status == S.NFSERR_ROFS


@pytest.mark.parametrize("count", [40, 64, 512, 4096])
def test_a_listing_may_come_in_any_pages(nfs2: AnyNfs2, root: bytes, count: int) -> None:
    names = [b"name-%d" % number for number in range(30)]
    for name in names:
        made(nfs2, root, name)
    assert listing(nfs2, root, count) == [b".", b"..", *names]


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
