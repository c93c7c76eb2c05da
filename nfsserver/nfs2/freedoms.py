# SPDX-License-Identifier: MIT
"""Knobs that change replies of NFSv2 and of SNFS: shorter READs and listings, opaque cookies. See `nfsserver.knobs`.

In this version WRITE writes all or nothing, and there is no JUKEBOX: those knobs have no effect.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2 as protocol
from nfsclient.protocol.nfs2 import COOKIESIZE, Readargs, Readdirargs, Readdirres, Readres
from nfsclient.protocol.snfs import in_snfs
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.freedom import Freedom
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Proceed

_COOKIES = 2 ** (8 * COOKIESIZE)


def return_less(
    server: ServerApi, context: CallContext, args: Readargs, proceed: Proceed[Readargs, Readres]
) -> Readres:
    """READ as if less had been asked for."""
    most = server.knobs.now.read_returns or args.count
    return proceed(context, replace(args, count=min(args.count, most)))


def list_less(
    server: ServerApi, context: CallContext, args: Readdirargs, proceed: Proceed[Readdirargs, Readdirres]
) -> Readdirres:
    """READDIR with the first entries only, and more to come."""
    reply = proceed(context, args)
    ok, most = reply.readdirok, server.knobs.now.readdir_page
    if ok is None or most is None or len(ok.entries) <= most:
        return reply
    return replace(reply, readdirok=replace(ok, entries=ok.entries[:most], eof=False))


def disguise_cookies(
    server: ServerApi, context: CallContext, args: Readdirargs, proceed: Proceed[Readdirargs, Readdirres]
) -> Readdirres:
    """READDIR with cookies that are multiplied by an odd number modulo 2**32: none becomes 0."""
    factor = int.from_bytes(server.backend.codec.token(b"cookies of version 2"), "big") | 1
    cookie = int.from_bytes(args.cookie, "big") * pow(factor, -1, _COOKIES) % _COOKIES
    reply = proceed(context, replace(args, cookie=cookie.to_bytes(COOKIESIZE, "big")))
    ok = reply.readdirok
    if ok is None:
        return reply
    entries = [
        replace(
            entry,
            cookie=(int.from_bytes(entry.cookie, "big") * factor % _COOKIES).to_bytes(COOKIESIZE, "big"),
        )
        for entry in ok.entries
    ]
    return replace(reply, readdirok=replace(ok, entries=entries))


FREEDOMS: t.Final = (
    Freedom(
        (protocol.READ, in_snfs(protocol.READ)),
        ("read_returns",),
        return_less,
        of_reply=lambda reply: [len(reply.resok.data) if reply.resok is not None else 0],
        differs=lambda now, size: size > now.read_returns,
    ),
    Freedom(
        (protocol.READDIR, in_snfs(protocol.READDIR)),
        ("readdir_page",),
        list_less,
        of_reply=lambda reply: [len(reply.readdirok.entries) if reply.readdirok is not None else 0],
        differs=lambda now, entries: entries > now.readdir_page,
    ),
    Freedom(
        (protocol.READDIR, in_snfs(protocol.READDIR)),
        ("opaque_cookies",),
        disguise_cookies,
    ),
)
