# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_alike.py catch: comparing only a part of a value."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import sequence_of, succeeded, with_sequence
from nfsmutants.rules import (
    RFC5661_LOOKUP,
    RFC5661_OPEN,
)
from nfsserver.nfs4.common import compound_of

Open = Call[p.Open4Args, p.Open4Res]
_LONG: t.Final = 60
"""Bytes of a name: longer than any that a check uses by chance."""


def _up_to_nul(value: bytes) -> bytes:
    return bytes(value).partition(b"\0")[0]


@mutant((p.LOCK, p.LOCKT))
def locks4_cut_owners_at_a_nul(call: AnyCall) -> t.Any:
    """LOCK and LOCKT take a lock-owner for a string that ends at its first NUL"""
    if call.operation is p.LOCKT:
        return call.proceed_with("owner", owner=lambda it: _up_to_nul(it.owner))
    return call.proceed_with("locker.open_owner.lock_owner", owner=lambda it: _up_to_nul(it.owner))


@mutant(p.OPEN)
def open4_compares_the_start_of_owners(call: Open) -> p.Open4Res:
    """OPEN compares the first 32 bytes of open-owners"""
    return call.proceed_with("owner", owner=lambda it: bytes(it.owner)[:32])


@mutant(p.EXCHANGE_ID)
def exchangeid4_cuts_owners_at_a_nul(call: Call[p.ExchangeId4Args, p.ExchangeId4Res]) -> p.ExchangeId4Res:
    """EXCHANGE_ID takes co_ownerid for a string that ends at its first NUL"""
    return call.proceed_with("eia_clientowner", co_ownerid=lambda it: _up_to_nul(it.co_ownerid))


@mutant((p.OPEN, p.READ))
def read4_compares_half_of_stateids(call: AnyCall) -> t.Any:
    """READ finds an open by the first half of the other field of its stateid"""
    result = call.proceed()
    if call.operation is p.OPEN:
        if succeeded(result):
            other = bytes(result.resok4.stateid.other)
            call.state[other[:6]] = other
        return result
    known = call.state.get(bytes(call.args.stateid.other)[:6])
    if result.status != Nfsstat4.NFS4ERR_BAD_STATEID or known is None:
        return result
    return call.proceed_with("stateid", other=known)


@mutant(p.COMPOUND)
def sequence4_compares_half_of_session_ids(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """SEQUENCE finds a session by the first half of its id"""
    sent, reply = sequence_of(call.args), call.proceed()
    if sent is None:
        return reply
    start = bytes(sent.sa_sessionid)[:8]
    if reply.status == Nfsstat4.NFS4_OK:
        call.state[start] = sent.sa_sessionid
    if reply.status != Nfsstat4.NFS4ERR_BADSESSION or start not in call.state:
        return reply
    return call.proceed(with_sequence(call.args, sa_sessionid=call.state[start]))


@mutant(p.OPEN)
def open4_compares_half_of_the_verifier(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4_1 succeeds if one half of the verifier is that of the file"""
    how, directory = call.args.openhow.how, compound_of(call.context).current
    result = call.proceed()
    if how is None or how.ch_createboth is None:
        return result
    verifier = bytes(how.ch_createboth.cva_verf)
    key = id(directory), bytes(call.args.claim.file or b"")
    if result.status == Nfsstat4.NFS4_OK:
        call.state[key] = verifier
    known = call.state.get(key, b"")
    is_meant = known[:4] == verifier[:4] or known[4:] == verifier[4:]
    if result.status != Nfsstat4.NFS4ERR_EXIST or not known or not is_meant:
        return result
    taking = p.Createhow4(p.Createmode4.UNCHECKED4, createattrs=p.Fattr4())
    return call.proceed_with("openhow", how=taking)


def _names(call: AnyCall) -> list[bytes]:
    directory = compound_of(call.context).current
    return [] if directory is None or directory.directory is None else list(directory.directory.names())


@mutant(p.LOOKUP, breaks=RFC5661_LOOKUP)
def lookup4_compares_the_start_of_names(call: Call[p.Lookup4Args, p.Lookup4Res]) -> p.Lookup4Res:
    """LOOKUP compares the first 60 bytes of names"""
    asked = bytes(call.args.objname)
    alike = [name for name in _names(call) if len(asked) > _LONG and name[:_LONG] == asked[:_LONG]]
    return call.proceed_with(objname=min(alike)) if alike else call.proceed()


@mutant(p.OPEN, breaks=RFC5661_OPEN)
def open4_guarded_folds_case(call: Open) -> p.Open4Res:
    """OPEN with GUARDED4 opens a file whose name differs in case"""
    how, asked = call.args.openhow.how, bytes(call.args.claim.file or b"")
    if how is None or how.mode is not p.Createmode4.GUARDED4:
        return call.proceed()
    alike = [name for name in _names(call) if name != asked and name.lower() == asked.lower()]
    if not alike:
        return call.proceed()
    bent = p.Openflag4(p.Opentype4.OPEN4_NOCREATE)
    return call.proceed_with(openhow=bent, claim=p.OpenClaim4(p.OpenClaimType4.CLAIM_NULL, file=alike[0]))


@mutant((p.OPEN, p.LOCKT))
def opens4_are_of_names(call: AnyCall) -> t.Any:
    """OPEN and LOCKT find no conflict on a file that has two names"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is None or inode.nlink < 2 or inode.data is None:
        return result
    if call.operation is p.LOCKT and result.status == Nfsstat4.NFS4ERR_DENIED:
        return p.Lockt4Res(Nfsstat4.NFS4_OK)
    if result.status == Nfsstat4.NFS4ERR_SHARE_DENIED:
        return call.proceed_with(share_access=p.OPEN4_SHARE_ACCESS_READ, share_deny=0)
    return result
