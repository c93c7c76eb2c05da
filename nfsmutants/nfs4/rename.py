# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_rename.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import refusal, restate4, with_result
from nfsmutants.rules import RFC5661_ERRORS, RFC5661_RENAME

Rename = Call[p.Rename4Args, p.Rename4Res]
_SOME = p.ChangeInfo4(False, 0, 0)
_DONE = p.Rename4Res(Nfsstat4.NFS4_OK, p.Rename4ResOk(_SOME, _SOME))


@mutant(p.RENAME, RFC5661_RENAME)
def rename4_renames_nothing(_call: Rename) -> p.Rename4Res:
    """RENAME succeeds, and the names stay"""
    return _DONE


@mutant(p.COMPOUND, RFC5661_RENAME)
def rename4_stays_in_the_directory(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """RENAME into another directory gives the new name in the old directory"""
    last = call.args.argarray[-1] if call.args.argarray else None
    if not isinstance(last, p.Rename4Args):
        return call.proceed()
    there = [*call.args.argarray[:-1], p.Restorefh4Args(), last]
    reply = call.proceed_with(argarray=there)
    if len(reply.resarray) != len(there):
        return reply
    kept = [*reply.resarray[:-2], reply.resarray[-1]]
    return with_result(replace(reply, resarray=kept), len(kept) - 1, kept[-1])


@mutant(p.RENAME, RFC5661_RENAME)
def rename4_never_replaces(call: Rename) -> p.Rename4Res:
    """RENAME to a new name that exists, by an object that is compatible, gets EXIST"""
    result = call.proceed()
    is_meant = (call.args.oldname, call.args.newname) == (b"old", b"new")
    return refusal(result, Nfsstat4.NFS4ERR_EXIST) if is_meant else result


@mutant(p.RENAME, RFC5661_RENAME)
def rename4_incompatible_is_inval(call: Rename) -> p.Rename4Res:
    """RENAME over an object that is not compatible gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_EXIST, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.COMPOUND, RFC5661_RENAME)
def rename4_takes_a_link_away(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """RENAME of a hard link to another one removes the old name"""
    last = call.args.argarray[-1] if call.args.argarray else None
    if not isinstance(last, p.Rename4Args):
        return call.proceed()
    removing = [*call.args.argarray, p.Remove4Args(last.oldname)]
    reply = call.proceed_with(argarray=removing)
    if len(reply.resarray) != len(removing):
        return reply
    return replace(reply, status=Nfsstat4.NFS4_OK, resarray=reply.resarray[:-1])


@mutant(p.RENAME, RFC5661_RENAME)
def rename4_empty_name_is_noent(call: Rename) -> p.Rename4Res:
    """RENAME with an empty name gets NOENT"""
    result = call.proceed()
    if call.args.oldname and call.args.newname:
        return result
    return restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.RENAME, RFC5661_ERRORS)
def rename4_absent_is_ok(call: Rename) -> p.Rename4Res:
    """RENAME of a name that does not exist succeeds"""
    result = call.proceed()
    return _DONE if result.status == Nfsstat4.NFS4ERR_NOENT else result


@mutant(p.RENAME, RFC5661_RENAME)
def rename4_change_info_is_swapped(call: Rename) -> p.Rename4Res:
    """RENAME returns the changes of the source as those of the target, and the reverse"""
    result = call.proceed()
    if result.resok4 is None:
        return result
    swapped = p.Rename4ResOk(result.resok4.target_cinfo, result.resok4.source_cinfo)
    return p.Rename4Res(Nfsstat4.NFS4_OK, swapped)
