# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_delegation.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Hashable, Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType, replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import calls_back, refusal
from nfsmutants.rules import (
    RFC5661_OPEN_DELEGATIONS,
    RFC5661_RECALL,
    RFC5661_REVOCATION,
    RFC5661_WRITE_DELEGATIONS,
)
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of
from nfsserver.nfs4.values import View, read

Open = Call[p.Open4Args, p.Open4Res]
_WANTS = p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
_NOBODY = p.Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, 0, 0, b"")
_LIMIT = p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=p.NFS4_UINT64_MAX)


@mutant(p.OPEN)
def open4_invents_delegations(call: Open) -> p.Open4Res:
    """OPEN returns delegations that the server knows nothing of, and never recalls"""
    wanted = call.args.share_access & _WANTS
    if wanted not in {p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG, p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG}:
        return call.proceed()
    without = call.args.share_access & ~_WANTS | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
    result = call.proceed_with(share_access=without)
    if result.resok4 is None:
        return result
    stateid = p.Stateid4(1, b"invented one")
    if wanted == p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG:
        made = p.OpenDelegation4(
            p.OpenDelegationType4.OPEN_DELEGATE_READ, read=p.OpenReadDelegation4(stateid, False, _NOBODY)
        )
    else:
        made = p.OpenDelegation4(
            p.OpenDelegationType4.OPEN_DELEGATE_WRITE,
            write=p.OpenWriteDelegation4(stateid, False, _LIMIT, _NOBODY),
        )
    return p.Open4Res(Nfsstat4.NFS4_OK, replace(result.resok4, delegation=made))


@mutant(p.OPEN, breaks=RFC5661_RECALL)
def open4_ignores_delegations(call: Open) -> p.Open4Res:
    """OPEN that conflicts with a delegation succeeds at once"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DELAY:
        return result
    nothing = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
    cinfo = p.ChangeInfo4(False, 0, 0)
    resok = p.Open4ResOk(p.Stateid4(1, b"too early..."), cinfo, 0, [], nothing)
    return p.Open4Res(Nfsstat4.NFS4_OK, resok)


@mutant(p.DELEGRETURN)
def delegreturn4_returns_nothing(_call: Call[p.Delegreturn4Args, p.Delegreturn4Res]) -> p.Delegreturn4Res:
    """DELEGRETURN succeeds, and the delegation stays"""
    return p.Delegreturn4Res(Nfsstat4.NFS4_OK)


@mutant(p.GETATTR, breaks=RFC5661_WRITE_DELEGATIONS)
def getattr4_asks_no_writer(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """GETATTR answers with what the server has, although another client has a write delegation"""
    state = compound_of(call.context)
    if state.current is None or state.current.data is None:
        return call.proceed()
    view = View(call.server, state.current, state.minor)
    return p.Getattr4Res(Nfsstat4.NFS4_OK, p.Getattr4ResOk(read(view, call.args.attr_request)))


@mutant(p.REMOVE, breaks=RFC5661_RECALL)
def remove4_ignores_delegations(call: Call[p.Remove4Args, p.Remove4Res]) -> p.Remove4Res:
    """REMOVE of a delegated file succeeds at once, while its recall is on its way"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DELAY:
        return result
    return p.Remove4Res(Nfsstat4.NFS4_OK, p.Remove4ResOk(p.ChangeInfo4(False, 0, 0)))


