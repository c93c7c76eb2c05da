# SPDX-License-Identifier: MIT
"""A callback as tests see it: CB_RECALL with its answer."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import AuthFlavor, CallHeader, MsgType, OpaqueAuth

SERVER, CLIENT = "127.0.0.1:2049", "127.0.0.1:40001"


def callback(at: float = 1.0, *, xid: int = 77, seqid: int = 1) -> Exchange:
    """A CB_COMPOUND with CB_SEQUENCE and CB_RECALL, as it is recorded."""
    session = b"a session of us!"
    recall = p.CbRecall4Args(p.Stateid4(seqid, b"a delegation"), False, b"a handle")
    args = p.CbCompound4Args(b"", 1, 0, [p.CbSequence4Args(session, 1, 0, 0, False, []), recall])
    ok = p.Nfsstat4.NFS4_OK
    first = p.CbSequence4Res(ok, p.CbSequence4ResOk(session, 1, 0, 0, 0))
    result = p.CbCompound4Res(ok, b"", [first, p.CbRecall4Res(ok)])
    compound = p.CB_COMPOUND
    nobody = OpaqueAuth(AuthFlavor.AUTH_NONE, b"")
    header = CallHeader(
        xid, MsgType.CALL, 2, compound.program, compound.version, compound.number, nobody, nobody
    )
    reply = b"".join(word.to_bytes(4, "big") for word in (xid, 1, 0, 0, 0, 0))
    return Exchange(
        xid,
        compound,
        args,
        AuthNone(),
        header.to_xdr() + args.to_xdr(),
        at,
        SERVER,
        "tcp",
        reply=reply + result.to_xdr(),
        result=result,
        received_at=at + 0.25,
        local=CLIENT,
        is_callback=True,
    )
