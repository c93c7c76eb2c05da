# SPDX-License-Identifier: MIT
"""Client ids and sessions (RFC 5661 sections 18.33 to 18.37, 18.46, 18.47, 18.50, 18.51)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsclient.rpc.service import CallContext
from nfsserver.bounds import MOST
from nfsserver.callbacks import recall_slots
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import CompoundState, Nfs4Error, compound_of, failed, principal_of, status_of
from nfsserver.nfs4.room import REFUSED, SEQUENCED
from nfsserver.state.manager import StateManager
from nfsserver.state.records import Client, Direction, Limits4, Session
from nfsserver.state.sessions import is_retry, slot_size
from nfsserver.state.stateids import StateError

_OK: t.Final = Nfsstat4.NFS4_OK
_FLAGS: t.Final = (
    p.EXCHGID4_FLAG_SUPP_MOVED_REFER
    | p.EXCHGID4_FLAG_SUPP_MOVED_MIGR
    | p.EXCHGID4_FLAG_BIND_PRINC_STATEID
    | p.EXCHGID4_FLAG_MASK_PNFS
    | p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A
)
_SESSION_FLAGS: t.Final = (
    p.CREATE_SESSION4_FLAG_PERSIST | p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN | p.CREATE_SESSION4_FLAG_CONN_RDMA
)
_LEAST_BYTES: t.Final = 128
"""A reply of SEQUENCE alone has 84 bytes."""
_WRAP: t.Final = 1 << 32


# ---------------------------------------------------------------- EXCHANGE_ID


def exchange_id4(server: ServerApi, context: CallContext, args: p.ExchangeId4Args) -> p.ExchangeId4Res:
    """EXCHANGE_ID; state protection needs RPCSEC_GSS, so it is refused."""
    state = compound_of(context)
    known = _FLAGS | (p.EXCHGID4_FLAG_SUPP_FENCE_OPS if state.minor >= 2 else 0)
    if args.eia_flags & ~known or args.eia_state_protect.spa_how != p.StateProtectHow4.SP4_NONE:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    client = _client_for(server, context, args)
    now = server.knobs.now
    flags = p.EXCHGID4_FLAG_USE_PNFS_MDS if now.metadata_server else p.EXCHGID4_FLAG_USE_NON_PNFS
    flags |= p.EXCHGID4_FLAG_CONFIRMED_R if client.is_confirmed else 0
    if now.referral:
        flags |= p.EXCHGID4_FLAG_SUPP_MOVED_REFER
    codec = server.backend.codec
    return p.ExchangeId4Res(
        _OK,
        p.ExchangeId4ResOk(
            eir_clientid=client.id,
            eir_sequenceid=(client.sequence + 1) % _WRAP,
            eir_flags=flags,
            eir_state_protect=p.StateProtect4R(p.StateProtectHow4.SP4_NONE),
            eir_server_owner=p.ServerOwner4(0, b"nfsproof " + codec.token(b"server owner").hex().encode()),
            eir_server_scope=b"nfsproof " + codec.token(b"server scope").hex().encode(),
            eir_server_impl_id=[p.NfsImplId4(b"nfsproof", b"nfsproof embedded server", p.Nfstime4(0))],
        ),
    )


def _client_for(server: ServerApi, context: CallContext, args: p.ExchangeId4Args) -> Client:
    states = compound_of(context).states
    owner, principal = args.eia_clientowner, _principal(server, context)
    case = states.clients.case_of(
        owner.co_ownerid,
        owner.co_verifier,
        principal,
        is_update=bool(args.eia_flags & p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A),
    )
    record = states.clients.confirmed(owner.co_ownerid)
    if case.outcome == "known":
        assert record is not None
        return record
    if case.outcome == "collision":
        assert record is not None
        if states.held.has_any(record.id) and not states.is_expired(record):
            raise StateError("CLID_INUSE")
        states.destroy(record)
    elif case.outcome != "new":
        raise StateError(case.outcome)
    return states.clients.add(owner.co_ownerid, owner.co_verifier, principal, states.now())


def _principal(server: ServerApi, context: CallContext) -> t.Hashable:
    return "anybody" if server.knobs.now.one_principal else principal_of(context)


# ---------------------------------------------------------------- CREATE_SESSION


def create_session4(
    server: ServerApi, context: CallContext, args: p.CreateSession4Args
) -> p.CreateSession4Res:
    """CREATE_SESSION, in the phases of section 18.36.4."""
    states = compound_of(context).states
    client = states.clients.require(args.csa_clientid)
    if args.csa_sequence == client.sequence:
        if client.reply is None:
            raise StateError("SEQ_MISORDERED")
        return t.cast("p.CreateSession4Res", client.reply)
    if args.csa_sequence != (client.sequence + 1) % _WRAP:
        raise StateError("SEQ_MISORDERED")
    if client.principal != _principal(server, context):
        raise StateError("CLID_INUSE")
    client.sequence = args.csa_sequence
    try:
        client.reply = _new_session(server, context, client, args)
    except (Nfs4Error, StateError) as refusal:
        client.reply = p.CreateSession4Res(status_of(refusal))
    return t.cast("p.CreateSession4Res", client.reply)


def _new_session(
    server: ServerApi, context: CallContext, client: Client, args: p.CreateSession4Args
) -> p.CreateSession4Res:
    states = compound_of(context).states
    if args.csa_flags & ~_SESSION_FLAGS:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    fore = _granted(server, states, args.csa_fore_chan_attrs)
    offered = args.csa_back_chan_attrs
    back = Limits4(
        offered.ca_maxrequestsize,
        offered.ca_maxresponsesize,
        offered.ca_maxresponsesize_cached,
        offered.ca_maxoperations,
        offered.ca_maxrequests,
    )
    session = states.sessions.add(client, fore, back, args.csa_cb_program)
    session.minor = compound_of(context).minor
    session.flavors = tuple(_credentials(args.csa_sec_parms))
    if not client.is_confirmed:
        states.confirm(client)
    client.renewed = states.now()
    flags = 0
    if args.csa_flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN and session.flavors and back.slots:
        flags = p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
    if context.channel is not None:
        session.bind(context.channel, Direction.BOTH if flags else Direction.FORE)
    return p.CreateSession4Res(
        _OK,
        p.CreateSession4ResOk(session.id, args.csa_sequence, flags, _channel(fore), _channel(back)),
    )


def _granted(server: ServerApi, states: StateManager, asked: p.ChannelAttrs4) -> Limits4:
    """What the fore channel gets. Raises TOOSMALL."""
    request = min(asked.ca_maxrequestsize, MOST.request_bytes)
    response = min(asked.ca_maxresponsesize, MOST.request_bytes)
    if request < _LEAST_BYTES or response < _LEAST_BYTES:
        raise Nfs4Error(Nfsstat4.NFS4ERR_TOOSMALL)
    cached = min(asked.ca_maxresponsesize_cached, response, MOST.cached_reply)
    slots = max(1, min(asked.ca_maxrequests, server.knobs.now.session_slots))
    if states.sessions.cache_size + slots * slot_size(cached) > MOST.reply_cache:
        slots = 1
    operations = max(1, min(asked.ca_maxoperations, MOST.operations))
    return Limits4(request, response, cached, operations, slots)


def _channel(limits: Limits4) -> p.ChannelAttrs4:
    return p.ChannelAttrs4(
        0, limits.request, limits.response, limits.cached, limits.operations, limits.slots, []
    )


def _credentials(offered: list[p.CallbackSecParms4]) -> t.Iterator[AuthSys | AuthNone]:
    """What callbacks may carry: the first few; RPCSEC_GSS is left out."""
    for parameters in offered[: MOST.callback_flavors]:
        if parameters.cb_secflavor == p.AUTH_NONE:
            yield AuthNone()
        elif parameters.cbsp_sys_cred is not None:
            user = parameters.cbsp_sys_cred
            yield AuthSys(user.uid, user.gid, tuple(user.gids), bytes(user.machinename), user.stamp)


# ---------------------------------------------------------------- SEQUENCE


def sequence4(server: ServerApi, context: CallContext, args: p.Sequence4Args) -> p.Sequence4Res:
    """SEQUENCE; its slot decides whether the compound is executed or answered from the cache."""
    state = compound_of(context)
    states = state.states
    session = states.sessions.require(args.sa_sessionid)
    slot = session.slot(args.sa_slotid)
    if args.sa_highest_slotid >= len(session.slots):
        raise StateError("BAD_HIGH_SLOT")
    _look_at_limits(server, state, session.fore)
    if is_retry(slot, args.sa_sequenceid):
        _compare(server, slot.fingerprint, state.fingerprint)
        if slot.in_progress:
            raise StateError("DELAY")  # section 2.10.6.2
        states.renew(session.client)
        state.replay = slot.reply or _uncached(state.operations, state.minor)
        return _sequence_result(session, args, states)
    if slot.in_progress:
        raise StateError("SEQ_MISORDERED")
    if args.sa_cachethis and not _fits(session, state):
        raise Nfs4Error(Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE)
    slot.sequence_id, slot.reply, slot.fingerprint = args.sa_sequenceid, None, state.fingerprint
    state.session, state.slot, state.cached = session, slot, args.sa_cachethis
    state.sender = session.client
    if context.channel is not None and context.channel not in session.connections:
        session.bind(context.channel, Direction.FORE)
    states.renew(session.client)
    session.take_over()
    _shrink(server, session, args, is_alone=state.last == 0)
    return _sequence_result(session, args, states)


def _shrink(server: ServerApi, session: Session, args: p.Sequence4Args, *, is_alone: bool) -> None:
    """Ask for slots back, and retire them when the client says that it uses them no more (section 20.8.3)."""
    most, target = server.knobs.now.slots_kept, session.target
    if most and target is None and len(session.slots) > most and session.back_connection is not None:
        session.target = most - 1
        recall_slots(server, session, most - 1)
    elif (
        target is not None
        and is_alone
        and args.sa_highest_slotid == target
        and args.sa_slotid <= target < len(session.slots) - 1
        and not any(slot.in_progress for slot in session.slots[target + 1 :])
    ):
        server.states.sessions.retire(session, target)


def _look_at_limits(server: ServerApi, state: CompoundState, limits: Limits4) -> None:
    """Note that the request exceeds the limits of the session. Raises what it gets, if nothing may be executed."""
    has_many, is_large = state.last + 1 > limits.operations, state.size > limits.request
    if not (has_many or is_large):
        return
    is_whole = len(state.operations) == state.last + 1 > 1
    if is_whole and not server.knobs.now.refuses_large_first:
        state.exceeded = limits
        return
    raise Nfs4Error(Nfsstat4.NFS4ERR_TOO_MANY_OPS if has_many else Nfsstat4.NFS4ERR_REQ_TOO_BIG)


def _fits(session: Session, state: CompoundState) -> bool:
    """Whether the cache of a slot has room for SEQUENCE, and for the refusal of what follows (section 2.10.6.4)."""
    least = SEQUENCED if state.last == 0 else SEQUENCED + REFUSED
    return state.header + least <= session.fore.cached


def _compare(server: ServerApi, first: t.Any, again: t.Any) -> None:
    """Raises SEQ_FALSE_RETRY for a retry by somebody else, or with other operations (section 2.10.6.1.3.1)."""
    if first[0] != again[0] or (first != again and server.knobs.now.detects_false_retries):
        raise StateError("SEQ_FALSE_RETRY")


def _uncached(operations: list[t.Any], minor: int) -> p.Compound4Res:
    """The reply to a retry of a request that was executed and not kept.

    What is illegal or removed in the minor version never gets RETRY_UNCACHED_REP (section 2.10.6.1.3).
    """
    status = Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP
    operation = p.BY_CLASS.get(type(operations[1]), p.ILLEGAL)
    if not operation.is_in(minor):
        operation = p.ILLEGAL
    if operation is p.ILLEGAL:
        status = Nfsstat4.NFS4ERR_OP_ILLEGAL
    elif not operation.is_implementable(minor):
        status = Nfsstat4.NFS4ERR_NOTSUPP
    return p.Compound4Res(status, b"", [p.Sequence4Res(_OK), failed(operation, status)])


def _sequence_result(session: Session, args: p.Sequence4Args, states: StateManager) -> p.Sequence4Res:
    highest = len(session.slots) - 1
    return p.Sequence4Res(
        _OK,
        p.Sequence4ResOk(
            session.id,
            args.sa_sequenceid,
            args.sa_slotid,
            highest,
            highest if session.target is None else min(highest, session.target),
            _status_flags(session, states),
        ),
    )


def _status_flags(session: Session, states: StateManager) -> int:
    client, flags = session.client, 0
    if session.had_backchannel and session.back_connection is None:
        flags |= p.SEQ4_STATUS_CB_PATH_DOWN_SESSION
        if all(session.back_connection is None for session in client.sessions.values()):
            flags |= p.SEQ4_STATUS_CB_PATH_DOWN
    losses = states.held.losses(client.id)
    if "EXPIRED" in losses:
        has_more = states.held.has_any(client.id)
        flags |= (
            p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED if has_more else p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED
        )
    if "ADMIN_REVOKED" in losses:
        flags |= p.SEQ4_STATUS_ADMIN_STATE_REVOKED
    if "DELEG_REVOKED" in losses:
        flags |= p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED
    if client.may_reclaim and not client.has_completed:
        flags |= p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED
    return flags


# ---------------------------------------------------------------- connections, and the end


def bind_conn_to_session4(
    _server: ServerApi, context: CallContext, args: p.BindConnToSession4Args
) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION; a connection that is bound already cannot change its direction (section 18.34.3)."""
    state = compound_of(context)
    if state.last > 0:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOT_ONLY_OP)
    session = state.states.sessions.require(args.bctsa_sessid)
    asked = args.bctsa_dir
    if not asked.is_known or context.channel is None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    has_back = bool(session.flavors and session.callback_slots)
    usual = Direction.BOTH if has_back else Direction.FORE
    wanted = {
        p.ChannelDirFromClient4.CDFC4_FORE: (Direction.FORE, {Direction.FORE}),
        p.ChannelDirFromClient4.CDFC4_BACK: (Direction.BACK, {Direction.BACK}),
        p.ChannelDirFromClient4.CDFC4_FORE_OR_BOTH: (usual, {Direction.FORE, Direction.BOTH}),
        p.ChannelDirFromClient4.CDFC4_BACK_OR_BOTH: (Direction.BOTH, {Direction.BACK, Direction.BOTH}),
    }
    direction, fitting = wanted[asked]
    bound = session.connections.get(context.channel)
    if bound is not None and bound not in fitting:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    direction = direction if bound is None else bound
    session.bind(context.channel, direction)
    session.take_over()  # who binds a connection to it knows its id
    resok = p.BindConnToSession4ResOk(session.id, p.ChannelDirFromServer4(int(direction)), False)
    return p.BindConnToSession4Res(_OK, resok)


