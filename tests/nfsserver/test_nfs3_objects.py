# SPDX-License-Identifier: MIT
"""NFSv3 procedures on one object, over a loop: what no check of the suites proves."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import AuthFailed
from nfsclient.protocol.nfs3 import (
    Nfsstat3,
    Nfstime3,
    Sattr3,
    client_time,
)
from nfsclient.rpc.auth import AuthNone
from tests.nfsserver.conftest import ALICE, BOB, AnyNfs3, Rig

S = Nfsstat3


# ---------------------------------------------------------------- handles


def test_handles_outlive_a_restart(rig: Rig, root: bytes) -> None:
    handle = rig.file(b"f", b"data")
    rig.server.restart()
    assert rig.nfs3().read(handle, 0, 10).resok.data == b"data"


def test_nobody_in_particular_may_only_call_null(rig: Rig, root: bytes) -> None:
    nameless = rig.nfs3(AuthNone())
    nameless.null()
    with pytest.raises(AuthFailed):
        nameless.getattr(root)


# ---------------------------------------------------------------- GETATTR, SETATTR, ACCESS


def test_setattr_times_keep_nanoseconds(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f")
    nfs3.setattr(handle, Sattr3(atime=client_time(1, 999_999_999), mtime=client_time(2**32 - 1, 1)))
    attributes = nfs3.getattr(handle).resok.obj_attributes
    assert attributes.atime == Nfstime3(1, 999_999_999)
    assert attributes.mtime == Nfstime3(2**32 - 1, 1)
    assert nfs3.setattr(handle, Sattr3(mtime=client_time(1, 10**9))).status == S.NFS3ERR_INVAL


def test_setattr_refusals(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    handle = rig.file(b"f", b"", ALICE)
    assert nfs3.setattr(root, Sattr3(size=0)).status == S.NFS3ERR_INVAL
    assert nfs3.setattr(handle, Sattr3(size=2**63)).status == S.NFS3ERR_INVAL
    assert rig.nfs3(BOB).setattr(handle, Sattr3(mode=0)).status == S.NFS3ERR_PERM
    assert rig.nfs3(BOB).setattr(handle, Sattr3(size=0)).status == S.NFS3ERR_ACCES
    assert rig.nfs3(ALICE).setattr(handle, Sattr3(uid=1001)).status == S.NFS3ERR_PERM


def test_root_squash_makes_root_nobody(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(root_squash=True)
    handle = rig.file(b"f", b"", ALICE)
    assert rig.nfs3().setattr(handle, Sattr3(mode=0o777)).status == S.NFS3ERR_PERM
    mine = rig.nfs3().create(rig.root, b"mine").resok
    assert (mine.obj_attributes.uid, mine.obj_attributes.gid) == (65534, 65534)


# ---------------------------------------------------------------- READ, WRITE, COMMIT


def test_datagrams_carry_less(rig: Rig, root: bytes) -> None:
    nfs3 = rig.nfs3(proto="udp")
    handle = rig.file(b"f", b"x" * 100_000)
    info = nfs3.fsinfo(root).resok
    assert (info.rtmax, info.wtmax, info.dtpref) == (32768, 32768, 32768)
    assert nfs3.read(handle, 0, 65_536).resok.count == 32768
    assert nfs3.write(handle, 0, b"y" * 40_000).resok.count == 32768


# ---------------------------------------------------------------- FSSTAT, FSINFO, PATHCONF


def test_small_transfers_of_data_leave_listings_alone(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    rig.file(b"a-name-of-a-file")
    rig.server.knobs.update(rtmax=64, wtmax=64)
    names = [entry.name for entry in nfs3.readdir(root).resok.entries]
    assert b"a-name-of-a-file" in names
