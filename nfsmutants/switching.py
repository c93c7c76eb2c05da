# SPDX-License-Identifier: MIT
"""Switching mutants on and off in a server, while it serves."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator, MutableSet

from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsmutants.form import Call, Message, Mutant, State, TransportMutant, find_mutant
from nfsmutants.windows import Window
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Answer, AnyAroundCall, AroundMessage, ProceedMessage
from nfsserver.server import Server
from nfsserver.transport import TransportMiddleware


class Mutants(MutableSet[str]):
    """The names of the mutants that are on in `server`: adding one switches it on, discarding it off.

    A set that refuses unknown names (`UnknownMutant`). A mutant starts with an empty memory.
    """

    def __init__(self, server: Server, names: Iterable[str] = ()) -> None:
        self._server = server
        self._active: dict[str, _ActiveMutant] = {}
        self.update(names)
        server.surround(self)

    def __contains__(self, name: object) -> bool:
        return name in self._active

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._active))

    def __len__(self) -> int:
        return len(self._active)

    def __repr__(self) -> str:
        return f"Mutants({sorted(self._active)})"

    def add(self, value: str) -> None:
        mutant = find_mutant(value)
        if value not in self._active:
            active = {**self._active, value: _ActiveMutant(mutant, self._server)}
            self._active = dict(sorted(active.items()))

    def discard(self, value: str) -> None:
        self._active.pop(value, None)

    def update(self, names: Iterable[str]) -> None:
        for name in names:
            self.add(name)

    # ------------------------------------------------------------ `Middleware`

    def around_calls(self, operation: AnyOperation, /) -> list[AnyAroundCall]:
        """The mutants of an operation that are on."""
        if not self._active:
            return []
        return [
            active.around_call for active in self._active.values() if operation in active.mutant.operations
        ]

    def around_messages(self) -> list[AroundMessage]:
        """The mutants of messages that are on."""
        if not self._active:
            return []
        active = self._active.values()
        return [each.around_message for each in active if each.mutant.on_message is not None]

    def below_messages(self) -> list[TransportMiddleware]:
        """The mutants of transports that are on."""
        if not self._active:
            return []
        return [each.transport for each in self._active.values() if each.transport is not None]


class _ActiveMutant:
    """A mutant in one server, with its memory."""

    def __init__(self, mutant: Mutant, server: ServerApi) -> None:
        self.mutant = mutant
        self._window = Window() if mutant.in_steps else None
        self.transport = self._window if mutant.transport is None else mutant.transport()
        if isinstance(self.transport, TransportMutant):
            self.transport.server = server
        self._state: State = {}

    def around_call(self, server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        on_call = self.mutant.on_call
        assert on_call is not None
        call = Call(server, context, args, self._state, proceed)
        if self._window is None:
            return on_call(call)
        return self._window.step(context, lambda: on_call(call))

    def around_message(self, server: ServerApi, message: bytes, proceed: ProceedMessage) -> Answer:
        assert self.mutant.on_message is not None
        return self.mutant.on_message(Message(server, message, self._state, proceed))
