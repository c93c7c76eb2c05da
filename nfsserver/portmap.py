# SPDX-License-Identifier: MIT
"""The port mapper, version 2 (RFC 1833 section 3), of this server's own programs and of what is SET."""

from __future__ import annotations

import ipaddress
import struct
import typing as t

from nfsclient.protocol import portmap as protocol
from nfsclient.protocol.portmap import (
    IPPROTO_TCP,
    IPPROTO_UDP,
    PORTMAP2,
    BoolRes,
    CallArgs,
    CallResult,
    GetportRes,
    Mapping,
    Pmaplist,
)
from nfsclient.rpc.messages import AcceptStat, ReplyHeader
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void
from nfsserver.handlers import Handlers, answers

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_CALL_START = struct.Struct(">6I")
"""xid, CALL, RPC version, program, version, procedure."""

MAX_MAPPINGS = 1024
"""Mappings that callers may SET."""

Key: t.TypeAlias = tuple[int, int, int]
"""Program, version, protocol."""


class Portmapper:
    """Own mappings, which nobody can UNSET, and those of others."""

    def __init__(self) -> None:
        self._own: dict[Key, int] = {}
        self._others: dict[Key, int] = {}

    def publish(self, programs: t.Iterable[tuple[int, int]], tcp: int | None, udp: int | None) -> None:
        """The ports of this server's (program, version) pairs, in place of those published before."""
        self._own = {}
        for program, version in programs:
            for prot, port in ((IPPROTO_TCP, tcp), (IPPROTO_UDP, udp)):
                if port is not None:
                    self._own[program, version, prot] = port

    def port(self, key: Key) -> int:
        """The port, or 0."""
        return self._own.get(key) or self._others.get(key, 0)

    def mappings(self) -> list[Mapping]:
        """All of them, own ones first."""
        return [Mapping(*key, port) for key, port in {**self._others, **self._own}.items()]

    def set(self, mapping: Mapping) -> bool:
        """A new mapping; False when there is one already, or no room."""
        key = (mapping.prog, mapping.vers, mapping.prot)
        if self.port(key) or not mapping.port or len(self._others) >= MAX_MAPPINGS:
            return False
        self._others[key] = mapping.port
        return True

    def unset(self, mapping: Mapping) -> bool:
        """Drop the mappings of a program and version for every protocol; False when there was none."""
        doomed = [key for key in self._others if key[:2] == (mapping.prog, mapping.vers)]
        for key in doomed:
            del self._others[key]
        return bool(doomed)


def is_local(context: CallContext) -> bool:
    """Whether the caller sits on this machine, as SET and UNSET ask (RFC 1833 section 2.2.2)."""
    try:
        address = ipaddress.ip_address(context.peer[0].partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or (mapped is not None and mapped.is_loopback)


def null(_server: Server, _context: CallContext, _args: Void) -> Void:
    """NULL."""
    return Void()


def set_(server: Server, context: CallContext, args: Mapping) -> BoolRes:
    """SET, from this machine only."""
    return BoolRes(is_local(context) and server.portmapper.set(args))


def unset(server: Server, context: CallContext, args: Mapping) -> BoolRes:
    """UNSET, from this machine only."""
    return BoolRes(is_local(context) and server.portmapper.unset(args))


def getport(server: Server, _context: CallContext, args: Mapping) -> GetportRes:
    """GETPORT; 0 for what is not registered in exactly this version and protocol."""
    return GetportRes(server.portmapper.port((args.prog, args.vers, args.prot)))


def dump(server: Server, _context: CallContext, _args: Void) -> Pmaplist:
    """DUMP."""
    return Pmaplist(server.portmapper.mappings())


def callit(server: Server, context: CallContext, args: CallArgs) -> CallResult:
    """CALLIT: call a program of this server for the caller; silent unless that succeeds.

    The port mapper itself is not called, so that calls do not nest.
    """
    credential, verifier = context.credential.opaque()
    header = _CALL_START.pack(context.xid, 0, 2, args.prog, args.vers, args.proc)
    message = header + credential + verifier + args.args
    answer = None
    if args.prog != protocol.PROGRAM:
        answer = server.dispatcher.answer(message, context.peer, context.transport)
    results = None if answer is None else _results(b"".join(answer))
    if results is None:
        server.keep_silent()
        return CallResult(0, b"")
    prot = IPPROTO_UDP if context.transport == "udp" else IPPROTO_TCP
    return CallResult(server.portmapper.port((args.prog, args.vers, prot)), results)


def _results(reply: bytes) -> bytes | None:
    """The results in a reply, if the call was successful."""
    header, end = ReplyHeader.unpack_from(reply, 0)
    accepted = header.body.areply
    if accepted is None or accepted.reply_data.stat != AcceptStat.SUCCESS:
        return None
    return reply[end:]


HANDLERS: t.Final[Handlers] = dict(
    [
        answers(protocol.NULL, null),
        answers(protocol.SET, set_),
        answers(protocol.UNSET, unset),
        answers(protocol.GETPORT, getport),
        answers(protocol.DUMP, dump),
        answers(protocol.CALLIT, callit),
    ]
)

__all__ = ["HANDLERS", "PORTMAP2", "Portmapper"]
