# SPDX-License-Identifier: MIT
"""NFSv3 procedures on names in directories, over a loop."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.protocol.nfs3 import (
    CreateMode3,
    Devicedata3,
    Ftype3,
    Mknoddata3,
    Nfsstat3,
    Sattr3,
    Specdata3,
)
from nfsserver.fs import SUPERUSER
from tests.nfsserver.conftest import ALICE, BOB, AnyNfs3, Rig

S = Nfsstat3


def names(nfs3: AnyNfs3, directory: bytes) -> list[bytes]:
    return [entry.name for entry in nfs3.readdir(directory).resok.entries]


# ---------------------------------------------------------------- creation


def test_create_modes(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    made = nfs3.create(root, b"f", CreateMode3.GUARDED, Sattr3(mode=0o600, size=3)).resok
    assert (made.obj_attributes.mode, made.obj_attributes.size) == (0o600, 3)
    assert made.dir_wcc.before.mtime != made.dir_wcc.after.mtime
    nfs3.write(made.obj, 0, b"data")
    assert nfs3.create(root, b"f", CreateMode3.GUARDED).status == S.NFS3ERR_EXIST
    again = nfs3.create(root, b"f", CreateMode3.UNCHECKED, Sattr3(mode=0o777)).resok
    assert again.obj == made.obj
    assert (again.obj_attributes.size, again.obj_attributes.mode) == (4, 0o600)
    cut = nfs3.create(root, b"f", CreateMode3.UNCHECKED, Sattr3(size=0)).resok
    assert cut.obj_attributes.size == 0
    for mode in (CreateMode3.GUARDED, CreateMode3.UNCHECKED):
        assert nfs3.create(root, b"..", mode).status == S.NFS3ERR_EXIST
    nfs3.mkdir(root, b"d")
    assert nfs3.create(root, b"d").status == S.NFS3ERR_EXIST


def test_exclusive_create_survives_its_repetition(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    first = nfs3.create(root, b"f", CreateMode3.EXCLUSIVE, verf=b"12345678").resok
    rig.server.crash()
    again = rig.nfs3()
    assert again.create(root, b"f", CreateMode3.EXCLUSIVE, verf=b"12345678").resok.obj == first.obj
    assert again.create(root, b"f", CreateMode3.EXCLUSIVE, verf=bytes(8)).status == S.NFS3ERR_EXIST


def test_mkdir_and_symlink(nfs3: AnyNfs3, root: bytes) -> None:
    directory = nfs3.mkdir(root, b"d", Sattr3(mode=0o700)).resok
    assert (directory.obj_attributes.type, directory.obj_attributes.nlink) == (Ftype3.NF3DIR, 2)
    assert directory.dir_wcc.after.nlink == 3
    assert nfs3.mkdir(root, b"d").status == S.NFS3ERR_EXIST
    assert nfs3.mkdir(root, b"e", Sattr3(size=1)).status == S.NFS3ERR_INVAL
    link = nfs3.symlink(root, b"l", b"d").resok
    assert (link.obj_attributes.type, link.obj_attributes.size) == (Ftype3.NF3LNK, 1)
    assert nfs3.symlink(root, b"l", b"x").status == S.NFS3ERR_EXIST
    assert nfs3.symlink(root, b"m", b"x" * 5000).status == S.NFS3ERR_NAMETOOLONG


def test_mknod(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    device = Mknoddata3(Ftype3.NF3CHR, device=Devicedata3(Sattr3(mode=0o620), Specdata3(4, 64)))
    made = nfs3.mknod(root, b"tty", device).resok
    assert (made.obj_attributes.type, made.obj_attributes.rdev) == (Ftype3.NF3CHR, Specdata3(4, 64))
    assert rig.nfs3(ALICE).mknod(root, b"tty2", device).status == S.NFS3ERR_PERM
    for kind in (Ftype3.NF3SOCK, Ftype3.NF3FIFO):
        what = Mknoddata3(kind, pipe_attributes=Sattr3())
        assert nfs3.mknod(root, kind.name.encode(), what).resok.obj_attributes.type == kind
    for kind in (Ftype3.NF3REG, Ftype3.NF3DIR, Ftype3.NF3LNK, Ftype3(99)):
        assert nfs3.mknod(root, b"x", Mknoddata3(kind)).status == S.NFS3ERR_BADTYPE
    assert b"x" not in names(nfs3, root)


def test_creation_needs_permission(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    directory = rig.nfs3(ALICE).mkdir(root, b"d", Sattr3(mode=0o755)).resok.obj
    stranger = rig.nfs3(BOB)
    assert stranger.create(directory, b"f").status == S.NFS3ERR_ACCES
    assert stranger.mkdir(directory, b"f").status == S.NFS3ERR_ACCES
    assert stranger.symlink(directory, b"f", b"x").status == S.NFS3ERR_ACCES
    assert stranger.create(root, b"f", attributes=Sattr3(uid=0)).status == S.NFS3ERR_PERM
    assert names(nfs3, directory) == [b".", b".."]


# ---------------------------------------------------------------- removal


def test_remove_and_rmdir(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    directory = nfs3.mkdir(root, b"d").resok.obj
    nfs3.create(directory, b"f")
    assert nfs3.rmdir(root, b"d").status == S.NFS3ERR_NOTEMPTY
    assert nfs3.remove(root, b"d").status == S.NFS3ERR_ISDIR
    assert nfs3.rmdir(directory, b"f").status == S.NFS3ERR_NOTDIR
    assert nfs3.rmdir(directory, b".").status == S.NFS3ERR_INVAL
    assert nfs3.rmdir(directory, b"..").status == S.NFS3ERR_EXIST
    wcc = nfs3.remove(directory, b"f").resok.dir_wcc
    assert wcc.before.size > wcc.after.size
    assert nfs3.remove(directory, b"f").status == S.NFS3ERR_NOENT
    assert nfs3.rmdir(root, b"d").status == S.NFS3_OK
    assert nfs3.getattr(directory).status == S.NFS3ERR_STALE
    assert names(nfs3, root) == [b".", b".."]


def test_rename(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    handle = rig.file(b"a", b"data")
    directory = nfs3.mkdir(root, b"d").resok.obj
    moved = nfs3.rename(root, b"a", directory, b"b").resok
    assert moved.fromdir_wcc.before.ctime != moved.fromdir_wcc.after.ctime
    assert moved.todir_wcc.before.ctime != moved.todir_wcc.after.ctime
    assert nfs3.lookup(directory, b"b").resok.object == handle
    within = nfs3.rename(directory, b"b", directory, b"c").resok
    assert within.fromdir_wcc == within.todir_wcc
    assert nfs3.rename(root, b"none", root, b"x").status == S.NFS3ERR_NOENT
    assert nfs3.rename(root, b"d", directory, b"x").status == S.NFS3ERR_INVAL
    assert nfs3.rename(directory, b"c", root, b"d").status == S.NFS3ERR_EXIST


def test_link(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    handle = rig.file(b"a")
    linked = nfs3.link(handle, root, b"b").resok
    assert linked.file_attributes.nlink == 2
    assert nfs3.lookup(root, b"b").resok.object == handle
    assert nfs3.link(handle, root, b"b").status == S.NFS3ERR_EXIST
    assert nfs3.link(root, root, b"c").status == S.NFS3ERR_ISDIR
    refused = nfs3.link(b"bad", root, b"c")
    assert refused.status == S.NFS3ERR_BADHANDLE
    assert refused.resfail.file_attributes is None
    assert refused.resfail.linkdir_wcc.after is not None


def test_exports_are_devices_apart(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(exports=("/a", "/b"))
    nfs3 = rig.nfs3()
    other = rig.server.backend.handle_of(rig.server.backend.exports[b"/b"].root)
    handle = rig.file(b"f")
    assert nfs3.link(handle, other, b"f").status == S.NFS3ERR_XDEV
    assert nfs3.rename(rig.root, b"f", other, b"f").status == S.NFS3ERR_XDEV
    fsids = {nfs3.getattr(root).resok.obj_attributes.fsid for root in (rig.root, other)}
    assert len(fsids) == 2


# ---------------------------------------------------------------- READDIR, READDIRPLUS


@pytest.fixture
def many(rig: Rig, root: bytes) -> list[bytes]:
    """A hundred names of various lengths in the root directory."""
    chosen = [b"%d-" % number + b"x" * (number % 23) for number in range(100)]
    for name in chosen:
        rig.server.fs.create(SUPERUSER, rig.server.fs.root, name)
    return [b".", b"..", *chosen]


@pytest.mark.parametrize("count", [160, 200, 1000, 4096, 2**32 - 1])
def test_readdir_pages_are_complete_and_bounded(
    nfs3: AnyNfs3, root: bytes, many: list[bytes], count: int
) -> None:
    seen: list[bytes] = []
    cookie, verf, eof = 0, bytes(8), False
    while not eof:
        resok = nfs3.readdir(root, cookie, verf, count).resok
        assert len(resok.to_xdr()) <= count
        seen += [entry.name for entry in resok.entries]
        cookie, verf, eof = resok.entries[-1].cookie, resok.cookieverf, resok.eof
    assert seen == many
    last = nfs3.readdir(root, cookie, verf, count).resok
    assert (last.entries, last.eof) == ([], True)


@pytest.mark.parametrize(
    ("dircount", "maxcount"), [(64, 8192), (8192, 400), (500, 1000), (2**32 - 1, 2**32 - 1)]
)
def test_readdirplus_pages_are_complete_and_bounded(
    nfs3: AnyNfs3, root: bytes, many: list[bytes], dircount: int, maxcount: int
) -> None:
    seen: list[bytes] = []
    cookie, verf, eof = 0, bytes(8), False
    while not eof:
        resok = nfs3.readdirplus(root, cookie, verf, dircount, maxcount).resok
        assert len(resok.to_xdr()) <= maxcount
        assert sum(20 + len(entry.name) for entry in resok.entries) <= dircount
        for entry in resok.entries:
            assert nfs3.getattr(entry.name_handle).resok.obj_attributes.fileid == entry.fileid
        seen += [entry.name for entry in resok.entries]
        cookie, verf, eof = resok.entries[-1].cookie, resok.cookieverf, resok.eof
    assert seen == many


def test_pages_use_their_room(nfs3: AnyNfs3, root: bytes, many: list[bytes]) -> None:
    resok = nfs3.readdir(root, count=1000).resok
    assert len(resok.to_xdr()) > 1000 - 60


def test_too_small_requests(nfs3: AnyNfs3, root: bytes) -> None:
    assert nfs3.readdir(root, count=100).status == S.NFS3ERR_TOOSMALL
    assert nfs3.readdir(root, count=0).status == S.NFS3ERR_TOOSMALL
    assert nfs3.readdirplus(root, dircount=8, maxcount=8192).status == S.NFS3ERR_TOOSMALL
    assert nfs3.readdirplus(root, dircount=8192, maxcount=200).status == S.NFS3ERR_TOOSMALL


def test_cookies_are_verified(rig: Rig, nfs3: AnyNfs3, root: bytes, many: list[bytes]) -> None:
    resok = nfs3.readdir(root).resok
    cookie, verf = resok.entries[50].cookie, resok.cookieverf
    assert nfs3.readdir(root, cookie, bytes(8)).status == S.NFS3ERR_BAD_COOKIE
    assert nfs3.readdir(root, 2**63, verf).status == S.NFS3ERR_BAD_COOKIE
    nfs3.remove(root, resok.entries[50].name)
    rig.server.restart()
    after = rig.nfs3().readdir(root, cookie, verf).resok
    assert [entry.name for entry in after.entries] == many[51:]


def test_listing_a_file_is_refused(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f")
    assert nfs3.readdir(handle).status == S.NFS3ERR_NOTDIR
    assert nfs3.readdirplus(handle).status == S.NFS3ERR_NOTDIR


def test_listing_needs_permission(rig: Rig, root: bytes) -> None:
    directory = rig.nfs3(ALICE).mkdir(root, b"d", Sattr3(mode=0o711)).resok.obj
    assert rig.nfs3(BOB).readdir(directory).status == S.NFS3ERR_ACCES
    assert rig.nfs3(BOB).lookup(directory, b"..").status == S.NFS3_OK
