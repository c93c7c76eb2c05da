# SPDX-License-Identifier: MIT
"""The way of one operation through the server: middleware, then what knobs put around it, then its handler.

Every call enters it as the operation that its procedure is. The handler of a compound sends each operation that the
call carries through it again (`ServerApi.perform`), from its own table of operations, with a context that names the
operation and has the shared state. So a mutant or a knob of one operation works in a compound as it does in a call.

The layers of one operation, from outside to inside, and who puts them there:

    middleware     mutants, tests (`surround`): the last one that was added is outermost
    admission      who may call at all: the caller has AUTH_SYS where the service asks for it
    freedoms       what knobs change (`obey`): the first one in the table is innermost; unused ones are not there
    handler        the reference behaviour, which knows neither mutants nor knobs

What must stay true:

- Middleware is outside of the admission and of the freedoms: a mutant sees every call as the client sent it, and has
  the last word about the reply, whatever the knobs say. A mutant that is switched off leaves no layer.
- The handler is the only layer that is right by itself. A knob may change arguments and replies in ways that the RFC
  leaves open, and nothing else (`nfsserver/freedom.py`).
- Everything that refuses is inside `perform`, as an exception that the dispatcher turns into a result: so mutants and
  knobs see refusals too. `Waits` is no Exception and passes through all layers: nothing was changed yet, and the call
  comes again.
- An operation is counted in `performed` before any layer may refuse it: statistics say what clients wanted.
- With `consulted`, which is used with default settings, the freedoms are only asked what they would have changed.
  That is how `selftest --knobs` knows which checks a knob can reach.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Callable, Iterable

from nfsclient.protocol import mount, nfs3, snfs
from nfsclient.protocol.nfs4.operations import PROGRAM, VERSION
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext, Refused
from nfsserver.consulted import Consulted
from nfsserver.freedom import Freedom
from nfsserver.handlers import Handler, ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage, Middleware
from nfsserver.service import Service, require_user
from nfsserver.settings import Settings
from nfsserver.transport import TransportMiddleware

_OF_FILES: t.Final = frozenset({nfs3.NFS3.number, mount.MOUNT3.number, snfs.PROGRAM})
_NFS4: t.Final = (PROGRAM, VERSION)
"""The programs whose operations have to do with files, NULL aside."""
_Answer: t.TypeAlias = Callable[[CallContext, t.Any], t.Any]
Admit: t.TypeAlias = Callable[[CallContext], Refused | None]
"""Why a caller is refused, if it is. Called after the middleware and before the knobs."""


class Pipeline:
    """What is around the handlers of a server, and how often each operation was performed."""

    def __init__(self, server: ServerApi) -> None:
        self._server = server
        self._middleware: list[Middleware] = []
        self._around_handlers: dict[AnyOperation, list[AnyAroundCall]] = {}
        """What knobs put around handlers now, the innermost first; an operation without any is not there."""
        self._all_freedoms: tuple[Freedom, ...] = ()
        self.consulted: Consulted | None = None
        """Notes what knobs decide; None if nobody wants to know."""
        self.performed: Counter[AnyOperation] = Counter()
        """Operation -> how often it was performed, until somebody clears it."""

    def answerers(self, service: Service) -> dict[int, _Answer]:
        """What answers the calls of a program, by procedure number."""
        return {
            operation.number: self._answerer(operation, handler, operation in service.authenticated)
            for operation, handler in service.handlers.items()
        }

    def _answerer(self, operation: AnyOperation, handler: Handler, authenticated: bool) -> _Answer:
        def require(context: CallContext) -> Refused | None:
            return require_user(context, self._server.knobs.now.auth_stat)

        admit = require if authenticated else None
        return lambda context, args: self.perform(operation, handler, context, args, admit)

    def perform(
        self,
        operation: AnyOperation,
        handler: Handler,
        context: CallContext,
        args: t.Any,
        admit: Admit | None = None,
    ) -> t.Any:
        """The result of an operation. Raises what `admit` and the handler raise."""

        self.performed[operation] += 1
        arounds: list[AnyAroundCall] = []
        for middleware in self._middleware:
            arounds += middleware.around_calls(operation)
        if not arounds:
            return self._perform_freely(operation, handler, context, args, admit)

        def answer_freely(context: CallContext, args: t.Any) -> t.Any:
            return self._perform_freely(operation, handler, context, args, admit)

        proceed: _Answer = answer_freely
        for around in arounds:
            proceed = self._around(around, proceed)
        return proceed(context, args)

    def _perform_freely(
        self,
        operation: AnyOperation,
        handler: Handler,
        context: CallContext,
        args: t.Any,
        admit: Admit | None,
    ) -> t.Any:
        """The result inside of all middleware: as the knobs want it."""
        refusal = None if admit is None else admit(context)
        if refusal is not None:
            raise refusal
        if self.consulted is None and operation not in self._around_handlers:
            return handler(self._server, context, args)

        def answer(context: CallContext, args: t.Any) -> t.Any:
            return handler(self._server, context, args)

        proceed: _Answer = answer
        for around in self._around_handlers.get(operation, ()):
            proceed = self._around(around, proceed)
        if self.consulted is None:
            return proceed(context, args)
        return self._note(self.consulted, operation, proceed, context, args)

    def _around(self, around: AnyAroundCall, proceed: _Answer) -> _Answer:
        return lambda context, args: around(self._server, context, args, proceed)

    def surround(self, middleware: Middleware) -> Callable[[], None]:
        """Put `middleware` around everything so far; call the result to remove it."""
        self._middleware.append(middleware)
        return lambda: self._middleware.remove(middleware)

    def obey(self, freedoms: Iterable[Freedom], now: Settings) -> None:
        """Knobs changed: keep the freedoms that they use."""
        self._all_freedoms = tuple(freedoms)
        self._around_handlers = {}
        for freedom in self._all_freedoms:
            if freedom.is_used(now):
                for operation in freedom.operations:
                    self._around_handlers.setdefault(operation, []).append(freedom.middleware)

    def _note(
        self,
        consulted: Consulted,
        operation: AnyOperation,
        proceed: _Answer,
        context: CallContext,
        args: t.Any,
    ) -> t.Any:
        """The result of an operation; notes which freedoms would have changed the call or the reply."""
        consulted.has_files |= operation.program in _OF_FILES and operation.number != 0
        consulted.has_compounds |= (operation.program, operation.version) == _NFS4 and operation.number != 0
        consulted.has_opens |= operation.program == snfs.PROGRAM and operation.number != 0
        chosen = [freedom for freedom in self._all_freedoms if operation in freedom.operations]
        for freedom in chosen:
            for mark in freedom.of_call(self._server, args):
                consulted.note_mark(freedom.name, mark)
        reply = proceed(context, args)
        for freedom in chosen:
            for mark in freedom.of_reply(reply):
                consulted.note_mark(freedom.name, mark)
        return reply

    def around_messages(self) -> list[AroundMessage]:
        """What is around the answer to each message, the innermost first."""
        found: list[AroundMessage] = []
        for middleware in self._middleware:
            found += middleware.around_messages()
        return found

    def below_messages(self) -> list[TransportMiddleware]:
        """What changes fragments, connections and datagrams."""
        found: list[TransportMiddleware] = []
        for middleware in self._middleware:
            found += middleware.below_messages()
        return found
