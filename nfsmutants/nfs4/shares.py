# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_shares.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of, plain
from nfsserver.state.opens import Open as ServerOpen
from nfsserver.state.shares import NOTHING, Share

Open = Call[p.Open4Args, p.Open4Res]
Close = Call[p.Close4Args, p.Close4Res]
_DENIED: t.Final = Nfsstat4.NFS4ERR_SHARE_DENIED
_OK: t.Final = Nfsstat4.NFS4_OK


def _known(call: Open) -> ServerOpen | None:
    """What the open-owner has open of the current file; None if nothing."""
    state = compound_of(call.context)
    return state.states.held.opens.find(state.client.id, bytes(call.args.owner.owner), state.current)


@contextlib.contextmanager
def _overlooking(server: ServerApi, is_overlooked: Callable[[t.Any], bool]) -> Iterator[None]:
    """Inside, share reservations of such an owner, (client ID, open-owner), exclude nobody."""
    shares = server.states.held.shares

    def excludes(file: t.Any, access: Share, deny: Share = Share.NONE, *, besides: t.Any = None) -> bool:
        return any(
            shares.of(file, owner)[0] & deny or shares.of(file, owner)[1] & access
            for owner in shares.owners(file)
            if owner != besides and not is_overlooked(owner)
        )

    vars(shares)["excludes"] = excludes
    try:
        yield
    finally:
        del vars(shares)["excludes"]


@mutant(p.OPEN)
def open4_deny_read_is_forgotten(call: Open) -> p.Open4Res:
    """OPEN that denies both denies writing only"""
    is_meant = call.args.share_deny == p.OPEN4_SHARE_DENY_BOTH
    return call.proceed_with(share_deny=p.OPEN4_SHARE_DENY_WRITE) if is_meant else call.proceed()


@mutant(p.OPEN)
def open4_deny_write_denies_all(call: Open) -> p.Open4Res:
    """OPEN that denies writing denies reading, too"""
    is_meant = call.args.share_deny == p.OPEN4_SHARE_DENY_WRITE
    return call.proceed_with(share_deny=p.OPEN4_SHARE_DENY_BOTH) if is_meant else call.proceed()


@mutant(p.OPEN)
def open4_takes_what_others_deny(call: Open) -> p.Open4Res:
    """OPEN looks at what it denies to others, and not at what they deny"""
    shares = call.server.states.held.shares
    vars(shares)["excludes"] = lambda file, access, deny=Share.NONE, **_: bool(  # noqa: ARG005
        shares.granted(file)[0] & deny
    )
    try:
        return call.proceed()
    finally:
        del vars(shares)["excludes"]


@mutant(p.OPEN)
def open4_one_client_shares_all(call: Open) -> p.Open4Res:
    """OPEN does not look at the opens of other owners of the same client"""
    me = compound_of(call.context).client.id
    with _overlooking(call.server, lambda owner: owner[0] == me):
        return call.proceed()


@mutant(p.OPEN)
def open4_owners_exclude_not_themselves(call: Open) -> p.Open4Res:
    """OPEN does not look at the opens of the same open-owner"""
    me = compound_of(call.context).client.id, bytes(call.args.owner.owner)
    with _overlooking(call.server, lambda owner: owner == me):
        return call.proceed()


def _kept_from(call: Open, *, access: bool) -> p.Open4Res:
    """OPEN, after which a known owner has the access, or the denial, of this OPEN alone."""
    known, result = _known(call), call.proceed()
    if known is None or result.resok4 is None:
        return result
    wanted = Share(call.args.share_access & 3), Share(call.args.share_deny)
    shares = call.server.states.held.shares
    new = (wanted[0], known.deny) if access else (known.access, wanted[1])
    shares.put(known.file, known.key, *new)
    return result


@mutant(p.OPEN)
def open4_second_replaces_the_access(call: Open) -> p.Open4Res:
    """A further OPEN of an owner replaces its access"""
    return _kept_from(call, access=True)


