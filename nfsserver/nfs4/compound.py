# SPDX-License-Identifier: MIT
"""COMPOUND: its operations, one after the other, until one fails (RFC 5661 section 16.2).

Nothing here knows sessions: what a compound begins with, and what follows from that, is a `Beginning`.
"""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable, Sequence

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import Unread, Void, XdrType, replace
from nfsserver.handlers import Handler, Handlers, ServerApi
from nfsserver.nfs4.beginning import Beginning, Beginnings
from nfsserver.nfs4.common import REFUSALS, CompoundState, Nfs4Error, failed, is_utf8, status_of
from nfsserver.nfs4.oversized import has_long_bitmap, operations_of, refusal_of
from nfsserver.nfs4.room import header_size, least_room, size_of
from nfsserver.nfs4.undecodable import asked_in
from nfsserver.state.stateids import CURRENT, StateError, Stateid
from nfsserver.waiting import Waits

_WITH_SEQID: t.Final = frozenset({p.CLOSE, p.OPEN_DOWNGRADE})
"""Operations that get the current stateid with its seqid; others get the most recent one (RFC 5661 section 8.2.3)."""
_OF_ABSENT: t.Final = frozenset({p.GETATTR, p.VERIFY, p.NVERIFY})
"""Operations that an absent file system has (RFC 5661 section 11.3.1)."""


def compound_handler(
    handlers: Handlers, beginnings: Beginnings
) -> Callable[[ServerApi, CallContext, p.Compound4Args], t.Any]:
    """The handler of COMPOUND, in the minor versions of `beginnings`; `handlers` are of the operations it may carry."""

    def compound4(server: ServerApi, context: CallContext, args: p.Compound4Args) -> p.Compound4Res:
        """COMPOUND; over TCP only (RFC 5661 section 2.9.1)."""
        if context.transport != "tcp":
            raise Refused(accept_stat=AcceptStat.PROC_UNAVAIL)
        beginning = beginnings.get(args.minorversion)
        if beginning is None:
            return p.Compound4Res(Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH, args.tag, [])
        if not is_utf8(args.tag):
            return p.Compound4Res(Nfsstat4.NFS4ERR_INVAL, args.tag, [])
        count = operations_of(context, args)
        if count > len(args.argarray) == 0:
            return p.Compound4Res(refusal_of(count), args.tag, [])
        execution = server.waiting.take_compound()
        if execution is None:
            execution = _Execution(server, context, args, handlers, beginning, count)
        try:
            return t.cast("_Execution", execution).run()
        except Waits:
            server.waiting.keep_compound(execution)
            raise

    return compound4


def null4(_server: ServerApi, _context: CallContext, _args: Void) -> Void:
    """NULL."""
    return Void()


