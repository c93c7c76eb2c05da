# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_open_downgrade.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsmutants.rules import RFC5661_OPEN_DOWNGRADE, RFC5661_SHARED_IO
from nfsserver.nfs4.common import compound_of, on_wire
from nfsserver.state.opens import Open as ServerOpen
from nfsserver.state.shares import Share

Downgrade = Call[p.OpenDowngrade4Args, p.OpenDowngrade4Res]


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_changes_nothing(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE succeeds, and access and denial stay"""
    known = call.args.open_stateid
    stateid = p.Stateid4(known.seqid + 1, known.other)
    return p.OpenDowngrade4Res(Nfsstat4.NFS4_OK, p.OpenDowngrade4ResOk(stateid))


@mutant((p.OPEN, p.OPEN_DOWNGRADE))
def opendowngrade4_keeps_the_denial(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN for writing is denied after OPEN_DOWNGRADE has ended the denial"""
    result = call.proceed()
    if call.operation is p.OPEN_DOWNGRADE:
        call.state["downgraded"] = True
        return result
    is_meant = "downgraded" in call.state and call.args.share_access & p.OPEN4_SHARE_ACCESS_WRITE
    return refusal(result, Nfsstat4.NFS4ERR_SHARE_DENIED) if is_meant else result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_keeps_the_seqid(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE returns the stateid of before"""
    return amend4(call.proceed(), "open_stateid", seqid=call.args.open_stateid.seqid)


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_compares_the_seqid(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE with a seqid that is not 0 gets BAD_SEQID"""
    result = call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_BAD_SEQID) if call.args.seqid else result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_takes_any_value(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE with values that are not defined succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_INVAL:
        return result
    return p.OpenDowngrade4Res(Nfsstat4.NFS4_OK, p.OpenDowngrade4ResOk(call.args.open_stateid))


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_denies_nothing(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE ends every denial"""
    return call.proceed_with(share_deny=0)


# ---------------------------------------------------------------- what was opened

_OK: t.Final = Nfsstat4.NFS4_OK
_INVAL: t.Final = Nfsstat4.NFS4ERR_INVAL


def _opened(call: AnyCall) -> ServerOpen | None:
    """The open of the stateid in the arguments."""
    state = compound_of(call.context)
    mine = state.states.held.stateids.of_client(state.client.id)
    found = next((each for each in mine if each.other == bytes(call.args.open_stateid.other)), None)
    return found if isinstance(found, ServerOpen) else None


def _wanted(call: Downgrade) -> tuple[Share, Share]:
    return Share(call.args.share_access & 3), Share(call.args.share_deny)


def _downgraded(
    call: Downgrade, is_meant: Callable[[ServerOpen], bool], *, puts: bool = True
) -> p.OpenDowngrade4Res:
    """The server's answer; instead of INVAL success, if this is meant, and the open has what it wanted."""
    opened, result = _opened(call), call.proceed()
    if opened is None or result.status != _INVAL or not is_meant(opened):
        return result
    if puts:
        call.server.states.held.shares.put(opened.file, opened.key, *_wanted(call))
    return p.OpenDowngrade4Res(_OK, p.OpenDowngrade4ResOk(on_wire(opened.changed())))


@mutant(p.OPEN_DOWNGRADE, breaks=RFC5661_OPEN_DOWNGRADE)
def opendowngrade4_takes_any_access(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to more access than the OPENs had succeeds, without an effect"""
    return _downgraded(call, lambda opened: bool(_wanted(call)[0] & ~opened.access), puts=False)


@mutant(p.OPEN_DOWNGRADE, breaks=RFC5661_SHARED_IO)
def opendowngrade4_adds_access(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to more access than the OPENs had gives it"""
    return _downgraded(call, lambda opened: bool(_wanted(call)[0] & ~opened.access))


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_takes_a_part_of_an_open(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to a part of the access of a single OPEN succeeds"""
    return _downgraded(call, lambda opened: not _wanted(call)[0] & ~opened.access)


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_takes_any_denial(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE that denies more than the OPENs did succeeds, without an effect"""
    return _downgraded(call, lambda opened: bool(_wanted(call)[1] & ~opened.deny), puts=False)


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_takes_a_part_of_a_denial(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to a part of what a single OPEN denies succeeds"""
    return _downgraded(call, lambda opened: not _wanted(call)[1] & ~opened.deny)


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_no_change_keeps_the_seqid(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to what the open has already returns the stateid of before"""
    opened = _opened(call)
    is_same = opened is not None and (opened.access, opened.deny) == _wanted(call)
    result = call.proceed()
    return amend4(result, "open_stateid", seqid=call.args.open_stateid.seqid) if is_same else result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_wants_are_inval(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE with a bit for a delegation that is wanted gets INVAL"""
    is_meant = call.args.share_access & p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    return p.OpenDowngrade4Res(_INVAL) if is_meant else call.proceed()


@mutant((p.OPEN, p.OPEN_DOWNGRADE))
def open4_cannot_upgrade_again(call: AnyCall) -> t.Any:
    """OPEN by an owner whose open was downgraded adds nothing to its access"""
    if call.operation is p.OPEN_DOWNGRADE:
        opened, result = _opened(call), call.proceed()
        if opened is not None and result.status == _OK:
            call.state[opened.key] = opened.access
        return result
    state, result = compound_of(call.context), call.proceed()
    key = state.client.id, bytes(call.args.owner.owner)
    if key in call.state and result.status == _OK:
        state.states.held.shares.put(state.current, key, call.state[key], Share.NONE)
    return result
