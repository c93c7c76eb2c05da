# SPDX-License-Identifier: MIT
"""A server that answers errors: ``python -m tests.plugin.refusing_server OPERATIONS STATUS WHICH EFFECT``.

OPERATIONS are such as ``3.MKDIR,2.MKDIR,4.CREATE``; STATUS is a number. WHICH of their calls it refuses: as many of the
first as the number says, each ``second``, or ``all``. EFFECT: ``done`` if it does what it refuses, else ``not``. It
prints its URL.
"""

from __future__ import annotations

import sys
import typing as t
from collections.abc import Sequence

from nfsclient.protocol import nfs2, nfs3, nfs4
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsmutants.form import Call
from nfsmutants.nfs2.bending import refuse as refuse2
from nfsmutants.nfs3.bending import refuse as refuse3
from nfsmutants.nfs4.bending import refusal
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage, Proceed
from nfsserver.transport import TransportMiddleware

_MODULES: t.Final[dict[str, t.Any]] = {"2": nfs2, "3": nfs3, "4": nfs4}


class Refusing:
    """Middleware that refuses some calls of an operation."""

    def __init__(
        self, version: str, operation: AnyOperation, status: int, which: str, *, effect: str
    ) -> None:
        """`effect`: not, done, or (of MKDIR in NFSv3) done without the mode."""
        self._version = version
        self._operation = operation
        self._status = status
        self._which = which
        self._does_it = effect != "not"
        self._without_mode = effect == "modeless"
        self._calls = 0

    def around_calls(self, operation: AnyOperation, /) -> Sequence[AnyAroundCall]:
        return (self._answer,) if operation is self._operation else ()

    def around_messages(self) -> Sequence[AroundMessage]:
        return ()

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return ()

    def _answer(
        self, server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
    ) -> t.Any:
        if not self._is_meant(args):
            return proceed(context, args)
        self._calls += 1
        first = int(self._which) if self._which.isdigit() else 0
        is_refused = {"second": self._calls % 2 == 0, "all": True}.get(self._which, self._calls <= first)
        if not is_refused:
            return proceed(context, args)
        call = Call(server, context, args, {}, proceed)
        if self._version == "4":
            done = proceed(context, args) if self._does_it else self._operation.res(Nfsstat4.NFS4ERR_IO)
            return refusal(done, Nfsstat4(self._status))
        if self._does_it:
            made = type(args)(args.where, nfs3.Sattr3()) if self._without_mode else args
            proceed(context, made)
        return (
            refuse2(call, Nfsstat2(self._status))
            if self._version == "2"
            else refuse3(call, Nfsstat3(self._status))
        )

    @staticmethod
    def _is_meant(args: object) -> bool:
        """All calls but an OPEN that creates nothing."""
        return getattr(getattr(args, "openhow", None), "opentype", 1) == 1


def main(operations: str, status: int, which: str, effect: str) -> None:
    """Serve until a signal ends it."""
    loop, server = Loop(), Server(seed=1)
    for word in operations.split(","):
        version, _, name = word.partition(".")
        operation = getattr(_MODULES[version], name)
        server.surround(Refusing(version, operation, status, which, effect=effect))
    server.listen(loop, port=0)
    port = server.port
    sys.stdout.write(f"serving nfs://127.0.0.1/export?nfsport={port}&mountport={port}\n")
    sys.stdout.flush()
    while True:
        loop.run_once(loop.clock() + 60)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
