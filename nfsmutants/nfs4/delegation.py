# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_delegation.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.rules import RFC5661_DELEGRETURN, RFC5661_RECALL, RFC5661_WRITE_DELEGATIONS
from nfsserver.nfs4.common import compound_of
from nfsserver.nfs4.values import View, read

Open = Call[p.Open4Args, p.Open4Res]
_WANTS = p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
_NOBODY = p.Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, 0, 0, b"")
_LIMIT = p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=p.NFS4_UINT64_MAX)


@mutant(p.OPEN, RFC5661_RECALL)
def open4_invents_delegations(call: Open) -> p.Open4Res:
    """OPEN returns delegations that the server knows nothing of, and never recalls"""
    wanted = call.args.share_access & _WANTS
    if wanted not in {p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG, p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG}:
        return call.proceed()
    without = call.args.share_access & ~_WANTS | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
    result = call.proceed_with(share_access=without)
    if result.resok4 is None:
        return result
    stateid = p.Stateid4(1, b"invented one")
    if wanted == p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG:
        made = p.OpenDelegation4(
            p.OpenDelegationType4.OPEN_DELEGATE_READ, read=p.OpenReadDelegation4(stateid, False, _NOBODY)
        )
    else:
        made = p.OpenDelegation4(
            p.OpenDelegationType4.OPEN_DELEGATE_WRITE,
            write=p.OpenWriteDelegation4(stateid, False, _LIMIT, _NOBODY),
        )
    return p.Open4Res(Nfsstat4.NFS4_OK, replace(result.resok4, delegation=made))


@mutant(p.OPEN, RFC5661_RECALL)
def open4_ignores_delegations(call: Open) -> p.Open4Res:
    """OPEN that conflicts with a delegation succeeds at once"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DELAY:
        return result
    nothing = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
    cinfo = p.ChangeInfo4(False, 0, 0)
    resok = p.Open4ResOk(p.Stateid4(1, b"too early..."), cinfo, 0, [], nothing)
    return p.Open4Res(Nfsstat4.NFS4_OK, resok)


@mutant(p.DELEGRETURN, RFC5661_DELEGRETURN)
def delegreturn4_returns_nothing(_call: Call[p.Delegreturn4Args, p.Delegreturn4Res]) -> p.Delegreturn4Res:
    """DELEGRETURN succeeds, and the delegation stays"""
    return p.Delegreturn4Res(Nfsstat4.NFS4_OK)


@mutant(p.GETATTR, RFC5661_WRITE_DELEGATIONS)
def getattr4_asks_no_writer(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """GETATTR answers with what the server has, although another client has a write delegation"""
    state = compound_of(call.context)
    if state.current is None or state.current.data is None:
        return call.proceed()
    view = View(call.server, state.current, state.minor)
    return p.Getattr4Res(Nfsstat4.NFS4_OK, p.Getattr4ResOk(read(view, call.args.attr_request)))


@mutant(p.REMOVE, RFC5661_RECALL)
def remove4_ignores_delegations(call: Call[p.Remove4Args, p.Remove4Res]) -> p.Remove4Res:
    """REMOVE of a delegated file succeeds at once, while its recall is on its way"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DELAY:
        return result
    return p.Remove4Res(Nfsstat4.NFS4_OK, p.Remove4ResOk(p.ChangeInfo4(False, 0, 0)))


@mutant(p.GETATTR, RFC5661_WRITE_DELEGATIONS)
def getattr4_answers_before_the_return(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """GETATTR recalls a write delegation, and answers at once with what the server has"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DELAY:
        return result
    state = compound_of(call.context)
    assert state.current is not None
    view = View(call.server, state.current, state.minor)
    return p.Getattr4Res(Nfsstat4.NFS4_OK, p.Getattr4ResOk(read(view, call.args.attr_request)))
