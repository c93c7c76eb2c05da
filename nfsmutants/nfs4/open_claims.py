# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_open_claims.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import refusal
from nfsmutants.rules import RFC5661_SHARED_IO
from nfsserver.nfs4.common import compound_of
from nfsserver.state.delegations import Delegation

Open = Call[p.Open4Args, p.Open4Res]
_OK: t.Final = Nfsstat4.NFS4_OK


def _is_exclusive4(call: Open) -> bool:
    how = call.args.openhow.how
    return how is not None and how.mode is p.Createmode4.EXCLUSIVE4


@mutant(p.OPEN)
def open4_by_handle_needs_a_directory(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_FH, before a GETFH, gets NOTDIR, because the current filehandle is no directory"""
    result, state = call.proceed(), compound_of(call.context)
    later = state.operations[state.index + 1 :]
    is_followed = bool(later) and isinstance(later[0], p.Getfh4Args)
    is_meant = is_followed and call.args.claim.claim is p.OpenClaimType4.CLAIM_FH
    return refusal(result, Nfsstat4.NFS4ERR_NOTDIR) if is_meant else result


@mutant(p.OPEN)
def open4_opens_the_first_name(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_NULL that does not create opens the first file of the directory"""
    here = compound_of(call.context).current
    names = [] if here is None or here.directory is None else sorted(here.directory.names())
    if call.args.claim.file is None or call.args.openhow.how is not None or not names:
        return call.proceed()
    return call.proceed_with("claim", file=names[0])


@mutant(p.OPEN)
def open4_exclusive4_is_inval(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4 gets INVAL"""
    return p.Open4Res(Nfsstat4.NFS4ERR_INVAL) if _is_exclusive4(call) else call.proceed()


@mutant(p.OPEN)
def open4_exclusive4_forgets_the_verifier(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4 takes a file that was created with another verifier"""
    return (
        call.proceed_with("openhow.how", createverf=b"the same") if _is_exclusive4(call) else call.proceed()
    )


@mutant(p.OPEN)
def open4_exclusive4_empties(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4 refuses a file that exists, and empties it"""
    here, result = compound_of(call.context).current, call.proceed()
    if not _is_exclusive4(call) or result.status != Nfsstat4.NFS4ERR_EXIST:
        return result
    found = (
        None if here is None or here.directory is None else here.directory.get(call.args.claim.file or b"")
    )
    if found is not None and found.data is not None:
        found.data.truncate(0)
    return result


@mutant(p.OPEN)
def open4_exclusive4_is_for_all(call: Open) -> p.Open4Res:
    """OPEN with EXCLUSIVE4 creates a file of mode 0666"""
    result, made = call.proceed(), compound_of(call.context).current
    if _is_exclusive4(call) and result.status == _OK and made is not None:
        made.mode = 0o666
    return result


@mutant(p.OPEN)
def open4_verifiers_are_of_clients(call: Open) -> p.Open4Res:
    """OPEN that creates exclusively compares the verifiers of one client only"""
    how, me = call.args.openhow.how, compound_of(call.context).client.id.to_bytes(8, "big")
    if how is None or (how.createverf is None and how.ch_createboth is None):
        return call.proceed()
    if how.ch_createboth is not None:
        mixed = bytes(a ^ b for a, b in zip(how.ch_createboth.cva_verf, me, strict=True))
        return call.proceed_with("openhow.how.ch_createboth", cva_verf=mixed)
    mixed = bytes(a ^ b for a, b in zip(how.createverf or b"", me, strict=True))
    return call.proceed_with("openhow.how", createverf=mixed)


@mutant(p.WRITE, breaks=RFC5661_SHARED_IO)
def write4_read_delegations_may_write(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE with the stateid of a read delegation is done"""
    state, other = compound_of(call.context), bytes(call.args.stateid.other)
    mine = state.states.held.stateids.of_client(state.client.id)
    if any(each.other == other and isinstance(each, Delegation) for each in mine):
        return call.proceed_with(stateid=p.ANONYMOUS_STATEID)
    return call.proceed()
