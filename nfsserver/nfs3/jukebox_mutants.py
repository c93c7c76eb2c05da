# SPDX-License-Identifier: MIT
"""Mutants of what comes with JUKEBOX and after it. They do nothing while no knob puts calls off."""

from __future__ import annotations

import struct
import typing as t

from nfsclient.protocol import nfs3 as protocol
from nfsclient.protocol.nfs3 import NFS3, Nfsstat3, StableHow
from nfsclient.rpc.service import CallContext
from nfsserver.handlers import AnyProcedure
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant
from nfsserver.nfs3.freedoms import reply_with_nothing

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_EVERY: t.Final = tuple(procedure for procedure in NFS3.procedures if procedure is not protocol.NULL)
_CHANGING: t.Final = (
    protocol.SETATTR,
    protocol.WRITE,
    protocol.CREATE,
    protocol.MKDIR,
    protocol.SYMLINK,
    protocol.MKNOD,
    protocol.REMOVE,
    protocol.RMDIR,
    protocol.RENAME,
    protocol.LINK,
)
_SECTION: t.Final = "RFC 1813 section 2.6"


def _memory(server: Server, name: str) -> dict[t.Any, t.Any]:
    memory: dict[t.Any, t.Any] = server.mutant_state(name).setdefault("put off", {})
    return memory


def _key(context: CallContext, args: t.Any) -> tuple[int, bytes]:
    return context.procedure.number, args.to_xdr()


def _lie(procedure: AnyProcedure) -> t.Any:
    """A result that says OK, with nothing of what may be left out; of a WRITE, that one byte was taken."""
    if procedure is not protocol.WRITE:
        return reply_with_nothing(procedure.res, Nfsstat3.NFS3_OK)
    resok = protocol.Write3ResOk(protocol.WccData(), 1, StableHow.FILE_SYNC, bytes(8))
    return protocol.Write3Res(Nfsstat3.NFS3_OK, resok)


@mutant(
    "jukebox3-refuses-the-next-attempt",
    bends=_EVERY,
    breaks=_SECTION,
    gist="a call that was put off is refused with INVAL when it is made with a new xid",
)
def refuses_the_next_attempt(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Remember the first xid of what was put off."""
    state = _memory(server, "jukebox3-refuses-the-next-attempt")
    reply = proceed(context, args)
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        state.setdefault(_key(context, args), context.xid)
    elif state.get(_key(context, args), context.xid) != context.xid:
        return reply_with_nothing(context.procedure.res, Nfsstat3.NFS3ERR_INVAL)
    return reply


@mutant(
    "jukebox3-forgets-what-it-put-off",
    bends=_CHANGING,
    breaks=_SECTION,
    gist="a call that was put off is answered with OK when it is made with a new xid, and nothing is done",
)
def forgets_what_it_put_off(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Remember what was put off; say OK to it."""
    state = _memory(server, "jukebox3-forgets-what-it-put-off")
    if _key(context, args) in state:
        return _lie(context.procedure)
    reply = proceed(context, args)
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        state[_key(context, args)] = True
    return reply


@mutant(
    "jukebox3-changes-and-says-later",
    bends=_CHANGING,
    breaks=_SECTION,
    gist="what is answered with JUKEBOX is done all the same",
)
def changes_and_says_later(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Do it behind the answer."""
    reply = proceed(context, args)
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        with server.knobs.released():
            proceed(context, args)
    return reply


@mutant(
    "jukebox3-ignores-delegations",
    bends=_EVERY,
    breaks="RFC 5661 section 10.2",
    gist="calls that conflict with a delegation are not put off until it is returned",
)
def ignores_delegations(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Look for no delegation."""
    if not server.knobs.now.delegated_names:
        return proceed(context, args)
    with server.knobs.released():
        return proceed(context, args)


_CALLED: t.Final = struct.Struct(">4x4x4xIII")
_STATUS_AT: t.Final = 24
"""Where the status of a result stands in a reply with an empty verifier."""
_LATER: t.Final = Nfsstat3.NFS3ERR_JUKEBOX.to_bytes(4, "big")


@wire_mutant(
    "jukebox3-says-ok-to-the-same-xid",
    breaks=_SECTION,
    gist="a call that was put off is answered with OK when it is sent again as it was, and nothing is done",
)
def says_ok_to_the_same_xid(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Take a retransmission for proof that the first one was done."""
    state = _memory(server, "jukebox3-says-ok-to-the-same-xid")
    if len(message) < _CALLED.size:
        return proceed(message)
    program, version, number = _CALLED.unpack_from(message)
    procedure = NFS3.by_number.get(number)
    if (program, version) != (NFS3.number, NFS3.version) or procedure is None or procedure not in _CHANGING:
        return proceed(message)
    if message in state:
        return [state[message]]
    answer = proceed(message)
    reply = b"" if answer is None else b"".join(answer)
    if reply[_STATUS_AT : _STATUS_AT + 4] == _LATER:
        state[message] = reply[:_STATUS_AT] + _lie(procedure).to_xdr()
    return answer
