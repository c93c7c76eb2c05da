# SPDX-License-Identifier: MIT
"""Which function answers which procedure."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping

from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsserver.server import Server

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

AnyProcedure: t.TypeAlias = Procedure[t.Any, t.Any]
Handler: t.TypeAlias = "Callable[[Server, CallContext, t.Any], t.Any]"
"""How a procedure is answered: (server, context, decoded arguments) -> result."""
Handlers: t.TypeAlias = Mapping[AnyProcedure, Handler]


def answers(
    procedure: Procedure[A, R], handler: Callable[[Server, CallContext, A], R]
) -> tuple[AnyProcedure, Handler]:
    """One row of a table of handlers; a type checker sees that the types are those of the procedure."""
    return procedure, handler