class _Execution:
    """The execution of one compound."""

    def __init__(
        self,
        server: ServerApi,
        context: CallContext,
        args: p.Compound4Args,
        handlers: Handlers,
        beginning: Beginning,
        count: int,
    ) -> None:
        self._server = server
        self._context = context
        self._args = args
        self._handlers = handlers
        self._beginning = beginning
        states = server.states
        states.look()
        self.state = CompoundState(args.minorversion, server.backend.caller(context), states)
        self.state.operations = args.argarray
        self.state.last = count - 1
        self.state.size = len(context.message)
        self.state.header = header_size(args.tag)
        beginning.begin(self.state, context, args)
        self._results: list[XdrType] = []
        self._sized: tuple[XdrType | None, int] = (None, 0)
        """The last result of a handler, and its bytes in the reply."""

    def run(self) -> p.Compound4Res:
        """The reply. After `Waits` it goes on where it was."""
        state, results = self.state, self._results
        status = Nfsstat4.NFS4_OK
        self._beginning.go_on(state)
        for index, asked in enumerate(self._args.argarray[len(results) :], start=len(results)):
            state.index = index
            try:
                result = self._answer(asked)
            except Waits:
                self._beginning.wait(state)
                raise
            instead = self._beginning.after(state, self._args, result)
            if instead is not None:
                return instead
            if state.room is not None:
                sized, size = self._sized
                state.room.take(size if sized is result else size_of(result))
            results.append(result)
            status = p.status_of(result)
            if status != Nfsstat4.NFS4_OK:
                break
        reply = p.Compound4Res(status, self._args.tag, results)
        self._beginning.end(self._server, state, reply)
        return reply

    # ------------------------------------------------------------ one operation

    def _answer(self, asked: XdrType) -> XdrType:
        state, context = self.state, self._context
        operation = _operation_for(type(asked), state.minor)
        undecoded = asked_in(asked)
        if undecoded is not None and undecoded.is_in(state.minor):
            operation = undecoded
        inner = CallContext(
            context.peer,
            context.transport,
            context.credential,
            context.xid,
            context.program,
            context.version,
            operation,
            state,
            context.channel,
            context.message,
            context.arguments_at,
        )
        if operation is undecoded:
            return self._handle(self._server, inner, asked)  # nobody else can do anything with it
        args = p.Illegal4Args() if operation is p.ILLEGAL else asked
        return t.cast("XdrType", self._server.perform(operation, self._handle, inner, args))

    def _handle(self, server: ServerApi, context: CallContext, args: t.Any) -> XdrType:
        """The handler of every operation, as the pipeline sees it."""
        operation: p.AnyOperation = context.operation  # type: ignore[assignment]
        try:
            self._admit(operation, args)
            result = self._perform(operation, server, context, args)
        except REFUSALS as refusal:
            return failed(operation, status_of(refusal))
        if operation.gives_stateid:
            self._note_stateid(operation, result)
        return result

    def _admit(self, operation: p.AnyOperation, args: XdrType) -> None:
        """Raises what refuses an operation by its place, whatever its arguments say."""
        state = self.state
        self._beginning.admit(state, operation)
        if operation is p.ILLEGAL:
            raise Nfs4Error(Nfsstat4.NFS4ERR_OP_ILLEGAL)
        if isinstance(args, Unread):
            raise Nfs4Error(Nfsstat4.NFS4ERR_BADXDR)
        if not _is_implementable(operation, state.minor) or operation not in self._handlers:
            raise Nfs4Error(Nfsstat4.NFS4ERR_NOTSUPP)
        if (operation.needs_current and state.current is None) or (
            operation.needs_saved and state.saved is None
        ):
            raise Nfs4Error(Nfsstat4.NFS4ERR_NOFILEHANDLE)
        here = state.current if operation.needs_current and operation not in _OF_ABSENT else None
        if here is not None and self._server.backend.pseudo.is_absent(here):
            raise Nfs4Error(Nfsstat4.NFS4ERR_MOVED)

    def _perform(
        self, operation: p.AnyOperation, server: ServerApi, context: CallContext, args: t.Any
    ) -> XdrType:
        room = self.state.room
        if room is not None and not room.has(least_room(operation)):
            raise Nfs4Error(room.refusal)
        if has_long_bitmap(self.state.size, args):
            raise Nfs4Error(Nfsstat4.NFS4ERR_BADXDR)
        handler: Handler = self._handlers[operation]
        if operation.stateids and self.state.minor:  # 4.0 has no current stateid
            args = self._with_current_stateid(operation, args)
        self._beginning.identify(self.state, operation, args)
        before = (self.state.current, self.state.handle, self.state.stateid)
        result: XdrType = handler(server, context, args)
        if room is None:
            return result
        size = size_of(result)
        self._sized = result, size
        if not room.has(size):
            self.state.current, self.state.handle, self.state.stateid = before
            raise Nfs4Error(room.refusal)
        return result

    def _with_current_stateid(self, operation: p.AnyOperation, args: t.Any) -> t.Any:
        """The arguments with the current stateid instead of the stateid that stands for it. Raises BAD_STATEID."""
        for path in operation.stateids:
            given = _value_at(args, path)
            if given is None or Stateid(given.seqid, bytes(given.other)) != CURRENT:
                continue
            if self.state.stateid is None:
                raise StateError("BAD_STATEID")
            seqid, other = self.state.stateid
            args = _put(args, path.split("."), p.Stateid4(seqid if operation in _WITH_SEQID else 0, other))
        return args

    def _note_stateid(self, operation: p.AnyOperation, result: XdrType) -> None:
        for path in operation.gives_stateid:
            given = _value_at(result, path)
            if given is not None:
                self.state.stateid = Stateid(given.seqid, bytes(given.other))
                return


@functools.cache
def _operation_for(cls: type[XdrType], minor: int) -> p.AnyOperation:
    """The operation that arguments ask for in a minor version: ILLEGAL for what that does not know."""
    if issubclass(cls, Unread) or not p.BY_CLASS[cls].is_in(minor):
        return p.ILLEGAL
    return p.BY_CLASS[cls]


@functools.cache
def _is_implementable(operation: p.AnyOperation, minor: int) -> bool:
    return operation.is_implementable(minor)


def _value_at(value: t.Any, path: str) -> t.Any:
    """What stands at a place; None if there is nothing."""
    for name in path.split("."):
        value = getattr(value, name, None)
        if value is None:
            return None
    return value


def _put(value: t.Any, path: Sequence[str], new: t.Any) -> t.Any:
    """A copy of a structure with another value at a place."""
    name, *rest = path
    return replace(value, **{name: _put(getattr(value, name), rest, new) if rest else new})


def table(*rows: tuple[AnyOperation, Handler]) -> Handlers:
    """Handlers by operation."""
    return dict(rows)
