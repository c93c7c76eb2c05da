# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_credentials.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.auth import AuthSys, AuthSysParms
from nfsclient.rpc.messages import AcceptStat, AuthFlavor, AuthStat, ReplyHeader, accepted, denied
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of
from nfsserver.middleware import Answer

_CRED = 24
"""The offset of the credential in a call."""
_MOST = 400
_GETATTR = (nfs3.NFS3.number, 3, 1)
_ROOT = AuthSys(0, 0).opaque()[0]
_ISSUED = b"one of ours"
"""The shorthand that a mutant issues."""


class _Auth(t.NamedTuple):
    """An opaque_auth in a message, with the length that it claims."""

    flavor: int
    length: int
    body: bytes
    end: int


def _auth_at(message: bytes, at: int) -> _Auth:
    flavor = int.from_bytes(message[at : at + 4], "big")
    length = int.from_bytes(message[at + 4 : at + 8], "big")
    # An impossible length is read as 0, so that the rest can be decoded.
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


@wire_mutant()
def rpc_refuses_auth_sys_at_its_limits(message: Message) -> Answer:
    """GETATTR with no machine name, one of 255 bytes, 16 groups or the highest stamp is refused"""
    cred = _auth_at(message.data, _CRED)
    if _is_getattr(message.data) and cred.flavor == AuthFlavor.AUTH_SYS:
        parms = _parms(cred.body)
        at_limit = parms is not None and (
            len(parms.machinename) in {0, 255} or len(parms.gids) == 16 or parms.stamp == 2**32 - 1
        )
        if at_limit:
            return _refuse(message.data, AuthStat.AUTH_BADCRED)
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_accepts_auth_sys_beyond_its_limits(message: Message) -> Answer:
    """GETATTR with a machine name or a list of groups that is too long is executed as root"""
    cred = _auth_at(message.data, _CRED)
    whole = cred.flavor == AuthFlavor.AUTH_SYS and 28 <= len(cred.body) <= _MOST
    if _is_getattr(message.data) and whole and _parms(cred.body[:28]) is None:
        return message.proceed(_with_cred(message.data, _ROOT))
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_pads_short_credentials(message: Message) -> Answer:
    """GETATTR with a truncated body of AUTH_SYS is executed, with zeros for the missing bytes"""
    cred = _auth_at(message.data, _CRED)
    cut = cred.flavor == AuthFlavor.AUTH_SYS and len(cred.body) < 28 and cred.length == len(cred.body)
    # Another check, of the reasons for refusals, sends a body of seven bytes.
    if _is_getattr(message.data) and cut and len(cred.body) != 7:
        return message.proceed(_with_cred(message.data, _ROOT))
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_bytes_after_auth_sys_are_system_err(message: Message) -> Answer:
    """GETATTR with bytes after AUTH_SYS answers SYSTEM_ERR"""
    cred = _auth_at(message.data, _CRED)
    surplus = cred.flavor == AuthFlavor.AUTH_SYS and len(cred.body) > 28 and not any(cred.body[-4:])
    if _is_getattr(message.data) and surplus and cred.length <= _MOST and _parms(cred.body) is None:
        return accepted(head_of(message.data)[0], AcceptStat.SYSTEM_ERR).to_buffers()
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_accepts_credentials_of_any_length(message: Message) -> Answer:
    """NULL with a credential of more than 400 bytes is executed"""
    if _is_null(message.data) and _auth_at(message.data, _CRED).length > _MOST:
        return message.proceed(_with_cred(message.data, bytes(8)))
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_accepts_verifiers_of_any_length(message: Message) -> Answer:
    """NULL with a verifier of more than 400 bytes is executed"""
    at = _auth_at(message.data, _CRED).end
    if _is_null(message.data) and _auth_at(message.data, at).length > _MOST:
        return message.proceed(message.data[:at] + bytes(8) + message.data[_auth_at(message.data, at).end :])
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_refuses_none_with_a_body(message: Message) -> Answer:
    """NULL with a credential or verifier of AUTH_NONE that has a body is refused"""
    if not _is_null(message.data):
        return message.proceed()
    cred = _auth_at(message.data, _CRED)
    verf = _auth_at(message.data, cred.end)
    if cred.flavor == 0 and 0 < cred.length <= _MOST:
        return _refuse(message.data, AuthStat.AUTH_BADCRED)
    if verf.flavor == 0 and 0 < verf.length <= _MOST:
        return _refuse(message.data, AuthStat.AUTH_BADVERF)
    return message.proceed()


@wire_mutant()
def rpc_null_requires_authentication(message: Message) -> Answer:
    """NULL with an empty AUTH_NONE is refused as too weak"""
    if _is_null(message.data) and message.data[_CRED : _CRED + 8] == bytes(8):
        return _refuse(message.data, AuthStat.AUTH_TOOWEAK)
    return message.proceed()


