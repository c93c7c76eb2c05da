# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_restorefh.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import names_in, refusal, with_result


@mutant(p.RESTOREFH)
def restorefh4_keeps_the_current(_call: Call[p.Restorefh4Args, p.Restorefh4Res]) -> p.Restorefh4Res:
    """RESTOREFH succeeds, and the current filehandle stays"""
    return p.Restorefh4Res(Nfsstat4.NFS4_OK)


@mutant((p.SEQUENCE, p.SAVEFH))
def savefh4_keeps_the_first(call: AnyCall) -> t.Any:
    """A second SAVEFH in a COMPOUND saves nothing"""
    if call.operation is p.SEQUENCE:
        call.state.clear()
        return call.proceed()
    if "saved" in call.state:
        return p.Savefh4Res(Nfsstat4.NFS4_OK)
    call.state["saved"] = True
    return call.proceed()


@mutant(p.COMPOUND)
def savefh4_takes_the_current_away(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """After SAVEFH there is no current filehandle"""
    reply = call.proceed()
    if names_in(call.args)[-2:] != ["SAVEFH", "GETFH"] or reply.status != Nfsstat4.NFS4_OK:
        return reply
    at = len(reply.resarray) - 1
    return with_result(reply, at, refusal(reply.resarray[at], Nfsstat4.NFS4ERR_NOFILEHANDLE))
