# SPDX-License-Identifier: MIT
"""Messages for the tests of fault plans."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsclient.rpc.messages import AcceptStat, CallHeader, MsgType, OpaqueAuth, accepted
from nfsclient.xdr import XdrType

FILE = b"file"
ARGS: t.Final[dict[str, XdrType]] = {
    "GETATTR": nfs3.Getattr3Args(FILE),
    "READ": nfs3.Read3Args(FILE, 0, 100),
    "REMOVE": nfs3.Remove3Args(nfs3.Diropargs3(FILE, b"name")),
    "WRITE": nfs3.Write3Args(FILE, 4096, 200, nfs3.StableHow.FILE_SYNC, bytes(range(200))),
}
RESULTS: t.Final = {
    "GETATTR": bytes.fromhex("00000046"),
    "READ": bytes.fromhex("00000046 00000000"),
    "REMOVE": bytes.fromhex("00000000 00000000 00000000"),
    "WRITE": bytes.fromhex("00000046 00000000 00000000"),
}


def call(name: str = "GETATTR", xid: int = 1) -> bytes:
    """An NFSv3 call with an empty credential."""
    procedure = nfs3.NFS3.by_name[name]
    none = OpaqueAuth()
    header = CallHeader(
        xid, MsgType.CALL, 2, procedure.program, procedure.version, procedure.number, none, none
    )
    return header.to_xdr() + ARGS[name].to_xdr()


def reply(name: str = "GETATTR", xid: int = 1) -> bytes:
    """The reply to it: STALE, and of REMOVE OK."""
    return accepted(xid, AcceptStat.SUCCESS).to_xdr() + RESULTS[name]


def framed(data: bytes) -> bytes:
    """A message as one record of one fragment."""
    return (0x8000_0000 | len(data)).to_bytes(4, "big") + data
