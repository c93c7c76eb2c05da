# SPDX-License-Identifier: MIT
"""The messages of ONC RPC version 2 (RFC 5531 section 9; RFC 1831 is the same but for auth_stat 8 to 14)."""

from __future__ import annotations

import typing as t

from nfsclient.errors import (
    AuthFailed,
    BadReply,
    GarbageArgs,
    ProcUnavail,
    ProgMismatch,
    ProgUnavail,
    RpcError,
    RpcMismatch,
    SystemErr,
    XdrError,
)
from nfsclient.xdr import Buffer, Case, Opaque, Struct, Union, XdrEnum, u32

RPC_VERSION = 2
"""The only version of RPC that is in use."""
MAX_AUTH_BYTES = 400
"""Longest body of a credential or verifier (RFC 5531 section 8.2)."""


class MsgType(XdrEnum):
    """msg_type: which way a message goes."""

    CALL = 0
    REPLY = 1


class ReplyStat(XdrEnum):
    """reply_stat: whether the server looked at the call."""

    MSG_ACCEPTED = 0
    MSG_DENIED = 1


class AcceptStat(XdrEnum):
    """accept_stat: what became of an accepted call."""

    SUCCESS = 0
    PROG_UNAVAIL = 1
    PROG_MISMATCH = 2
    PROC_UNAVAIL = 3
    GARBAGE_ARGS = 4
    SYSTEM_ERR = 5


class RejectStat(XdrEnum):
    """reject_stat: why a call was denied."""

    RPC_MISMATCH = 0
    AUTH_ERROR = 1


class AuthStat(XdrEnum):
    """auth_stat: why a credential or verifier was refused; 8 to 14 are of RFC 5531."""

    AUTH_OK = 0
    AUTH_BADCRED = 1
    AUTH_REJECTEDCRED = 2
    AUTH_BADVERF = 3
    AUTH_REJECTEDVERF = 4
    AUTH_TOOWEAK = 5
    AUTH_INVALIDRESP = 6
    AUTH_FAILED = 7
    AUTH_KERB_GENERIC = 8
    AUTH_TIMEEXPIRE = 9
    AUTH_TKT_FILE = 10
    AUTH_DECODE = 11
    AUTH_NET_ADDR = 12
    RPCSEC_GSS_CREDPROBLEM = 13
    RPCSEC_GSS_CTXPROBLEM = 14


class AuthFlavor(XdrEnum):
    """auth_flavor: the kinds of credentials that are assigned (RFC 5531 section 8.2)."""

    AUTH_NONE = 0
    AUTH_SYS = 1
    AUTH_SHORT = 2
    AUTH_DH = 3
    RPCSEC_GSS = 6
    AUTH_TLS = 7


class OpaqueAuth(Struct):
    """opaque_auth: a credential or verifier; `body` is for the flavour to read, at most 400 bytes."""

    flavor: AuthFlavor = AuthFlavor.AUTH_NONE
    body: t.Annotated[bytes, Opaque(MAX_AUTH_BYTES)] = b""


class MismatchInfo(Struct):
    """The lowest and highest version that the server has."""

    low: u32
    high: u32


class CallHeader(Struct):
    """A call, up to the arguments (rpc_msg with call_body)."""

    xid: u32
    mtype: MsgType
    rpcvers: u32
    prog: u32
    vers: u32
    proc: u32
    cred: OpaqueAuth
    verf: OpaqueAuth


class AcceptedReply(Union):
    """The part of an accepted reply between the verifier and the results."""

    stat: AcceptStat
    mismatch_info: t.Annotated[MismatchInfo | None, Case(AcceptStat.PROG_MISMATCH)] = None

    __void_default__ = True


class AcceptedBody(Struct):
    """accepted_reply."""

    verf: OpaqueAuth
    reply_data: AcceptedReply


class RejectedReply(Union):
    """rejected_reply."""

    stat: RejectStat
    mismatch_info: t.Annotated[MismatchInfo | None, Case(RejectStat.RPC_MISMATCH)] = None
    auth_stat: t.Annotated[AuthStat | None, Case(RejectStat.AUTH_ERROR)] = None


class ReplyBody(Union):
    """reply_body."""

    reply_stat: ReplyStat
    areply: t.Annotated[AcceptedBody | None, Case(ReplyStat.MSG_ACCEPTED)] = None
    rreply: t.Annotated[RejectedReply | None, Case(ReplyStat.MSG_DENIED)] = None


class ReplyHeader(Struct):
    """A reply, up to the results (rpc_msg with reply_body)."""

    xid: u32
    mtype: MsgType
    body: ReplyBody


def accepted(xid: int, stat: AcceptStat, mismatch: MismatchInfo | None = None) -> ReplyHeader:
    """An accepted reply with an empty verifier."""
    body = AcceptedBody(OpaqueAuth(), AcceptedReply(stat, mismatch))
    return ReplyHeader(xid, MsgType.REPLY, ReplyBody(ReplyStat.MSG_ACCEPTED, areply=body))


def denied(
    xid: int, *, auth_stat: AuthStat | None = None, mismatch: MismatchInfo | None = None
) -> ReplyHeader:
    """A denied reply: AUTH_ERROR when `auth_stat` is given, else RPC_MISMATCH."""
    stat = RejectStat.RPC_MISMATCH if auth_stat is None else RejectStat.AUTH_ERROR
    body = RejectedReply(stat, mismatch_info=mismatch, auth_stat=auth_stat)
    return ReplyHeader(xid, MsgType.REPLY, ReplyBody(ReplyStat.MSG_DENIED, rreply=body))


def parse_reply(buf: Buffer, pos: int, what: str) -> tuple[int, RpcError | None]:
    """Where the results start, and the error instead of results, if there is one.

    `what` names the call in the error. Raises `BadReply` when the header is no valid reply.
    """
    try:
        header, end = ReplyHeader.unpack_from(buf, pos)
    except XdrError as error:
        raise BadReply(str(error), bytes(buf[pos:]), error.path) from error
    if header.mtype is not MsgType.REPLY:
        raise BadReply(f"message type is {header.mtype}, a reply was expected", bytes(buf[pos:]), "mtype")
    if header.body.rreply is not None:
        return end, _denial(header.body.rreply)
    body = header.body.areply
    assert body is not None
    return end, _rejection(body.reply_data, what, bytes(buf[pos:end]))


def _denial(reply: RejectedReply) -> RpcError:
    if reply.mismatch_info is not None:
        return RpcMismatch(reply.mismatch_info.low, reply.mismatch_info.high)
    assert reply.auth_stat is not None
    return AuthFailed(int(reply.auth_stat), str(reply.auth_stat))


def _rejection(reply: AcceptedReply, what: str, data: bytes) -> RpcError | None:
    if reply.stat is AcceptStat.SUCCESS:
        return None
    if reply.mismatch_info is not None:
        return ProgMismatch(what, reply.mismatch_info.low, reply.mismatch_info.high)
    simple: dict[int, type[ProgUnavail | ProcUnavail | GarbageArgs | SystemErr]] = {
        AcceptStat.PROG_UNAVAIL: ProgUnavail,
        AcceptStat.PROC_UNAVAIL: ProcUnavail,
        AcceptStat.GARBAGE_ARGS: GarbageArgs,
        AcceptStat.SYSTEM_ERR: SystemErr,
    }
    kind = simple.get(int(reply.stat))
    if kind is None:
        return BadReply(f"accept_stat {int(reply.stat)} is not defined", data, "body.areply.reply_data.stat")
    return kind(what)
