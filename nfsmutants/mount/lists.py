# SPDX-License-Identifier: MIT
"""Mutants of the list of mounts and of the list of exports, in all versions of MOUNT."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.mount import (
    DUMP1,
    DUMP2,
    DUMP3,
    EXPORT1,
    EXPORT2,
    EXPORT3,
    FHSIZE,
    MNT1,
    MNT2,
    MNT3,
    PROGRAM,
    UMNT1,
    UMNT2,
    UMNT3,
    UMNTALL1,
    UMNTALL2,
    UMNTALL3,
    DirpathArgs,
    Exports,
    Mountlist,
)
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.rules import (
    RFC1094_MOUNT,
    RFC1813_DUMP,
    RFC1813_MOUNT_SIZES,
    RFC1813_MOUNT_TRANSPORT,
    RFC1813_UMNT,
    RFC1813_UMNTALL,
)
from nfsserver.middleware import Answer

MNTS = (MNT1, MNT2, MNT3)
DUMPS = (DUMP1, DUMP2, DUMP3)
UMNTS = (UMNT1, UMNT2, UMNT3)
UMNTALLS = (UMNTALL1, UMNTALL2, UMNTALL3)
EXPORTS = (EXPORT1, EXPORT2, EXPORT3)


# ---------------------------------------------------------------- the list of mounts


@mutant((MNT1, MNT2), RFC1094_MOUNT)
def mnt1_records_nothing(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """MNT of versions 1 and 2 is not listed"""
    reply = call.proceed()
    call.server.mounts.forget(call.context, call.args.dirpath)
    return reply


@mutant(DUMPS, RFC1813_DUMP)
def dump_has_entries_twice(call: Call[Void, Mountlist]) -> Mountlist:
    """DUMP has every entry twice"""
    return Mountlist(call.proceed().entries * 2)


@mutant(MNTS, RFC1813_DUMP)
def mnt_records_what_is_refused(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """MNT lists also what it refuses"""
    call.server.mounts.record(call.context, call.args.dirpath)
    return call.proceed()


@mutant((UMNT1, UMNT2), RFC1094_MOUNT)
def umnt1_removes_nothing(_call: Call[DirpathArgs, t.Any]) -> Void:
    """UMNT of versions 1 and 2 does nothing"""
    return Void()


@mutant(UMNTS, RFC1813_UMNT)
def umnt_fails_for_what_was_not_mounted(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """UMNT of a path that the client has not mounted fails with an error of RPC"""
    if call.args.dirpath not in {path for _, path in call.server.mounts.entries()}:
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    return call.proceed()


@mutant(UMNTS, RFC1813_UMNT)
def umnt_removes_every_entry(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """UMNT does what UMNTALL does"""
    call.server.mounts.forget_all(call.context)
    return call.proceed()


@mutant((*UMNTALLS, *MNTS), RFC1813_UMNTALL)
def umntall_fails_without_mounts(call: AnyCall) -> t.Any:
    """UMNTALL after UMNTALL, without MNT between them, fails with an error of RPC"""
    state = call.state
    is_mount = call.procedure in MNTS
    if not is_mount and state.get("last") == "UMNTALL":
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    state["last"] = "MNT" if is_mount else "UMNTALL"
    return call.proceed()


@mutant((UMNTALL1, UMNTALL2), RFC1094_MOUNT)
def umntall1_removes_nothing(_call: Call[Void, t.Any]) -> Void:
    """UMNTALL of versions 1 and 2 does nothing"""
    return Void()


@mutant(UMNTALLS, RFC1813_UMNTALL)
def umntall_keeps_the_last_entry(call: Call[Void, t.Any]) -> t.Any:
    """UMNTALL leaves the latest of two or more mounts in the list"""
    paths = [path for host, path in call.server.mounts.entries() if host == call.peer[0].encode()]
    reply = call.proceed()
    if len(paths) > 1:
        call.server.mounts.record(call.context, paths[-1])
    return reply


@mutant((*UMNTS, *UMNTALLS), RFC1813_UMNTALL)
def umnt_and_umntall_forget_every_client(call: AnyCall) -> t.Any:
    """UMNT and UMNTALL of one client remove entries of the others as well"""
    reply = call.proceed()
    for host, _ in call.server.mounts.entries():
        from_there = dataclasses.replace(call.context, peer=(host.decode(), call.peer[1]))
        call.handler(from_there, call.args)
    return reply


@mutant((*UMNTS, *UMNTALLS, nfs2.GETATTR, nfs3.GETATTR), RFC1813_UMNT)
def umnt_and_umntall_revoke_handles(call: AnyCall) -> t.Any:
    """After UMNT or UMNTALL the handle of the export's root is stale"""
    state = call.state
    if call.context.program == PROGRAM:
        state["unmounted"] = True
        return call.proceed()
    root = call.server.handle_of(call.server.fs.root)
    if not state.get("unmounted") or call.args.to_xdr()[-FHSIZE:] != root[-FHSIZE:]:
        return call.proceed()
    return (
        nfs3.Getattr3Res(nfs3.Nfsstat3.NFS3ERR_STALE)
        if call.context.version == 3
        else nfs2.Attrstat(nfs2.Nfsstat2.NFSERR_STALE)
    )


# ---------------------------------------------------------------- form


def _with_entry(message: Message, number: int, entry: bytes, *, least: int = 0) -> Answer:
    """The reply with an entry in front of the list, whose first word says that there is one.

    In replies of at least `least` bytes.
    """
    reply = message.proceed()
    called = (message.data[12:16], message.data[20:24])
    if reply is None or called != (PROGRAM.to_bytes(4, "big"), number.to_bytes(4, "big")):
        return reply
    whole = b"".join(reply)
    return [whole[:24] + _THERE_IS + entry + whole[24:]] if len(whole) >= least else [whole]


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


_THERE_IS = (1).to_bytes(4, "big")


@wire_mutant(RFC1813_MOUNT_SIZES)
def dump_has_names_that_are_too_long(message: Message) -> Answer:
    """DUMP lists a host whose name has 256 bytes, where the list is not short"""
    return _with_entry(message, DUMP3.number, _string(b"h" * 256) + _string(b"/dir"), least=240)


@wire_mutant(RFC1813_MOUNT_SIZES)
def export_has_paths_that_are_too_long(message: Message) -> Answer:
    """EXPORT lists a path of 1028 bytes"""
    return _with_entry(message, EXPORT3.number, _string(b"/" * 1028) + bytes(4))


# ---------------------------------------------------------------- the list of exports, and UDP


@mutant((EXPORT1, EXPORT2), RFC1094_MOUNT)
def export1_omits_the_first_export(call: Call[Void, Exports]) -> Exports:
    """EXPORT of versions 1 and 2 does not list the first export"""
    return Exports(call.proceed().entries[1:])


@mutant(EXPORTS, RFC1813_MOUNT_TRANSPORT)
def export_is_empty_over_udp(call: Call[Void, Exports]) -> Exports:
    """EXPORT over UDP lists nothing"""
    reply = call.proceed()
    return Exports([]) if call.context.transport == "udp" else reply


@mutant(DUMPS, RFC1813_MOUNT_TRANSPORT)
def dump_is_empty_over_udp(call: Call[Void, Mountlist]) -> Mountlist:
    """DUMP over UDP lists nothing"""
    reply = call.proceed()
    return Mountlist([]) if call.context.transport == "udp" else reply


@mutant(UMNTS, RFC1813_MOUNT_TRANSPORT)
def umnt_removes_nothing_over_udp(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """UMNT over UDP leaves the list as it is"""
    return Void() if call.context.transport == "udp" else call.proceed()
