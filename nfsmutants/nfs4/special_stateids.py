# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_special_stateids.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import refusal, restate4
from nfsmutants.nfs4.with_stateid import SUCCESS, TAKING, stateid_of
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of
from nfsserver.state.shares import Share

Read = Call[p.Read4Args, p.Read4Res]
Write = Call[p.Write4Args, p.Write4Res]
_BAD: t.Final = Nfsstat4.NFS4ERR_BAD_STATEID
_PATTERNS: t.Final = (bytes(12), b"\xff" * 12)
_SPECIAL: t.Final = (p.ANONYMOUS_STATEID, p.READ_BYPASS_STATEID, p.CURRENT_STATEID, p.INVALID_STATEID)


def _is_undefined(stateid: p.Stateid4) -> bool:
    return bytes(stateid.other) in _PATTERNS and stateid not in _SPECIAL


@mutant(TAKING)
def stateids4_reserved_are_any(call: AnyCall) -> t.Any:
    """An operation with a reserved stateid that has no meaning succeeds"""
    return SUCCESS[call.operation](call) if _is_undefined(stateid_of(call)) else call.proceed()


@mutant(TAKING)
def stateids4_reserved_write(call: AnyCall) -> t.Any:
    """READ, WRITE and SETATTR take a reserved stateid that has no meaning for the anonymous one; others say success"""
    if not _is_undefined(stateid_of(call)):
        return call.proceed()
    if call.operation in {p.READ, p.WRITE, p.SETATTR}:
        return call.proceed_with(stateid=p.ANONYMOUS_STATEID)
    return SUCCESS[call.operation](call)


@mutant(TAKING)
def stateids4_special_are_any(call: AnyCall) -> t.Any:
    """LOCK, LOCKU, CLOSE, OPEN_DOWNGRADE, DELEGRETURN and FREE_STATEID succeed with a special stateid"""
    is_meant = stateid_of(call) in (p.ANONYMOUS_STATEID, p.READ_BYPASS_STATEID)
    if not is_meant or call.operation in {p.READ, p.WRITE, p.SETATTR}:
        return call.proceed()
    return SUCCESS[call.operation](call)


# ---------------------------------------------------------------- share reservations


@contextlib.contextmanager
def _without_shares(server: ServerApi) -> Iterator[None]:
    """Inside, no share reservation is in the way of anything."""
    shares = server.states.held.shares
    vars(shares)["excludes"] = lambda *_, **__: False
    try:
        yield
    finally:
        del vars(shares)["excludes"]


def _ignoring_denials(call: AnyCall, stateid: p.Stateid4) -> t.Any:
    if stateid_of(call) != stateid:
        return call.proceed()
    with _without_shares(call.server):
        return call.proceed()


@mutant(p.WRITE)
def write4_anonymous_ignores_denials(call: Write) -> p.Write4Res:
    """WRITE with the anonymous stateid does not look at share reservations"""
    return t.cast("p.Write4Res", _ignoring_denials(call, p.ANONYMOUS_STATEID))


@mutant(p.READ)
def read4_anonymous_ignores_denials(call: Read) -> p.Read4Res:
    """READ with the anonymous stateid does not look at share reservations"""
    return t.cast("p.Read4Res", _ignoring_denials(call, p.ANONYMOUS_STATEID))


@mutant((p.WRITE, p.SETATTR))
def changes4_bypass_denials(call: AnyCall) -> t.Any:
    """WRITE and SETATTR with the READ bypass stateid do not look at share reservations"""
    return _ignoring_denials(call, p.READ_BYPASS_STATEID)


@mutant((p.READ, p.WRITE))
def data4_denied_is_access(call: AnyCall) -> t.Any:
    """READ and WRITE that a share reservation denies get ACCESS"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_LOCKED, Nfsstat4.NFS4ERR_ACCESS)


@mutant((p.OPEN, p.READ, p.WRITE))
def data4_denied_forever(call: AnyCall) -> t.Any:
    """READ and WRITE with the anonymous stateid are denied once somebody has denied them, also after its CLOSE"""
    result, here = call.proceed(), compound_of(call.context).current
    if call.operation is p.OPEN:
        if result.status == Nfsstat4.NFS4_OK and call.args.share_deny == Share.BOTH:
            call.state[id(here)] = True
        return result
    is_meant = stateid_of(call) == p.ANONYMOUS_STATEID and id(here) in call.state
    return refusal(result, Nfsstat4.NFS4ERR_LOCKED) if is_meant else result


@mutant(p.READ)
def read4_of_writers_is_not_checked(call: Read) -> p.Read4Res:
    """READ with the stateid of an OPEN for writing does not look at what others deny"""
    if not any(call.args.stateid.other):
        return call.proceed()
    with _without_shares(call.server):
        return call.proceed()


def _denied_by_itself(call: AnyCall, kind: str) -> t.Any:
    state = compound_of(call.context)
    found = {each.other: each.kind for each in state.states.held.stateids.of_client(state.client.id)}
    is_meant = found.get(bytes(stateid_of(call).other)) == kind
    result = call.proceed()
    denied = state.states.held.shares.granted(state.current)[1]
    return refusal(result, Nfsstat4.NFS4ERR_LOCKED) if is_meant and denied == Share.BOTH else result


@mutant((p.READ, p.WRITE))
def data4_denies_the_owner(call: AnyCall) -> t.Any:
    """READ and WRITE with the stateid of an open are denied by that open itself"""
    return _denied_by_itself(call, "open")


@mutant((p.READ, p.WRITE))
def data4_denies_lock_owners(call: AnyCall) -> t.Any:
    """READ and WRITE with the stateid of a lock-owner are denied by the open that the locks are in"""
    return _denied_by_itself(call, "lock")
