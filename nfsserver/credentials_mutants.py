# SPDX-License-Identifier: MIT
"""Mutants of credentials and verifiers: what is taken that should not be, and refused that should."""

from __future__ import annotations

import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.auth import AuthSys, AuthSysParms
from nfsclient.rpc.messages import AcceptStat, AuthFlavor, AuthStat, accepted, denied
from nfsserver.mutants import Answer, ProceedWire, wire_mutant
from nfsserver.rpc_mutants import head_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_APPENDIX_A = "RFC 1831 appendix A"
_CRED = 24
"""Where the credential begins in a call."""
_MOST = 400
_GETATTR = (nfs3.NFS3.number, 3, 1)
_ROOT = AuthSys(0, 0).opaque()[0]


class _Auth(t.NamedTuple):
    """An opaque_auth as it stands in a message, however long it says that it is."""

    flavor: int
    length: int
    body: bytes
    end: int


def _auth_at(message: bytes, at: int) -> _Auth:
    flavor = int.from_bytes(message[at : at + 4], "big")
    length = int.from_bytes(message[at + 4 : at + 8], "big")
    # A length that cannot be is taken for 0, so that what follows can be read.
    taken = length if at + 8 + length <= len(message) else 0
    return _Auth(flavor, length, message[at + 8 : at + 8 + taken], at + 8 + taken + -taken % 4)


def _is_call(message: bytes) -> bool:
    return len(message) >= _CRED + 16 and head_of(message)[1:3] == (0, 2)


def _is_getattr(message: bytes) -> bool:
    return _is_call(message) and head_of(message)[3:6] == _GETATTR


def _is_null(message: bytes) -> bool:
    _, _, _, prog, _, proc = head_of(message)
    return _is_call(message) and prog in {nfs3.NFS3.number, mount.PROGRAM} and proc == 0


def _with_cred(message: bytes, cred: bytes) -> bytes:
    return message[:_CRED] + cred + message[_auth_at(message, _CRED).end :]


def _parms(body: bytes) -> AuthSysParms | None:
    try:
        return AuthSysParms.from_xdr(body)
    except XdrError:
        return None


def _refuse(message: bytes, stat: AuthStat) -> Answer:
    return denied(head_of(message)[0], auth_stat=stat).to_buffers()


