# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_delegated.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.conflicts import clear_way
from nfsserver.nfs4.common import compound_of
from nfsserver.state.delegations import Delegation
from nfsserver.state.stateids import StateError

Open = Call[p.Open4Args, p.Open4Res]
Write = Call[p.Write4Args, p.Write4Res]
_CUR: t.Final = frozenset({p.OpenClaimType4.CLAIM_DELEGATE_CUR, p.OpenClaimType4.CLAIM_DELEG_CUR_FH})
_CALLS: t.Final = (p.OPEN, p.SETATTR, p.READ, p.WRITE, p.RENAME, p.LINK, p.GETATTR, p.REMOVE)


def delegations_of(call: AnyCall) -> list[Delegation]:
    """Those that the client of a call has of the current file."""
    compound = compound_of(call.context)
    if compound.current is None or compound.sender is None:
        return []
    held = call.server.states.held.delegations.of_file(compound.current)
    return [delegation for delegation in held if delegation.client == compound.client.id]


@mutant(_CALLS, kills_many="whoever has a delegation calls")
def calls4_recall_from_the_holder(call: AnyCall) -> t.Any:
    """What a client does recalls its own delegations of the file, too; the call does not wait for them"""
    compound = compound_of(call.context)
    files = [compound.current, compound.saved]
    if call.operation in {p.RENAME, p.REMOVE} and compound.current is not None and compound.current.directory:
        name = call.args.oldname if call.operation is p.RENAME else call.args.target
        files.append(compound.current.directory.get(bytes(name)))
    if compound.sender is not None:
        for file in files:
            if file is not None and file.data is not None:
                try:
                    clear_way(call.server, file, None, changes=True)
                except StateError:
                    continue
    return call.proceed()


def _is_delegation(call: AnyCall, *, recalled: bool = False) -> bool:
    return any(
        delegation.other == bytes(call.args.stateid.other)
        and (not recalled or delegation.recalled_at is not None)
        for delegation in delegations_of(call)
    )


@mutant(p.READ)
def read4_refuses_delegations(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ with the stateid of a delegation gets BAD_STATEID"""
    return p.Read4Res(Nfsstat4.NFS4ERR_BAD_STATEID) if _is_delegation(call) else call.proceed()


@mutant(p.WRITE)
def write4_refuses_delegations(call: Write) -> p.Write4Res:
    """WRITE with the stateid of a delegation gets BAD_STATEID"""
    return p.Write4Res(Nfsstat4.NFS4ERR_BAD_STATEID) if _is_delegation(call) else call.proceed()


@mutant(p.WRITE)
def write4_takes_read_delegations(call: Write) -> p.Write4Res:
    """WRITE with the stateid of a read delegation is executed"""
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID) if _is_delegation(call) else call.proceed()


@mutant(p.OPEN)
def open4_delegates_with_its_own_stateid(call: Open) -> p.Open4Res:
    """A delegation has the stateid of the OPEN that it came with"""
    result = call.proceed()
    if result.resok4 is None:
        return result
    granted = result.resok4.delegation
    for kind in ("read", "write"):
        if getattr(granted, kind) is not None:
            return amend4(result, f"delegation.{kind}", stateid=result.resok4.stateid)
    return result


# ---------------------------------------------------------------- while it is recalled


@mutant(p.OPEN)
def open4_claims_nothing_under_recall(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_DELEGATE_CUR or CLAIM_DELEG_CUR_FH gets BAD_STATEID once the delegation is recalled"""
    result = call.proceed()
    is_recalled = any(delegation.recalled_at is not None for delegation in delegations_of(call))
    return (
        p.Open4Res(Nfsstat4.NFS4ERR_BAD_STATEID) if call.args.claim.claim in _CUR and is_recalled else result
    )


@mutant((p.OPEN, p.DELEGRETURN))
def delegreturn4_closes_what_was_claimed(call: AnyCall) -> t.Any:
    """DELEGRETURN closes the files that were opened by a claim of the delegation"""
    opened: list[t.Any] = call.state.setdefault("opened", [])
    result = call.proceed()
    if call.operation is p.OPEN:
        if call.args.claim.claim in _CUR and result.resok4 is not None:
            opened.append((compound_of(call.context).current, bytes(result.resok4.stateid.other)))
        return result
    held = call.server.states.held
    for file, other in opened:
        for state in list(held.opens.of_file(file)):
            if state.other == other:
                held.close(state)
    opened.clear()
    return result


@mutant(p.WRITE)
def write4_refuses_recalled_delegations(call: Write) -> p.Write4Res:
    """WRITE with the stateid of a delegation that is recalled gets BAD_STATEID"""
    if _is_delegation(call, recalled=True):
        return p.Write4Res(Nfsstat4.NFS4ERR_BAD_STATEID)
    return call.proceed()


@mutant(p.LOCK)
def lock4_is_denied_under_recall(call: Call[p.Lock4Args, p.Lock4Res]) -> p.Lock4Res:
    """LOCK by a client whose delegation is recalled gets BAD_STATEID"""
    if any(delegation.recalled_at is not None for delegation in delegations_of(call)):
        return p.Lock4Res(Nfsstat4.NFS4ERR_BAD_STATEID)
    return call.proceed()
