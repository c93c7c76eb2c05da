# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_users.py catch."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import AnyCall, Call, mutant
from nfsserver.fs import Caller
from nfsserver.nfs4.common import compound_of


def _as(call: AnyCall, caller: Caller) -> t.Any:
    """The answer that another caller gets."""
    state = compound_of(call.context)
    known, state.caller = state.caller, caller
    try:
        return call.proceed()
    finally:
        state.caller = known


@mutant(p.ACCESS)
def access4_grants_strangers(call: Call[p.Access4Args, p.Access4Res]) -> t.Any:
    """ACCESS grants what it would grant root, to anybody"""
    return _as(call, Caller(0, 0))


@mutant(p.OPEN)
def open4_asks_no_mode(call: Call[p.Open4Args, p.Open4Res]) -> t.Any:
    """OPEN grants what it would grant root, to anybody"""
    return _as(call, Caller(0, 0))


@mutant((p.ACCESS, p.OPEN, p.READ))
def auth4_eight_groups_count(call: AnyCall) -> t.Any:
    """Of the groups of a caller, only the eight with the lowest numbers count"""
    known = compound_of(call.context).caller
    groups = frozenset(sorted(known.groups)[:8])
    return _as(call, dataclasses.replace(known, groups=groups))


@mutant(p.CLOSE)
def close4_compares_owners_without_clients(call: Call[p.Close4Args, p.Close4Res]) -> p.Close4Res:
    """CLOSE ends the opens of the file by the same open-owner of all clients"""
    state = compound_of(call.context)
    inode, held = state.current, state.states.held
    opens = [] if inode is None else [*held.opens.of_file(inode)]
    ended = [opened for opened in opens if opened.stateid.other == call.args.open_stateid.other]
    result = call.proceed()
    if result.status == 0 and ended:
        for opened in opens:
            if opened is not ended[0] and opened.owner == ended[0].owner:
                held.close(opened)
    return result
