# SPDX-License-Identifier: MIT
"""EXCHANGE_ID and the protection of state (RFC 5661 sections 18.35.3 and 2.10.8.3), as seen with AUTH_SYS."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import RpcRejected
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import StateProtectHow4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, observe, proves, should
from suites.nfs4.principals import stranger_of

PROTECTION_NEEDS_GSS = should(
    # "the client MUST send the EXCHANGE_ID request with RPCSEC_GSS" binds the client. There is no machine credential
    # without it: a server that goes on protects nothing, and says that it does.
    "RFC 5661",
    "18.35.3",
    "SP4_MACH_CRED and SP4_SSV need RPCSEC_GSS: over AUTH_SYS they are refused",
)
SSV_NEEDS_PARAMETERS = must(
    "RFC 5661",
    "18.35.3",
    "SP4_SSV without hash algorithms, without encryption algorithms or with a window of 0 is not accepted",
)
NONE_IS_NONE = must(
    "RFC 5661", "18.35.3", "if the client asks for SP4_NONE, the server enforces no protection of its state"
)
_ENFORCED: t.Final = (p.EXCHANGE_ID.number, p.CREATE_SESSION.number)
_SHA256: t.Final = bytes.fromhex("608648016503040201")
"""The object identifier of id-sha256, without tag and length."""
_AES256: t.Final = bytes.fromhex("60864801650304012a")
"""That of id-aes256-CBC."""


def _operations() -> p.StateProtectOps4:
    bits = [0, 0]
    for number in _ENFORCED:
        bits[number // 32] |= 1 << number % 32
    return p.StateProtectOps4(bits, [])


def _mach_cred() -> p.StateProtect4A:
    return p.StateProtect4A(StateProtectHow4.SP4_MACH_CRED, spa_mach_ops=_operations())


def _ssv(
    hashes: t.Sequence[bytes] = (_SHA256,), ciphers: t.Sequence[bytes] = (_AES256,), window: int = 4
) -> p.StateProtect4A:
    parameters = p.SsvSpParms4(_operations(), list(hashes), list(ciphers), window, 0)
    return p.StateProtect4A(StateProtectHow4.SP4_SSV, spa_ssv_parms=parameters)


def _expect_refused(nfs4: Nfs4, protection: p.StateProtect4A) -> None:
    try:
        result = nfs4.exchange_id(new_owner(), state_protect=protection)
    except RpcRejected as refusal:  # of the flavor
        observe("state protection", str(refusal))
        return
    observe("state protection", result.eir_status.name)
    expect(result).refused()


@pytest.mark.parametrize("kind", ["mach_cred", "ssv"])
@proves(PROTECTION_NEEDS_GSS, killed_by="exchangeid4-ignores-protection")
def test_without_gss(nfs4: Nfs4, kind: str) -> None:
    """EXCHANGE_ID that wants its state protected is refused over AUTH_SYS."""
    _expect_refused(nfs4, _mach_cred() if kind == "mach_cred" else _ssv())


_LACKING: t.Final = {
    "hashes": lambda: _ssv(hashes=()),
    "ciphers": lambda: _ssv(ciphers=()),
    "window": lambda: _ssv(window=0),
}


@pytest.mark.parametrize("lacking", _LACKING)
@proves(SSV_NEEDS_PARAMETERS, killed_by="exchangeid4-completes-ssv")
def test_ssv_without(nfs4: Nfs4, lacking: str) -> None:
    """EXCHANGE_ID with SP4_SSV, and without one of what it needs, does not succeed: by which error is not judged."""
    _expect_refused(nfs4, _LACKING[lacking]())


@proves(NONE_IS_NONE, killed_by="exchangeid4-protects-everybody")
def test_no_protection(nfs4: Nfs4) -> None:
    """The result for a client that wants no protection of its state says SP4_NONE."""
    result = expect(nfs4.exchange_id(new_owner())).ok()
    expect(result).field("eir_state_protect.spr_how", "protection").equals(StateProtectHow4.SP4_NONE)


# ---------------------------------------------------------------- what another user may do without protection


def _by_stranger(session: Session) -> dict[str, Callable[[], XdrType]]:
    assert session.client is not None
    number = session.client.id
    return {
        "bind": lambda: op.bind_conn_to_session(session.id, p.ChannelDirFromClient4.CDFC4_FORE),
        "destroy-session": lambda: op.destroy_session(session.id),
        "destroy-clientid": lambda: op.destroy_clientid(number),
    }


@pytest.mark.parametrize("operation", ["bind", "destroy-session", "destroy-clientid"])
@proves(NONE_IS_NONE, killed_by="sessions4-are-of-their-user", needs="other_users")
def test_stranger(v4: Nfs4Dialect, nfs4: Nfs4, operation: str) -> None:
    """Without protection, another user than that of EXCHANGE_ID may bind connections, and end session and client."""
    session = nfs4.new_client().create_session()
    stranger = stranger_of(v4)
    if operation == "destroy-session":  # on a connection that is bound to it
        expect(stranger.compound(session.sequence(0))).ok()
    elif operation == "destroy-clientid":
        expect(session.destroy()).ok()
    reply: CompoundReply = stranger.compound(_by_stranger(session)[operation]())
    expect(reply).granted()


@proves(NONE_IS_NONE, killed_by="sequence4-sessions-are-of-their-user", needs="other_users")
def test_request_of_stranger(v4: Nfs4Dialect, nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """Without protection, SEQUENCE takes a request of another user in the session."""
    session = nfs4.new_client().create_session()
    reply = stranger_of(v4).compound(session.sequence(0), op.putfh(scratch.handle), op.getattr("type"))
    observe("request of another user", reply.status.name)
    expect(reply).of(p.SEQUENCE).granted()
