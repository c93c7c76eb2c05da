# SPDX-License-Identifier: MIT
"""Mutants of READDIR and READDIRPLUS."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    READDIR,
    READDIRPLUS,
    Readdir3Args,
    Readdir3Res,
    Readdirplus3Args,
    Readdirplus3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "readdir3-skips-an-entry",
    bends=READDIR,
    breaks="RFC 1813 section 3.3.16",
    gist="READDIR leaves out the last entry of each page, which never comes back",
)
def readdir3_skips_an_entry(
    _server: Server, context: CallContext, args: Readdir3Args, proceed: Proceed[Readdir3Args, Readdir3Res]
) -> Readdir3Res:
    """Drop the last entry but hand out its cookie."""
    reply = proceed(context, args)
    if reply.resok is None or len(reply.resok.entries) < 2:
        return reply
    *kept, skipped = reply.resok.entries
    kept[-1] = replace(kept[-1], cookie=skipped.cookie)
    return replace(reply, resok=replace(reply.resok, entries=kept))


@mutant(
    "readdirplus3-exceeds-maxcount",
    bends=READDIRPLUS,
    breaks="RFC 1813 section 3.3.17",
    gist="READDIRPLUS returns four times as many bytes as maxcount allows",
)
def readdirplus3_exceeds_maxcount(
    _server: Server,
    context: CallContext,
    args: Readdirplus3Args,
    proceed: Proceed[Readdirplus3Args, Readdirplus3Res],
) -> Readdirplus3Res:
    """Ask for more than the caller did."""
    return proceed(context, replace(args, maxcount=min(4 * args.maxcount, 2**32 - 1), dircount=2**32 - 1))
