# SPDX-License-Identifier: MIT
"""Requests that are sent twice, as a client may do it: on another connection, after the first one was lost.

A requester must not send a request again while its connection lives (RFC 5661 section 2.9.2), so checks of the reply
cache close it first. The session goes on, with the new connection.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients.nfs4 import CompoundReply, Nfs4, Request, Session
from nfsclient.clients.nfs4.client import is_delayed_at_once
from nfsclient.clients.nfs4.session import may_be_tried_again
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import XdrType
from nfsjudge import show, skip


def own_session(v4: Nfs4Dialect) -> Session:
    """A session of a new client, over a connection that nothing else uses."""
    return v4.new_session(v4.connections.connect("nfs"))


def performed(
    session: Session, operations: Sequence[XdrType], *, cache_this: bool, slot: int | None = None
) -> tuple[Request, CompoundReply]:
    """A request that is to be sent again, and its reply. After DELAY it is a new one: a retry would get that again."""
    made: list[Request] = []

    def attempt() -> CompoundReply:
        made.append(session.state.begin(operations, cache_this=cache_this, slot=slot))
        return session.perform(made[-1])

    reply, patience = attempt(), session.nfs4.patience
    if reply.status and patience is not None:
        reply = patience.retry(attempt, may_be_tried_again, reply)
    if cache_this and reply.status == Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE:
        # ca_maxresponsesize_cached may be any number (section 18.36.3); another check judges replies that fit.
        skip(
            "the server keeps no replies of this size for retries: it answers NFS4ERR_REP_TOO_BIG_TO_CACHE",
            reply,
        )
    return made[-1], reply


def reconnect(v4: Nfs4Dialect, session: Session) -> Nfs4:
    """Close the connection of a session, and open another one."""
    t.cast("RpcClient", session.nfs4.rpc).close()
    session.nfs4 = v4.client(v4.connections.connect("nfs"))
    return session.nfs4


def send_again(v4: Nfs4Dialect, session: Session, request: Request) -> CompoundReply:
    """The reply to a request that was sent before, on a new connection. SKIP while the server asks to wait."""
    reply = session.perform(request, via=reconnect(v4, session))
    # After SEQUENCE, a retry gets what the first one got, and may ask for nothing.
    return need_answer(reply) if is_delayed_at_once(reply) else reply


def send_another(v4: Nfs4Dialect, session: Session, request: Request, *operations: XdrType) -> CompoundReply:
    """The reply to other operations with the slot and the sequence id of a request that was sent before."""
    args = p.Compound4Args(
        request.args.tag, request.args.minorversion, [request.args.argarray[0], *operations]
    )
    return session.perform(Request(args, request.slot, request.sequence_id), via=reconnect(v4, session))


def need_answer(reply: CompoundReply) -> CompoundReply:
    """The same reply. SKIP if it is DELAY: any operation may get that at any time, for any reason."""
    if reply.status == Nfsstat4.NFS4ERR_DELAY:
        operation = reply.failed.name if reply.failed is not None else "COMPOUND"
        skip(f"the server is still not ready after all retries: {operation} answers {show(reply.status)}")
    return reply


def without_sequence(reply: CompoundReply) -> list[XdrType]:
    """The results after SEQUENCE: what SEQUENCE says besides its ids may be of now or of then (section 2.10.6.1.1)."""
    return reply.res.resarray[1:]
