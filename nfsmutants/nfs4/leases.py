# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_leases.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsserver.state.stateids import StateError

Sequence = Call[p.Sequence4Args, p.Sequence4Res]


def _without_renewal(call: Sequence, *, only_others: bool) -> p.Sequence4Res:
    try:
        client = call.server.states.sessions.require(call.args.sa_sessionid).client
    except StateError:
        return call.proceed()
    if only_others and next(iter(client.sessions), b"") == call.args.sa_sessionid:
        return call.proceed()
    renewed = client.renewed
    result = call.proceed()
    client.renewed = renewed
    return result


@mutant(p.SEQUENCE)
def sequence4_renews_no_lease(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE does not renew the lease of its client"""
    return _without_renewal(call, only_others=False)


@mutant(p.SEQUENCE)
def sequence4_renews_by_one_session(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE renews the lease in the first session of a client only"""
    return _without_renewal(call, only_others=True)


@mutant((p.OPEN, p.LOCK))
def nfs4_honours_what_expired(call: Call[t.Any, t.Any]) -> t.Any:
    """Opens and locks of a client whose lease has expired stay in the way of others"""
    states = call.server.states
    vars(states)["is_id_of_expired"] = lambda _number: False
    try:
        return call.proceed()
    finally:
        del vars(states)["is_id_of_expired"]
