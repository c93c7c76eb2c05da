# SPDX-License-Identifier: MIT
"""NFSv3 procedures on one object, over a loop: attributes, names, data, information."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import AuthFailed
from nfsclient.protocol.nfs3 import (
    FSF3_CANSETTIME,
    FSF3_HOMOGENEOUS,
    FSF3_LINK,
    FSF3_SYMLINK,
    CreateMode3,
    Ftype3,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    StableHow,
    client_time,
)
from nfsclient.rpc.auth import AuthNone
from nfsserver import Limits
from tests.nfsserver.conftest import ALICE, BOB, AnyNfs3, Rig

S = Nfsstat3
MIB = 1 << 20


# ---------------------------------------------------------------- handles


def test_handles_are_checked(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    altered = bytes([root[0] ^ 1]) + root[1:]
    for handle in (altered, b"", root[:-1], root + b"\0"):
        assert nfs3.getattr(handle).status == S.NFS3ERR_BADHANDLE
    handle = rig.file(b"f")
    nfs3.remove(root, b"f")
    rig.file(b"g")  # takes over the number of f
    assert nfs3.getattr(handle).status == S.NFS3ERR_STALE


def test_replies_to_bad_handles_have_no_attributes(nfs3: AnyNfs3) -> None:
    reply = nfs3.remove(b"nonsense", b"f")
    assert reply.status == S.NFS3ERR_BADHANDLE
    assert reply.resfail is not None
    assert reply.resfail.dir_wcc.before is None
    assert reply.resfail.dir_wcc.after is None


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


def test_getattr_tells_everything(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f", b"12345", ALICE)
    attributes = nfs3.getattr(handle).resok.obj_attributes
    assert (attributes.type, attributes.mode, attributes.nlink) == (Ftype3.NF3REG, 0o644, 1)
    assert (attributes.uid, attributes.gid, attributes.size, attributes.used) == (1000, 1000, 5, 4096)
    assert attributes.mtime == attributes.ctime
    assert attributes.ctime.seconds == 1_000_000_000


def test_setattr_reports_before_and_after(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f", b"12345")
    before = nfs3.getattr(handle).resok.obj_attributes
    wcc = nfs3.setattr(handle, Sattr3(size=3, mode=0o600)).resok.obj_wcc
    assert (wcc.before.size, wcc.before.mtime, wcc.before.ctime) == (5, before.mtime, before.ctime)
    assert (wcc.after.size, wcc.after.mode) == (3, 0o600)
    assert nfs3.getattr(handle).resok.obj_attributes == wcc.after


def test_setattr_guard(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f")
    ctime = nfs3.getattr(handle).resok.obj_attributes.ctime
    wrong = Nfstime3(ctime.seconds - 3600, ctime.nseconds)
    refused = nfs3.setattr(handle, Sattr3(mode=0), wrong)
    assert refused.status == S.NFS3ERR_NOT_SYNC
    assert refused.resfail.obj_wcc.after.mode == 0o644
    assert nfs3.setattr(handle, Sattr3(mode=0), ctime).status == S.NFS3_OK
    assert nfs3.setattr(handle, Sattr3(mode=0), ctime).status == S.NFS3ERR_NOT_SYNC


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


def test_access_answers_within_the_question(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    handle = rig.file(b"f", b"", ALICE)
    assert nfs3.access(root, 0xFFFF_FFFF).resok.access == 0x1F
    assert nfs3.access(handle, 0xFFFF_FFFF).resok.access == 0x0D
    assert nfs3.access(handle, 0x04).resok.access == 0x04
    assert rig.nfs3(BOB).access(handle, 0x3F).resok.access == 0x01
    assert nfs3.access(b"x", 1).status == S.NFS3ERR_BADHANDLE


def test_root_squash_makes_root_nobody(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(root_squash=True)
    handle = rig.file(b"f", b"", ALICE)
    assert rig.nfs3().setattr(handle, Sattr3(mode=0o777)).status == S.NFS3ERR_PERM
    mine = rig.nfs3().create(rig.root, b"mine").resok
    assert (mine.obj_attributes.uid, mine.obj_attributes.gid) == (65534, 65534)


# ---------------------------------------------------------------- LOOKUP, READLINK


def test_lookup(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    handle = rig.file(b"f")
    found = nfs3.lookup(root, b"f").resok
    assert found.object == handle
    assert found.obj_attributes.type == Ftype3.NF3REG
    assert found.dir_attributes.type == Ftype3.NF3DIR
    assert nfs3.lookup(root, b"..").resok.object == root
    for name, status in (
        (b"none", S.NFS3ERR_NOENT),
        (b"", S.NFS3ERR_ACCES),
        (b"a/b", S.NFS3ERR_ACCES),
        (b"n" * 256, S.NFS3ERR_NAMETOOLONG),
    ):
        reply = nfs3.lookup(root, name)
        assert reply.status == status
        assert reply.resfail.dir_attributes is not None
    assert nfs3.lookup(handle, b"x").status == S.NFS3ERR_NOTDIR


def test_symbolic_links_are_not_followed(nfs3: AnyNfs3, root: bytes) -> None:
    link = nfs3.symlink(root, b"l", b"\xffnowhere/..").resok.obj
    assert nfs3.lookup(root, b"l").resok.object == link
    assert nfs3.readlink(link).resok.data == b"\xffnowhere/.."
    assert nfs3.readlink(root).status == S.NFS3ERR_INVAL
    assert nfs3.lookup(link, b"x").status == S.NFS3ERR_NOTDIR


# ---------------------------------------------------------------- READ, WRITE, COMMIT


def test_read_knows_the_end(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f", b"0123456789")
    for offset, count, data, eof in (
        (0, 10, b"0123456789", True),
        (0, 9, b"012345678", False),
        (4, 100, b"456789", True),
        (10, 1, b"", True),
        (2**64 - 1, 2**32 - 1, b"", True),
        (5, 0, b"", False),
        (10, 0, b"", True),
    ):
        resok = nfs3.read(handle, offset, count).resok
        assert (bytes(resok.data), resok.count, resok.eof) == (data, len(data), eof)


def test_transfers_above_the_limit_are_short(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f")
    written = nfs3.write(handle, 0, b"x" * (MIB + 4)).resok
    assert written.count == MIB
    nfs3.setattr(handle, Sattr3(size=2 * MIB))
    read = nfs3.read(handle, 0, 2 * MIB).resok
    assert (read.count, read.eof) == (MIB, False)


def test_datagrams_carry_less(rig: Rig, root: bytes) -> None:
    nfs3 = rig.nfs3(proto="udp")
    handle = rig.file(b"f", b"x" * 100_000)
    info = nfs3.fsinfo(root).resok
    assert (info.rtmax, info.wtmax, info.dtpref) == (32768, 32768, 32768)
    assert nfs3.read(handle, 0, 65_536).resok.count == 32768
    assert nfs3.write(handle, 0, b"y" * 40_000).resok.count == 32768


@pytest.mark.parametrize("stable", StableHow)
def test_writes_are_as_stable_as_they_say(rig: Rig, nfs3: AnyNfs3, stable: StableHow) -> None:
    handle = rig.file(b"f")
    resok = nfs3.write(handle, 0, b"data", stable).resok
    assert resok.committed == stable
    rig.server.crash()
    after = rig.nfs3()
    kept = after.read(handle, 0, 10).resok.data
    assert kept == (b"" if stable == StableHow.UNSTABLE else b"data")
    assert after.commit(handle).resok.verf != resok.verf


def test_one_verifier_per_boot(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f")
    verifiers = {nfs3.write(handle, 0, b"x", stable).resok.verf for stable in StableHow}
    verifiers.add(nfs3.commit(handle).resok.verf)
    assert len(verifiers) == 1
    rig.server.restart()
    assert rig.nfs3().commit(handle).resok.verf not in verifiers


def test_commit_saves_the_data(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f")
    nfs3.write(handle, 0, b"data", StableHow.UNSTABLE)
    assert nfs3.commit(handle, 2**64 - 1, 2**32 - 1).status == S.NFS3_OK
    assert nfs3.commit(handle).status == S.NFS3_OK
    rig.server.crash()
    assert rig.nfs3().read(handle, 0, 10).resok.data == b"data"


def test_write_refusals(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    handle = rig.file(b"f", b"keep", ALICE)
    wrong = nfs3.write(handle, 0, b"abc", count=2)
    assert wrong.status == S.NFS3ERR_INVAL
    assert wrong.resfail.file_wcc.before is not None
    assert nfs3.write(handle, 0, b"abc", count=4).status == S.NFS3ERR_INVAL
    assert nfs3.write(handle, 0, b"abc", StableHow(7)).status == S.NFS3ERR_INVAL
    assert nfs3.write(handle, 2**64 - 2, b"abc").status == S.NFS3ERR_FBIG
    assert nfs3.write(root, 0, b"abc").status == S.NFS3ERR_INVAL
    assert nfs3.read(root, 0, 1).status == S.NFS3ERR_INVAL
    assert nfs3.commit(root).status == S.NFS3ERR_INVAL
    assert rig.nfs3(BOB).write(handle, 0, b"abc").status == S.NFS3ERR_ACCES
    assert nfs3.read(handle, 0, 10).resok.data == b"keep"


def test_empty_write_leaves_mtime(rig: Rig, nfs3: AnyNfs3) -> None:
    handle = rig.file(b"f", b"x")
    before = nfs3.getattr(handle).resok.obj_attributes
    reply = nfs3.write(handle, 100, b"")
    assert (reply.status, reply.resok.count) == (S.NFS3_OK, 0)
    assert nfs3.getattr(handle).resok.obj_attributes == before


# ---------------------------------------------------------------- FSSTAT, FSINFO, PATHCONF


def test_information_is_true(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    before = nfs3.fsstat(root).resok
    rig.file(b"f", b"x")
    after = nfs3.fsstat(root).resok
    assert before.fbytes - after.fbytes == 4096
    assert before.ffiles - after.ffiles == 1
    info = nfs3.fsinfo(root).resok
    assert info.properties == FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME
    assert info.time_delta == Nfstime3(0, 1)
    limits = nfs3.pathconf(root).resok
    assert (limits.name_max, limits.no_trunc) == (255, True)
    for call in (nfs3.fsstat, nfs3.fsinfo, nfs3.pathconf):
        assert call(b"x").status == S.NFS3ERR_BADHANDLE


def test_full_file_system(make_rig: t.Callable[..., Rig]) -> None:
    rig = make_rig(limits=Limits(capacity=16 * 4096))
    nfs3 = rig.nfs3()
    handle = rig.file(b"f")
    assert nfs3.write(handle, 0, bytes(100_000), StableHow.UNSTABLE).resok.count == 65_536
    assert nfs3.write(handle, 65_536, b"x").status == S.NFS3ERR_NOSPC
    assert nfs3.fsstat(rig.root).resok.abytes == 0
    assert nfs3.write(handle, 0, b"over").status == S.NFS3_OK
    assert nfs3.create(rig.root, b"g", CreateMode3.GUARDED).status == S.NFS3_OK


def test_small_transfers_of_data_leave_listings_alone(rig: Rig, nfs3: AnyNfs3, root: bytes) -> None:
    rig.file(b"a-name-of-a-file")
    rig.server.knobs.update(rtmax=64, wtmax=64)
    names = [entry.name for entry in nfs3.readdir(root).resok.entries]
    assert b"a-name-of-a-file" in names