@mutant(p.OPEN)
def open4_second_replaces_the_denial(call: Open) -> p.Open4Res:
    """A further OPEN of an owner replaces what it denies"""
    return _kept_from(call, access=False)


@mutant(p.OPEN)
def open4_upgrades_against_denials(call: Open) -> p.Open4Res:
    """OPEN by an owner that has the file open does not look at the opens of others"""
    if _known(call) is None:
        return call.proceed()
    with _overlooking(call.server, lambda _owner: True):
        return call.proceed()


@mutant(p.OPEN)
def open4_denied_upgrades_are_kept(call: Open) -> p.Open4Res:
    """OPEN that is denied gives an owner that has the file open the access all the same"""
    known, result = _known(call), call.proceed()
    if known is not None and result.status == _DENIED:
        access = known.access | Share(call.args.share_access & 3)
        call.server.states.held.shares.put(known.file, known.key, access, known.deny)
    return result


@mutant(p.OPEN)
def open4_denied_opens_deny(call: Open) -> p.Open4Res:
    """OPEN that is denied reserves what it wanted to deny"""
    file, result = compound_of(call.context).current, call.proceed()
    if result.status == _DENIED:
        call.server.states.held.shares.put(file, "nobody", Share.NONE, Share(call.args.share_deny))
    return result


@mutant((p.OPEN, p.CLOSE))
def close4_ends_one_open(call: AnyCall) -> t.Any:
    """CLOSE ends the last OPEN of an owner only: what the first one denies stays denied"""
    shares, here = call.server.states.held.shares, compound_of(call.context).current
    if call.operation is p.OPEN:
        known = _known(call)
        if known is not None:
            call.state[known.other] = known.deny
        return call.proceed()
    result = call.proceed()
    left = call.state.get(bytes(call.args.open_stateid.other), Share.NONE)
    if result.status == _OK and left:
        shares.put(here, "nobody", Share.NONE, left)
    return result


@mutant(p.OPEN)
def open4_same_mode_keeps_the_seqid(call: Open) -> p.Open4Res:
    """A further OPEN that does not change the mode of the open returns the stateid of before"""
    known = _known(call)
    before = NOTHING if known is None else (known.access, known.deny)
    result = call.proceed()
    if known is None or result.resok4 is None or (known.access, known.deny) != before:
        return result
    return amend4(result, "stateid", seqid=lambda it: it.seqid - 1)


@mutant(p.CLOSE)
def close4_closes_for_owners_of_others(call: Close) -> p.Close4Res:
    """CLOSE ends the opens of all clients whose open-owner has the same bytes"""
    state = compound_of(call.context)
    held, file = state.states.held, state.current
    closed = held.stateids._states.get(bytes(call.args.open_stateid.other))
    result = call.proceed()
    if result.status == _OK and isinstance(closed, ServerOpen):
        for opened in list(held.opens.of_file(file)):
            if opened.owner == closed.owner:
                held.close(opened)
    return result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_keeps_writing(
    call: Call[p.OpenDowngrade4Args, p.OpenDowngrade4Res],
) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE to reading succeeds, and the open may write"""
    state = compound_of(call.context)
    result = call.proceed()
    if result.status == _OK:
        opened = state.states.held.stateids.find(
            plain(p.Stateid4(0, call.args.open_stateid.other)), state.client.id
        )
        assert isinstance(opened, ServerOpen)
        state.states.held.shares.put(opened.file, opened.key, Share.BOTH, opened.deny)
    return result


@mutant((p.WRITE, p.SETATTR))
def changes4_lock_stateids_may_write(call: AnyCall) -> t.Any:
    """WRITE and SETATTR with the stateid of a lock-owner are done, whatever its open allows"""
    result, state = call.proceed(), compound_of(call.context)
    found = {each.other: each.kind for each in state.states.held.stateids.of_client(state.client.id)}
    is_meant = found.get(bytes(call.args.stateid.other)) == "lock"
    if not is_meant or p.status_of(result) != Nfsstat4.NFS4ERR_OPENMODE:
        return result
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID)
