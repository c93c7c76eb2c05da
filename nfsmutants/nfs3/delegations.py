# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_delegations.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, LINK, READ, REMOVE, RENAME, SETATTR, WRITE, Nfsstat3
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.delegation import unseen_delegations
from nfsserver.nfs3.freedoms.withheld import reply_with_nothing

AnyCall = Call[t.Any, t.Any]
_CONFLICTS: t.Final = (WRITE, SETATTR, REMOVE, RENAME, LINK, CREATE, READ)


@mutant(_CONFLICTS)
def nfs3_ignores_delegations(call: AnyCall) -> t.Any:
    """NFSv3 knows nothing of the delegations of NFSv4 clients"""
    with unseen_delegations(call.server):
        return call.proceed()


@mutant(_CONFLICTS)
def nfs3_executes_while_it_recalls(call: AnyCall) -> t.Any:
    """A call of NFSv3 recalls a delegation, and does not wait for its return"""
    result = call.proceed()
    if result.status != Nfsstat3.NFS3ERR_JUKEBOX:
        return result
    with unseen_delegations(call.server):
        return call.proceed()


@mutant(_CONFLICTS)
def nfs3_delays_after_the_return(call: AnyCall) -> t.Any:
    """A call of NFSv3 that met a delegation gets JUKEBOX for ever"""
    result = call.proceed()
    if result.status == Nfsstat3.NFS3ERR_JUKEBOX:
        call.state[call.args.to_xdr()] = True
    if call.args.to_xdr() not in call.state:
        return result
    return reply_with_nothing(call.operation.res, Nfsstat3.NFS3ERR_JUKEBOX)
