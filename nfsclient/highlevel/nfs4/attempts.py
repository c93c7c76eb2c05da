# SPDX-License-Identifier: MIT
"""How often and how long one call is recovered, and the errors of a recovery that cannot help."""

from __future__ import annotations

import typing as t

from nfsclient.clients.nfs4 import Request
from nfsclient.clients.patience import Patience
from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs4 as p

_MOST_REMEDIES: t.Final = 8
"""Recoveries for one call: a server that needs more of them will never be content."""


class FateUnknown(NfsClientError):
    """The server lost the session before it answered, so nobody knows whether the operations were executed."""

    def __init__(self, request: Request) -> None:
        names = ", ".join(p.operation_of(one).name for one in request.operations)
        super().__init__(f"{names}: the connection and then the session were lost before the reply came")


class StateLost(NfsClientError):
    """The server has forgotten or revoked an open or a lock that the caller relies on."""


class Attempts:
    """How often one call was recovered, and how long it has waited."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._pauses: t.Iterator[float] | None = None
        self._remedies = 0
        self.waits = 0
        self.since = patience.clock()

    def wait(self, error: NfsClientError) -> None:
        """Wait for a while. Raises `error` when patience ends."""
        if not self.has_waited():
            raise error

    def has_waited(self) -> bool:
        """Wait for a while; False when patience has ended."""
        self._pauses = self._pauses or self._patience.pauses()
        self.waits += 1
        return next(self._pauses, None) is not None

    @property
    def seconds(self) -> float:
        """How long all of it has taken."""
        return self._patience.clock() - self.since

    def count(self, error: NfsClientError) -> None:
        """Count one more recovery. Raises `error` after many."""
        self._remedies += 1
        if self._remedies > _MOST_REMEDIES:
            raise error
