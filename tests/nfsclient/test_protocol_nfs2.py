# SPDX-License-Identifier: MIT
"""NFSv2 types against bytes laid out by hand after RFC 1094 (sections 2.2 and 2.3)."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import nfs2 as p
from nfsclient.xdr import Void, XdrError, XdrType
from tests.strategies import xdr_values

OK = p.Nfsstat2.NFS_OK
STALE = p.Nfsstat2.NFSERR_STALE


def u(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


FH = bytes(range(32))
NAME, NAME_WIRE = b"names", u(5) + b"names\0\0\0"
WHERE, WHERE_WIRE = p.Diropargs(FH, NAME), FH + NAME_WIRE
FATTR = p.Fattr(
    type=p.Ftype.NFCHR,
    mode=0o020640,
    nlink=2,
    uid=1000,
    gid=100,
    size=2**32 - 1,
    blocksize=4096,
    rdev=0x0501,
    blocks=8,
    fsid=0x1234,
    fileid=2**31,
    atime=p.Timeval(1, 2),
    mtime=p.Timeval(3, 4),
    ctime=p.Timeval(5, 6),
)
FATTR_WIRE = u(4, 0o020640, 2, 1000, 100, 2**32 - 1, 4096, 0x0501, 8, 0x1234, 2**31, 1, 2, 3, 4, 5, 6)
SATTR = p.Sattr(mode=0o755, size=0, mtime=p.Timeval(12, 13))
NOTHING = 2**32 - 1
SATTR_WIRE = u(0o755, NOTHING, NOTHING, 0, NOTHING, NOTHING, 12, 13)
NOTHING_SET_WIRE = u(*[NOTHING] * 8)

VECTORS: list[tuple[XdrType, bytes]] = [
    (Void(), b""),
    (p.FhandleArgs(FH), FH),
    (p.Sattrargs(FH, SATTR), FH + SATTR_WIRE),
    (p.Sattrargs(FH, p.Sattr()), FH + NOTHING_SET_WIRE),
    (WHERE, WHERE_WIRE),
    (p.Readargs(FH, 2**31, 512, 7), FH + u(2**31, 512, 7)),
    (p.Writeargs(FH, 1, 2, 3, b"abc"), FH + u(1, 2, 3) + u(3) + b"abc\0"),
    (p.Createargs(WHERE, SATTR), WHERE_WIRE + SATTR_WIRE),
    (p.Renameargs(WHERE, p.Diropargs(FH, b"")), WHERE_WIRE + FH + u(0)),
    (p.Linkargs(FH, WHERE), FH + WHERE_WIRE),
    (p.Symlinkargs(WHERE, b"../x", SATTR), WHERE_WIRE + u(4) + b"../x" + SATTR_WIRE),
    (p.Readdirargs(FH, b"\0\0\0\x09", 4096), FH + u(9, 4096)),
    (p.Attrstat(OK, FATTR), u(0) + FATTR_WIRE),
    (p.Attrstat(STALE), u(70)),
    (p.Diropres(OK, p.Diropok(FH, FATTR)), u(0) + FH + FATTR_WIRE),
    (p.Diropres(STALE), u(70)),
    (p.Readlinkres(OK, b"a/b"), u(0, 3) + b"a/b\0"),
    (p.Readlinkres(STALE), u(70)),
    (p.Readres(OK, p.Readok(FATTR, b"xy")), u(0) + FATTR_WIRE + u(2) + b"xy\0\0"),
    (p.Readres(STALE), u(70)),
    (p.StatRes(OK), u(0)),
    (p.StatRes(STALE), u(70)),
    (
        p.Readdirres(OK, p.Readdirok([p.Entry(1, b".", bytes(4)), p.Entry(3, NAME, b"abcd")], True)),
        u(0) + (u(1, 1, 1) + b".\0\0\0" + bytes(4)) + (u(1, 3) + NAME_WIRE + b"abcd") + u(0, 1),
    ),
    (p.Readdirres(STALE), u(70)),
    (p.Statfsres(OK, p.Statfsinfo(1, 2, 3, 4, 5)), u(0, 1, 2, 3, 4, 5)),
    (p.Statfsres(STALE), u(70)),
]
IDS = [f"{number}-{type(value).__name__}" for number, (value, _) in enumerate(VECTORS)]
REPLIES = [(value, wire) for value, wire in VECTORS if hasattr(value, "resok")]
TYPES = sorted(
    {cls for procedure in p.NFS2.procedures for cls in (procedure.args, procedure.res)},
    key=lambda cls: cls.__name__,
)


@pytest.mark.parametrize(("value", "wire"), VECTORS, ids=IDS)
def test_both_directions_match_the_layout_of_the_rfc(value: XdrType, wire: bytes) -> None:
    assert value.to_xdr() == wire
    assert type(value).from_xdr(wire) == value


def test_every_type_of_the_program_has_a_vector() -> None:
    assert set(TYPES) <= {type(value) for value, _ in VECTORS}


@pytest.mark.parametrize("cls", TYPES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_any_value_comes_back(cls: type[XdrType], data: st.DataObject) -> None:
    value = data.draw(xdr_values(cls))
    assert cls.from_xdr(value.to_xdr()) == value


@pytest.mark.parametrize(("value", "wire"), REPLIES, ids=map(str, range(len(REPLIES))))
def test_replies_do_not_decode_when_cut_or_padded(value: XdrType, wire: bytes) -> None:
    for end in range(0, len(wire), 4):
        with pytest.raises(XdrError):
            type(value).from_xdr(wire[:end])
    with pytest.raises(XdrError):
        type(value).from_xdr(wire + bytes(4))


def test_a_reply_has_its_result_only_on_success() -> None:
    for value, wire in REPLIES:
        assert (value.resok is not None) == (wire[:4] == u(0))


def test_sizes_are_bounded_as_in_section_3_5() -> None:
    for value in (
        p.Diropargs(FH, b"n" * 256),
        p.Symlinkargs(WHERE, b"p" * 1025, SATTR),
        p.Writeargs(FH, 0, 0, 0, bytes(8193)),
        p.FhandleArgs(bytes(31)),
        p.FhandleArgs(bytes(33)),
    ):
        with pytest.raises(XdrError):
            value.to_xdr()
    p.Writeargs(FH, 0, 0, 0, bytes(8192)).to_xdr()
    p.Diropargs(FH, b"n" * 255).to_xdr()


def test_an_unknown_status_decodes_and_is_marked() -> None:
    reply = p.Attrstat.from_xdr(u(22))
    assert (reply.status, reply.status.is_known, reply.resok) == (22, False, None)


def test_the_program_numbers_its_procedures_from_0_to_17() -> None:
    assert [procedure.number for procedure in p.NFS2.procedures] == list(range(18))
    assert {(procedure.program, procedure.version) for procedure in p.NFS2.procedures} == {(100003, 2)}
    assert p.NFS2.by_name["STATFS"] is p.STATFS is p.NFS2.by_number[17]
