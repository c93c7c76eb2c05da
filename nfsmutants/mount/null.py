# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_null.py catch."""

from __future__ import annotations

from nfsclient.protocol.mount import NULL1, NULL2, NULL3
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsmutants.mount.bending import _is_call
from nfsserver.middleware import Answer

# ---------------------------------------------------------------- results and access


@wire_mutant()
def mount1_null_returns_results(message: Message) -> Answer:
    """NULL of versions 1 and 2 returns a word although it has no results"""
    reply = message.proceed()
    is_meant = _is_call(message.data, NULL1.number, (1, 2))
    return [*reply, bytes(4)] if reply is not None and is_meant else reply


@mutant((NULL1, NULL2, NULL3))
def mount_null_requires_authentication(call: Call[Void, Void]) -> Void:
    """NULL of MOUNT refuses AUTH_NONE"""
    if isinstance(call.context.credential, AuthNone):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return call.proceed()


@wire_mutant()
def mount3_null_returns_results(message: Message) -> Answer:
    """NULL of MOUNT version 3 returns a word although it has no results"""
    reply = message.proceed()
    target = b"".join(number.to_bytes(4, "big") for number in (NULL3.program, NULL3.version, NULL3.number))
    return [*reply, bytes(4)] if reply is not None and message.data[12:24] == target else reply
