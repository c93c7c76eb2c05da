# SPDX-License-Identifier: MIT
"""Requests of NFSv4 whose connection is lost before the reply comes, and what they must not change a second time.

A requester must not send a request again while its connection lives (RFC 5661 section 2.9.2), so each message that is
lost takes its connection along.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.faults import Action, Drop, MakeFaulty, on
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.errors import ConnectionLost
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.sessions.session import Request
from nfsclient.xdr import XdrType
from nfsjudge import expect, skip, unsupported
from suites.nfs4.retries import reconnect, without_sequence

_ABSENT: t.Final = frozenset({Nfsstat4.NFS4ERR_NOTSUPP, Nfsstat4.NFS4ERR_BADTYPE})
"""A file system without symbolic links or hard links says so (RFC 5661 sections 18.4.3 and 15.1)."""


class Lost(t.NamedTuple):
    """A request that was executed, and the reply that never arrived."""

    request: Request
    reply: CompoundReply


def connection_of(session: Session) -> RpcClient:
    """The connection that a session uses."""
    return t.cast("RpcClient", session.nfs4.rpc)


def lose_reply(
    faults: MakeFaulty, session: Session, operations: Sequence[XdrType], *, cache_this: bool = True
) -> Lost:
    """Send a request of which only the reply is lost, and the connection with it.

    If a reply comes through, no rule has acted, and the check is VOID. SKIP if the request failed.
    """
    disturbed = faults.before(connection_of(session), on("reply", p.COMPOUND, Drop("close")))
    request = session.state.begin(operations, cache_this=cache_this)
    try:
        session.perform(request)
    except ConnectionLost:
        if not disturbed.messages:
            raise
    reply = CompoundReply(request.args, disturbed.result(p.COMPOUND), supplied=1)
    expect_executed(reply)
    return Lost(request, reply)


def expect_executed(reply: CompoundReply) -> None:
    """Fail unless the request succeeded. UNSUPPORTED without links, which are OPTIONAL."""
    if reply.status in _ABSENT and reply.failed in {p.CREATE, p.LINK}:
        unsupported(f"{reply.failed.name} answers {reply.status}")
    expect(reply).ok()


def lose_call(
    faults: MakeFaulty, session: Session, operations: Sequence[XdrType], action: Action | None = None
) -> Request:
    """Send a request that does not arrive, or not as a whole, and whose connection is lost."""
    faults.before(connection_of(session), on("call", p.COMPOUND, action or Drop("close")))
    request = session.state.begin(operations, cache_this=True)
    try:
        session.perform(request)
    except ConnectionLost:
        return request
    raise RuntimeError("a reply came to a call that was lost")


def lose_single(
    faults: MakeFaulty, rpc: RpcClient, operation: XdrType, lost: t.Literal["call", "reply"]
) -> CompoundReply | None:
    """Send a compound of one operation, without SEQUENCE, and lose it or its reply with the connection.

    The reply if that is lost. SKIP if it is a refusal.
    """
    disturbed = faults.before(rpc, on(lost, p.COMPOUND, Drop("close")))
    args = p.Compound4Args(b"", 1, [operation])
    try:
        rpc.call(p.COMPOUND, args)
    except ConnectionLost:
        if not disturbed.messages:
            raise
    if lost == "call":
        return None
    reply = CompoundReply(args, disturbed.result(p.COMPOUND))
    expect(reply).ok()
    return reply


def retry(v4: Nfs4Dialect, session: Session, request: Request) -> CompoundReply:
    """The reply to the same request on a new connection. SKIP while the server asks to wait."""
    reply = session.perform(request, via=reconnect(v4, session))
    if reply.status == Nfsstat4.NFS4ERR_DELAY:
        skip("the server answers NFS4ERR_DELAY to a retry")
    return reply


class State(t.NamedTuple):
    """What of the scratch directory a change that is executed twice would show."""

    names: tuple[bytes, ...]
    attributes: tuple[object, ...]
    data: bytes


def state_of(scratch: Nfs4Scratch, file: bytes | None, *, with_data: bool = False) -> State:
    """The names in the directory; size, mode and links of a file, and its data."""
    names = tuple(sorted(scratch.names()))
    if file is None:
        return State(names, (), b"")
    found = scratch.attributes(file, "size", "mode", "numlinks")
    data = scratch.read(file) if with_data else b""
    return State(names, (found.size, found.mode, found.numlinks), data)


def expect_same_state(before: State, after: State) -> None:
    """Fail if the retry has changed something."""
    expect(list(after.names), "names after the retry", field="entries").equals(list(before.names))
    expect(list(after.attributes), "size, mode and links after the retry").equals(list(before.attributes))
    expect(after.data, "data after the retry", field="data").equals(before.data)


def expect_lost_reply(lost: Lost, again: CompoundReply) -> None:
    """Fail unless the retry gets the results that were lost."""
    expect(again).field("status", "status of the retry").equals(lost.reply.status)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(lost.reply))
