# SPDX-License-Identifier: MIT
"""A compound that has a connection for itself: encoded, sent, received and checked in one function.

It runs just after the processor has slept, when each Python call costs several times what it does in a loop. So what
`SessionState.begin`, `RpcClient.call` and `LateReplies.take` do one after another is done here in one frame, for
compounds of a form that has come before (`nfsclient.sessions.late`). Whatever is not as usual goes their way: before
the call is sent by returning None, after it with the bytes that came.
"""

from __future__ import annotations

import functools
import struct
import typing as t
from collections.abc import Callable, Sequence

from nfsclient.clients.caller import TypedClient
from nfsclient.protocol.nfs4.compound import COMPOUND, Compound4Args
from nfsclient.protocol.nfs4.sessions import Sequence4Args
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import USUAL_REPLY, StreamCore
from nfsclient.rpc.link import MOST_BUFFERS, RECEIVE
from nfsclient.rpc.plan import JOIN_BELOW
from nfsclient.rpc.raw import raw
from nfsclient.rpc.record import LAST_FRAGMENT, size_of
from nfsclient.sessions.late import SEQUENCE, SEQUENCE_AT, LateReplies, LateReply
from nfsclient.sessions.reply import CompoundReply
from nfsclient.sessions.session import Request, SessionState
from nfsclient.xdr import Buffer, XdrType
from nfsclient.xdr.compiler import ENCODE_ERRORS
from nfsclient.xdr.reflect import tokens
from nfsclient.xdr.template import Template

RAW: t.Final = raw(COMPOUND)
REPLIES: t.Final = LateReplies()
"""What is known of the replies to compounds, in all sessions."""
_HEAD = struct.Struct(">II20s")
"""Record mark, XID, and what follows the XID in a usual reply."""
_RESULTS: t.Final = _HEAD.size
_MARK_AND_XID = struct.Struct(">II").pack


@functools.cache
def _beginning(minor: int) -> Callable[..., list[bytes]]:
    """Encodes a COMPOUND up to the operations after SEQUENCE."""
    args = Compound4Args(b"", minor, [Sequence4Args(bytes(16), 0, 0, 0, False)])
    names = ("sa_sessionid", "sa_sequenceid", "sa_slotid", "sa_highest_slotid", "sa_cachethis")
    holes = {f"Compound4Args.argarray[0].{name}": name for name in names}
    return Template(tokens(args), {"Compound4Args.argarray": "count", **holes}).fill


def is_free(rpc: RpcClient) -> bool:
    """Whether the next thing that happens on a connection can be the whole of one call: as of `RpcClient.call`."""
    core = rpc.core
    return (
        rpc.loop.sole is rpc
        and not (core.pending or core.windows or rpc._unsent or rpc.outlives_idleness)
        and core.recorder is None
        and rpc.before_call is None
        and type(core) is StreamCore
        and core.fragment_sizes is None
        and not core.assembler.buffered
    )


def compound(  # noqa: C901, PLR0912, PLR0915  (one frame on purpose)
    nfs4: TypedClient,
    state: SessionState,
    operations: Sequence[XdrType],
    on_unusual: Callable[[Request], object] | None = None,
) -> CompoundReply | None:
    """SEQUENCE and these operations in one call; None if it is for the ordinary way, and nothing has happened.

    `on_unusual` gets the request that was sent, before anything that is not a usual reply is returned or raised: after
    a lost connection the same request goes out again. Without a tag: whose client has one does not call this.
    Raises as `Session.compound`.
    """
    rpc = nfs4.rpc
    form = REPLIES.form(Sequence4Args, *map(type, operations))
    if not form.outlines or form.pack is None or type(rpc) is not RpcClient or not is_free(rpc):
        return None
    core, credential = rpc.core, nfs4.credential
    plan = core.plans.plan(RAW, rpc.credential if credential is None else credential)
    if plan.security is not None:
        return None
    try:
        encoded = form.pack(operations)
    except ENCODE_ERRORS:
        return None
    if len(encoded) > MOST_BUFFERS - 16:
        return None
    slots, count = state.slots, 1 + len(operations)
    slot = slots.acquire()
    number, slotid, highest, cached = slot.sequence_id, slot.id, slots.highest_in_use, form.is_cached
    beginning = _beginning(state.minor)(count, state.id, number, slotid, highest, cached)
    message: list[Buffer] = [b"", plan.header, *beginning, *encoded]
    limit = rpc.timeout if nfs4.timeout is None else nfs4.timeout
    xid = core.next_xid()
    length = 8 + size_of(message)
    message[0] = _MARK_AND_XID(LAST_FRAGMENT - 4 + length, xid)
    if rpc._send_timeout.seconds != limit or rpc._receive_timeout.seconds != limit:
        rpc.allow(limit)
    now = rpc.loop.clock()
    sent, data, failure = 0, b"", None
    try:
        sent = rpc._sock.send(b"".join(message)) if length <= JOIN_BELOW else rpc._sock.sendmsg(message)
        if sent == length:
            data = rpc._sock.recv(RECEIVE)
    except OSError as error:
        failure = error

    is_whole, size = False, len(data)
    if size >= _RESULTS:
        mark, got, usual = _HEAD.unpack_from(data)
        is_whole = got == xid and usual == USUAL_REPLY and mark == LAST_FRAGMENT - 4 + size
    if is_whole:
        for outline in form.outlines:
            if outline.size + _RESULTS == size and outline.unpack(data, _RESULTS) == outline.fixed:
                sessionid, said, at, enforced, target, flags = SEQUENCE.unpack_from(
                    data, _RESULTS + SEQUENCE_AT
                )
                if said == number and at == slotid and sessionid == state.id:
                    slot.advance()
                    state.status_flags = flags
                    if not enforced == target == slots.allowed - 1:
                        slots.comply(enforced, target)
                    slots.release(slot)
                    parts = (state.id, number, slotid, highest, cached)
                    return LateReply((state.minor, parts, operations), data[_RESULTS:])
    first = Sequence4Args(state.id, number, slotid, highest, cached)
    request = Request(Compound4Args(b"", state.minor, [first, *operations]), slot, number)
    state.outstanding.add((slotid, number))
    if on_unusual is not None:
        on_unusual(request)
    if is_whole:
        results = data[_RESULTS:]
    else:
        rpc.judge_exchange(message, sent, data, failure)
        results = rpc._finish(plan, request.args, xid, now, limit, data).results
    return REPLIES.take(state, request, results)
