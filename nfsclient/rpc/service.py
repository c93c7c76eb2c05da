# SPDX-License-Identifier: MIT
"""Answering calls (RFC 5531): from a whole RPC message to the reply, without I/O.

Used by the embedded server, and by clients whose server calls back.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nfsclient.errors import XdrError
from nfsclient.rpc.auth import AuthNone, AuthSys, RawCredential, decode_credential
from nfsclient.rpc.channel import Channel
from nfsclient.rpc.messages import (
    RPC_VERSION,
    AcceptStat,
    AuthStat,
    CallHeader,
    MismatchInfo,
    accepted,
    denied,
)
from nfsclient.rpc.program import AnyOperation, Procedure, Program
from nfsclient.rpc.security import Acceptor, seal_reply
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Buffer, Void

_START = struct.Struct(">III")
_HEADER = struct.Struct(">8I")
"""Of a call: XID, CALL, version of RPC, program, version, procedure, flavor and size of the credential."""
_CALLER_AT = 24
"""Where credential and verifier begin."""
_CALL = 0
_KEPT_CALLERS = 256
_LONGEST_CALLER = 512
"""Bytes of a credential and a verifier that are kept: AUTH_SYS has fewer."""
_SUCCESS = accepted(0, AcceptStat.SUCCESS).to_xdr()[4:]


@dataclass(slots=True)
class CallContext:
    """What a handler may know of a call besides its arguments."""

    peer: Address
    transport: t.Literal["tcp", "udp"]
    credential: AuthSys | AuthNone | RawCredential
    xid: int
    program: int
    version: int
    operation: AnyOperation
    """What is answered: the procedure, or one of the operations that it carries."""
    state: t.Any = None
    """What the operations of one compound share, such as the current filehandle; None outside of compounds."""
    channel: Channel | None = None
    """Makes calls to the client over the connection that the call came from; None over UDP."""
    message: bytes = b""
    """The whole call as it came, without record marks. Of a sealed call the arguments are opened."""
    arguments_at: int = 0
    """Where its arguments begin."""


Handler: t.TypeAlias = Callable[[CallContext, t.Any], t.Any]
"""Takes the decoded arguments, gives a result of the procedure's type."""


class Refused(Exception):
    """Raised by a handler to refuse a call at the level of RPC."""

    def __init__(self, *, auth_stat: AuthStat | None = None, accept_stat: AcceptStat | None = None) -> None:
        super().__init__(str(auth_stat or accept_stat))
        self.auth_stat = auth_stat
        self.accept_stat = accept_stat


class _Source(t.NamedTuple):
    """Where a call came from."""

    peer: Address
    transport: t.Literal["tcp", "udp"]
    channel: Channel | None


def _answer_null(_context: CallContext, _args: t.Any) -> Void:
    return Void()


