# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_wants.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import OpenDelegationType4 as Type
from nfsclient.protocol.nfs4 import WhyNoDelegation4 as Why
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.callbacks import has_backchannel
from nfsserver.nfs4.common import compound_of
from nfsserver.state.shares import Share

Open = Call[p.Open4Args, p.Open4Res]
_WANTS: t.Final = p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
_NOBODY: t.Final = p.Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, 0, 0, b"")
_LIMIT: t.Final = p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=p.NFS4_UINT64_MAX)
_STATEID: t.Final = p.Stateid4(1, b"invented one")


def _wants(call: Open) -> int:
    return call.args.share_access & _WANTS


def _granting(result: p.Open4Res, *, is_write: bool) -> p.Open4Res:
    """The result with a delegation of which the server knows nothing."""
    if is_write:
        write = p.OpenWriteDelegation4(_STATEID, False, _LIMIT, _NOBODY)
        made = p.OpenDelegation4(Type.OPEN_DELEGATE_WRITE, write=write)
    else:
        made = p.OpenDelegation4(
            Type.OPEN_DELEGATE_READ, read=p.OpenReadDelegation4(_STATEID, False, _NOBODY)
        )
    return amend4(result, delegation=made)


def _without_reason(result: p.Open4Res, why: Why | None) -> p.Open4Res:
    """The result with another reason for no delegation; None: without one."""
    if result.resok4 is None or result.resok4.delegation.od_whynone is None:
        return result
    if why is None:
        return amend4(result, delegation=p.OpenDelegation4(Type.OPEN_DELEGATE_NONE))
    signal = {"ond_server_will_signal_avail": False} if why is Why.WND4_RESOURCE else {}
    given = p.OpenDelegation4(Type.OPEN_DELEGATE_NONE_EXT, od_whynone=p.OpenNoneDelegation4(why, **signal))
    return amend4(result, delegation=given)


@mutant(p.OPEN)
def open4_delegates_to_who_wants_none(call: Open) -> p.Open4Res:
    """OPEN grants read delegations to clients with a backchannel that want none"""
    unwanted = {p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, p.OPEN4_SHARE_ACCESS_WANT_CANCEL}
    result = call.proceed()
    is_wanted = _wants(call) in unwanted and has_backchannel(call.server, compound_of(call.context).client.id)
    return _granting(result, is_write=False) if is_wanted else result


@mutant(p.OPEN)
def open4_names_resources_as_the_reason(call: Open) -> p.Open4Res:
    """The reason for no delegation is always RESOURCE"""
    return _without_reason(call.proceed(), Why.WND4_RESOURCE)


@mutant(p.OPEN)
def open4_gives_no_reason_for_contention(call: Open) -> p.Open4Res:
    """OPEN answers NONE instead of NONE_EXT where another client is in the way of a delegation"""
    result = call.proceed()
    is_unwanted = _wants(call) in {p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, p.OPEN4_SHARE_ACCESS_WANT_CANCEL}
    return result if is_unwanted else _without_reason(result, None)


@mutant(p.OPEN)
def open4_says_not_wanted(call: Open) -> p.Open4Res:
    """The reason for no delegation is always NOT_WANTED"""
    return _without_reason(call.proceed(), Why.WND4_NOT_WANTED)


def _others(call: Open) -> Share:
    """How other clients have the current file open."""
    compound = compound_of(call.context)
    access = Share(0)
    for opened in call.server.states.held.opens.of_file(compound.current):
        if opened.client != compound.client.id:
            access |= opened.access
    return access


@mutant(p.OPEN)
def open4_delegates_against_writers(call: Open) -> p.Open4Res:
    """OPEN grants read delegations of files that others have open for writing"""
    result = call.proceed()
    is_wanted = _wants(call) == p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG and _others(call) & Share.WRITE
    return _granting(result, is_write=False) if is_wanted else result


@mutant(p.OPEN)
def open4_delegates_writing_against_readers(call: Open) -> p.Open4Res:
    """OPEN grants write delegations of files that others have open for reading"""
    result = call.proceed()
    is_wanted = _wants(call) == p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG and _others(call) == Share.READ
    return _granting(result, is_write=True) if is_wanted else result


@mutant(p.OPEN)
def open4_delegates_writing_against_delegations(call: Open) -> p.Open4Res:
    """OPEN grants write delegations of files of which others have read delegations"""
    compound = compound_of(call.context)
    delegations = call.server.states.held.delegations.of_file(compound.current)
    has_others = any(delegation.client != compound.client.id for delegation in delegations)
    result = call.proceed()
    is_wanted = _wants(call) == p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG and has_others
    return _granting(result, is_write=True) if is_wanted else result


@mutant(p.OPEN)
def open4_delegates_without_a_backchannel(call: Open) -> p.Open4Res:
    """OPEN grants delegations to clients that cannot be called"""
    result, wanted = call.proceed(), _wants(call)
    if has_backchannel(call.server, compound_of(call.context).client.id):
        return result
    if wanted not in {p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG, p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG}:
        return result
    return _granting(result, is_write=wanted == p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG)
