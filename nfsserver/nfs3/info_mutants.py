# SPDX-License-Identifier: MIT
"""Mutants of NULL, FSSTAT, FSINFO and PATHCONF."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import PATHCONF, Pathconf3Args, Pathconf3Res
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "pathconf3-understates-name-max",
    bends=PATHCONF,
    breaks="RFC 1813 section 3.3.20",
    gist="PATHCONF says no_trunc and half of the real name_max, so longer names are not refused",
)
def pathconf3_understates_name_max(
    _server: Server,
    context: CallContext,
    args: Pathconf3Args,
    proceed: Proceed[Pathconf3Args, Pathconf3Res],
) -> Pathconf3Res:
    """Halve name_max."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, name_max=reply.resok.name_max // 2))
