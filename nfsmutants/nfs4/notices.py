# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_notices.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType, replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, calls_back
from nfsserver.callbacks import notify_lock
from nfsserver.nfs4.common import compound_of

Locku = Call[p.Locku4Args, p.Locku4Res]


@mutant(p.OPEN)
def open4_does_not_announce_notices(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN never sets OPEN4_RESULT_MAY_NOTIFY_LOCK, and CB_NOTIFY_LOCK comes all the same"""
    return amend4(call.proceed(), rflags=lambda it: it.rflags & ~p.OPEN4_RESULT_MAY_NOTIFY_LOCK)


def _notifying(call: Locku, **changes: object) -> p.Locku4Res:
    """LOCKU, with other arguments of the CB_NOTIFY_LOCK that follows from it."""

    def bent(operation: XdrType) -> XdrType:
        return replace(operation, **changes) if isinstance(operation, p.CbNotifyLock4Args) else operation

    with calls_back(call.server, lambda args: replace(args, argarray=[*map(bent, args.argarray)])):
        return call.proceed()


@mutant(p.LOCKU)
def locku4_notifies_another_owner(call: Locku) -> p.Locku4Res:
    """CB_NOTIFY_LOCK has a lock-owner that the client has never used"""
    return _notifying(call, cnla_lock_owner=p.StateOwner4(compound_of(call.context).client.id, b"another"))


@mutant(p.LOCKU)
def locku4_notifies_of_another_file(call: Locku) -> p.Locku4Res:
    """CB_NOTIFY_LOCK has the filehandle of the root of the export"""
    return _notifying(call, cnla_fh=call.backend.handle_of(next(iter(call.backend.exports.values())).root))


@mutant(p.LOCKU)
def locku4_notifies_whoever_has_it_open(call: Locku) -> p.Locku4Res:
    """After LOCKU, CB_NOTIFY_LOCK goes to all lock-owners of the file, also to those that were denied nothing"""
    result, state = call.proceed(), compound_of(call.context)
    if state.current is not None:
        for lock in state.states.held.locks.of_file(state.current):
            if lock.client != state.client.id:
                notify_lock(call.server, lock.client, state.current, lock.owner)
    return result
