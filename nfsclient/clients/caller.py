# SPDX-License-Identifier: MIT
"""What a typed client stands on: anything that makes a call and gives back its decoded result."""

from __future__ import annotations

import typing as t

from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


class Caller(t.Protocol):
    """The part of `nfsclient.rpc.blocking.RpcClient` that typed clients use."""

    def call(
        self,
        procedure: Procedure[A, R],
        args: A,
        /,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
        into: memoryview | None = None,
    ) -> R:
        """Make the call and wait for its result. Raises `RpcError` or `XdrError`."""
        ...


class TypedClient:
    """Base of the typed clients: a connection, and what every call of this client has in common.

    `credential` and `timeout` (seconds) override those of the connection; None leaves them. All calls pass
    through `call`, which a subclass may extend, to retry or to record.
    """

    __slots__ = ("credential", "rpc", "timeout")

    def __init__(
        self, rpc: Caller, *, credential: Credential | None = None, timeout: float | None = None
    ) -> None:
        self.rpc = rpc
        self.credential = credential
        self.timeout = timeout

    def call(self, procedure: Procedure[A, R], args: A, *, into: memoryview | None = None) -> R:
        """Make one call. Raises `RpcError` without a proper answer, `XdrError` when it does not decode."""
        return self.rpc.call(procedure, args, credential=self.credential, timeout=self.timeout, into=into)
