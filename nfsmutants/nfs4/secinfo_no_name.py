# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_secinfo_no_name.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import names_in, with_result

NoName = Call[p.SecinfoNoName4Args, p.SecinfoNoName4Res]


@mutant(p.SECINFO_NO_NAME)
def secinfononame4_lists_nothing(call: NoName) -> p.SecinfoNoName4Res:
    """SECINFO_NO_NAME returns no flavors"""
    result = call.proceed()
    return p.SecinfoNoName4Res(Nfsstat4.NFS4_OK, []) if result.resok4 is not None else result


@mutant(p.COMPOUND)
def secinfononame4_keeps_the_current_filehandle(
    call: Call[p.Compound4Args, p.Compound4Res],
) -> p.Compound4Res:
    """SECINFO_NO_NAME keeps the current filehandle"""
    reply, put = call.proceed(), call.args.argarray[1:2]
    if names_in(call.args)[-2:] != ["SECINFO_NO_NAME", "GETFH"] or not isinstance(put[0], p.Putfh4Args):
        return reply
    if len(reply.resarray) < len(call.args.argarray):
        return reply
    found = p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(put[0].object))
    return replace(with_result(reply, len(reply.resarray) - 1, found), status=Nfsstat4.NFS4_OK)


@mutant(p.SECINFO_NO_NAME)
def secinfononame4_root_has_a_parent(call: NoName) -> p.SecinfoNoName4Res:
    """SECINFO_NO_NAME of the parent of the root succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_NOENT:
        return result
    return p.SecinfoNoName4Res(Nfsstat4.NFS4_OK, [p.Secinfo4(p.AUTH_SYS)])


@mutant(p.SECINFO_NO_NAME)
def secinfononame4_needs_no_access(call: NoName) -> p.SecinfoNoName4Res:
    """SECINFO_NO_NAME asks for no access to the directory above"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_ACCESS:
        return result
    return p.SecinfoNoName4Res(Nfsstat4.NFS4_OK, [p.Secinfo4(p.AUTH_SYS)])


@mutant(p.SECINFO_NO_NAME)
def secinfononame4_lists_another_flavor(call: NoName) -> p.SecinfoNoName4Res:
    """SECINFO_NO_NAME lists AUTH_NONE, too, which SECINFO does not"""
    result = call.proceed()
    if result.resok4 is None:
        return result
    return p.SecinfoNoName4Res(Nfsstat4.NFS4_OK, [*result.resok4, p.Secinfo4(p.AUTH_NONE)])


@mutant(p.SECINFO_NO_NAME)
def secinfononame4_files_have_parents(call: NoName) -> p.SecinfoNoName4Res:
    """SECINFO_NO_NAME of the parent of a file succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_NOTDIR:
        return result
    return p.SecinfoNoName4Res(Nfsstat4.NFS4_OK, [p.Secinfo4(p.AUTH_SYS)])
