# SPDX-License-Identifier: MIT
"""Answers of portmap and rpcbind for their mutants."""

from __future__ import annotations

from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import GetportRes, Mapping
from nfsclient.protocol.rpcbind import Rpcb, TextRes, from_universal, to_universal
from nfsmutants.form import AnyCall

GETADDRS = (rb.GETADDR3, rb.GETADDR4)
_NFS, _MOUNT = 100003, 100005


# ---------------------------------------------------------------- looking up


def _program_of(args: Mapping | Rpcb) -> int:
    return args.prog if isinstance(args, Mapping) else args.r_prog


def _next_port(call: AnyCall, *, is_meant: bool) -> GetportRes | TextRes:
    """The answer with the port after the right one, if `is_meant`."""
    reply: GetportRes | TextRes = call.proceed()
    if not is_meant or not (reply.port if isinstance(reply, GetportRes) else reply.value):
        return reply
    if isinstance(reply, GetportRes):
        return GetportRes(reply.port + 1)
    host, port = from_universal(reply.value.decode())
    return TextRes(to_universal(host, port + 1).encode())


def _with_colon(address: bytes) -> bytes:
    if not address:
        return address
    host, port = from_universal(address.decode())
    return f"{host}:{port}".encode()
