# SPDX-License-Identifier: MIT
"""An NFSv4.1 server that removes no open file (RFC 5661 section 18.25.4), and closes none that has locks (18.2.3)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage
from nfsserver.nfs4.common import compound_of, failed
from nfsserver.serve import serve
from nfsserver.transport import TransportMiddleware
from tests.suites.one_at_a_time import announce


class KeepsOpenFiles:
    """Around REMOVE and RENAME, which would remove the file of its target."""

    def around_calls(self, operation: AnyOperation, /) -> list[AnyAroundCall]:
        """For these."""
        return [self._keep] if operation in {p.REMOVE, p.RENAME} else []

    def around_messages(self) -> list[AroundMessage]:
        """None."""
        return []

    def below_messages(self) -> list[TransportMiddleware]:
        """None."""
        return []

    def _keep(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        compound = compound_of(context)
        name = bytes(args.target if context.operation is p.REMOVE else args.newname)
        directory = compound.current
        found = None if directory is None or directory.directory is None else directory.directory.get(name)
        if found is not None and compound.states.held.opens.is_open(found):
            return failed(t.cast("t.Any", context.operation), Nfsstat4.NFS4ERR_FILE_OPEN)
        return proceed(context, args)


if __name__ == "__main__":
    made = Server(knobs={"close_frees_locks": False})
    made.surround(KeepsOpenFiles())
    serve(made, Loop(), announce=announce)
