# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_jukebox.py catch."""

from __future__ import annotations

import struct
import typing as t

from nfsclient.protocol import nfs3 as protocol
from nfsclient.protocol.nfs3 import NFS3, Nfsstat3, StableHow
from nfsclient.rpc.program import AnyOperation
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, Message, mutant, wire_mutant
from nfsserver.middleware import Answer
from nfsserver.nfs3.freedoms import reply_with_nothing

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


def _key(call: AnyCall) -> tuple[int, bytes]:
    return call.operation.number, call.args.to_xdr()


def _lie(operation: AnyOperation) -> t.Any:
    """A result with status OK that omits everything optional; the result of WRITE has a count of 1."""
    if operation is not protocol.WRITE:
        return reply_with_nothing(operation.res, Nfsstat3.NFS3_OK)
    resok = protocol.Write3ResOk(protocol.WccData(), 1, StableHow.FILE_SYNC, bytes(8))
    return protocol.Write3Res(Nfsstat3.NFS3_OK, resok)


@mutant(_EVERY)
def jukebox3_refuses_the_retry(call: AnyCall) -> t.Any:
    """After JUKEBOX, the same call with a new xid is refused with INVAL"""
    put_off: dict[t.Any, t.Any] = call.state.setdefault("put off", {})
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        put_off.setdefault(_key(call), call.context.xid)
    elif put_off.get(_key(call), call.context.xid) != call.context.xid:
        return reply_with_nothing(call.operation.res, Nfsstat3.NFS3ERR_INVAL)
    return reply


@mutant(_CHANGING)
def jukebox3_retry_does_nothing(call: AnyCall) -> t.Any:
    """After JUKEBOX, the same call with a new xid is answered with OK, and not executed"""
    put_off: dict[t.Any, t.Any] = call.state.setdefault("put off", {})
    if _key(call) in put_off:
        return _lie(call.operation)
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        put_off[_key(call)] = True
    return reply


@mutant(_CHANGING)
def jukebox3_executes_the_call(call: AnyCall) -> t.Any:
    """The server answers JUKEBOX, but executes the call"""
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        with call.server.knobs.released():
            call.proceed()
    return reply


@mutant(_EVERY)
def jukebox3_ignores_delegations(call: AnyCall) -> t.Any:
    """Calls that conflict with a delegation are executed before it is returned"""
    if not call.server.knobs.now.delegated_names:
        return call.proceed()
    with call.server.knobs.released():
        return call.proceed()


_CALLED: t.Final = struct.Struct(">4x4x4xIII")
_STATUS_AT: t.Final = 24
"""The offset of the result's status in a reply with an empty verifier."""
_LATER: t.Final = Nfsstat3.NFS3ERR_JUKEBOX.to_bytes(4, "big")


@wire_mutant()
def jukebox3_retransmission_does_nothing(message: Message) -> Answer:
    """After JUKEBOX, the same call with the same xid is answered with OK, and not executed"""
    put_off: dict[bytes, bytes] = message.state.setdefault("put off", {})
    if len(message.data) < _CALLED.size:
        return message.proceed()
    program, version, number = _CALLED.unpack_from(message.data)
    procedure = NFS3.by_number.get(number)
    if (program, version) != (NFS3.number, NFS3.version) or procedure is None or procedure not in _CHANGING:
        return message.proceed()
    if message.data in put_off:
        return [put_off[message.data]]
    answer = message.proceed()
    reply = b"" if answer is None else b"".join(answer)
    if reply[_STATUS_AT : _STATUS_AT + 4] == _LATER:
        put_off[message.data] = reply[:_STATUS_AT] + _lie(procedure).to_xdr()
    return answer


@mutant(_EVERY)
def jukebox3_never_ends(call: AnyCall) -> t.Any:
    """Every call but GETATTR of the root is answered with JUKEBOX, however often it is made"""
    if call.operation is protocol.GETATTR and inode_of(call.server, call.args.object) is call.backend.fs.root:
        return call.proceed()
    return reply_with_nothing(call.operation.res, Nfsstat3.NFS3ERR_JUKEBOX)
