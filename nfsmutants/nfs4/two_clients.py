# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_two_clients.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
from nfsmutants.rules import (
    RFC5661_ATTRIBUTES,
    RFC5661_WRITE,
)
from nfsserver.fs import Caller
from nfsserver.nfs4.common import compound_of


@mutant((p.OPEN, p.LOCK))
def reclaims4_never_end(call: AnyCall) -> t.Any:
    """OPEN and LOCK that reclaim after RECLAIM_COMPLETE succeed, as if they were new"""
    result = call.proceed()
    if result.status not in {Nfsstat4.NFS4ERR_NO_GRACE, Nfsstat4.NFS4ERR_RECLAIM_BAD}:
        return result
    if call.operation is p.LOCK:
        return call.proceed_with(reclaim=False)
    return call.proceed_with(claim=p.OpenClaim4(p.OpenClaimType4.CLAIM_FH))


@mutant(p.CLOSE)
def close4_unlocks_for_all(call: Call[p.Close4Args, p.Close4Res]) -> p.Close4Res:
    """CLOSE releases all locks of the file"""
    compound, result = compound_of(call.context), call.proceed()
    if succeeded(result) and compound.current is not None:
        locks = compound.states.held.locks
        for lock in locks.of_file(compound.current):
            locks.free(lock)
    return result


@mutant((p.CREATE_SESSION, p.DESTROY_SESSION))
def destroysession4_ends_the_state(call: AnyCall) -> t.Any:
    """DESTROY_SESSION ends the opens and locks of the client"""
    result = call.proceed()
    if call.operation is p.CREATE_SESSION:
        if result.csr_resok4 is not None:
            call.state[bytes(result.csr_resok4.csr_sessionid)] = call.args.csa_clientid
    elif bytes(call.args.dsa_sessionid) in call.state:
        compound_of(call.context).states.held.release(call.state[bytes(call.args.dsa_sessionid)])
    return result


@mutant(p.WRITE)
def write4_puts_the_file_back(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE of a small file writes all of it, as the session knew it after its last WRITE"""
    compound, result = compound_of(call.context), call.proceed()
    inode, resok = compound.current, result.resok4
    if inode is None or inode.data is None or resok is None or inode.size > 4096:
        return result
    key = id(compound.session), inode.fileid
    known = bytearray(call.state.get(key, inode.data.read(0, inode.size)))
    end = call.args.offset + resok.count
    known.extend(bytes(max(0, end - len(known))))
    known[call.args.offset : end] = bytes(call.args.data)[: resok.count]
    inode.data.write(0, bytes(known), stable=True)
    call.state[key] = bytes(known)
    return result


@mutant(p.ACCESS)
def access4_remembers_what_it_granted(call: Call[p.Access4Args, p.Access4Res]) -> p.Access4Res:
    """ACCESS repeats what it answered to the session for the object before"""
    compound, inode = compound_of(call.context), compound_of(call.context).current
    key = id(compound.session), None if inode is None else (inode.fileid, inode.generation)
    if key not in call.state:
        call.state[key] = call.proceed()
    return t.cast("p.Access4Res", call.state[key])


@mutant(p.OPEN)
def open4_guarded_race_is_unchecked(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN with GUARDED4 takes the file that was created last, as if it had looked before it was there"""
    how, name, result = call.args.openhow.how, bytes(call.args.claim.file or b""), call.proceed()
    if how is None or how.mode is not p.Createmode4.GUARDED4:
        return result
    if succeeded(result):
        call.state["last"] = name
    elif result.status == Nfsstat4.NFS4ERR_EXIST and call.state.get("last") == name:
        return call.proceed_with("openhow.how", mode=p.Createmode4.UNCHECKED4)
    return result


# ---------------------------------------------------------------- data of another user


def _as_remembered(call: AnyCall, who: object) -> t.Any:
    """Proceed with an operation on data as root, if such a one of `who` on the file was granted before."""
    compound = compound_of(call.context)
    inode, caller = compound.current, compound.caller
    if inode is None:
        return call.proceed()
    key = call.operation.name, inode.fileid, inode.generation, who
    if key in call.state:
        compound.caller = Caller(0, 0)
    try:
        result = call.proceed()
    finally:
        compound.caller = caller
    if succeeded(result):
        call.state[key] = True
    return result


@mutant((p.READ, p.WRITE))
def data4_remembers_who_was_granted(call: AnyCall) -> t.Any:
    """READ and WRITE are granted to a user who was granted the same on the file before, whatever its mode is now"""
    return _as_remembered(call, compound_of(call.context).caller.uid)


@mutant((p.READ, p.WRITE))
def data4_grants_all_what_one_was_granted(call: AnyCall) -> t.Any:
    """READ and WRITE are granted to everybody once they were granted to somebody"""
    return _as_remembered(call, "everybody")


@mutant(p.WRITE, breaks=RFC5661_WRITE)
def write4_gives_the_file_away(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE by another user than the owner makes the writer the owner, as of a new file in its place"""
    compound, result = compound_of(call.context), call.proceed()
    if compound.current is not None and succeeded(result) and call.args.data:
        compound.current.uid = compound.caller.uid
    return result


@mutant((p.WRITE, p.GETATTR), breaks=RFC5661_ATTRIBUTES)
def write4_by_others_changes_the_fileid(call: AnyCall) -> t.Any:
    """GETATTR returns another fileid after a WRITE by another user than the owner, as of a new file in its place"""
    compound, result = compound_of(call.context), call.proceed()
    inode = compound.current
    if inode is None or not succeeded(result):
        return result
    written: set[object] = call.state.setdefault("written", set())
    if call.operation is p.WRITE and inode.uid != compound.caller.uid:
        written.add((inode.fileid, inode.generation))
    fileid = result.resok4.obj_attributes.fileid if call.operation is p.GETATTR else None
    if fileid is None or (inode.fileid, inode.generation) not in written:
        return result
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(fileid=fileid + 2**40))
