# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_sessions.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import sequence_of
from nfsmutants.rules import RFC5661_CONNECTION_LOSS

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND, RFC5661_CONNECTION_LOSS)
def sequence4_new_connection_is_misordered(call: Compound) -> p.Compound4Res:
    """The first request of a session on a further connection gets SEQ_MISORDERED"""
    sent = sequence_of(call.args)
    if sent is None:
        return call.proceed()
    known: set[t.Any] = call.state.setdefault(sent.sa_sessionid, set())
    is_new = bool(known) and call.peer not in known
    known.add(call.peer)
    if is_new and len(call.args.argarray) > 1:
        return p.Compound4Res(
            Nfsstat4.NFS4ERR_SEQ_MISORDERED, call.args.tag, [p.Sequence4Res(Nfsstat4.NFS4ERR_SEQ_MISORDERED)]
        )
    return call.proceed()
