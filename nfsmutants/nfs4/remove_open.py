# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_remove_open.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsserver.nfs4.common import compound_of

Remove = Call[p.Remove4Args, p.Remove4Res]
_OPEN: t.Final = Nfsstat4.NFS4ERR_FILE_OPEN


def _without_denials(call: Remove) -> p.Remove4Res:
    states = call.server.states
    vars(states)["require_removable"] = lambda _file: None
    try:
        return call.proceed()
    finally:
        del vars(states)["require_removable"]


@mutant(p.REMOVE)
def remove4_ignores_denials(call: Remove) -> p.Remove4Res:
    """REMOVE does not look at what opens deny"""
    return _without_denials(call)


@mutant(p.REMOVE)
def remove4_open_is_access(call: Remove) -> p.Remove4Res:
    """REMOVE that an open prevents gets ACCESS"""
    return restate4(call.proceed(), _OPEN, Nfsstat4.NFS4ERR_ACCESS)


@mutant(p.REMOVE)
def remove4_refuses_and_removes(call: Remove) -> p.Remove4Res:
    """REMOVE of a file whose open denies writing gets FILE_OPEN, and the name is removed"""
    result = call.proceed()
    if result.status == _OPEN:
        _without_denials(call)
    return result


@mutant((p.OPEN, p.READ))
def open4_promises_to_preserve(call: AnyCall) -> t.Any:
    """OPEN promises to preserve the file, which cannot be read without a name"""
    if call.operation is p.OPEN:
        return amend4(call.proceed(), rflags=lambda it: it.rflags | p.OPEN4_RESULT_PRESERVE_UNLINKED)
    inode, result = compound_of(call.context).current, call.proceed()
    return p.Read4Res(Nfsstat4.NFS4ERR_STALE) if inode is not None and not inode.nlink else result


@mutant(p.CLOSE)
def close4_of_removed_files_is_inval(call: Call[p.Close4Args, p.Close4Res]) -> p.Close4Res:
    """CLOSE of a file without names gets INVAL"""
    inode = compound_of(call.context).current
    is_meant = inode is not None and not inode.nlink
    return p.Close4Res(Nfsstat4.NFS4ERR_INVAL) if is_meant else call.proceed()
