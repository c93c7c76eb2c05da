# SPDX-License-Identifier: MIT
"""Delegations: granted with OPEN, given back by DELEGRETURN (RFC 5661 sections 10.4, 18.6, 18.16, 18.39, 18.49)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenDelegationType4 as Type
from nfsclient.rpc.service import CallContext
from nfsserver.callbacks import has_backchannel, recall_any
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of, current, on_wire, plain
from nfsserver.state.delegations import Delegation, Policy
from nfsserver.state.shares import Share

_NO_LIMIT: t.Final = p.NfsSpaceLimit4(p.LimitBy4.NFS_LIMIT_SIZE, filesize=p.NFS4_UINT64_MAX)
_NOBODY: t.Final = p.Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, 0, 0, b"")
"""Permissions that a client need not ask for: none, so each open is checked at the server (section 10.4.1)."""


def may_write_later(server: ServerApi, args: p.Open4Args) -> bool:
    """Whether the holder of what is granted opens for writing without asking, though it does not write now."""
    wanted = args.share_access & p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    return wanted == p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG and server.knobs.now.delegations == "write"


def granted(
    server: ServerApi, context: CallContext, args: p.Open4Args, inode: Inode, access: Share
) -> p.OpenDelegation4:
    """What OPEN says of delegations, and the delegation if there is one."""
    state = compound_of(context)
    held, client = state.states.held, state.client
    wanted = args.share_access & p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    if args.claim.claim == p.OpenClaimType4.CLAIM_PREVIOUS:
        return _reclaimed(server, context, args, inode)
    if wanted == p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG:
        return _none(p.WhyNoDelegation4.WND4_NOT_WANTED)
    if wanted == p.OPEN4_SHARE_ACCESS_WANT_CANCEL:
        return _none(p.WhyNoDelegation4.WND4_CANCELLED)
    made = None
    if has_backchannel(server, client.id) and inode.nlink:
        policy = t.cast("Policy", server.knobs.now.delegations)
        kind = access
        if wanted == p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG:
            kind = Share.READ
        elif wanted == p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG:
            kind = Share.WRITE
        made = held.delegations.grant(client.id, inode, kind, policy)
    if made is not None:
        made.writer.change = inode.change
        _keep_few(server, context)
        return _delegation(made, recalled=False)
    if not args.share_access & ~p.OPEN4_SHARE_ACCESS_BOTH:
        return p.OpenDelegation4(Type.OPEN_DELEGATE_NONE)
    is_contended = held.opens.has_others(inode, client.id) or bool(held.delegations.of_file(inode))
    return _none(p.WhyNoDelegation4.WND4_CONTENTION if is_contended else p.WhyNoDelegation4.WND4_RESOURCE)


def _keep_few(server: ServerApi, context: CallContext) -> None:
    """Ask a client with more delegations than the server wants to keep to return some of its choice (section 20.6)."""
    client, most = compound_of(context).client, server.knobs.now.delegations_kept
    if not most:
        return
    has_many = server.states.held.delegations.count_of(client.id) > most
    if has_many and not client.is_to_keep_few:
        recall_any(server, client, most)
    client.is_to_keep_few = has_many


def _none(why: p.WhyNoDelegation4) -> p.OpenDelegation4:
    promises = {
        p.WhyNoDelegation4.WND4_CONTENTION: {"ond_server_will_push_deleg": False},
        p.WhyNoDelegation4.WND4_RESOURCE: {"ond_server_will_signal_avail": False},
    }
    return p.OpenDelegation4(
        Type.OPEN_DELEGATE_NONE_EXT, od_whynone=p.OpenNoneDelegation4(why, **promises.get(why, {}))
    )


def _delegation(made: Delegation, *, recalled: bool) -> p.OpenDelegation4:
    stateid = on_wire(made.stateid)
    if made.is_write:
        return p.OpenDelegation4(
            Type.OPEN_DELEGATE_WRITE,
            write=p.OpenWriteDelegation4(stateid, recalled, _NO_LIMIT, _NOBODY),
        )
    return p.OpenDelegation4(Type.OPEN_DELEGATE_READ, read=p.OpenReadDelegation4(stateid, recalled, _NOBODY))


def _reclaimed(server: ServerApi, context: CallContext, args: p.Open4Args, inode: Inode) -> p.OpenDelegation4:
    """The delegation that CLAIM_PREVIOUS claims: it is given, and recalled at once if others hold the file."""
    kind = args.claim.delegate_type
    if kind not in {Type.OPEN_DELEGATE_READ, Type.OPEN_DELEGATE_WRITE}:
        return p.OpenDelegation4(Type.OPEN_DELEGATE_NONE)
    state = compound_of(context)
    held = state.states.held
    is_write = kind == Type.OPEN_DELEGATE_WRITE
    made = held.delegations.reclaim(state.client.id, inode, is_write=is_write)
    made.writer.change = inode.change
    recalled = any(delegation.client != state.client.id for delegation in held.of_file(inode))
    recalled |= not has_backchannel(server, state.client.id)
    if recalled:
        held.delegations.recall(made, state.states.now())
    return _delegation(made, recalled=recalled)


def delegreturn4(_server: ServerApi, context: CallContext, args: p.Delegreturn4Args) -> p.Delegreturn4Res:
    """DELEGRETURN."""
    state = compound_of(context)
    held = state.states.held
    delegation = held.require(
        plain(args.deleg_stateid),
        state.client.id,
        current(context),
        "delegation",
        slots=state.client.slots,
    )
    assert isinstance(delegation, Delegation)
    held.delegations.give_back(delegation)
    return p.Delegreturn4Res(Nfsstat4.NFS4_OK)


def get_dir_delegation4(
    _server: ServerApi, _context: CallContext, _args: p.GetDirDelegation4Args
) -> p.GetDirDelegation4Res:
    """GET_DIR_DELEGATION: there are none now, nor later (section 18.39.3)."""
    status = p.Gddrnf4Status.GDD4_UNAVAIL
    unavailable = p.GetDirDelegation4ResNonFatal(status, gddrnf_will_signal_deleg_avail=False)
    return p.GetDirDelegation4Res(Nfsstat4.NFS4_OK, unavailable)
