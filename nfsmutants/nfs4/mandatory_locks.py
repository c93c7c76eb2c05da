# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_mandatory_locks.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import refusal
from nfsmutants.rules import RFC5661_SETATTR, RFC5661_SHARED_IO
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of
from nfsserver.state.locks import Lock

Read = Call[p.Read4Args, p.Read4Res]
Write = Call[p.Write4Args, p.Write4Res]
Setattr = Call[p.Setattr4Args, p.Setattr4Res]


def _locks(call: AnyCall, *, foreign: bool = True) -> list[Lock]:
    """The locks of the file, of other clients or of this one."""
    state = compound_of(call.context)
    if state.current is None or state.sender is None:
        return []
    found = state.states.held.locks.of_file(state.current)
    return [lock for lock in found if (lock.client != state.sender.id) == foreign]


def _overlaps(call: AnyCall, locks: list[Lock], end: int, *, only_writers: bool = False) -> bool:
    ranges = [held for lock in locks for held in lock.ranges if held.is_write or not only_writers]
    return any(held.overlaps(call.args.offset, end) for held in ranges)


def _writes_into(call: Write, *, foreign: bool = True) -> bool:
    return _overlaps(call, _locks(call, foreign=foreign), call.args.offset + len(call.args.data))


def _cuts(call: Setattr) -> bool:
    return call.args.obj_attributes.size is not None and bool(_locks(call))


@mutant(p.WRITE)
def write4_into_a_lock_is_access(call: Write) -> p.Write4Res:
    """WRITE into the lock of another client gets ACCESS"""
    return p.Write4Res(Nfsstat4.NFS4ERR_ACCESS) if _writes_into(call) else call.proceed()


@mutant(p.WRITE)
def write4_into_a_lock_is_refused_late(call: Write) -> p.Write4Res:
    """WRITE into the lock of another client writes, and gets LOCKED"""
    is_late, result = _writes_into(call), call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_LOCKED) if is_late else result


@mutant(p.WRITE)
def write4_locks_lock_whole_files(call: Write) -> p.Write4Res:
    """WRITE to a file in which another client has a lock gets LOCKED"""
    return (
        p.Write4Res(Nfsstat4.NFS4ERR_LOCKED) if any(lock.ranges for lock in _locks(call)) else call.proceed()
    )


@mutant(p.WRITE)
def write4_own_locks_exclude(call: Write) -> p.Write4Res:
    """WRITE into a lock by the owner of the lock gets LOCKED"""
    return p.Write4Res(Nfsstat4.NFS4ERR_LOCKED) if _writes_into(call, foreign=False) else call.proceed()


@mutant((p.LOCK, p.WRITE))
def write4_remembers_locks(call: AnyCall) -> t.Any:
    """WRITE to a file that another client has had a lock in gets LOCKED"""
    state = compound_of(call.context)
    file: Inode | None = state.current
    if call.operation is p.LOCK:
        call.state[file] = state.sender
        return call.proceed()
    holder = call.state.get(file)
    is_meant = holder is not None and holder is not state.sender
    return p.Write4Res(Nfsstat4.NFS4ERR_LOCKED) if is_meant else call.proceed()


@mutant(p.READ)
def read4_of_a_lock_is_access(call: Read) -> p.Read4Res:
    """READ of what another client has locked for writing gets ACCESS"""
    is_meant = _overlaps(call, _locks(call), call.args.offset + call.args.count, only_writers=True)
    return p.Read4Res(Nfsstat4.NFS4ERR_ACCESS) if is_meant else call.proceed()


@mutant(p.READ)
def read4_read_locks_exclude_readers(call: Read) -> p.Read4Res:
    """READ of what another client has locked for reading gets LOCKED"""
    is_meant = _overlaps(call, _locks(call), call.args.offset + call.args.count)
    return p.Read4Res(Nfsstat4.NFS4ERR_LOCKED) if is_meant else call.proceed()


@mutant(p.SETATTR, breaks=RFC5661_SHARED_IO)
def setattr4_into_a_lock_is_refused_late(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size of a file in which another client has a lock sets it, and gets LOCKED"""
    is_late, result = _cuts(call), call.proceed()
    return p.Setattr4Res(Nfsstat4.NFS4ERR_LOCKED, []) if is_late else result


@mutant(p.SETATTR, breaks=RFC5661_SETATTR)
def setattr4_into_a_lock_is_inval(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size of a file in which another client has a lock gets INVAL"""
    return p.Setattr4Res(Nfsstat4.NFS4ERR_INVAL, []) if _cuts(call) else call.proceed()
