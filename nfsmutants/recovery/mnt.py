# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_mnt.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.mount import DUMP1, DUMP3, EXPORT1, EXPORT3, MNT1, MNT3, Exports, Mountlist
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsserver.handlers import ServerApi


def _has_restarted(call: AnyCall) -> bool:
    return bool(call.state.setdefault("first", call.backend.boots) != call.backend.boots)


@mutant((MNT1, MNT3))
def mnt_returns_an_unusable_handle_after_restart(call: AnyCall) -> t.Any:
    """After a restart, MNT returns a handle that every procedure refuses"""
    has_restarted, reply = _has_restarted(call), call.proceed()
    if not has_restarted:
        return reply
    if call.operation is MNT3:
        return amend(reply, fhandle=b"no handle of this server")
    return reply if reply.directory is None else replace(reply, directory=reply.directory[::-1])


def _root(server: ServerApi) -> bytes:
    return server.backend.handle_of(server.backend.fs.root)


@mutant((nfs2.GETATTR, nfs3.GETATTR, MNT1, MNT3))
def root_is_stale_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, the root is stale until it is mounted again"""
    if call.operation in {MNT1, MNT3}:
        call.state["mounted"] = call.backend.boots
        return call.proceed()
    mounted = call.state.setdefault("mounted", call.backend.boots)
    handle = call.args.object if call.operation is nfs3.GETATTR else call.args.file
    if mounted == call.backend.boots or call.backend.resolve(handle) is not call.backend.fs.root:
        return call.proceed()
    return (
        nfs3.Getattr3Res(nfs3.Nfsstat3.NFS3ERR_STALE)
        if call.operation is nfs3.GETATTR
        else nfs2.Attrstat(nfs2.Nfsstat2.NFSERR_STALE)
    )


@mutant((nfs2.GETATTR, nfs3.GETATTR, nfs3.LOOKUP, MNT1, MNT3))
def export_is_stale_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, every handle of the root is stale, also those that MNT returns"""
    has_restarted, reply = _has_restarted(call), call.proceed()
    if has_restarted and call.operation in {MNT1, MNT3}:
        call.backend.fs.root.generation += 1
    return reply


@mutant((DUMP1, DUMP3))
def dump_lists_mounts_of_before_a_restart_twice(call: AnyCall) -> t.Any:
    """After a restart, DUMP lists every entry twice"""
    has_restarted, reply = _has_restarted(call), call.proceed()
    return Mountlist(reply.entries * 2) if has_restarted else reply


@mutant((EXPORT1, EXPORT3))
def export_is_empty_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, EXPORT lists nothing"""
    return Exports([]) if _has_restarted(call) else call.proceed()
