# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_current_stateid.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.with_stateid import TAKING, stateid_of
from nfsserver.nfs4.common import compound_of, plain


def _setting_nothing(call: AnyCall) -> t.Any:
    """The server's answer; the current stateid is that of before."""
    state = compound_of(call.context)
    before = state.stateid
    result = call.proceed()
    state.stateid = before
    return result


@mutant(p.LOCK)
def lock4_sets_no_current_stateid(call: AnyCall) -> t.Any:
    """LOCK does not set the current stateid"""
    return _setting_nothing(call)


@mutant(p.LOCKU)
def locku4_sets_no_current_stateid(call: AnyCall) -> t.Any:
    """LOCKU does not set the current stateid"""
    return _setting_nothing(call)


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_sets_no_current_stateid(call: AnyCall) -> t.Any:
    """OPEN_DOWNGRADE does not set the current stateid"""
    return _setting_nothing(call)


@mutant(p.OPEN)
def open4_current_is_the_delegation(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN sets the current stateid to that of the delegation that it grants"""
    result = call.proceed()
    granted = None if result.resok4 is None else result.resok4.delegation
    delegation = None if granted is None else granted.read or granted.write
    if delegation is not None:
        compound_of(call.context).stateid = plain(delegation.stateid)
    return result


@mutant(TAKING)
def stateids4_current_is_unknown(call: AnyCall) -> t.Any:
    """An operation with the current stateid gets BAD_STATEID, also after an OPEN"""
    if stateid_of(call) == p.CURRENT_STATEID and call.operation not in {p.READ, p.CLOSE}:
        before = compound_of(call.context).stateid
        compound_of(call.context).stateid = None
        result = call.proceed()
        compound_of(call.context).stateid = before
        return result
    return call.proceed()


@mutant(p.WRITE)
def write4_current_is_anonymous(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE with the current stateid is done as with the anonymous one"""
    is_meant = call.args.stateid == p.CURRENT_STATEID and compound_of(call.context).stateid is not None
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID) if is_meant else call.proceed()


@mutant(p.READ)
def read4_current_keeps_the_seqid(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ gets the current stateid with its seqid"""
    known = compound_of(call.context).stateid
    if call.args.stateid != p.CURRENT_STATEID or known is None:
        return call.proceed()
    return call.proceed_with(stateid=p.Stateid4(*known))


@mutant((p.CLOSE, p.OPEN_DOWNGRADE))
def close4_current_has_no_seqid(call: AnyCall) -> t.Any:
    """CLOSE and OPEN_DOWNGRADE get the current stateid with a seqid of 0"""
    known = compound_of(call.context).stateid
    if stateid_of(call) != p.CURRENT_STATEID or known is None:
        return call.proceed()
    return call.proceed_with(open_stateid=p.Stateid4(0, known.other))


@mutant((p.PUTFH, p.LOOKUP, p.RESTOREFH))
def filehandles4_keep_the_current_stateid(call: AnyCall) -> t.Any:
    """PUTFH, LOOKUP and RESTOREFH leave the current stateid as it is"""
    return _setting_nothing(call)


@mutant(p.READ)
def read4_sets_the_current_stateid(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ sets the current stateid to the one in its arguments"""
    result = call.proceed()
    if result.status == Nfsstat4.NFS4_OK and any(call.args.stateid.other):
        compound_of(call.context).stateid = plain(call.args.stateid)
    return result
