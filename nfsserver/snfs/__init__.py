# SPDX-License-Identifier: MIT
"""The face of the server for Spritely NFS: the handlers of NFSv2, and the state table that its clients share.

`nfsserver.state.transitions` has table 1 of the paper, `nfsserver.state.spritely` counts by it, `calling` makes the
callbacks, `opens` and `access` answer. docs/spritely.md has what the paper leaves open.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import snfs
from nfsclient.protocol.snfs import in_snfs
from nfsclient.rpc.program import AnyOperation
from nfsserver import nfs2 as face
from nfsserver.conflicts import recall_delegations, with_conflicts
from nfsserver.handlers import Handler, Handlers, answers
from nfsserver.service import Service, register
from nfsserver.snfs import opens
from nfsserver.snfs.access import AROUND, with_client


def _adopted(operation: AnyOperation, handler: Handler) -> Handler:
    around = AROUND.get(operation)
    return with_client(handler if around is None else around(handler))


_GIVING_WAY: t.Final = with_conflicts(face.PLAIN, face.NEEDS, face.refuse, recall_delegations)
"""The handlers of NFSv2, which give way to delegations and share reservations of NFSv4."""

HANDLERS: t.Final[Handlers] = {
    **{
        in_snfs(t.cast("t.Any", operation)): _adopted(operation, handler)
        for operation, handler in _GIVING_WAY.items()
    },
    **dict(
        [
            answers(snfs.OPEN, with_client(opens.open_)),
            answers(snfs.CLOSE, with_client(opens.close)),
            answers(snfs.REOPEN, with_client(opens.reopen)),
            answers(snfs.RECOVERED, with_client(opens.recovered)),
        ]
    ),
}

AUTHENTICATED: t.Final = frozenset(HANDLERS) - {snfs.NULL}
RUN_ONCE: t.Final[frozenset[AnyOperation]] = frozenset({snfs.OPEN, snfs.CLOSE})
"""What counts twice if a retransmission is executed: never, whatever the knob `replay_cache` says."""
NOT_REPEATABLE: t.Final = (
    frozenset(in_snfs(t.cast("t.Any", operation)) for operation in face.NOT_REPEATABLE) | RUN_ONCE
)
register(Service(snfs.SNFS, HANDLERS, AUTHENTICATED, not_repeatable=NOT_REPEATABLE, run_once=RUN_ONCE))

__all__ = ["AUTHENTICATED", "HANDLERS", "NOT_REPEATABLE", "RUN_ONCE"]
