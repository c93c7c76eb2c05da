# SPDX-License-Identifier: MIT
"""MOUNT types against bytes laid out by hand after RFC 1094 appendix A and RFC 1813 section 5."""

from __future__ import annotations

import struct

import pytest

from nfsclient.protocol import mount as p
from nfsclient.rpc.program import Program
from nfsclient.xdr import Void, XdrError, XdrType


def u(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


PATH, PATH_WIRE = b"/export", u(7) + b"/export\0"
GROUPS = [p.Groupnode(b"@hosts"), p.Groupnode(b"10/8")]
GROUPS_WIRE = u(1, 6) + b"@hosts\0\0" + u(1, 4) + b"10/8" + u(0)

VECTORS: list[tuple[XdrType, bytes]] = [
    (Void(), b""),
    (p.DirpathArgs(PATH), PATH_WIRE),
    (p.DirpathArgs(b"/"), u(1) + b"/\0\0\0"),
    (p.Mnt1Res(p.MountStat1.OK, bytes(range(32))), u(0) + bytes(range(32))),
    (p.Mnt1Res(p.MountStat1(13)), u(13)),
    (
        p.Mnt3Res(p.MountStat3.MNT3_OK, p.Mountres3Ok(b"abcde", [1, 390003])),
        u(0, 5) + b"abcde\0\0\0" + u(2, 1, 390003),
    ),
    (p.Mnt3Res(p.MountStat3.MNT3ERR_NOTSUPP), u(10004)),
    (p.Mountlist([]), u(0)),
    (p.Mountlist([p.Mountbody(b"host", PATH)]), u(1, 4) + b"host" + PATH_WIRE + u(0)),
    (
        p.Exports([p.Exportnode(PATH, GROUPS), p.Exportnode(b"/", [])]),
        u(1) + PATH_WIRE + GROUPS_WIRE + u(1, 1) + b"/\0\0\0" + u(0) + u(0),
    ),
]
IDS = [f"{number}-{type(value).__name__}" for number, (value, _) in enumerate(VECTORS)]


@pytest.mark.parametrize(("value", "wire"), VECTORS, ids=IDS)
def test_both_directions_match_the_layout_of_the_rfc(value: XdrType, wire: bytes) -> None:
    assert value.to_xdr() == wire
    assert type(value).from_xdr(wire) == value


def test_every_type_of_the_programs_has_a_vector() -> None:
    covered = {type(value) for value, _ in VECTORS}
    procedures = p.MOUNT1.procedures + p.MOUNT2.procedures + p.MOUNT3.procedures
    assert {cls for procedure in procedures for cls in (procedure.args, procedure.res)} <= covered


@pytest.mark.parametrize("program", [p.MOUNT1, p.MOUNT2, p.MOUNT3], ids=["v1", "v2", "v3"])
def test_procedures_are_those_of_the_rfc(program: Program) -> None:
    names = ["NULL", "MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT"]
    assert [program.by_number[number].name for number in range(6)] == names
    assert {(each.program, each.version) for each in program.procedures} == {(100005, program.version)}


def test_limits_of_path_and_name_hold() -> None:
    assert p.DirpathArgs.from_xdr(u(1024) + bytes(1024)).dirpath == bytes(1024)
    with pytest.raises(XdrError):
        p.DirpathArgs.from_xdr(u(1025) + bytes(1028))
    with pytest.raises(XdrError):
        p.Groupnode(bytes(256)).to_xdr()


def test_a_mount_reply_has_the_names_of_an_nfs_reply() -> None:
    good = p.Mnt3Res(p.MountStat3.MNT3_OK, p.Mountres3Ok(b"", []))
    assert (good.status, good.resok) == (good.fhs_status, good.mountinfo)
    assert p.Mnt3Res(p.MountStat3.MNT3ERR_ACCES).resok is None


def test_any_unix_error_is_a_status_of_version_1() -> None:
    reply = p.Mnt1Res.from_xdr(u(99))
    assert (reply.status, reply.directory) == (99, None)
