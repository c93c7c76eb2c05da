# SPDX-License-Identifier: MIT
"""NFSv3 types against bytes laid out by hand after RFC 1813 (sections 2.5 and 3.3)."""

from __future__ import annotations

import struct

import pytest

from nfsclient.protocol import nfs3 as p
from nfsclient.xdr import Void, XdrError, XdrType

OK = p.Nfsstat3.NFS3_OK
STALE = p.Nfsstat3.NFS3ERR_STALE


def u(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def q(*values: int) -> bytes:
    return struct.pack(f">{len(values)}Q", *values)


TRUE, FALSE = u(1), u(0)
FH, FH_WIRE = b"handle", u(6) + b"handle\0\0"
NAME, NAME_WIRE = b"names", u(5) + b"names\0\0\0"
WHERE, WHERE_WIRE = p.Diropargs3(FH, NAME), FH_WIRE + NAME_WIRE
VERF = b"verifier"

FATTR = p.Fattr3(
    type=p.Ftype3.NF3CHR,
    mode=0o640,
    nlink=2,
    uid=1000,
    gid=100,
    size=2**40,
    used=4096,
    rdev=p.Specdata3(5, 1),
    fsid=0x1234,
    fileid=2**63,
    atime=p.Nfstime3(1, 2),
    mtime=p.Nfstime3(3, 4),
    ctime=p.Nfstime3(5, 6),
)
FATTR_WIRE = u(4, 0o640, 2, 1000, 100) + q(2**40, 4096) + u(5, 1) + q(0x1234, 2**63) + u(1, 2, 3, 4, 5, 6)
SOME_ATTR, NO_ATTR = TRUE + FATTR_WIRE, FALSE
WCC = p.WccData(p.WccAttr(7, p.Nfstime3(8, 9), p.Nfstime3(10, 11)), FATTR)
WCC_WIRE = TRUE + q(7) + u(8, 9, 10, 11) + TRUE + FATTR_WIRE
NO_WCC, NO_WCC_WIRE = p.WccData(), FALSE + FALSE
SATTR = p.Sattr3(mode=0o755, size=9, atime=p.SERVER_TIME, mtime=p.client_time(12, 13))
SATTR_WIRE = TRUE + u(0o755) + FALSE + FALSE + TRUE + q(9) + u(1) + u(2, 12, 13)
NOTHING_SET_WIRE = FALSE * 4 + u(0, 0)

ARGUMENTS: list[tuple[XdrType, bytes]] = [
    (p.Getattr3Args(FH), FH_WIRE),
    (p.Setattr3Args(FH, SATTR), FH_WIRE + SATTR_WIRE + FALSE),
    (p.Setattr3Args(FH, p.Sattr3(), p.Nfstime3(1, 2)), FH_WIRE + NOTHING_SET_WIRE + TRUE + u(1, 2)),
    (p.Setattr3Args(FH, p.Sattr3(uid=1, gid=2)), FH_WIRE + FALSE + u(1, 1, 1, 2) + FALSE + u(0, 0) + FALSE),
    (p.Lookup3Args(WHERE), WHERE_WIRE),
    (p.Access3Args(FH, 0x3F), FH_WIRE + u(0x3F)),
    (p.Readlink3Args(FH), FH_WIRE),
    (p.Read3Args(FH, 2**33, 512), FH_WIRE + q(2**33) + u(512)),
    (
        p.Write3Args(FH, 5, 3, p.StableHow.DATA_SYNC, b"abc"),
        FH_WIRE + q(5) + u(3, 1) + u(3) + b"abc\0",
    ),
    (
        p.Create3Args(WHERE, p.Createhow3(p.CreateMode3.UNCHECKED, SATTR)),
        WHERE_WIRE + u(0) + SATTR_WIRE,
    ),
    (
        p.Create3Args(WHERE, p.Createhow3(p.CreateMode3.GUARDED, p.Sattr3())),
        WHERE_WIRE + u(1) + NOTHING_SET_WIRE,
    ),
    (
        p.Create3Args(WHERE, p.Createhow3(p.CreateMode3.EXCLUSIVE, verf=VERF)),
        WHERE_WIRE + u(2) + VERF,
    ),
    (p.Mkdir3Args(WHERE, SATTR), WHERE_WIRE + SATTR_WIRE),
    (
        p.Symlink3Args(WHERE, p.Symlinkdata3(p.Sattr3(), b"../x")),
        WHERE_WIRE + NOTHING_SET_WIRE + u(4) + b"../x",
    ),
    (
        p.Mknod3Args(WHERE, p.Mknoddata3(p.Ftype3.NF3BLK, p.Devicedata3(p.Sattr3(), p.Specdata3(8, 1)))),
        WHERE_WIRE + u(3) + NOTHING_SET_WIRE + u(8, 1),
    ),
    (
        p.Mknod3Args(WHERE, p.Mknoddata3(p.Ftype3.NF3FIFO, pipe_attributes=p.Sattr3())),
        WHERE_WIRE + u(7) + NOTHING_SET_WIRE,
    ),
    (p.Mknod3Args(WHERE, p.Mknoddata3(p.Ftype3.NF3REG)), WHERE_WIRE + u(1)),
    (p.Remove3Args(WHERE), WHERE_WIRE),
    (p.Rmdir3Args(WHERE), WHERE_WIRE),
    (p.Rename3Args(WHERE, p.Diropargs3(b"", b"n")), WHERE_WIRE + u(0) + u(1) + b"n\0\0\0"),
    (p.Link3Args(b"", WHERE), u(0) + WHERE_WIRE),
    (p.Readdir3Args(FH, 2**40, VERF, 4096), FH_WIRE + q(2**40) + VERF + u(4096)),
    (p.Readdirplus3Args(FH, 1, VERF, 512, 4096), FH_WIRE + q(1) + VERF + u(512, 4096)),
    (p.Fsstat3Args(FH), FH_WIRE),
    (p.Fsinfo3Args(FH), FH_WIRE),
    (p.Pathconf3Args(FH), FH_WIRE),
    (p.Commit3Args(FH, 2**33, 0), FH_WIRE + q(2**33) + u(0)),
    (Void(), b""),
]

RESULTS: list[tuple[XdrType, bytes]] = [
    (p.Getattr3Res(OK, p.Getattr3ResOk(FATTR)), u(0) + FATTR_WIRE),
    (p.Getattr3Res(STALE), u(70)),
    (p.Setattr3Res(OK, p.Setattr3ResOk(WCC)), u(0) + WCC_WIRE),
    (
        p.Setattr3Res(p.Nfsstat3.NFS3ERR_NOT_SYNC, resfail=p.Setattr3ResFail(NO_WCC)),
        u(10002) + NO_WCC_WIRE,
    ),
    (p.Lookup3Res(OK, p.Lookup3ResOk(FH, FATTR, None)), u(0) + FH_WIRE + SOME_ATTR + NO_ATTR),
    (p.Lookup3Res(STALE, resfail=p.Lookup3ResFail(FATTR)), u(70) + SOME_ATTR),
    (p.Access3Res(OK, p.Access3ResOk(FATTR, 0x1F)), u(0) + SOME_ATTR + u(0x1F)),
    (p.Access3Res(STALE, resfail=p.Access3ResFail()), u(70) + NO_ATTR),
    (p.Readlink3Res(OK, p.Readlink3ResOk(None, b"a/b")), u(0) + NO_ATTR + u(3) + b"a/b\0"),
    (p.Readlink3Res(STALE, resfail=p.Readlink3ResFail(FATTR)), u(70) + SOME_ATTR),
    (p.Read3Res(OK, p.Read3ResOk(FATTR, 2, True, b"xy")), u(0) + SOME_ATTR + u(2, 1, 2) + b"xy\0\0"),
    (p.Read3Res(STALE, resfail=p.Read3ResFail()), u(70) + NO_ATTR),
    (
        p.Write3Res(OK, p.Write3ResOk(WCC, 3, p.StableHow.FILE_SYNC, VERF)),
        u(0) + WCC_WIRE + u(3, 2) + VERF,
    ),
    (p.Write3Res(STALE, resfail=p.Write3ResFail(WCC)), u(70) + WCC_WIRE),
    (
        p.Create3Res(OK, p.Create3ResOk(FH, FATTR, WCC)),
        u(0) + TRUE + FH_WIRE + SOME_ATTR + WCC_WIRE,
    ),
    (p.Create3Res(OK, p.Create3ResOk(None, None, NO_WCC)), u(0) + FALSE + NO_ATTR + NO_WCC_WIRE),
    (p.Create3Res(STALE, resfail=p.Create3ResFail(WCC)), u(70) + WCC_WIRE),
    (p.Mkdir3Res(OK, p.Mkdir3ResOk(FH, None, NO_WCC)), u(0) + TRUE + FH_WIRE + NO_ATTR + NO_WCC_WIRE),
    (p.Mkdir3Res(STALE, resfail=p.Mkdir3ResFail(WCC)), u(70) + WCC_WIRE),
    (p.Symlink3Res(OK, p.Symlink3ResOk(FH, FATTR, WCC)), u(0) + TRUE + FH_WIRE + SOME_ATTR + WCC_WIRE),
    (p.Symlink3Res(STALE, resfail=p.Symlink3ResFail(NO_WCC)), u(70) + NO_WCC_WIRE),
    (p.Mknod3Res(OK, p.Mknod3ResOk(FH, FATTR, WCC)), u(0) + TRUE + FH_WIRE + SOME_ATTR + WCC_WIRE),
    (p.Mknod3Res(STALE, resfail=p.Mknod3ResFail(NO_WCC)), u(70) + NO_WCC_WIRE),
    (p.Remove3Res(OK, p.Remove3ResOk(WCC)), u(0) + WCC_WIRE),
    (p.Remove3Res(STALE, resfail=p.Remove3ResFail(NO_WCC)), u(70) + NO_WCC_WIRE),
    (p.Rmdir3Res(OK, p.Rmdir3ResOk(WCC)), u(0) + WCC_WIRE),
    (p.Rmdir3Res(STALE, resfail=p.Rmdir3ResFail(NO_WCC)), u(70) + NO_WCC_WIRE),
    (p.Rename3Res(OK, p.Rename3ResOk(WCC, NO_WCC)), u(0) + WCC_WIRE + NO_WCC_WIRE),
    (p.Rename3Res(STALE, resfail=p.Rename3ResFail(NO_WCC, WCC)), u(70) + NO_WCC_WIRE + WCC_WIRE),
    (p.Link3Res(OK, p.Link3ResOk(FATTR, WCC)), u(0) + SOME_ATTR + WCC_WIRE),
    (p.Link3Res(STALE, resfail=p.Link3ResFail(None, NO_WCC)), u(70) + NO_ATTR + NO_WCC_WIRE),
    (
        p.Readdir3Res(OK, p.Readdir3ResOk(FATTR, VERF, [p.Entry3(1, b".", 2), p.Entry3(3, NAME, 4)], True)),
        u(0)
        + SOME_ATTR
        + VERF
        + (TRUE + q(1) + u(1) + b".\0\0\0" + q(2))
        + (TRUE + q(3) + NAME_WIRE + q(4))
        + FALSE
        + TRUE,
    ),
    (p.Readdir3Res(STALE, resfail=p.Readdir3ResFail()), u(70) + NO_ATTR),
    (
        p.Readdirplus3Res(
            OK,
            p.Readdirplus3ResOk(
                None, VERF, [p.Entryplus3(1, NAME, 2, FATTR, FH), p.Entryplus3(3, NAME, 4)], False
            ),
        ),
        u(0)
        + NO_ATTR
        + VERF
        + (TRUE + q(1) + NAME_WIRE + q(2) + SOME_ATTR + TRUE + FH_WIRE)
        + (TRUE + q(3) + NAME_WIRE + q(4) + NO_ATTR + FALSE)
        + FALSE
        + FALSE,
    ),
    (p.Readdirplus3Res(STALE, resfail=p.Readdirplus3ResFail(FATTR)), u(70) + SOME_ATTR),
    (
        p.Fsstat3Res(OK, p.Fsstat3ResOk(None, 1, 2, 3, 4, 5, 6, 7)),
        u(0) + NO_ATTR + q(1, 2, 3, 4, 5, 6) + u(7),
    ),
    (p.Fsstat3Res(STALE, resfail=p.Fsstat3ResFail()), u(70) + NO_ATTR),
    (
        p.Fsinfo3Res(OK, p.Fsinfo3ResOk(FATTR, 1, 2, 3, 4, 5, 6, 7, 2**50, p.Nfstime3(0, 1), 0x1B)),
        u(0) + SOME_ATTR + u(1, 2, 3, 4, 5, 6, 7) + q(2**50) + u(0, 1, 0x1B),
    ),
    (p.Fsinfo3Res(STALE, resfail=p.Fsinfo3ResFail()), u(70) + NO_ATTR),
    (
        p.Pathconf3Res(OK, p.Pathconf3ResOk(None, 32000, 255, True, False, False, True)),
        u(0) + NO_ATTR + u(32000, 255, 1, 0, 0, 1),
    ),
    (p.Pathconf3Res(STALE, resfail=p.Pathconf3ResFail()), u(70) + NO_ATTR),
    (p.Commit3Res(OK, p.Commit3ResOk(WCC, VERF)), u(0) + WCC_WIRE + VERF),
    (p.Commit3Res(STALE, resfail=p.Commit3ResFail(WCC)), u(70) + WCC_WIRE),
]


def _ids(vectors: list[tuple[XdrType, bytes]]) -> list[str]:
    return [f"{number}-{type(value).__name__}" for number, (value, _) in enumerate(vectors)]


@pytest.mark.parametrize(("value", "wire"), ARGUMENTS + RESULTS, ids=_ids(ARGUMENTS + RESULTS))
def test_both_directions_match_the_layout_of_the_rfc(value: XdrType, wire: bytes) -> None:
    assert value.to_xdr() == wire
    assert type(value).from_xdr(wire) == value


def test_every_type_of_the_program_has_a_vector() -> None:
    covered = {type(value) for value, _ in ARGUMENTS + RESULTS}
    wanted = {cls for procedure in p.NFS3.procedures for cls in (procedure.args, procedure.res)}
    assert wanted <= covered


@pytest.mark.parametrize(("value", "wire"), RESULTS, ids=_ids(RESULTS))
def test_replies_do_not_decode_when_cut_or_padded(value: XdrType, wire: bytes) -> None:
    for end in range(0, len(wire), 4):
        with pytest.raises(XdrError):
            type(value).from_xdr(wire[:end])
    with pytest.raises(XdrError):
        type(value).from_xdr(wire + bytes(4))


def test_a_handle_over_64_bytes_does_not_decode() -> None:
    p.Getattr3Args.from_xdr(u(64) + bytes(64))
    with pytest.raises(XdrError):
        p.Getattr3Args.from_xdr(u(65) + bytes(68))


def test_an_unknown_create_mode_does_not_decode() -> None:
    with pytest.raises(XdrError):
        p.Create3Args.from_xdr(WHERE_WIRE + u(3))


def test_an_unknown_status_decodes_and_is_marked() -> None:
    reply = p.Remove3Res.from_xdr(u(12345) + NO_WCC_WIRE)
    assert (reply.status, reply.status.is_known) == (12345, False)
    assert reply.resfail == p.Remove3ResFail(NO_WCC)


def test_the_program_numbers_its_procedures_from_0_to_21() -> None:
    assert [procedure.number for procedure in p.NFS3.procedures] == list(range(22))
    assert {(procedure.program, procedure.version) for procedure in p.NFS3.procedures} == {(100003, 3)}
    assert p.NFS3.by_name["COMMIT"] is p.COMMIT is p.NFS3.by_number[21]


def test_every_procedure_has_a_list_of_errors() -> None:
    assert set(p.errors.LISTED) == set(p.NFS3.procedures)
    assert sum(map(len, p.errors.LISTED.values())) == 186
    assert not p.errors.LISTED[p.NULL]


def test_errors_outside_a_list_may_still_be_general() -> None:
    status = p.Nfsstat3
    assert p.errors.is_expected(p.GETATTR, status.NFS3_OK)
    assert p.errors.is_expected(p.MKNOD, status.NFS3ERR_BADTYPE)
    assert p.errors.is_expected(p.GETATTR, status.NFS3ERR_JUKEBOX)
    assert not p.errors.is_expected(p.GETATTR, status.NFS3ERR_NOSPC)
    assert not p.errors.is_expected(p.NULL, status.NFS3ERR_JUKEBOX)
