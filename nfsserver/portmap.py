# SPDX-License-Identifier: MIT
"""The port mapper, version 2 (RFC 1833 section 3): ports of TCP and UDP from the registry of `binding`."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import portmap as protocol
from nfsclient.protocol.portmap import (
    PORTMAP2,
    BoolRes,
    CallArgs,
    CallResult,
    GetportRes,
    Mapping,
    Pmaplist,
)
from nfsclient.protocol.rpcbind import Rpcb, to_universal
from nfsclient.rpc.program import AnyOperation, Procedure
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import Void, XdrType
from nfsserver.binding import OF_PROTOCOL, Registry, netid_of, owner_of, port_of
from nfsserver.forwarding import Wanted, pass_on
from nfsserver.handlers import Handler, Handlers, ServerApi, answers
from nfsserver.service import Service, register

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - said, not bound
_LAST_PORT = 65_535


def counted(
    procedure: Procedure[A, R], handler: Callable[[ServerApi, CallContext, A], R]
) -> tuple[AnyOperation, Handler]:
    """One row of a table of handlers, whose calls are in the statistics of their version."""

    def count(server: ServerApi, context: CallContext, args: A) -> R:
        server.registry.statistics[procedure.version].count(procedure.number)
        return handler(server, context, args)

    return answers(procedure, count)


def null(_server: ServerApi, _context: CallContext, _args: Void) -> Void:
    """NULL of any version."""
    return Void()


def _port(registry: Registry, args: Mapping) -> int:
    """The port of exactly this program, version and protocol, or 0."""
    found = (registry.find((args.prog, args.vers, netid)) for netid in OF_PROTOCOL.get(args.prot, ()))
    return next((port_of(entry) for entry in found if entry is not None), 0)


def mappings(registry: Registry) -> list[Mapping]:
    """The registrations that version 2 can show: each program, version and protocol once."""
    shown: dict[tuple[int, int, int], Mapping] = {}
    for entry in registry.entries():
        prot = next((prot for prot, netids in OF_PROTOCOL.items() if entry.r_netid in netids), None)
        if prot is not None:
            mapping = Mapping(entry.r_prog, entry.r_vers, prot)
            mapping.port = _port(registry, mapping)
            shown[mapping.prog, mapping.vers, prot] = mapping
    return list(shown.values())


def set_(server: ServerApi, context: CallContext, args: Mapping) -> BoolRes:
    """SET, from this machine only."""
    registry = server.registry
    netids = OF_PROTOCOL.get(args.prot)
    if not registry.is_local(context) or netids is None or args.port > _LAST_PORT:
        return BoolRes(False)
    if _port(registry, args):
        return BoolRes(False)
    address = to_universal(_ANY_ADDRESS, args.port).encode()
    done = registry.set(Rpcb(args.prog, args.vers, netids[0], address, owner_of(context)))
    registry.statistics[2].sets += done
    return BoolRes(done)


def unset(server: ServerApi, context: CallContext, args: Mapping) -> BoolRes:
    """UNSET, from this machine only; of every protocol, whatever the call says."""
    registry = server.registry
    if not registry.is_local(context):
        return BoolRes(False)
    netids = [netids[0] for netids in OF_PROTOCOL.values()]
    done = registry.unset(args.prog, args.vers, netids, owner_of(context))
    registry.statistics[2].unsets += done
    return BoolRes(done)


def getport(server: ServerApi, context: CallContext, args: Mapping) -> GetportRes:
    """GETPORT; 0 for what is not registered in exactly this version and protocol."""
    port = _port(server.registry, args)
    netid = OF_PROTOCOL.get(args.prot, (netid_of(context),))[0]
    server.registry.statistics[2].count_asked((args.prog, args.vers, netid), port > 0)
    return GetportRes(port)


def dump(server: ServerApi, _context: CallContext, _args: Void) -> Pmaplist:
    return Pmaplist(mappings(server.registry))


def callit(server: ServerApi, context: CallContext, args: CallArgs) -> CallResult:
    """CALLIT: call a program of this server for the caller; silent unless that succeeds."""
    wanted = Wanted(args.prog, args.vers, args.proc, args.args)
    try:
        results = pass_on(server, context, wanted)
    except Refused:
        server.keep_silent()
        return CallResult(0, b"")
    entry = server.registry.find((args.prog, args.vers, netid_of(context)))
    return CallResult(port_of(entry) if entry is not None else 0, results)


HANDLERS: t.Final[Handlers] = dict(
    [
        counted(protocol.NULL, null),
        counted(protocol.SET, set_),
        counted(protocol.UNSET, unset),
        counted(protocol.GETPORT, getport),
        counted(protocol.DUMP, dump),
        counted(protocol.CALLIT, callit),
    ]
)

register(Service(PORTMAP2, HANDLERS))

__all__ = ["HANDLERS", "PORTMAP2"]
