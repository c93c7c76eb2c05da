# SPDX-License-Identifier: MIT
"""Compounds of NFSv4.1 and 4.2: SEQUENCE in front, and a slot that keeps the reply (RFC 5661 section 2.10.6).

What comes first decides what may follow:

    SEQUENCE            the other operations, in its session
    a sessionless one   nothing: NOT_ONLY_OP
    any other           nothing is executed: OP_NOT_IN_SESSION

The handler of SEQUENCE (`sessions.sequence4`) takes the slot and says who sends the compound.
"""

from __future__ import annotations

import typing as t
import zlib

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType, replace
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import CompoundState, Nfs4Error, principal_of
from nfsserver.nfs4.room import Room
from nfsserver.state.records import Limits4
from nfsserver.state.stateids import StateError

_FINGERPRINTED: t.Final = 8192
"""Bytes of a request that tell it from others."""
_SEQUENCE_SIZE: t.Final = 4 + 16 + 4 + 4 + 4 + 4


class InSession:
    """The beginning of compounds that have sessions."""

    def begin(self, state: CompoundState, context: CallContext, args: p.Compound4Args) -> None:
        """Note what tells the request from others."""
        state.fingerprint = _fingerprint(context, args)
        state.begins = _begin_of_operations(context, args)

    def go_on(self, state: CompoundState) -> None:
        """Its slot is not between two executions any more."""
        if state.slot is not None:
            state.slot.in_progress = False

    def wait(self, state: CompoundState) -> None:
        """A retry is DELAY meanwhile."""
        if state.slot is not None:
            state.slot.in_progress = True

    def admit(self, state: CompoundState, operation: p.AnyOperation) -> None:
        """Raises DEADSESSION, OP_NOT_IN_SESSION, NOT_ONLY_OP, SEQUENCE_POS, TOO_MANY_OPS, REQ_TOO_BIG."""
        if state.session is not None and state.session.is_destroyed:
            raise StateError("DEADSESSION")  # while the compound waited
        if state.index == 0:
            if operation is not p.SEQUENCE and operation is not p.ILLEGAL:
                if not operation.is_sessionless:
                    raise Nfs4Error(Nfsstat4.NFS4ERR_OP_NOT_IN_SESSION)
                if state.last > 0:
                    raise Nfs4Error(Nfsstat4.NFS4ERR_NOT_ONLY_OP)
        elif operation is p.SEQUENCE:
            raise Nfs4Error(Nfsstat4.NFS4ERR_SEQUENCE_POS)
        elif state.exceeded is not None:
            _need_within(state, state.exceeded)

    def identify(self, state: CompoundState, operation: p.AnyOperation, args: XdrType) -> None:
        """SEQUENCE has said it."""

    def after(self, state: CompoundState, args: p.Compound4Args, result: XdrType) -> p.Compound4Res | None:
        """The reply of the cache for a retry. After SEQUENCE the reply has the room that the session grants."""
        if state.replay is not None:
            # What SEQUENCE says besides its ids is of now (section 2.10.6.1.1).
            reply: p.Compound4Res = state.replay
            return replace(reply, tag=args.tag, resarray=[result, *reply.resarray[1:]])
        if state.index == 0 and state.session is not None:
            state.room = Room.of(state.session.fore, is_cached=state.cached)
            state.room.take(state.header)
        return None

    def end(self, server: ServerApi, state: CompoundState, reply: p.Compound4Res) -> None:
        """Keep the reply for retries, where the request wants it, or it costs nothing."""
        slot = state.slot
        if slot is None:
            return
        is_kept = state.cached or len(reply.resarray) == 1
        is_kept = is_kept or server.knobs.now.caches_all_replies
        slot.reply = replace(reply, tag=b"") if is_kept else None  # a retry gets its own tag


def _begin_of_operations(context: CallContext, args: p.Compound4Args) -> int:
    """Where the first operation stands in the message."""
    return context.arguments_at + 4 + (len(args.tag) + 3) // 4 * 4 + 4 + 4


def _need_within(state: CompoundState, limits: Limits4) -> None:
    """Raises what refuses the operation with which a request exceeds the limits of its session (section 2.10.6.4)."""
    if state.index >= limits.operations:
        raise Nfs4Error(Nfsstat4.NFS4ERR_TOO_MANY_OPS)
    if state.size > limits.request:
        end = state.begins + sum(4 + len(each.to_xdr()) for each in state.operations[: state.index + 1])
        if end > limits.request or state.index == state.last:
            raise Nfs4Error(Nfsstat4.NFS4ERR_REQ_TOO_BIG)


def _fingerprint(context: CallContext, args: p.Compound4Args) -> tuple[t.Hashable, int]:
    """(principal, checksum of what follows SEQUENCE): what a retry must have in common with its original."""
    start = _begin_of_operations(context, args) + _SEQUENCE_SIZE
    follows = memoryview(context.message)[start : start + _FINGERPRINTED]
    return principal_of(context), zlib.crc32(follows, len(context.message) - start)


IN_SESSION: t.Final = InSession()
