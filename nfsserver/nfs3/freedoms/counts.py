# SPDX-License-Identifier: MIT
"""Knobs of data: short counts of READ and WRITE, and commitment above the request (RFC 1813 sections 3.3.6, 3.3.7)."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import Read3Args, Read3Res, StableHow, Write3Args, Write3Res
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.deciding import accepted
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed


def accept_less(
    server: ServerApi, context: CallContext, args: Write3Args, proceed: Proceed[Write3Args, Write3Res]
) -> Write3Res:
    """WRITE as if only the beginning had been sent."""
    size = min(args.count, len(args.data))
    taken = accepted(server, size)
    if args.count != len(args.data) or taken == size:
        return proceed(context, args)
    return proceed(context, replace(args, count=taken, data=memoryview(args.data)[:taken]))


def return_less(
    server: ServerApi, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """READ as if less had been asked for."""
    most = server.knobs.now.read_returns or args.count
    return proceed(context, replace(args, count=min(args.count, most)))


def commit_always(
    _server: ServerApi, context: CallContext, args: Write3Args, proceed: Proceed[Write3Args, Write3Res]
) -> Write3Res:
    """WRITE as if FILE_SYNC had been requested. An undefined stable_how stays what it is."""
    if not args.stable.is_known:
        return proceed(context, args)
    return proceed(context, replace(args, stable=StableHow.FILE_SYNC))
