# SPDX-License-Identifier: MIT
"""The way of one RPC message through the server: middleware around messages, the replay cache, the dispatcher.

The dispatcher decodes the call and finds its procedure; `Pipeline.perform` answers it.

    middleware below messages     sockets, waiting calls (`transport.py`, `waiting.py`): bytes of records and datagrams
    middleware around messages    mutants of headers and malformed replies: the last one that was added is outermost
    replay cache                  calls that must not run twice: the reply of before, and nothing inside runs
    dispatcher                    decodes header and arguments; refuses what is wrong with them, as knobs say
    `Pipeline.perform`            each operation (`pipeline.py`)

What must stay true:

- Nothing that a message has in it raises out of `answer`: an exception of a handler becomes SYSTEM_ERR, one of
  middleware becomes silence, and both are noted in `faults`, which our own tests find. `Waits` alone passes: it is no
  Exception.
- `answer` may be entered while it runs: CALLIT of rpcbind makes a call to this server (`_Dispatcher._depth`).
- Silence (`keep_silent`) is of the call that is being answered, and is cleared when the next one begins.
"""

from __future__ import annotations

import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.errors import XdrError
from nfsclient.protocol.nfs4 import COMPOUND
from nfsclient.rpc.channel import Channel
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Buffer
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Answer, AroundMessage, ProceedMessage
from nfsserver.nfs4.oversized import begin_of_oversized
from nfsserver.nfs4.undecodable import begin_of_undecodable
from nfsserver.pipeline import Pipeline
from nfsserver.replay import ReplayCache
from nfsserver.settings import Settings

Transport: t.TypeAlias = t.Literal["tcp", "udp"]

_KEPT_FAULTS = 100
_USUAL: t.Final = Settings()


class _Dispatcher(Dispatcher):
    """Refuses calls as the knobs say."""

    def __init__(self, server: ServerApi, on_error: Callable[[CallContext, Exception], None]) -> None:
        super().__init__(on_error)
        self._server = server
        self._depth = 0
        """Calls that are being answered: one, or two while CALLIT makes one."""
        self.ends_connection = False
        """Whether the connection of the last call must end, since its arguments do not decode."""

    def answer(
        self, message: bytes, peer: Address, transport: Transport, channel: Channel | None = None
    ) -> list[Buffer] | None:
        """The reply to a message; None for silence."""
        auth_stat = self._server.knobs.now.auth_stat
        self.unknown_flavor = (
            AuthStat(auth_stat) if auth_stat != _USUAL.auth_stat else AuthStat.AUTH_REJECTEDCRED
        )
        self._depth += 1
        try:
            return super().answer(message, peer, transport, channel)
        finally:
            self._depth -= 1

    def decode(self, procedure: AnyOperation, message: bytes, pos: int) -> tuple[t.Any, int]:
        """The arguments; of a compound no more than its refusal needs, or than can be decoded."""
        if procedure is COMPOUND:
            begun = begin_of_oversized(message, pos)
            if begun is not None:
                return begun, len(message)
        try:
            return super().decode(procedure, message, pos)
        except XdrError:
            if procedure is COMPOUND and not self._server.knobs.now.decodes_first:
                begun = begin_of_undecodable(message, pos)
                if begun is not None:
                    return begun, len(message)
            raise

    def refuse_arguments(self, xid: int) -> list[Buffer] | None:
        """GARBAGE_ARGS, or silence. What is inside a CALLIT gets GARBAGE_ARGS always: the outer call decodes."""
        on_garbage = self._server.knobs.now.on_garbage
        if self._depth > 1 or on_garbage == "reply":
            return super().refuse_arguments(xid)
        self.ends_connection = on_garbage == "close"
        return None


class Messages:
    """Answers messages, from any connection or datagram."""

    def __init__(self, server: ServerApi, pipeline: Pipeline) -> None:
        self._server = server
        self._pipeline = pipeline
        self.dispatcher = _Dispatcher(server, self._note_fault)
        self.replays = ReplayCache()
        self.faults: deque[tuple[AnyOperation | None, Exception]] = deque(maxlen=_KEPT_FAULTS)
        """Exceptions of handlers, which callers saw as SYSTEM_ERR: faults of this server, or of middleware.

        Those of middleware around messages have no operation, and callers saw silence.
        """
        self._silenced = self._is_done = False

    @property
    def ends_connection(self) -> bool:
        """Whether the connection of the last call must end."""
        return self.dispatcher.ends_connection

    @property
    def reverses_replies(self) -> bool:
        """Whether calls that arrive together are answered in reverse order."""
        return self._server.knobs.now.reversed_replies

    def answer(
        self, message: bytes, peer: Address, transport: Transport, channel: Channel | None = None
    ) -> Answer:
        """The reply to one RPC message, through the middleware around messages; None for silence."""

        self.dispatcher.ends_connection = False
        around = self._pipeline.around_messages()
        if not around:
            return self._dispatch(message, peer, transport, channel)

        def dispatch(message: bytes) -> Answer:
            return self._dispatch(message, peer, transport, channel)

        proceed: ProceedMessage = dispatch
        for middleware in around:
            proceed = self._around(middleware, proceed)
        try:
            return proceed(message)
        except Exception as error:  # noqa: BLE001  (a fault of middleware must not stop the service)
            self.faults.append((None, error))
            return None

    def _around(self, around: AroundMessage, proceed: ProceedMessage) -> ProceedMessage:
        return lambda message: around(self._server, message, proceed)

    def _dispatch(
        self, message: bytes, peer: Address, transport: Transport, channel: Channel | None
    ) -> Answer:
        self._silenced = False
        if not self.replays.covers(message, is_used=self._server.knobs.now.replay_cache):
            reply = self.dispatcher.answer(message, peer, transport, channel)
            return None if self._silenced else reply
        key = self.replays.key(message, peer, transport)
        known = self.replays.find(key)
        if known is None:
            reply = self.dispatcher.answer(message, peer, transport, channel)
            if reply is None or (self._silenced and not self._is_done):
                return None
            known = b"".join(reply)
            self.replays.remember(key, known)
        return None if self._silenced else [known]

    def keep_silent(self, *, done: bool = False) -> None:
        """The call that is being answered gets no answer at all.

        `done`: it was executed, and only its reply is lost, so that the replay cache knows it.
        """
        self._silenced, self._is_done = True, done

    def _note_fault(self, context: CallContext, error: Exception) -> None:
        self.faults.append((context.operation, error))