@mutant(p.GETATTR, breaks=RFC5661_WRITE_DELEGATIONS)
def getattr4_answers_before_the_return(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """GETATTR recalls a write delegation, and answers at once with what the server has"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DELAY:
        return result
    state = compound_of(call.context)
    assert state.current is not None
    view = View(call.server, state.current, state.minor)
    return p.Getattr4Res(Nfsstat4.NFS4_OK, p.Getattr4ResOk(read(view, call.args.attr_request)))


# ---------------------------------------------------------------- after the return

R = t.TypeVar("R", bound=XdrType)


def _put_off_for_ever(call: Call[t.Any, R], what: Hashable) -> R:
    """The answer of a server that, once it said DELAY to a client, always does."""
    key = (compound_of(call.context).client.id, what)
    result = call.proceed()
    if p.status_of(result) == Nfsstat4.NFS4ERR_DELAY:
        call.state[key] = True
    return refusal(result, Nfsstat4.NFS4ERR_DELAY) if key in call.state else result


@mutant(p.OPEN)
def open4_delays_after_the_return(call: Open) -> p.Open4Res:
    """OPEN that met a delegation is put off for ever, also when the delegation is returned"""
    return _put_off_for_ever(call, compound_of(call.context).current)


@mutant(p.REMOVE, breaks=RFC5661_RECALL)
def remove4_delays_after_the_return(call: Call[p.Remove4Args, p.Remove4Res]) -> p.Remove4Res:
    """REMOVE that met a delegation is put off for ever, also when the delegation is returned"""
    return _put_off_for_ever(call, (compound_of(call.context).current, bytes(call.args.target)))


@mutant(p.GETATTR, breaks=RFC5661_RECALL)
def getattr4_delays_after_the_return(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """GETATTR that met a delegation is put off for ever, also when the delegation is returned"""
    return _put_off_for_ever(call, compound_of(call.context).current)


@mutant(p.OPEN, breaks=RFC5661_REVOCATION)
def open4_revokes_delegations_at_once(call: Open) -> p.Open4Res:
    """OPEN that conflicts with a delegation revokes it at once, and succeeds"""
    result = call.proceed()
    state, held = compound_of(call.context), call.server.states.held
    if result.status != Nfsstat4.NFS4ERR_DELAY or state.current is None:
        return result
    for delegation in held.delegations.in_the_way(state.current, state.client.id, changes=True):
        held.revoke_delegation(delegation)
    return call.proceed()


@mutant(p.OPEN)
def open4_recalls_for_both_only(call: Open) -> p.Open4Res:
    """OPEN recalls delegations only if it is for reading and writing"""
    if call.args.share_access & p.OPEN4_SHARE_ACCESS_BOTH == p.OPEN4_SHARE_ACCESS_BOTH:
        return call.proceed()
    with unseen_delegations(call.server):
        return call.proceed()


@mutant(p.OPEN)
def open4_recalls_without_regard_to_deny(call: Open) -> p.Open4Res:
    """OPEN for reading that denies reading to others recalls no read delegation"""
    is_for_reading = not call.args.share_access & p.OPEN4_SHARE_ACCESS_WRITE
    if not (is_for_reading and call.args.share_deny & p.OPEN4_SHARE_DENY_READ):
        return call.proceed()
    with unseen_delegations(call.server):
        return call.proceed()


# ---------------------------------------------------------------- what CB_RECALL says


def _recalls(
    server: ServerApi, bend: Callable[[p.CbRecall4Args], p.CbRecall4Args]
) -> contextlib.AbstractContextManager[None]:
    """CB_RECALLs that are sent inside have other arguments."""

    def bent(args: p.CbCompound4Args) -> p.CbCompound4Args:
        sent = [
            bend(operation) if isinstance(operation, p.CbRecall4Args) else operation
            for operation in args.argarray
        ]
        return replace(args, argarray=sent)

    return calls_back(server, bent)


@mutant(p.OPEN)
def open4_recalls_with_the_seqid(call: Open) -> p.Open4Res:
    """CB_RECALL has the stateid of the delegation with its seqid, 1, instead of 0"""
    with _recalls(call.server, lambda it: replace(it, stateid=p.Stateid4(1, it.stateid.other))):
        return call.proceed()


@mutant(p.OPEN)
def open4_recalls_another_stateid(call: Open) -> p.Open4Res:
    """CB_RECALL has a stateid that was never given to the client"""
    with _recalls(call.server, lambda it: replace(it, stateid=p.Stateid4(0, b"another one!"))):
        return call.proceed()


@mutant(p.OPEN)
def open4_recalls_another_file(call: Open) -> p.Open4Res:
    """CB_RECALL has the filehandle of the root of the export"""
    root = call.backend.handle_of(next(iter(call.backend.exports.values())).root)
    with _recalls(call.server, lambda it: replace(it, fh=root)):
        return call.proceed()


# ---------------------------------------------------------------- for other versions


@contextlib.contextmanager
def unseen_delegations(server: ServerApi) -> Iterator[None]:
    """Inside, no delegation is in the way of anything."""
    table = server.states.held.delegations
    vars(table)["in_the_way"] = lambda *_args, **_options: []
    try:
        yield
    finally:
        del vars(table)["in_the_way"]


# ---------------------------------------------------------------- operations other than OPEN, REMOVE and GETATTR

_EVENTS: t.Final = (p.LINK, p.RENAME, p.SETATTR, p.SETXATTR, p.WRITE, p.READ)


@mutant(_EVENTS, breaks=RFC5661_OPEN_DELEGATIONS)
def changes4_ignore_delegations(call: AnyCall) -> t.Any:
    """Only OPEN, REMOVE and GETATTR recall delegations"""
    with unseen_delegations(call.server):
        return call.proceed()


@mutant(_EVENTS, breaks=RFC5661_OPEN_DELEGATIONS)
def changes4_do_not_wait_for_the_return(call: AnyCall) -> t.Any:
    """LINK, RENAME, SETATTR, SETXATTR, WRITE and READ recall a delegation, and do not wait for its return"""
    result = call.proceed()
    if p.status_of(result) != Nfsstat4.NFS4ERR_DELAY:
        return result
    with unseen_delegations(call.server):
        return call.proceed()


@mutant(_EVENTS, breaks=RFC5661_RECALL)
def changes4_delay_after_the_return(call: AnyCall) -> t.Any:
    """LINK, RENAME, SETATTR, SETXATTR, WRITE and READ that met a delegation are put off for ever"""
    return _put_off_for_ever(call, (call.operation, compound_of(call.context).current))
