# SPDX-License-Identifier: MIT
"""Mutants of calls that are passed on, of registrations, and of what portmap and rpcbind do not have."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import CallArgs, CallResult, Mapping
from nfsclient.protocol.rpcbind import Rpcb, RpcbRmtcallargs, RpcbRmtcallres, from_universal, to_universal
from nfsclient.rpc.messages import AcceptStat, MismatchInfo, accepted
from nfsclient.rpc.service import CallContext, Refused
from nfsserver.binding import OF_PROTOCOL, SUPERUSER
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = "Proceed[t.Any, t.Any]"
Result: t.TypeAlias = CallResult | RpcbRmtcallres

CALLITS = (pm.CALLIT, rb.CALLIT3, rb.BCAST4)
_OPERATION = "RFC 1833 section 2.2.1"
_VERSION_4 = "RFC 1833 section 2.2.2"
_HIGHEST = {2: 5, 3: 8, 4: 12}
"""Version -> its last procedure."""


# ---------------------------------------------------------------- CALLIT and INDIRECT


def _results(reply: Result) -> bytes:
    return bytes(reply.res if isinstance(reply, CallResult) else reply.results)


def _with_results(reply: Result, results: bytes) -> Result:
    if isinstance(reply, CallResult):
        return CallResult(reply.port, results)
    return RpcbRmtcallres(reply.addr, results)


@mutant(
    "callit-adds-to-the-results",
    bends=CALLITS,
    breaks=_OPERATION,
    gist="CALLIT gives four bytes where the procedure that it called has no results",
)
def callit_adds_to_the_results(
    _server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> Result:
    """Fill up what is empty."""
    reply: Result = proceed(context, args)
    return reply if _results(reply) else _with_results(reply, bytes(4))


@mutant(
    "callit-loses-results",
    bends=CALLITS,
    breaks=_OPERATION,
    gist="CALLIT gives the first four bytes of the results alone",
)
def callit_loses_results(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> Result:
    """Cut them."""
    reply: Result = proceed(context, args)
    return _with_results(reply, _results(reply)[:4])


@mutant(
    "callit-says-another-port",
    bends=CALLITS,
    breaks=_OPERATION,
    gist="CALLIT gives a port behind that of the program that it called",
)
def callit_says_another_port(
    _server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> Result:
    """Add one."""
    reply: Result = proceed(context, args)
    if isinstance(reply, CallResult):
        return CallResult(reply.port + 1, reply.res)
    if not reply.addr:
        return reply
    host, port = from_universal(reply.addr.decode())
    return RpcbRmtcallres(to_universal(host, port + 1).encode(), reply.results)


def _tells(what: str, is_meant: t.Callable[[CallArgs | RpcbRmtcallargs], bool]) -> None:
    @mutant(
        f"callit-tells-of-unknown-{what}",
        bends=CALLITS,
        breaks=_OPERATION,
        gist=f"CALLIT of unknown {what} is answered by an error",
    )
    def middleware(
        _server: Server, context: CallContext, args: CallArgs | RpcbRmtcallargs, proceed: AnyProceed
    ) -> t.Any:
        """Refuse before silence is kept."""
        if is_meant(args):
            raise Refused(accept_stat=AcceptStat.SYSTEM_ERR)
        return proceed(context, args)


_tells("programs", lambda args: args.prog > 0x3FFF_0000)
_tells("versions", lambda args: args.vers == 99)
_tells("procedures", lambda args: args.proc == 99)


@mutant(
    "indirect4-is-silent",
    bends=rb.INDIRECT4,
    breaks=_VERSION_4,
    gist="INDIRECT gives no answer when the call that it makes fails",
)
def indirect4_is_silent(
    server: Server,
    context: CallContext,
    args: RpcbRmtcallargs,
    proceed: Proceed[RpcbRmtcallargs, RpcbRmtcallres],
) -> RpcbRmtcallres:
    """Do as CALLIT."""
    try:
        return proceed(context, args)
    except Refused:
        server.keep_silent()
        return RpcbRmtcallres(b"", b"")


# ---------------------------------------------------------------- registrations


def _as_rpcb(args: Mapping | Rpcb) -> Rpcb:
    if isinstance(args, Rpcb):
        return args
    address = to_universal("127.0.0.1", args.port & 0xFFFF).encode()
    return Rpcb(args.prog, args.vers, OF_PROTOCOL[args.prot][0], address, SUPERUSER)


@mutant(
    "portmap-set-serves-everybody",
    bends=(pm.SET, rb.SET3, rb.SET4),
    breaks=_VERSION_4,
    gist="SET is accepted from other machines",
)
def portmap_set_serves_everybody(
    server: Server, context: CallContext, args: Mapping | Rpcb, proceed: AnyProceed
) -> pm.BoolRes:
    """Register what was refused."""
    reply: pm.BoolRes = proceed(context, args)
    return reply if reply.value else pm.BoolRes(server.registry.set(_as_rpcb(args)))


@mutant(
    "portmap-unset-serves-everybody",
    bends=(pm.UNSET, rb.UNSET3, rb.UNSET4),
    breaks=_VERSION_4,
    gist="UNSET is accepted from other machines",
)
def portmap_unset_serves_everybody(
    server: Server, context: CallContext, args: Mapping | Rpcb, proceed: AnyProceed
) -> pm.BoolRes:
    """Remove what was refused."""
    reply: pm.BoolRes = proceed(context, args)
    prog, vers = (args.prog, args.vers) if isinstance(args, Mapping) else (args.r_prog, args.r_vers)
    return (
        reply if reply.value else pm.BoolRes(server.registry.unset(prog, vers, (b"tcp", b"udp"), SUPERUSER))
    )


# ---------------------------------------------------------------- what there is not


def _called(message: bytes) -> tuple[int, int] | None:
    """Version and procedure of a call to this program."""
    if message[12:16] != pm.PROGRAM.to_bytes(4, "big"):
        return None
    return int.from_bytes(message[16:20], "big"), int.from_bytes(message[20:24], "big")


def _xid(message: bytes) -> int:
    return int.from_bytes(message[:4], "big")


@wire_mutant(
    "portmap-has-every-version",
    breaks="RFC 1831 section 7.1",
    gist="portmap answers NULL in versions that it does not have",
)
def portmap_has_every_version(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Succeed."""
    called = _called(message)
    if called is None or called[0] in _HIGHEST:
        return proceed(message)
    return accepted(_xid(message), AcceptStat.SUCCESS).to_buffers()


@wire_mutant(
    "portmap-swaps-versions",
    breaks="RFC 1831 section 8",
    gist="PROG_MISMATCH of portmap has the highest version first",
)
def portmap_swaps_versions(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Swap them."""
    called = _called(message)
    if called is None or called[0] in _HIGHEST:
        return proceed(message)
    return accepted(_xid(message), AcceptStat.PROG_MISMATCH, MismatchInfo(4, 2)).to_buffers()


@wire_mutant(
    "portmap-takes-unknown-procedures-for-null",
    breaks="RFC 1831 section 7.1",
    gist="portmap answers procedures that it does not have with success and no results",
)
def portmap_takes_unknown_procedures_for_null(
    _server: Server, message: bytes, proceed: ProceedWire
) -> Answer:
    """Succeed."""
    called = _called(message)
    if called is None or called[1] <= _HIGHEST.get(called[0], 2**32):
        return proceed(message)
    return accepted(_xid(message), AcceptStat.SUCCESS).to_buffers()
