# SPDX-License-Identifier: MIT
"""A client by path and the reference server in one loop, with answers that a test scripts."""

from __future__ import annotations

import dataclasses
import typing as t
from collections import deque

import pytest

from nfsclient.clients import Patience
from nfsclient.highlevel import Limits
from nfsclient.nfs3 import NfsClient
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsserver import ManualClock, Server
from nfsserver.handlers import ServerApi

if t.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer: t.TypeAlias = t.Any
"""A reply, or what makes one of (args, proceed), where proceed(args) is the server's own answer."""


class Pauses:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float] = []

    def patience(self, **limits: float) -> Patience:
        return Patience(self._wait, lambda: self.now, **limits)

    def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds


class Stage:
    """The server, a client of it, and what was called."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.pauses = Pauses()
        self.server = Server(clock=ManualClock(), seed=1)
        self.server.listen(self.loop)
        self.calls: list[tuple[str, t.Any, int]] = []
        self._watches: dict[Procedure[t.Any, t.Any], Callable[[], None]] = {}
        rpc = connect_tcp("127.0.0.1", self.server.port, loop=self.loop, credential=AuthSys(0, 0))
        self.root = self.server.backend.handle_of(self.server.fs.root)
        self.client = NfsClient(rpc, self.root, base=b"/export", patience=self.pauses.patience())

    def limit(self, **sizes: int) -> None:
        """Make the client's calls small."""
        self.client.session.limits = dataclasses.replace(Limits(), **sizes)

    def watch(self, *procedures: Procedure[t.Any, t.Any]) -> None:
        """Note the calls of these procedures."""
        for procedure in procedures:
            self._interpose(procedure, None)

    def _interpose(self, procedure: Procedure[t.Any, t.Any], middleware: t.Any) -> None:
        """Put middleware around a procedure, but inside of what notes its calls."""
        unwatch = self._watches.pop(procedure, None)
        if unwatch is not None:
            unwatch()
        if middleware is not None:
            self.server.interpose(procedure, middleware)
        if unwatch is not None or middleware is None:
            self._watches[procedure] = self.server.interpose(procedure, self._note)

    def _note(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        self.calls.append((context.operation.name, args, context.xid))
        return proceed(context, args)

    def called(self, name: str) -> list[t.Any]:
        """The arguments of the calls of one watched procedure, in order."""
        return [args for called, args, _ in self.calls if called == name]

    def script(self, procedure: Procedure[t.Any, t.Any], *answers: Answer) -> None:
        """Give these answers to the next calls, one each; then the server answers by itself again."""
        left = deque(answers)

        def middleware(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
            if not left:
                return proceed(context, args)
            answer = left.popleft()
            return answer(args, lambda changed: proceed(context, changed)) if callable(answer) else answer

        self._interpose(procedure, middleware)

    def bend(self, procedure: Procedure[t.Any, t.Any], change: Callable[[t.Any], None]) -> None:
        """Let `change` alter every successful result of a procedure."""

        def middleware(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
            reply = proceed(context, args)
            if reply.resok is not None:
                change(reply.resok)
            return reply

        self._interpose(procedure, middleware)

    def lose_uncommitted_data(self) -> None:
        """What a crash does to data, without ending connections."""
        self.server.fs.crash()
        self.server.backend.boots += 1

    def close(self) -> None:
        self.client.close()
        self.server.close()
        self.loop.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()
    assert [str(error) for _, error in made.server.messages.faults] == []
