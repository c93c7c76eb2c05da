# SPDX-License-Identifier: MIT
"""An NFSv4.1 server whose filehandles of files and symbolic links expire, and what it says of them.

The only argument is its fh_expire_type: with that of persistent handles it is wrong, else it is right.
"""

from __future__ import annotations

import sys
import typing as t
from collections import Counter

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsmutants.nfs4.bending import amend4, refusal, succeeded
from nfsserver import Server
from nfsserver.fs import Kind
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage
from nfsserver.nfs4.common import compound_of
from nfsserver.serve import serve
from nfsserver.transport import TransportMiddleware
from tests.suites.one_at_a_time import announce

_USES: t.Final = (5, 10)
"""A filehandle expires when it is used that often; it depends on the object."""


class Expiring:
    """Filehandles expire; then LOOKUP finds another one for the object."""

    def __init__(self, said: int) -> None:
        self._said = said
        self._uses: Counter[bytes] = Counter()
        self._expired: set[bytes] = set()

    def around_calls(self, operation: AnyOperation, /) -> list[AnyAroundCall]:
        around: dict[AnyOperation, AnyAroundCall] = {p.PUTFH: self._putfh, p.GETATTR: self._getattr}
        return [around[operation]] if operation in around else []

    def around_messages(self) -> list[AroundMessage]:
        return []

    def below_messages(self) -> list[TransportMiddleware]:
        return []

    def _putfh(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        handle = bytes(args.object)
        result = proceed(context, args)
        if handle in self._expired:
            return refusal(result, Nfsstat4.NFS4ERR_FHEXPIRED)
        inode = compound_of(context).current
        if not succeeded(result) or inode is None or inode.kind not in {Kind.REGULAR, Kind.SYMLINK}:
            return result
        self._uses[handle] += 1
        least, most = _USES
        if self._uses[handle] == least + inode.fileid % (most - least):
            inode.generation += 1
            self._expired.add(handle)
        return result

    def _getattr(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        if not succeeded(result) or result.resok4.obj_attributes.fh_expire_type is None:
            return result
        return amend4(result, "obj_attributes", fh_expire_type=self._said)


if __name__ == "__main__":
    made = Server()
    made.surround(Expiring(int(sys.argv[1])))
    serve(made, Loop(), announce=announce)
