# SPDX-License-Identifier: MIT
"""Which function answers which operation, and what such a function sees of its server."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping

from nfsclient.rpc.program import AnyOperation, Operation
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import XdrType
from nfsserver.backend import Backend
from nfsserver.binding import Registry
from nfsserver.dialing import Dialer
from nfsserver.fs import Inode
from nfsserver.knobs import Knobs
from nfsserver.mounts import Mounts
from nfsserver.state.manager import StateManager
from nfsserver.state.spritely import SpritelyState
from nfsserver.waiting import WaitingCalls

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


class ServerApi(t.Protocol):
    """What handlers and middleware may use of the `Server`.

    The server imports the tables of handlers. Handlers import this instead of the server, so there is no circle.
    """

    backend: Backend
    knobs: Knobs
    mounts: Mounts
    registry: Registry
    states: StateManager
    """What NFSv4 clients have, in this instance of the service."""
    spritely: SpritelyState
    """What clients of Spritely NFS have, in this instance of the service."""
    waiting: WaitingCalls
    """The calls that wait for the return of a delegation."""
    dialer: Dialer
    """Calls clients at addresses that they have named."""
    dispatcher: Dispatcher
    """Answers a message without the middleware around messages, as CALLIT needs it."""

    def perform(
        self, operation: AnyOperation, handler: Handler, context: CallContext, args: t.Any, /
    ) -> t.Any:
        """The result of one operation of a compound, through all that is around operations."""

    def clear_caches(self, inode: Inode, *, changes: bool) -> None:
        """Take a file from the caches of clients of Spritely NFS, for an access by another version."""

    def keep_silent(self, *, done: bool = False) -> None:
        """Called by a handler: its call gets no answer at all. `done`: it was executed, so a retransmission is not."""


Handler: t.TypeAlias = Callable[[ServerApi, CallContext, t.Any], t.Any]
"""How an operation is answered: (server, context, decoded arguments) -> result."""
Handlers: t.TypeAlias = Mapping[AnyOperation, Handler]


def answers(
    operation: Operation[A, R], handler: Callable[[ServerApi, CallContext, A], R]
) -> tuple[AnyOperation, Handler]:
    """One row of a table of handlers; a type checker sees that the types are those of the operation."""
    return operation, handler