class Dispatcher:
    """Finds the handler of a call by program, version and procedure.

    `on_error` is called for exceptions of handlers, which the caller sees as SYSTEM_ERR.
    """

    def __init__(self, on_error: Callable[[CallContext, Exception], None] | None = None) -> None:
        self.on_error = on_error
        self.unknown_flavor = AuthStat.AUTH_REJECTEDCRED
        """What callers with a credential of an unknown flavor get (RFC 1831 section 8.2)."""
        self.acceptors: dict[int, Acceptor] = {}
        """Flavors other than AUTH_NONE and AUTH_SYS, with what opens their calls (`nfsclient.rpc.security`)."""
        self._programs: dict[int, dict[int, dict[int, tuple[Procedure[t.Any, t.Any], Handler]]]] = {}
        self._callers: dict[bytes, AuthSys | AuthNone] = {}
        """The bytes of credential and verifier -> who calls; clients repeat theirs, so the latest few are kept."""

    def register(self, program: Program, handlers: Mapping[int, Handler]) -> None:
        """Serve `program` with handlers by procedure number.

        NULL (procedure 0) answers by itself; other procedures without a handler are PROC_UNAVAIL.
        """
        known = {0: _answer_null, **handlers}
        table = {number: (program.by_number[number], handler) for number, handler in known.items()}
        self._programs.setdefault(program.number, {})[program.version] = table

    def answer(
        self,
        message: bytes,
        peer: Address,
        transport: t.Literal["tcp", "udp"],
        channel: Channel | None = None,
    ) -> list[Buffer] | None:
        """The reply to a message, as buffers; None where silence is right (a reply, or no RPC at all)."""
        if len(message) < _START.size:
            return None
        xid, mtype, rpcvers = _START.unpack_from(message)
        if mtype != _CALL:
            return None
        if rpcvers != RPC_VERSION:
            return denied(xid, mismatch=MismatchInfo(RPC_VERSION, RPC_VERSION)).to_buffers()
        source = _Source(peer, transport, channel)
        known = self._known_caller(message)
        if known is not None:
            _, _, _, prog, vers, proc, _, length = _HEADER.unpack_from(message)
            pos = _CALLER_AT + 16 + length
            return self._dispatch(xid, prog, vers, proc, known, message, pos, source)
        try:
            header, pos = CallHeader.unpack_from(message)
            credential = decode_credential(header.cred, header.verf)
        except XdrError as error:
            return _refuse_header(xid, error)
        if isinstance(credential, RawCredential):
            return self._answer_sealed(header, message, pos, source)
        self._keep_caller(message, pos, credential)
        return self._dispatch(xid, header.prog, header.vers, header.proc, credential, message, pos, source)

    def _known_caller(self, message: bytes) -> AuthSys | AuthNone | None:
        """Who calls, if the same bytes have said it before."""
        if len(message) < _HEADER.size:
            return None
        length = int.from_bytes(message[28:32], "big")
        if length > _LONGEST_CALLER:
            return None
        return self._callers.get(message[_CALLER_AT : _CALLER_AT + 16 + length])

    def _keep_caller(self, message: bytes, pos: int, credential: AuthSys | AuthNone) -> None:
        """Keep what the bytes of a header were decoded to, if the verifier is empty and nothing is padded."""
        caller = message[_CALLER_AT:pos]
        if len(caller) != 16 + int.from_bytes(message[28:32], "big") or len(caller) > _LONGEST_CALLER:
            return
        if len(self._callers) >= _KEPT_CALLERS:
            self._callers.clear()
        self._callers[caller] = credential

    def _answer_sealed(
        self, header: CallHeader, message: bytes, pos: int, source: _Source
    ) -> list[Buffer] | None:
        acceptor = self.acceptors.get(int(header.cred.flavor))
        if acceptor is None:
            return denied(header.xid, auth_stat=self.unknown_flavor).to_buffers()
        try:
            call = acceptor.open(header, message, pos)
        except Refused as refusal:
            return _refusal(header.xid, refusal)
        except XdrError:
            return denied(header.xid, auth_stat=AuthStat.AUTH_BADCRED).to_buffers()
        if call is None or isinstance(call, list):
            return call
        opened = message[:pos] + call.arguments
        reply = self._dispatch(
            header.xid, header.prog, header.vers, header.proc, call.credential, opened, pos, source
        )
        return None if reply is None else seal_reply(call, reply)

    def _dispatch(
        self,
        xid: int,
        prog: int,
        vers: int,
        proc: int,
        credential: AuthSys | AuthNone | RawCredential,
        message: bytes,
        pos: int,
        source: _Source,
    ) -> list[Buffer] | None:
        versions = self._programs.get(prog)
        if versions is None:
            return accepted(xid, AcceptStat.PROG_UNAVAIL).to_buffers()
        procedures = versions.get(vers)
        if procedures is None:
            offered = MismatchInfo(min(versions), max(versions))
            return accepted(xid, AcceptStat.PROG_MISMATCH, offered).to_buffers()
        found = procedures.get(proc)
        if found is None:
            return accepted(xid, AcceptStat.PROC_UNAVAIL).to_buffers()
        procedure, handler = found
        try:
            args, end = self.decode(procedure, message, pos)
        except XdrError:
            end = -1
        if end != len(message):
            return self.refuse_arguments(xid)
        context = CallContext(
            source.peer,
            source.transport,
            credential,
            xid,
            prog,
            vers,
            procedure,
            None,
            source.channel,
            message,
            pos,
        )
        return self._execute(context, handler, args)

    def decode(self, procedure: AnyOperation, message: bytes, pos: int) -> tuple[t.Any, int]:
        """The arguments that stand at `pos`, and where they end. A subclass may decode less of what it refuses anyway.

        Raises XdrError.
        """
        decoded: tuple[t.Any, int] = procedure.args.unpack_from(message, pos)
        return decoded

    def refuse_arguments(self, xid: int) -> list[Buffer] | None:
        """The reply to a call whose arguments do not decode: GARBAGE_ARGS. A subclass may be silent (None)."""
        return accepted(xid, AcceptStat.GARBAGE_ARGS).to_buffers()

    def _execute(self, context: CallContext, handler: Handler, args: t.Any) -> list[Buffer]:
        reply: list[Buffer] = [context.xid.to_bytes(4, "big"), _SUCCESS]
        try:
            handler(context, args).pack(reply)
        except Refused as refusal:
            return _refusal(context.xid, refusal)
        except Exception as error:  # noqa: BLE001  (a fault of one handler must not stop the service)
            if self.on_error is not None:
                self.on_error(context, error)
            return accepted(context.xid, AcceptStat.SYSTEM_ERR).to_buffers()
        return reply


def _refusal(xid: int, refusal: Refused) -> list[Buffer]:
    if refusal.auth_stat is not None:
        return denied(xid, auth_stat=refusal.auth_stat).to_buffers()
    return accepted(xid, refusal.accept_stat or AcceptStat.SYSTEM_ERR).to_buffers()


def _refuse_header(xid: int, error: XdrError) -> list[Buffer] | None:
    """A call whose header does not decode: the credential or verifier is to blame, or it is no call."""
    if error.path.startswith(("CallHeader.cred", "AuthSysParms")):
        return denied(xid, auth_stat=AuthStat.AUTH_BADCRED).to_buffers()
    if error.path.startswith("CallHeader.verf"):
        return denied(xid, auth_stat=AuthStat.AUTH_BADVERF).to_buffers()
    return None
