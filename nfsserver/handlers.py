# SPDX-License-Identifier: MIT
"""Which function answers which operation."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping

from nfsclient.rpc.program import AnyOperation, Operation
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsserver.server import Server

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

Handler: t.TypeAlias = "Callable[[Server, CallContext, t.Any], t.Any]"
"""How an operation is answered: (server, context, decoded arguments) -> result."""
Handlers: t.TypeAlias = Mapping[AnyOperation, Handler]


def answers(
    operation: Operation[A, R], handler: Callable[[Server, CallContext, A], R]
) -> tuple[AnyOperation, Handler]:
    """One row of a table of handlers; a type checker sees that the types are those of the operation."""
    return operation, handler
