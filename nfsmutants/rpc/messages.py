# SPDX-License-Identifier: MIT
"""Mutants of RPC messages: headers, refusals, XIDs, verifiers."""

from __future__ import annotations

import struct

from nfsclient.errors import XdrError
from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.messages import AcceptStat as Accept
from nfsclient.rpc.messages import AuthFlavor, MismatchInfo, ReplyHeader, accepted, denied
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of, with_word
from nfsmutants.rules import (
    RFC1831_AUTH_NONE,
    RFC1831_AUTH_SYS,
    RFC1831_MESSAGES,
    RFC1831_PROGRAMS,
    RFC1831_REQUIREMENTS,
)
from nfsserver.middleware import Answer

_ENDS = frozenset({0, 2**31 - 1, 2**31, 2**32 - 1})
_HEADER = 40
"""Bytes of a call without credential, verifier and arguments in them."""


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_bends_xids_at_the_ends(message: Message) -> Answer:
    """The XIDs 0, 2^31-1, 2^31 and 2^32-1 come back as others"""
    xid = head_of(message.data)[0]
    return message.proceed(
        with_word(message.data, 0, xid ^ 1) if xid in _ENDS and len(message.data) >= _HEADER else message.data
    )


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_ignores_falling_xids(message: Message) -> Answer:
    """XIDs are taken for sequence numbers: a call with XID 4 after one with XID 5 is refused"""
    state = message.state
    xid, last = head_of(message.data)[0], state.get("last")
    state["last"] = xid
    if (last, xid) == (5, 4):
        return accepted(xid, Accept.SYSTEM_ERR).to_buffers()
    return message.proceed()


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_takes_any_rpc_version(message: Message) -> Answer:
    """Calls of another RPC version are executed"""
    return message.proceed(with_word(message.data, 2, 2) if len(message.data) >= _HEADER else message.data)


@wire_mutant(RFC1831_REQUIREMENTS, only_raw=True)
def rpc_drops_another_rpc_version(message: Message) -> Answer:
    """Calls of another RPC version are dropped without a word"""
    return message.proceed() if head_of(message.data)[2] == 2 else None


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_names_wrong_rpc_versions(message: Message) -> Answer:
    """RPC_MISMATCH says that the versions are 0 to 1"""
    xid, mtype, rpcvers, *_ = head_of(message.data)
    if mtype == 0 and rpcvers != 2 and len(message.data) >= _HEADER:
        return denied(xid, mismatch=MismatchInfo(0, 1)).to_buffers()
    return message.proceed()


@wire_mutant(RFC1831_PROGRAMS, only_raw=True)
def rpc_takes_unknown_programs_for_nfs(message: Message) -> Answer:
    """A call of a program that is not served is answered as one of NFS"""
    unknown = len(message.data) >= _HEADER and head_of(message.data)[3] not in range(100_000, 100_100)
    return message.proceed(with_word(message.data, 3, nfs3.NFS3.number) if unknown else message.data)


@wire_mutant(RFC1831_PROGRAMS, only_raw=True)
def rpc_has_no_program_in_unknown_versions(message: Message) -> Answer:
    """A version of NFS or MOUNT that is not served is answered PROG_UNAVAIL"""
    xid, _, _, prog, vers, _ = head_of(message.data)
    if (
        prog in {nfs3.NFS3.number, mount.PROGRAM}
        and vers not in range(1, 10)
        and len(message.data) >= _HEADER
    ):
        return accepted(xid, Accept.PROG_UNAVAIL).to_buffers()
    return message.proceed()


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_swaps_the_versions_of_a_mismatch(message: Message) -> Answer:
    """PROG_MISMATCH says that the lowest version is 4 and the highest 1"""
    xid, _, _, prog, vers, _ = head_of(message.data)
    known = {nfs3.NFS3.number, mount.PROGRAM}
    if prog in known and vers not in range(1, 10) and len(message.data) >= _HEADER:
        return accepted(xid, Accept.PROG_MISMATCH, MismatchInfo(4, 1)).to_buffers()
    return message.proceed()


@wire_mutant(RFC1831_PROGRAMS, only_raw=True)
def rpc_takes_unknown_procedures_for_null(message: Message) -> Answer:
    """A procedure number that NFS does not have is answered as NULL"""
    _, _, _, prog, vers, proc = head_of(message.data)
    beyond = proc > 21 or (vers == 2 and proc > 17)
    return message.proceed(
        with_word(message.data, 5, 0) if prog == nfs3.NFS3.number and beyond else message.data
    )


@wire_mutant(RFC1831_PROGRAMS, only_raw=True)
def mount3_takes_unknown_procedures_for_null(message: Message) -> Answer:
    """A procedure number that MOUNT version 3 does not have is answered as NULL"""
    _, _, _, prog, vers, proc = head_of(message.data)
    beyond = prog == mount.PROGRAM and vers == 3 and proc > 5
    return message.proceed(with_word(message.data, 5, 0) if beyond else message.data)


def _reverified(message: Message, flavor: AuthFlavor, body: bytes) -> Answer:
    """The answer with another verifier."""
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


def _is_null(message: bytes, flavor: int) -> bool:
    """Whether a message is a NULL of NFS version 3 with this flavour of credential."""
    _, mtype, _, prog, vers, proc = head_of(message)
    called = (mtype, prog, vers, proc) == (0, nfs3.NFS3.number, 3, 0)
    return called and message[24:28] == flavor.to_bytes(4, "big")


@wire_mutant(RFC1831_AUTH_SYS)
def rpc_verifies_with_auth_sys(message: Message) -> Answer:
    """The reply to a NULL with AUTH_SYS has a verifier of flavour AUTH_SYS"""
    if _is_null(message.data, AuthFlavor.AUTH_SYS):
        return _reverified(message, AuthFlavor.AUTH_SYS, b"")
    return message.proceed()


@wire_mutant(RFC1831_AUTH_NONE)
def rpc_gives_a_shorthand_to_nobody(message: Message) -> Answer:
    """The reply to a NULL with AUTH_NONE has a verifier of flavour AUTH_SHORT"""
    if _is_null(message.data, AuthFlavor.AUTH_NONE):
        return _reverified(message, AuthFlavor.AUTH_SHORT, b"shorthand")
    return message.proceed()


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_answers_replies(message: Message) -> Answer:
    """A reply that is sent to the server is answered"""
    xid, mtype, *_ = head_of(message.data)
    return accepted(xid, Accept.GARBAGE_ARGS).to_buffers() if mtype == 1 else message.proceed()


@wire_mutant(RFC1831_MESSAGES, only_raw=True)
def rpc_fills_up_short_headers(message: Message) -> Answer:
    """What a header is short of is filled up with that of a NULL"""
    if 8 <= len(message.data) < _HEADER and head_of(message.data)[1] == 0:
        null = struct.pack(">10I", 0, 0, 2, nfs3.NFS3.number, 3, 0, 0, 0, 0, 0)
        return message.proceed(message.data + null[len(message.data) :])
    return message.proceed()