def backchannel_ctl4(
    _server: ServerApi, context: CallContext, args: p.BackchannelCtl4Args
) -> p.BackchannelCtl4Res:
    """BACKCHANNEL_CTL: another program and other credentials for callbacks of this session."""
    if any(parameters.cb_secflavor == p.RPCSEC_GSS for parameters in args.bca_sec_parms):
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOENT)  # section 18.33.3: there is no handle here
    session = compound_of(context).session
    assert session is not None
    session.program = args.bca_cb_program
    session.flavors = tuple(_credentials(args.bca_sec_parms))
    return p.BackchannelCtl4Res(_OK)


def destroy_session4(
    _server: ServerApi, context: CallContext, args: p.DestroySession4Args
) -> p.DestroySession4Res:
    """DESTROY_SESSION; that of the compound itself only at its end."""
    state = compound_of(context)
    session = state.states.sessions.require(args.dsa_sessionid)
    if session is state.session and state.index != state.last:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOT_ONLY_OP)
    state.states.sessions.remove(session)
    return p.DestroySession4Res(_OK)


def destroy_clientid4(
    _server: ServerApi, context: CallContext, args: p.DestroyClientid4Args
) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID of a client without sessions and state."""
    states = compound_of(context).states
    client = states.clients.require(args.dca_clientid)
    if client.sessions or states.held.has_any(client.id):
        raise StateError("CLIENTID_BUSY")
    states.destroy(client)
    return p.DestroyClientid4Res(_OK)


def reclaim_complete4(
    _server: ServerApi, context: CallContext, args: p.ReclaimComplete4Args
) -> p.ReclaimComplete4Res:
    """RECLAIM_COMPLETE; that of one file system matters after a migration only."""
    state = compound_of(context)
    if args.rca_one_fs:
        if state.current is None:
            raise Nfs4Error(Nfsstat4.NFS4ERR_NOFILEHANDLE)
    else:
        state.states.complete(state.client)
    return p.ReclaimComplete4Res(_OK)


def set_ssv4(_server: ServerApi, _context: CallContext, _args: p.SetSsv4Args) -> p.SetSsv4Res:
    """SET_SSV is for clients with SP4_SSV (section 18.47.3), which there are none of."""
    raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
