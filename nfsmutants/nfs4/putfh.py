# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_putfh.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, restate_last, with_result

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND)
def getfh4_changes_the_handle(call: Compound) -> p.Compound4Res:
    """GETFH right after PUTFH returns another handle"""
    reply = call.proceed()
    if names_in(call.args) != ["SEQUENCE", "PUTFH", "GETFH"] or reply.status != Nfsstat4.NFS4_OK:
        return reply
    return with_result(reply, 2, amend4(reply.resarray[2], object=lambda it: it.object[:-1]))


@mutant(p.COMPOUND)
def putfh4_keeps_the_first(call: Compound) -> p.Compound4Res:
    """PUTFH right after PUTFH changes nothing"""
    operations = [*call.args.argarray]
    for at, operation in enumerate(operations[1:], 1):
        if isinstance(operation, p.Putfh4Args) and isinstance(operations[at - 1], p.Putfh4Args):
            operations[at] = operations[at - 1]
    return call.proceed_with(argarray=operations)


@mutant(p.COMPOUND)
def putfh4_bad_handle_is_inval(call: Compound) -> p.Compound4Res:
    """A handle that the server never made gets INVAL"""
    reply = call.proceed()
    for status in (Nfsstat4.NFS4ERR_BADHANDLE, Nfsstat4.NFS4ERR_STALE):
        reply = restate_last(reply, status, Nfsstat4.NFS4ERR_INVAL)
    return reply
