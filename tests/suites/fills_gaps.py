# SPDX-License-Identifier: MIT
"""A server whose file system has no sparse files: it needs a quarter of a second for each gap of 64 MiB."""

from __future__ import annotations

import time
import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage
from nfsserver.serve import serve
from nfsserver.transport import TransportMiddleware
from tests.suites.one_at_a_time import announce

_GAP: t.Final = 1 << 26
_SECONDS: t.Final = 0.25
_MOST: t.Final = 1 << 30
"""Bytes: for a larger gap the time is not waited for. The file is made, so that a check which asks for it is PASS."""


def _end(args: t.Any) -> int:
    """Where a file ends after WRITE or SETATTR."""
    if isinstance(args, p.Setattr4Args):
        return int(args.obj_attributes.size or 0)
    if isinstance(args, nfs3.Setattr3Args):
        return int(args.new_attributes.size or 0)
    if isinstance(args, nfs2.Sattrargs):
        return int(args.attributes.size) if args.attributes.size != 2**32 - 1 else 0
    return int(args.offset)


class FillsGaps:
    """Around WRITE and SETATTR of all versions."""

    def around_calls(self, operation: AnyOperation, /) -> list[AnyAroundCall]:
        """The delay."""
        filling = {p.WRITE, p.SETATTR, nfs3.WRITE, nfs3.SETATTR, nfs2.WRITE, nfs2.SETATTR}
        return [self._fill] if operation in filling else []

    def around_messages(self) -> list[AroundMessage]:
        """None."""
        return []

    def below_messages(self) -> list[TransportMiddleware]:
        """None."""
        return []

    def _fill(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        if _GAP <= _end(args) <= _MOST:
            time.sleep(_SECONDS)
        return proceed(context, args)


if __name__ == "__main__":
    made = Server()
    made.knobs.set("holes", False)
    made.surround(FillsGaps())
    serve(made, Loop(), announce=announce)