@wire_mutant()
def rpc_auth_none_is_garbage_args(message: Message) -> Answer:
    """GETATTR with AUTH_NONE answers GARBAGE_ARGS"""
    if _is_getattr(message.data) and _auth_at(message.data, _CRED).flavor == AuthFlavor.AUTH_NONE:
        return accepted(head_of(message.data)[0], AcceptStat.GARBAGE_ARGS).to_buffers()
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_treats_unknown_flavors_as_auth_sys(message: Message) -> Answer:
    """GETATTR with an empty credential of an unknown flavor is executed as root"""
    cred = _auth_at(message.data, _CRED)
    if _is_getattr(message.data) and cred.flavor > AuthFlavor.AUTH_SHORT and not cred.length:
        return message.proceed(_with_cred(message.data, _ROOT))
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_accepts_any_shorthand(message: Message) -> Answer:
    """GETATTR with an AUTH_SHORT that the server never issued is executed as root"""
    cred = _auth_at(message.data, _CRED)
    # Another check, of the reasons for refusals, sends a body of seven bytes.
    if _is_getattr(message.data) and cred.flavor == AuthFlavor.AUTH_SHORT and cred.length != 7:
        return message.proceed(_with_cred(message.data, _ROOT))
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_issues_shorthands_and_others_are_badcred(message: Message) -> Answer:
    """GETATTR with AUTH_SYS returns a shorthand; GETATTR with any other shorthand is refused with AUTH_BADCRED"""
    cred = _auth_at(message.data, _CRED)
    if not _is_getattr(message.data):
        return message.proceed()
    if cred.flavor == AuthFlavor.AUTH_SYS:
        message.state["issued"] = message.data[_CRED : cred.end]
        return _reverified(message, AuthFlavor.AUTH_SHORT, _ISSUED)
    if cred.flavor != AuthFlavor.AUTH_SHORT:
        return message.proceed()
    if cred.body != _ISSUED or "issued" not in message.state:
        return _refuse(message.data, AuthStat.AUTH_BADCRED)
    return message.proceed(_with_cred(message.data, message.state["issued"]))


@wire_mutant(only_raw=True)
def rpc_refuses_with_auth_ok(message: Message) -> Answer:
    """Credentials are refused with AUTH_OK"""
    if _is_getattr(message.data) and _auth_at(message.data, _CRED).length == 7:
        return _refuse(message.data, AuthStat.AUTH_OK)
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_treats_verifiers_as_arguments(message: Message) -> Answer:
    """GETATTR with AUTH_SYS and a verifier that is not empty answers GARBAGE_ARGS"""
    cred = _auth_at(message.data, _CRED)
    if (
        _is_getattr(message.data)
        and cred.flavor == AuthFlavor.AUTH_SYS
        and _auth_at(message.data, cred.end).length
    ):
        return accepted(head_of(message.data)[0], AcceptStat.GARBAGE_ARGS).to_buffers()
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_pads_verifiers_with_stale_memory(message: Message) -> Answer:
    """A verifier of AUTH_NONE that does not fill its last word is returned with stale memory as padding"""
    verf = _auth_at(message.data, _auth_at(message.data, _CRED).end)
    reply = message.proceed()
    if (
        reply is None
        or not _is_null(message.data)
        or verf.flavor
        or verf.length > _MOST
        or not verf.length % 4
    ):
        return reply
    data = b"".join(reply)
    dirty = b"\x7f\0\0"[: -verf.length % 4]
    return [data[:16] + verf.length.to_bytes(4, "big") + verf.body + dirty + data[20:]]


def _reverified(message: Message, flavor: AuthFlavor, body: bytes) -> Answer:
    """The reply with another verifier."""
    reply = message.proceed()
    if reply is None:
        return None
    data = b"".join(reply)
    try:
        header, end = ReplyHeader.unpack_from(data)
    except XdrError:
        return [data]
    if header.body.areply is not None:
        header.body.areply.verf.flavor, header.body.areply.verf.body = flavor, body
    return [*header.to_buffers(), data[end:]]


def _calls_null(message: bytes, flavor: int) -> bool:
    """Whether a message is a NULL of NFS version 3 with this flavor of credential."""
    _, mtype, _, prog, vers, proc = head_of(message)
    called = (mtype, prog, vers, proc) == (0, nfs3.NFS3.number, 3, 0)
    return called and message[24:28] == flavor.to_bytes(4, "big")


@wire_mutant()
def rpc_replies_with_an_auth_sys_verifier(message: Message) -> Answer:
    """The reply to a NULL with AUTH_SYS has a verifier of flavor AUTH_SYS"""
    if _calls_null(message.data, AuthFlavor.AUTH_SYS):
        return _reverified(message, AuthFlavor.AUTH_SYS, b"")
    return message.proceed()


@wire_mutant()
def rpc_null_returns_auth_short(message: Message) -> Answer:
    """The reply to a NULL with AUTH_NONE has a verifier of flavor AUTH_SHORT"""
    if _calls_null(message.data, AuthFlavor.AUTH_NONE):
        return _reverified(message, AuthFlavor.AUTH_SHORT, b"shorthand")
    return message.proceed()
