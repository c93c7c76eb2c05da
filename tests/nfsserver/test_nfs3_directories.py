# SPDX-License-Identifier: MIT
"""NFSv3 procedures on names in directories, over a loop: what no check of the suites proves."""

from __future__ import annotations

import pytest

from nfsclient.protocol.nfs3 import (
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


# ---------------------------------------------------------------- READDIR, READDIRPLUS


@pytest.fixture
def many(rig: Rig, root: bytes) -> list[bytes]:
    """A hundred names of various lengths in the root directory."""
    chosen = [b"%d-" % number + b"x" * (number % 23) for number in range(100)]
    for name in chosen:
        rig.server.fs.create(SUPERUSER, rig.server.fs.root, name)
    return [b".", b"..", *chosen]


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


def test_listing_needs_permission(rig: Rig, root: bytes) -> None:
    directory = rig.nfs3(ALICE).mkdir(root, b"d", Sattr3(mode=0o711)).resok.obj
    assert rig.nfs3(BOB).readdir(directory).status == S.NFS3ERR_ACCES
    assert rig.nfs3(BOB).lookup(directory, b"..").status == S.NFS3_OK
