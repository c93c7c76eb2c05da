# SPDX-License-Identifier: MIT
"""How often and how long one call is recovered, and the errors of a recovery that cannot help."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.patience import Patience, Spell
from nfsclient.errors import NfsClientError, RetriesExhausted
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType

_MOST_REMEDIES: t.Final = 8
"""Recoveries for one call: a server that needs more of them will never be content."""


class FateUnknown(NfsClientError):
    """The server lost the session before it answered, so nobody knows whether the operations were executed."""

    def __init__(self, operations: Sequence[XdrType]) -> None:
        names = ", ".join(p.operation_of(operation).name for operation in operations)
        super().__init__(f"{names}: the connection and then the session were lost before the reply came")


class StateLost(NfsClientError):
    """The server has forgotten or revoked an open or a lock that the caller relies on."""


def exhausted(error: CompoundError) -> NfsClientError:
    """What to raise when patience has ended: of a status that nobody waits for, the error itself."""
    return (
        RetriesExhausted(error.status, error.procedure) if error.status == p.Nfsstat4.NFS4ERR_DELAY else error
    )


class Attempts:
    """How often one call was recovered, and how long it has waited."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._spell: Spell | None = None
        self._remedies = 0
        self.waits = 0
        self.since = patience.clock()

    def wait(self, error: NfsClientError, executed: int = 0) -> None:
        """Wait for a while; `executed` is how many operations were. Raises `error` when patience ends."""
        if not self.has_waited(executed):
            raise error

    def has_waited(self, executed: int = 0) -> bool:
        """Wait for a while; False when patience has ended."""
        self.waits += 1
        self._spell = self._spell or Spell(self._patience)
        return self._spell.pause(executed)

    @property
    def seconds(self) -> float:
        """How long all of it has taken."""
        return self._patience.clock() - self.since

    def count(self, error: NfsClientError) -> None:
        """Count one more recovery. Raises `error` after many."""
        self._remedies += 1
        if self._remedies > _MOST_REMEDIES:
            raise error