@wire_mutant(
    "rpc-refuses-auth-sys-at-its-limits",
    breaks=_APPENDIX_A,
    gist="GETATTR with no machine name, one of 255 bytes, 16 groups or the highest stamp is refused",
)
def rpc_refuses_auth_sys_at_its_limits(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Off by one."""
    cred = _auth_at(message, _CRED)
    if _is_getattr(message) and cred.flavor == AuthFlavor.AUTH_SYS:
        parms = _parms(cred.body)
        at_limit = parms is not None and (
            len(parms.machinename) in {0, 255} or len(parms.gids) == 16 or parms.stamp == 2**32 - 1
        )
        if at_limit:
            return _refuse(message, AuthStat.AUTH_BADCRED)
    return proceed(message)


@wire_mutant(
    "rpc-takes-auth-sys-beyond-its-limits",
    only_raw=True,
    breaks=_APPENDIX_A,
    gist="GETATTR with a machine name or a list of groups that is too long is executed for root",
)
def rpc_takes_auth_sys_beyond_its_limits(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Take what is whole and does not decode for root."""
    cred = _auth_at(message, _CRED)
    whole = cred.flavor == AuthFlavor.AUTH_SYS and 28 <= len(cred.body) <= _MOST
    if _is_getattr(message) and whole and _parms(cred.body[:28]) is None:
        return proceed(_with_cred(message, _ROOT))
    return proceed(message)


@wire_mutant(
    "rpc-fills-up-short-credentials",
    only_raw=True,
    breaks=_APPENDIX_A,
    gist="GETATTR with a body of AUTH_SYS that is cut is executed, the rest being zeros",
)
def rpc_fills_up_short_credentials(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """The rest of a buffer that was cleared."""
    cred = _auth_at(message, _CRED)
    cut = cred.flavor == AuthFlavor.AUTH_SYS and len(cred.body) < 28 and cred.length == len(cred.body)
    # A body of seven bytes is for the check of reasons.
    if _is_getattr(message) and cut and len(cred.body) != 7:
        return proceed(_with_cred(message, _ROOT))
    return proceed(message)


@wire_mutant(
    "rpc-fails-at-long-credentials",
    only_raw=True,
    breaks="RFC 1831 section 8",
    gist="GETATTR with bytes behind AUTH_SYS is answered SYSTEM_ERR",
)
def rpc_fails_at_long_credentials(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """A failure inside."""
    cred = _auth_at(message, _CRED)
    surplus = cred.flavor == AuthFlavor.AUTH_SYS and len(cred.body) > 28 and not any(cred.body[-4:])
    if _is_getattr(message) and surplus and cred.length <= _MOST and _parms(cred.body) is None:
        return accepted(head_of(message)[0], AcceptStat.SYSTEM_ERR).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-takes-credentials-of-any-length",
    only_raw=True,
    breaks="RFC 1831 section 7.2",
    gist="NULL with a credential of more than 400 bytes is executed",
)
def rpc_takes_credentials_of_any_length(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Skip the body, or what cannot be there."""
    if _is_null(message) and _auth_at(message, _CRED).length > _MOST:
        return proceed(_with_cred(message, bytes(8)))
    return proceed(message)


@wire_mutant(
    "rpc-takes-verifiers-of-any-length",
    only_raw=True,
    breaks="RFC 1831 section 7.2",
    gist="NULL with a verifier of more than 400 bytes is executed",
)
def rpc_takes_verifiers_of_any_length(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Skip the body, or what cannot be there."""
    at = _auth_at(message, _CRED).end
    if _is_null(message) and _auth_at(message, at).length > _MOST:
        return proceed(message[:at] + bytes(8) + message[_auth_at(message, at).end :])
    return proceed(message)


@wire_mutant(
    "rpc-refuses-none-with-a-body",
    only_raw=True,
    breaks="RFC 1831 section 9.1",
    gist="NULL with a credential or verifier of AUTH_NONE that has a body is refused",
)
def rpc_refuses_none_with_a_body(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Say which."""
    if not _is_null(message):
        return proceed(message)
    cred = _auth_at(message, _CRED)
    verf = _auth_at(message, cred.end)
    if cred.flavor == 0 and 0 < cred.length <= _MOST:
        return _refuse(message, AuthStat.AUTH_BADCRED)
    if verf.flavor == 0 and 0 < verf.length <= _MOST:
        return _refuse(message, AuthStat.AUTH_BADVERF)
    return proceed(message)


@wire_mutant(
    "rpc-null-asks-who-calls",
    breaks="RFC 1831 section 11.1",
    gist="NULL with an empty AUTH_NONE is refused as too weak",
)
def rpc_null_asks_who_calls(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """AUTH_TOOWEAK."""
    if _is_null(message) and message[_CRED : _CRED + 8] == bytes(8):
        return _refuse(message, AuthStat.AUTH_TOOWEAK)
    return proceed(message)


@wire_mutant(
    "rpc-takes-none-for-garbage",
    breaks="RFC 1831 section 8",
    gist="GETATTR with AUTH_NONE is answered GARBAGE_ARGS",
)
def rpc_takes_none_for_garbage(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """The wrong refusal."""
    if _is_getattr(message) and _auth_at(message, _CRED).flavor == AuthFlavor.AUTH_NONE:
        return accepted(head_of(message)[0], AcceptStat.GARBAGE_ARGS).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-takes-unknown-flavours-for-auth-sys",
    only_raw=True,
    breaks="RFC 1831 section 7.2",
    gist="GETATTR with an empty credential of a flavour that is not known is executed for root",
)
def rpc_takes_unknown_flavours(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Root, for want of anything else."""
    cred = _auth_at(message, _CRED)
    if _is_getattr(message) and cred.flavor > AuthFlavor.AUTH_SHORT and not cred.length:
        return proceed(_with_cred(message, _ROOT))
    return proceed(message)


@wire_mutant(
    "rpc-takes-any-shorthand",
    only_raw=True,
    breaks=_APPENDIX_A,
    gist="GETATTR with an AUTH_SHORT that nobody gave out is executed for root",
)
def rpc_takes_any_shorthand(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Root, for want of anything else."""
    cred = _auth_at(message, _CRED)
    # A body of seven bytes is for the check of reasons.
    if _is_getattr(message) and cred.flavor == AuthFlavor.AUTH_SHORT and cred.length != 7:
        return proceed(_with_cred(message, _ROOT))
    return proceed(message)


@wire_mutant(
    "rpc-calls-shorthands-bad",
    only_raw=True,
    breaks=_APPENDIX_A,
    gist="An unknown AUTH_SHORT is refused with AUTH_BADCRED",
)
def rpc_calls_shorthands_bad(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Another reason."""
    if _is_getattr(message) and _auth_at(message, _CRED).flavor == AuthFlavor.AUTH_SHORT:
        return _refuse(message, AuthStat.AUTH_BADCRED)
    return proceed(message)


@wire_mutant(
    "rpc-refuses-with-auth-ok",
    only_raw=True,
    breaks="RFC 1831 section 8",
    gist="Credentials are refused with AUTH_OK",
)
def rpc_refuses_with_auth_ok(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Only those of seven bytes."""
    if _is_getattr(message) and _auth_at(message, _CRED).length == 7:
        return _refuse(message, AuthStat.AUTH_OK)
    return proceed(message)


@wire_mutant(
    "rpc-takes-verifiers-for-arguments",
    only_raw=True,
    breaks="RFC 1831 section 8",
    gist="GETATTR with AUTH_SYS and a verifier that is not empty is answered GARBAGE_ARGS",
)
def rpc_takes_verifiers_for_arguments(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """As if the body were not skipped."""
    cred = _auth_at(message, _CRED)
    if _is_getattr(message) and cred.flavor == AuthFlavor.AUTH_SYS and _auth_at(message, cred.end).length:
        return accepted(head_of(message)[0], AcceptStat.GARBAGE_ARGS).to_buffers()
    return proceed(message)


@wire_mutant(
    "rpc-pads-verifiers-with-what-is-there",
    only_raw=True,
    breaks="RFC 4506 section 4.10",
    gist="A verifier of AUTH_NONE that does not fill its last word comes back, padded with what was in memory",
)
def rpc_pads_verifiers_with_what_is_there(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Echo it, with other padding."""
    verf = _auth_at(message, _auth_at(message, _CRED).end)
    reply = proceed(message)
    if reply is None or not _is_null(message) or verf.flavor or verf.length > _MOST or not verf.length % 4:
        return reply
    data = b"".join(reply)
    dirty = b"\x7f\0\0"[: -verf.length % 4]
    return [data[:16] + verf.length.to_bytes(4, "big") + verf.body + dirty + data[20:]]
