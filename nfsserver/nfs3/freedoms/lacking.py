# SPDX-License-Identifier: MIT
"""Knobs of what a server lacks (NOTSUPP, RFC 1813 section 1.6), denies in ACCESS, or truncates."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    Access3Args,
    Access3Res,
    Create3Args,
    CreateMode3,
    Diropargs3,
    Nfsstat3,
    Pathconf3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import fields_of, replace
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed
from nfsserver.nfs3.freedoms.withheld import reply_with_nothing


def lack(_server: ServerApi, context: CallContext, _args: t.Any, _proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """NOTSUPP: the server does not have this procedure."""
    return reply_with_nothing(context.operation.res, Nfsstat3.NFS3ERR_NOTSUPP)


def lack_commit(
    server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """NOTSUPP for COMMIT: no data is uncommitted."""
    return lack(server, context, args, proceed)


def lack_mknod(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """NOTSUPP for MKNOD."""
    return lack(server, context, args, proceed)


def lack_exclusive(
    server: ServerApi, context: CallContext, args: Create3Args, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """NOTSUPP for CREATE with EXCLUSIVE (RFC 1813 section 3.3.8)."""
    if args.how.mode != CreateMode3.EXCLUSIVE:
        return proceed(context, args)
    return lack(server, context, args, proceed)


def grant_less(
    server: ServerApi, context: CallContext, args: Access3Args, proceed: Proceed[Access3Args, Access3Res]
) -> Access3Res:
    """ACCESS without some of the rights that the caller has."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(
        reply, resok=replace(reply.resok, access=reply.resok.access & server.knobs.now.access_grants)
    )


def long_names(_server: ServerApi, args: t.Any) -> list[int]:
    """The lengths of the names in a call, as marks of `Freedom`."""
    return [len(value.name) for value in _names_in(args).values()]


def truncate_names(
    server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """The call with all names cut to name_max (RFC 1813 section 3.2 item 4)."""
    longest = server.backend.limits.name_max
    cut = {
        field: replace(value, name=value.name[:longest])
        for field, value in _names_in(args).items()
        if len(value.name) > longest
    }
    return proceed(context, replace(args, **cut) if cut else args)


def report_truncation(
    _server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, Pathconf3Res]
) -> Pathconf3Res:
    """PATHCONF with no_trunc FALSE."""
    reply = proceed(context, args)
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, no_trunc=False))


def _names_in(args: t.Any) -> dict[str, Diropargs3]:
    values = {name: getattr(args, name) for name, _ in fields_of(type(args))}
    return {name: value for name, value in values.items() if isinstance(value, Diropargs3)}
