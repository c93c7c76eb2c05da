# SPDX-License-Identifier: MIT
"""Knobs of READDIR and READDIRPLUS: pages of few entries, late eof, cookies that mean nothing to a client."""

from __future__ import annotations

import typing as t

from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed

_COOKIES = 2**64


def list_less(server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """READDIR and READDIRPLUS with the first entries only, and more to come."""
    reply = proceed(context, args)
    most = server.knobs.now.readdir_page
    if reply.resok is None or most is None or len(reply.resok.entries) <= most:
        return reply
    return replace(reply, resok=replace(reply.resok, entries=reply.resok.entries[:most], eof=False))


def end_late(_server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
    """With `eof` on an empty page only: "there may be more entries" (RFC 1813 section 3.3.16)."""
    reply = proceed(context, args)
    if reply.resok is None or not reply.resok.entries:
        return reply
    return replace(reply, resok=replace(reply.resok, eof=False))


def disguise_cookies(
    server: ServerApi, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """With cookies multiplied by an odd number modulo 2**64: each is different, and none becomes 0.

    The number depends on the procedure and, if cookies expire, on the state of the directory.
    """
    change = 0
    if server.knobs.now.cookies_expire:
        try:
            change = server.backend.resolve(args.dir).change
        except FsError:
            return proceed(context, args)
    token = server.backend.codec.token(b"cookies", context.operation.number, change)
    factor = int.from_bytes(token, "big") | 1
    reply = proceed(context, replace(args, cookie=args.cookie * pow(factor, -1, _COOKIES) % _COOKIES))
    if reply.resok is None:
        return reply
    entries = [replace(entry, cookie=entry.cookie * factor % _COOKIES) for entry in reply.resok.entries]
    return replace(reply, resok=replace(reply.resok, entries=entries))


def count_entries(reply: t.Any) -> list[int]:
    """How many entries a reply has, as a mark of `Freedom`."""
    return [len(reply.resok.entries) if reply.resok is not None else 0]
