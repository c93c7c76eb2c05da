# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_referrals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4, succeeded
from nfsserver.nfs4.common import compound_of

_MOVED: t.Final = Nfsstat4.NFS4ERR_MOVED


def is_absent(call: AnyCall) -> bool:
    """Whether the current filehandle is in an absent file system."""
    here = compound_of(call.context).current
    return here is not None and call.backend.pseudo.is_absent(here)


@mutant(p.LOOKUP)
def lookup4_into_what_is_absent_is_moved(call: Call[p.Lookup4Args, p.Lookup4Res]) -> p.Lookup4Res:
    """LOOKUP of a referral gets MOVED"""
    result = call.proceed()
    return p.Lookup4Res(_MOVED) if is_absent(call) else result


@mutant(p.GETFH)
def getfh4_gives_absent_filehandles(call: Call[p.Getfh4Args, p.Getfh4Res]) -> p.Getfh4Res:
    """GETFH of an absent file system returns a filehandle"""
    result, here = call.proceed(), compound_of(call.context).current
    if result.status != _MOVED or here is None:
        return result
    return p.Getfh4Res(Nfsstat4.NFS4_OK, p.Getfh4ResOk(call.backend.handle_of(here)))


@mutant(
    (
        *(p.ACCESS, p.CREATE, p.LINK, p.LOOKUP, p.LOOKUPP, p.OPEN, p.OPENATTR, p.READDIR, p.REMOVE),
        *(p.RENAME, p.SAVEFH, p.SECINFO, p.SECINFO_NO_NAME, p.SETATTR),
    )
)
def operations4_absent_is_stale(call: AnyCall) -> t.Any:
    """An operation on an absent file system gets STALE"""
    was_absent = is_absent(call)
    result = call.proceed()
    return restate4(result, _MOVED, Nfsstat4.NFS4ERR_STALE) if was_absent else result


@mutant(p.PUTFH)
def putfh4_stays_where_absent(call: Call[p.Putfh4Args, p.Putfh4Res]) -> p.Putfh4Res:
    """PUTFH after LOOKUP of a referral succeeds, and leads to the root of the server"""
    was_absent = is_absent(call)
    result = call.proceed()
    if was_absent and succeeded(result):
        compound_of(call.context).current = call.backend.pseudo.root
    return result


@mutant(p.SECINFO)
def secinfo4_referrals_are_noent(call: Call[p.Secinfo4Args, p.Secinfo4Res]) -> p.Secinfo4Res:
    """SECINFO of a referral gets NOENT"""
    here = compound_of(call.context).current
    found = None if here is None or here.directory is None else here.directory.get(bytes(call.args.name))
    if found is not None and call.backend.pseudo.is_absent(call.backend.pseudo.cross(found)):
        return p.Secinfo4Res(Nfsstat4.NFS4ERR_NOENT)
    return call.proceed()


@mutant(p.OPEN)
def open4_opens_referrals(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN of a referral succeeds"""
    here, name = compound_of(call.context).current, call.args.claim.file
    found = (
        None if here is None or here.directory is None or name is None else here.directory.get(bytes(name))
    )
    if found is None or not call.backend.pseudo.is_absent(call.backend.pseudo.cross(found)):
        return call.proceed()
    made = p.Open4ResOk(
        stateid=p.Stateid4(1, bytes(12)),
        cinfo=p.ChangeInfo4(True, 0, 0),
        rflags=0,
        attrset=[],
        delegation=p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE),
    )
    return p.Open4Res(Nfsstat4.NFS4_OK, made)


@mutant(p.EXCHANGE_ID)
def exchangeid4_hides_referrals(call: Call[p.ExchangeId4Args, p.ExchangeId4Res]) -> p.ExchangeId4Res:
    """EXCHANGE_ID of a server with a referral does not return SUPP_MOVED_REFER"""
    return amend4(call.proceed(), eir_flags=lambda it: it.eir_flags & ~p.EXCHGID4_FLAG_SUPP_MOVED_REFER)
