# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_recall_any.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType, replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import calls_back
from nfsserver.callbacks import recall
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of
from nfsserver.state.delegations import Delegation

Open = Call[p.Open4Args, p.Open4Res]


@mutant(p.OPEN)
def open4_recalls_any_of_undefined_types(call: Open) -> p.Open4Res:
    """CB_RECALL_ANY sets all bits of the first word of its type mask"""

    def bent(operation: XdrType) -> XdrType:
        return (
            replace(operation, craa_type_mask=[0xFFFF_FFFF])
            if isinstance(operation, p.CbRecallAny4Args)
            else operation
        )

    with calls_back(call.server, lambda args: replace(args, argarray=[*map(bent, args.argarray)])):
        return call.proceed()


def _too_many(call: Open) -> list[Delegation]:
    """The delegations of the client, the oldest first, if it was just asked to return some."""
    state = compound_of(call.context)
    if not state.client.is_to_keep_few:
        return []
    found = state.states.held.stateids.of_client(state.client.id)
    return [each for each in found if isinstance(each, Delegation) and each.lost is None]


@mutant(p.OPEN)
def open4_chooses_what_to_return(call: Open) -> p.Open4Res:
    """With CB_RECALL_ANY the server revokes the oldest delegation of the client"""
    result = call.proceed()
    for delegation in _too_many(call)[:1]:
        call.server.states.revoke_delegation(delegation)
    return result


@mutant(p.OPEN)
def open4_recalls_each_after_any(call: Open) -> p.Open4Res:
    """After CB_RECALL_ANY the server recalls the oldest delegation at once"""
    result = call.proceed()
    held = call.server.states.held.delegations
    for delegation in _too_many(call)[:1]:
        if isinstance(delegation.file, Inode) and held.recall(delegation, call.server.states.now()):
            recall(call.server, delegation, delegation.file)
    return result
