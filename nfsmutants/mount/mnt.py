# SPDX-License-Identifier: MIT
"""Mutants of MOUNT."""

from __future__ import annotations

from nfsclient.protocol.mount import (
    EXPORT3,
    MNT1,
    MNT3,
    NULL3,
    UMNT3,
    UMNTALL3,
    DirpathArgs,
    Exports,
    Mnt1Res,
    Mnt3Res,
    Mountres3Ok,
    MountStat1,
    MountStat3,
)
from nfsclient.protocol.nfs3 import GETATTR, Getattr3Args, Getattr3Res, Nfsstat3
from nfsclient.xdr import Void
from nfsmutants.bending import amend, count
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.mount.bending import first_directory
from nfsmutants.rules import (
    RFC1094_MOUNT_APPENDIX,
    RFC1813_EXPORT,
    RFC1813_MNT,
    RFC1813_MOUNT_NULL,
    RFC1813_MOUNT_STATUS,
    RFC1813_UMNT,
    RFC1813_UMNTALL,
)
from nfsserver.middleware import Answer
from nfsserver.mount import AUTH_SYS


@wire_mutant(RFC1813_MOUNT_NULL)
def mount3_null_returns_results(message: Message) -> Answer:
    """NULL of MOUNT version 3 returns a word where there are no results"""
    reply = message.proceed()
    target = b"".join(number.to_bytes(4, "big") for number in (NULL3.program, NULL3.version, NULL3.number))
    return [*reply, bytes(4)] if reply is not None and message.data[12:24] == target else reply


@mutant(MNT3, RFC1813_MNT)
def mnt3_mounts_what_is_not_there(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers an unknown path with the handle of the first export"""
    reply = call.proceed()
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(call.server.handle_of(call.server.fs.root), [AUTH_SYS]))


@mutant(MNT1, RFC1094_MOUNT_APPENDIX)
def mnt1_mounts_what_is_not_there(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of version 1 answers an unknown path with the handle of the first export"""
    reply = call.proceed()
    if reply.directory is not None:
        return reply
    return Mnt1Res(MountStat1.OK, call.server.handle_of(call.server.fs.root))


@mutant(MNT3, RFC1813_MNT)
def mnt3_mounts_a_file(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT answers the path of a file with the handle of the first export"""
    reply = call.proceed()
    if reply.fhs_status != MountStat3.MNT3ERR_NOTDIR:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(call.server.handle_of(call.server.fs.root), [AUTH_SYS]))


@mutant(MNT3, RFC1813_MNT, kills_many="whatever is mounted begins with MNT")
def mnt3_gives_an_unusable_handle(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT gives a handle that no procedure takes"""
    return amend(call.proceed(), fhandle=b"no handle of this server")


@mutant(MNT3, RFC1813_MNT)
def mnt3_mounts_another_directory(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """Every second MNT gives the handle of the first directory in the export instead of the export's own"""
    reply = call.proceed()
    other = first_directory(call)
    if count(call.state) % 2 or other is None:
        return reply
    return amend(reply, fhandle=call.server.handle_of(other))


@mutant(MNT3, RFC1813_MNT)
def mnt3_names_no_flavors(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT names AUTH_NONE alone, which NFS does not take"""
    return amend(call.proceed(), auth_flavors=[0])


@mutant(MNT3, RFC1813_MNT)
def mnt3_records_nothing(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT adds nothing to the list of mounts"""
    reply = call.proceed()
    call.server.mounts.forget(call.context, call.args.dirpath)
    return reply


@mutant(UMNT3, RFC1813_UMNT)
def umnt3_removes_nothing(_call: Call[DirpathArgs, Void]) -> Void:
    """UMNT leaves the list as it is"""
    return Void()


@mutant((UMNT3, GETATTR), RFC1813_UMNT)
def umnt3_revokes_handles(call: AnyCall) -> Void | Getattr3Res:
    """After UMNT the handle of the export's root is stale"""
    state = call.state
    if not isinstance(call.args, Getattr3Args):
        state["unmounted"] = True
    elif state.get("unmounted") and call.args.object == call.server.handle_of(call.server.fs.root):
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE)
    result: Void | Getattr3Res = call.proceed()
    return result


@mutant(UMNTALL3, RFC1813_UMNTALL)
def umntall3_removes_nothing(_call: Call[Void, Void]) -> Void:
    """UMNTALL leaves the list as it is"""
    return Void()


@mutant(EXPORT3, RFC1813_EXPORT)
def export3_omits_the_first_export(call: Call[Void, Exports]) -> Exports:
    """EXPORT does not list the first export"""
    return Exports(call.proceed().entries[1:])


@mutant(MNT3, RFC1813_MOUNT_STATUS)
def mnt3_answers_stale(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT of an unknown path answers 70, a status of NFS that MOUNT does not have"""
    reply = call.proceed()
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3(int(Nfsstat3.NFS3ERR_STALE)))
