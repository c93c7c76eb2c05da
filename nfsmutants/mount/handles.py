# SPDX-License-Identifier: MIT
"""Mutants of the handles that MNT gives, and of whom MOUNT serves."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
    FHSIZE,
    MNT1,
    MNT2,
    MNT3,
    NULL1,
    NULL2,
    NULL3,
    PROGRAM,
    UMNT3,
    UMNTALL3,
    DirpathArgs,
    Mnt1Res,
    Mnt3Res,
    MountStat1,
    MountStat3,
)
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.mount.bending import Res, first_directory, gives
from nfsmutants.rules import (
    RFC1094_MNT,
    RFC1094_MOUNT_HANDLE,
    RFC1094_MOUNT_NULL,
    RFC1813_MNT,
    RFC1813_MOUNT_SECURITY,
    RFC1813_MOUNT_STATUS,
    RFC1813_MOUNT_TRANSPORT,
)
from nfsserver.middleware import Answer

_RESULTS = 24
"""Where the results begin in a reply with an empty verifier."""


def _word(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _is_call(message: bytes, procedure: int, versions: t.Collection[int]) -> bool:
    starts = {_word(PROGRAM) + _word(version) + _word(procedure) for version in versions}
    return message[12:24] in starts


# ---------------------------------------------------------------- handles


@mutant((MNT1, MNT2), RFC1094_MNT)
def mnt1_gives_an_unusable_handle(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of versions 1 and 2 gives a handle that no procedure takes"""
    reply = call.proceed()
    return reply if reply.directory is None else Mnt1Res(MountStat1.OK, b"x" * FHSIZE)


@mutant((MNT1, MNT2), RFC1094_MNT, kills_many="whatever is mounted by these versions begins with MNT")
def mnt1_mounts_another_directory(call: Call[DirpathArgs, Res]) -> Res:
    """MNT of versions 1 and 2 gives the first directory in the export instead of the export"""
    reply = call.proceed()
    other = first_directory(call)
    return reply if other is None else gives(call, other)


@mutant(MNT2, RFC1094_MNT)
def mnt2_mounts_what_is_not_there(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of version 2 answers an unknown path with the handle of the first export"""
    reply = call.proceed()
    if reply.resok is not None:
        return reply
    return Mnt1Res(MountStat1.OK, call.server.handle_of(call.server.fs.root))


@wire_mutant(RFC1094_MOUNT_HANDLE, kills_many="whatever is mounted by these versions begins with MNT")
def mnt1_gives_64_bytes(message: Message) -> Answer:
    """MNT of versions 1 and 2 gives a handle of 64 bytes"""
    reply = message.proceed()
    if reply is None or not _is_call(message.data, MNT1.number, (1, 2)):
        return reply
    return [*reply, bytes(FHSIZE)]


@wire_mutant(RFC1813_MOUNT_STATUS, kills_many="whatever is mounted begins with MNT")
def mnt3_gives_72_bytes(message: Message) -> Answer:
    """MNT of version 3 gives a handle of 72 bytes"""
    reply = message.proceed()
    if reply is None or not _is_call(message.data, MNT3.number, (3,)):
        return reply
    whole = b"".join(reply)
    if whole[_RESULTS : _RESULTS + 4] != bytes(4):
        return [whole]
    at = _RESULTS + 8
    length = int.from_bytes(whole[at - 4 : at], "big")
    handle = whole[at : at + length].ljust(72, b"\0")
    return [whole[: at - 4] + _word(72) + handle + whole[at + length :]]


@mutant(MNT3, RFC1813_MNT)
def mnt3_names_a_flavor_that_is_refused(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT names AUTH_NONE as well, which NFS does not take"""
    return amend(call.proceed(), auth_flavors=[1, 0])


# ---------------------------------------------------------------- who is served


@wire_mutant(RFC1094_MOUNT_NULL)
def mount1_null_returns_results(message: Message) -> Answer:
    """NULL of versions 1 and 2 returns a word where there are no results"""
    reply = message.proceed()
    is_meant = _is_call(message.data, NULL1.number, (1, 2))
    return [*reply, bytes(4)] if reply is not None and is_meant else reply


@mutant((NULL1, NULL2, NULL3), RFC1813_MOUNT_SECURITY)
def mount_null_asks_who_calls(call: Call[Void, Void]) -> Void:
    """NULL of MOUNT refuses AUTH_NONE"""
    if isinstance(call.context.credential, AuthNone):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return call.proceed()


@mutant((MNT3, UMNT3, UMNTALL3), RFC1813_MNT)
def mount3_serves_nobody(call: AnyCall) -> t.Any:
    """MNT, UMNT and UMNTALL of version 3 take AUTH_NONE"""
    if isinstance(call.context.credential, AuthNone):
        call.context.credential = AuthSys(65534, 65534)
    return call.proceed()


@mutant(MNT3, RFC1813_MOUNT_STATUS)
def mnt3_blames_input_and_output(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers IO where permission is denied"""
    reply = call.proceed()
    is_denied = reply.fhs_status == MountStat3.MNT3ERR_ACCES
    return Mnt3Res(MountStat3.MNT3ERR_IO) if is_denied else reply


# ---------------------------------------------------------------- UDP


@mutant((MNT1, MNT2, MNT3), RFC1813_MOUNT_TRANSPORT)
def mnt_refuses_over_udp(call: Call[DirpathArgs, Res]) -> Res:
    """MNT over UDP answers that permission is denied"""
    if call.context.transport != "udp":
        return call.proceed()
    denied = MountStat3.MNT3ERR_ACCES
    return Mnt3Res(denied) if call.context.version == 3 else Mnt1Res(MountStat1(int(denied)))


@mutant((MNT1, MNT2, MNT3), RFC1813_MOUNT_TRANSPORT)
def mnt_gives_another_directory_over_udp(call: Call[DirpathArgs, Res]) -> Res:
    """MNT over UDP gives the first directory in the export instead of the export"""
    other = first_directory(call) if call.context.transport == "udp" else None
    return call.proceed() if other is None else gives(call, other)
