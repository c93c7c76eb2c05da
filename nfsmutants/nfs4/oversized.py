# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_oversized.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate_last

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND)
def compound4_too_many_is_serverfault(call: Compound) -> p.Compound4Res:
    """A COMPOUND with too many operations gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_TOO_MANY_OPS, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant(p.COMPOUND)
def compound4_large_request_is_serverfault(call: Compound) -> p.Compound4Res:
    """A request that is too large for its session gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_REQ_TOO_BIG, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant(p.COMPOUND)
def compound4_large_reply_is_serverfault(call: Compound) -> p.Compound4Res:
    """A reply that is too large for its session gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_REP_TOO_BIG, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant(p.COMPOUND)
def compound4_large_to_cache_is_serverfault(call: Compound) -> p.Compound4Res:
    """A reply that is too large to be cached gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE, Nfsstat4.NFS4ERR_SERVERFAULT)
