# SPDX-License-Identifier: MIT
"""What the compounds of a minor version begin with: the face between the engine (`compound`) and sessions.

The engine executes operations, one after the other, whoever sends them. Everything that depends on SEQUENCE is in a
`Beginning`: what may come first, whose operations they are, how long a reply may get, what is kept for a retry.
NFSv4.1 and 4.2 have one (`in_session`). 4.0, which has no sessions, would be a second: its client is in the owner or
the stateid of an operation. `tests/nfs40/beginning.py` is such a one.

The order in which the engine calls it, for one compound:

    begin                                    once; not again when a compound goes on that has waited
    go_on                                    each time that it is executed, or goes on
    admit, identify, handler, after          for each operation, until one fails
    wait                                     instead of the rest, when an operation waits for a recall
    end                                      with the reply

One object serves all compounds of a minor version: what belongs to one of them is in its `CompoundState`.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import CompoundState


class Beginning(t.Protocol):
    """How compounds of a minor version begin, and what follows from it."""

    def begin(self, state: CompoundState, context: CallContext, args: p.Compound4Args) -> None:
        """A compound has arrived."""
        ...

    def go_on(self, state: CompoundState) -> None:
        """It is executed from here on."""
        ...

    def wait(self, state: CompoundState) -> None:
        """It waits in the middle of its operations, and comes again."""
        ...

    def admit(self, state: CompoundState, operation: p.AnyOperation) -> None:
        """Raises one of `REFUSALS` for an operation that may not stand in its place."""
        ...

    def identify(self, state: CompoundState, operation: p.AnyOperation, args: XdrType) -> None:
        """Set `state.sender` where the operation says whose it is. Raises one of `REFUSALS`."""
        ...

    def after(self, state: CompoundState, args: p.Compound4Args, result: XdrType) -> p.Compound4Res | None:
        """An operation was answered. A reply ends the compound with it, as if all had been executed now."""
        ...

    def end(self, server: ServerApi, state: CompoundState, reply: p.Compound4Res) -> None:
        """The compound was executed."""
        ...


Beginnings: t.TypeAlias = Mapping[int, Beginning]
"""Minor version -> how its compounds begin. Others are MINOR_VERS_MISMATCH."""
