# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_refused_values.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import restate_last
from nfsserver.fs import SUPERUSER
from nfsserver.nfs4.common import compound_of

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND)
def attributes4_badowner_is_serverfault(call: Compound) -> p.Compound4Res:
    """An owner without a translation gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_BADOWNER, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant(p.COMPOUND)
def attributes4_fbig_is_serverfault(call: Compound) -> p.Compound4Res:
    """A size above maxfilesize gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_FBIG, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant((p.CREATE, p.OPEN, p.SETATTR))
def attributes4_owners_are_given_away(call: AnyCall) -> t.Any:
    """A common user may make anybody the owner of an object"""
    result = call.proceed()
    if p.status_of(result) != Nfsstat4.NFS4ERR_PERM:
        return result
    state = compound_of(call.context)
    kept, state.caller = state.caller, SUPERUSER
    done = call.proceed()
    state.caller = kept
    return done
