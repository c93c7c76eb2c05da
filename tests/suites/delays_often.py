# SPDX-License-Identifier: MIT
"""A server that answers DELAY to every other operation, for no visible reason: it may (RFC 5661 section 15.1.1.3).

With the word ``silent`` it also never sends a CB_RECALL.
"""

from __future__ import annotations

import sys
import typing as t
from collections import Counter

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsmutants.nfs4.bending import refusal
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage
from nfsserver.serve import serve
from nfsserver.state.records import Session
from nfsserver.transport import TransportMiddleware
from tests.suites.one_at_a_time import announce

_PUT_OFF: t.Final = (
    *(p.OPEN, p.REMOVE, p.GETATTR, p.DELEGRETURN, p.TEST_STATEID, p.LOOKUP),
    *(p.LINK, p.RENAME, p.READ, p.WRITE),
)


class DelaysOften:
    """The odd attempts of each client connection at each of some operations get DELAY."""

    def __init__(self) -> None:
        self._tried: Counter[object] = Counter()

    def around_calls(self, operation: AnyOperation, /) -> list[AnyAroundCall]:
        return [self._put_off] if operation in _PUT_OFF else []

    def around_messages(self) -> list[AroundMessage]:
        return []

    def below_messages(self) -> list[TransportMiddleware]:
        return []

    def _put_off(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        key = context.peer, context.operation
        self._tried[key] += 1
        if self._tried[key] % 2:
            return refusal(context.operation.res(p.Nfsstat4.NFS4ERR_DELAY), p.Nfsstat4.NFS4ERR_DELAY)
        return proceed(context, args)


if __name__ == "__main__":
    # A recall that never comes is waited for as long as a lease.
    made = Server(knobs={"lease_time": 10.0} if "silent" in sys.argv else {})
    made.surround(DelaysOften())
    if "silent" in sys.argv:
        vars_of_class: t.Any = Session
        vars_of_class.take_callback_slot = lambda _self: None
    serve(made, Loop(), announce=announce)
