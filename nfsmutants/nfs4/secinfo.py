# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_secinfo.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import names_in, restate4, with_result
from nfsserver.nfs4.common import is_utf8

Secinfo = Call[p.Secinfo4Args, p.Secinfo4Res]


@mutant(p.SECINFO)
def secinfo4_lists_nothing(call: Secinfo) -> p.Secinfo4Res:
    """SECINFO returns no flavors"""
    result = call.proceed()
    return p.Secinfo4Res(Nfsstat4.NFS4_OK, []) if result.resok4 is not None else result


@mutant(p.COMPOUND)
def secinfo4_keeps_the_current_filehandle(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """SECINFO keeps the current filehandle"""
    reply, put = call.proceed(), call.args.argarray[1:2]
    if names_in(call.args)[-2:] != ["SECINFO", "GETFH"] or not isinstance(put[0], p.Putfh4Args):
        return reply
    if len(reply.resarray) < len(call.args.argarray):
        return reply
    found = p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(put[0].object))
    return replace(with_result(reply, len(reply.resarray) - 1, found), status=Nfsstat4.NFS4_OK)


@mutant(p.SECINFO)
def secinfo4_knows_every_name(call: Secinfo) -> p.Secinfo4Res:
    """SECINFO of a name that does not exist succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_NOENT:
        return result
    return p.Secinfo4Res(Nfsstat4.NFS4_OK, [p.Secinfo4(p.AUTH_SYS)])


@mutant(p.SECINFO)
def secinfo4_empty_name_is_noent(call: Secinfo) -> p.Secinfo4Res:
    """SECINFO of an empty name gets NOENT"""
    result = call.proceed()
    return result if call.args.name else restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.SECINFO)
def secinfo4_needs_no_access(call: Secinfo) -> p.Secinfo4Res:
    """SECINFO asks for no access to the directory"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_ACCESS:
        return result
    return p.Secinfo4Res(Nfsstat4.NFS4_OK, [p.Secinfo4(p.AUTH_SYS)])


@mutant(p.SECINFO)
def secinfo4_takes_any_bytes(call: Secinfo) -> p.Secinfo4Res:
    """SECINFO of a name that is no UTF-8 succeeds"""
    result = call.proceed()
    return result if is_utf8(call.args.name) else p.Secinfo4Res(Nfsstat4.NFS4_OK, [p.Secinfo4(p.AUTH_SYS)])
