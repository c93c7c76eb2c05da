# SPDX-License-Identifier: MIT
"""Mutants of LOOKUP and READLINK."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import READLINK, Readlink3Args, Readlink3Res
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "readlink3-drops-last-byte",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="READLINK returns the link's data without its last byte",
)
def readlink3_drops_last_byte(
    _server: Server,
    context: CallContext,
    args: Readlink3Args,
    proceed: Proceed[Readlink3Args, Readlink3Res],
) -> Readlink3Res:
    """Cut the data."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, data=reply.resok.data[:-1]))
