# SPDX-License-Identifier: MIT
"""Mutants of READ, WRITE and COMMIT."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    READ,
    WRITE,
    Commit3Args,
    Commit3Res,
    Read3Args,
    Read3Res,
    Write3Args,
    Write3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "read3-ignores-eof",
    bends=READ,
    breaks="RFC 1813 section 3.3.6",
    gist="READ never says that the end of the file was reached",
)
def read3_ignores_eof(
    _server: Server, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """Set eof to FALSE."""
    reply = proceed(context, args)
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, eof=False))


@mutant(
    "write3-reports-more-than-sent",
    bends=WRITE,
    breaks="RFC 1813 section 3.3.7",
    gist="WRITE answers one byte more than it was sent",
)
def write3_reports_more_than_sent(
    _server: Server, context: CallContext, args: Write3Args, proceed: Proceed[Write3Args, Write3Res]
) -> Write3Res:
    """Add one to count."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, count=reply.resok.count + 1))


@mutant(
    "commit3-changes-verifier",
    bends=COMMIT,
    breaks="RFC 1813 section 3.3.21",
    gist="COMMIT returns another verifier each time though nothing was lost",
)
def commit3_changes_verifier(
    server: Server, context: CallContext, args: Commit3Args, proceed: Proceed[Commit3Args, Commit3Res]
) -> Commit3Res:
    """Count the calls in the verifier."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    state = server.mutant_state("commit3-changes-verifier")
    state["calls"] = state.get("calls", 0) + 1
    return replace(reply, resok=replace(reply.resok, verf=server.codec.token(b"wrong", state["calls"])))


@mutant(
    "commit3-flushes-nothing",
    bends=COMMIT,
    breaks="RFC 1813 section 3.3.21",
    gist="COMMIT answers OK and leaves the data to be lost in a crash",
)
def commit3_flushes_nothing(
    _server: Server, context: CallContext, args: Commit3Args, proceed: Proceed[Commit3Args, Commit3Res]
) -> Commit3Res:
    """Commit a range that has no data."""
    return proceed(context, replace(args, offset=2**64 - 1, count=1))
