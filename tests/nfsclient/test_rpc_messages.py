# SPDX-License-Identifier: MIT
"""RPC messages and credentials against bytes laid out by hand after RFC 5531 sections 8, 9 and appendix A."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import (
    AuthFailed,
    BadReply,
    GarbageArgs,
    ProcUnavail,
    ProgMismatch,
    ProgUnavail,
    RpcDenied,
    RpcMismatch,
    RpcRejected,
    SystemErr,
    XdrError,
)
from nfsclient.rpc.auth import AuthNone, AuthSys, RawCredential, decode_credential
from nfsclient.rpc.messages import (
    AcceptStat,
    AuthFlavor,
    AuthStat,
    CallHeader,
    MismatchInfo,
    MsgType,
    OpaqueAuth,
    ReplyHeader,
    accepted,
    denied,
    parse_reply,
)
from tests.strategies import xdr_values


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


XID = 0x1234_5678


@pytest.mark.parametrize(
    ("reply", "wire"),
    [
        (accepted(XID, AcceptStat.SUCCESS), words(XID, 1, 0, 0, 0, 0)),
        (accepted(XID, AcceptStat.PROG_UNAVAIL), words(XID, 1, 0, 0, 0, 1)),
        (accepted(XID, AcceptStat.PROG_MISMATCH, MismatchInfo(2, 4)), words(XID, 1, 0, 0, 0, 2, 2, 4)),
        (accepted(XID, AcceptStat.PROC_UNAVAIL), words(XID, 1, 0, 0, 0, 3)),
        (accepted(XID, AcceptStat.GARBAGE_ARGS), words(XID, 1, 0, 0, 0, 4)),
        (accepted(XID, AcceptStat.SYSTEM_ERR), words(XID, 1, 0, 0, 0, 5)),
        (denied(XID, mismatch=MismatchInfo(2, 2)), words(XID, 1, 1, 0, 2, 2)),
        (denied(XID, auth_stat=AuthStat.AUTH_TOOWEAK), words(XID, 1, 1, 1, 5)),
        (denied(XID, auth_stat=AuthStat.RPCSEC_GSS_CTXPROBLEM), words(XID, 1, 1, 1, 14)),
    ],
    ids=[
        "success",
        "prog-unavail",
        "prog-mismatch",
        "proc-unavail",
        "garbage-args",
        "system-err",
        "rpc-mismatch",
        "auth-error",
        "auth-error-of-rfc5531",
    ],
)
def test_every_form_of_reply(reply: ReplyHeader, wire: bytes) -> None:
    assert reply.to_xdr() == wire
    assert ReplyHeader.from_xdr(wire) == reply


def test_a_call_header() -> None:
    wire = words(XID, 0, 2, 100003, 3, 1, 0, 0, 2, 4) + b"abcd"
    header = CallHeader.from_xdr(wire)
    assert (header.xid, header.mtype, header.rpcvers) == (XID, MsgType.CALL, 2)
    assert (header.prog, header.vers, header.proc) == (100003, 3, 1)
    assert header.cred == OpaqueAuth(AuthFlavor.AUTH_NONE, b"")
    assert header.verf == OpaqueAuth(AuthFlavor.AUTH_SHORT, b"abcd")
    assert header.to_xdr() == wire


def test_success_gives_the_place_of_the_results() -> None:
    wire = words(XID, 1, 0, 2, 5) + b"short\0\0\0" + words(0) + b"results."
    assert parse_reply(wire, 0, "GETATTR") == (len(wire) - 8, None)


@pytest.mark.parametrize(
    ("tail", "kind", "family"),
    [
        ((0, 0, 0, 1), ProgUnavail, RpcRejected),
        ((0, 0, 0, 2, 2, 4), ProgMismatch, RpcRejected),
        ((0, 0, 0, 3), ProcUnavail, RpcRejected),
        ((0, 0, 0, 4), GarbageArgs, RpcRejected),
        ((0, 0, 0, 5), SystemErr, RpcRejected),
        ((1, 0, 2, 3), RpcMismatch, RpcDenied),
        ((1, 1, 1), AuthFailed, RpcDenied),
    ],
)
def test_every_refusal_is_another_error(
    tail: tuple[int, ...], kind: type[Exception], family: type[Exception]
) -> None:
    wire = words(XID, 1, *tail)
    end, error = parse_reply(wire, 0, "GETATTR")
    assert type(error) is kind
    assert isinstance(error, family)
    assert end == len(wire)


def test_what_a_refusal_says_is_kept() -> None:
    _, mismatch = parse_reply(words(XID, 1, 0, 0, 0, 2, 2, 4), 0, "GETATTR")
    assert isinstance(mismatch, ProgMismatch)
    assert (mismatch.low, mismatch.high) == (2, 4)
    _, rpc = parse_reply(words(XID, 1, 1, 0, 3, 5), 0, "GETATTR")
    assert isinstance(rpc, RpcMismatch)
    assert (rpc.low, rpc.high) == (3, 5)
    for stat in AuthStat:
        _, auth = parse_reply(words(XID, 1, 1, 1, stat), 0, "GETATTR")
        assert isinstance(auth, AuthFailed)
        assert auth.auth_stat == stat
        assert stat.name in str(auth)


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        (words(XID, 1, 2), "reply_stat"),
        (words(XID, 1, 1, 2, 0), "stat"),
        (words(XID, 2, 0, 0, 0, 0), "mtype"),
        (words(XID, 1, 0, 0, 401) + bytes(404) + words(0), "verf.body"),
        (words(XID, 1, 0, 0, 3) + b"abc\1" + words(0), "verf.body"),
        (words(XID, 1, 0, 0, 8) + bytes(4), "verf.body"),
        (words(XID, 1, 0, 0, 0), "stat"),
        (words(XID, 1, 1, 0, 2), "mismatch_info"),
        (words(XID), "mtype"),
    ],
    ids=[
        "unknown-reply-stat",
        "unknown-reject-stat",
        "wrong-mtype",
        "verifier-over-400",
        "dirty-padding",
        "short-verifier",
        "no-accept-stat",
        "half-a-mismatch",
        "xid-alone",
    ],
)
def test_bytes_that_break_rpc_are_named(wire: bytes, field: str) -> None:
    with pytest.raises(BadReply) as caught:
        parse_reply(wire, 0, "GETATTR")
    assert field in caught.value.path
    assert caught.value.data == wire


def test_an_undefined_accept_stat_breaks_rpc() -> None:
    _, error = parse_reply(words(XID, 1, 0, 0, 0, 6), 0, "GETATTR")
    assert isinstance(error, BadReply)
    assert "6" in str(error)


@given(st.binary(max_size=80))
def test_any_reply_is_judged_by_our_errors_alone(wire: bytes) -> None:
    with contextlib.suppress(BadReply):
        end, _ = parse_reply(wire, 0, "GETATTR")
        assert 0 < end <= len(wire)


@given(xdr_values(ReplyHeader))
def test_every_reply_that_can_be_declared_is_understood(reply: ReplyHeader) -> None:
    wire = reply.to_xdr()
    if reply.mtype is MsgType.REPLY:
        end, _ = parse_reply(wire, 0, "GETATTR")
        assert end == len(wire)


# ---------------------------------------------------------------- credentials


def test_auth_none() -> None:
    assert AuthNone().opaque() == (words(0, 0), words(0, 0))


def test_auth_sys() -> None:
    credential = AuthSys(uid=1000, gid=100, gids=(4, 24), machine_name=b"krypton", stamp=99)
    body = words(99, 7) + b"krypton\0" + words(1000, 100, 2, 4, 24)
    assert credential.opaque() == (words(1, len(body)) + body, words(0, 0))
    assert AuthSys.from_body(body) == credential


def test_auth_sys_has_room_for_16_groups() -> None:
    AuthSys(gids=tuple(range(16))).opaque()
    with pytest.raises(XdrError, match="16"):
        AuthSys(gids=tuple(range(17))).opaque()


def test_raw_credentials_break_any_rule() -> None:
    cred, verf = RawCredential(7, bytes(401), 2, b"abc").opaque()
    assert cred == words(7, 401) + bytes(404)
    assert verf == words(2, 3) + b"abc\0"


@given(xdr_values(OpaqueAuth), xdr_values(OpaqueAuth))
def test_received_credentials_are_decoded_or_refused(cred: OpaqueAuth, verf: OpaqueAuth) -> None:
    try:
        decoded = decode_credential(cred, verf)
    except XdrError:
        assert cred.flavor is AuthFlavor.AUTH_SYS
        return
    if isinstance(decoded, RawCredential):
        assert decoded.opaque() == (cred.to_xdr(), verf.to_xdr())


def test_equal_credentials_are_one_key() -> None:
    assert {AuthSys(1, 2, (3,)): 1}[AuthSys(1, 2, (3,))] == 1
