# SPDX-License-Identifier: MIT
"""The extension point of the server: code that runs around its handlers, which do not know of it.

There are three places: around an operation, around the answer to a whole message, and below
messages (`nfsserver.transport`). Mutants use it, and so do tests that want to see or to change calls.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Buffer, XdrType
from nfsserver.handlers import ServerApi
from nfsserver.transport import TransportMiddleware

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

Proceed: t.TypeAlias = Callable[[CallContext, A], R]
"""The rest of the chain: other middleware, then the handler."""
AroundCall: t.TypeAlias = Callable[[ServerApi, CallContext, A, Proceed[A, R]], R]
"""(server, context, decoded arguments, proceed) -> result."""
AnyAroundCall: t.TypeAlias = AroundCall[t.Any, t.Any]

Answer: t.TypeAlias = list[Buffer] | None
"""What goes back on the wire, without record marks; None for silence."""
ProceedMessage: t.TypeAlias = Callable[[bytes], Answer]
AroundMessage: t.TypeAlias = Callable[[ServerApi, bytes, ProceedMessage], Answer]
"""(server, message, proceed) -> answer."""


class Middleware(t.Protocol):
    """What `Server.surround` accepts. The server calls it for each request, so its parts may change."""

    def around_calls(self, operation: AnyOperation, /) -> Sequence[AnyAroundCall]:
        """What runs around `operation`, in a call or in a compound, the innermost first."""

    def around_messages(self) -> Sequence[AroundMessage]:
        """What runs around the answer to each message, the innermost first."""

    def below_messages(self) -> Sequence[TransportMiddleware]:
        """What changes fragments, connections and datagrams."""


class Interposed:
    """A function around one operation, as `Middleware`."""

    def __init__(self, operation: AnyOperation, around: AnyAroundCall) -> None:
        self._operation = operation
        self._around = around

    def around_calls(self, operation: AnyOperation, /) -> Sequence[AnyAroundCall]:
        """The function, for its operation."""
        return (self._around,) if operation is self._operation else ()

    def around_messages(self) -> Sequence[AroundMessage]:
        return ()

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return ()
