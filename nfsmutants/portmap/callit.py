# SPDX-License-Identifier: MIT
"""Mutants of calls that are passed on, of registrations, and of what portmap and rpcbind do not have."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import CallResult, Mapping
from nfsclient.protocol.rpcbind import Rpcb, RpcbRmtcallargs, RpcbRmtcallres, from_universal, to_universal
from nfsclient.rpc.messages import AcceptStat, MismatchInfo, accepted
from nfsclient.rpc.service import Refused
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.rules import RFC1831_MESSAGES, RFC1831_PROGRAMS, RFC1833_OPERATIONS, RFC1833_VERSION_4
from nfsserver.binding import OF_PROTOCOL, SUPERUSER
from nfsserver.middleware import Answer

Result: t.TypeAlias = CallResult | RpcbRmtcallres

CALLITS = (pm.CALLIT, rb.CALLIT3, rb.BCAST4)
_HIGHEST = {2: 5, 3: 8, 4: 12}
"""Version -> its last procedure."""


# ---------------------------------------------------------------- CALLIT and INDIRECT


def _results(reply: Result) -> bytes:
    return bytes(reply.res if isinstance(reply, CallResult) else reply.results)


def _with_results(reply: Result, results: bytes) -> Result:
    if isinstance(reply, CallResult):
        return CallResult(reply.port, results)
    return RpcbRmtcallres(reply.addr, results)


@mutant(CALLITS, RFC1833_OPERATIONS)
def callit_adds_to_the_results(call: AnyCall) -> Result:
    """CALLIT gives four bytes where the procedure that it called has no results"""
    reply: Result = call.proceed()
    return reply if _results(reply) else _with_results(reply, bytes(4))


@mutant(CALLITS, RFC1833_OPERATIONS)
def callit_loses_results(call: AnyCall) -> Result:
    """CALLIT gives the first four bytes of the results alone"""
    reply: Result = call.proceed()
    return _with_results(reply, _results(reply)[:4])


@mutant(CALLITS, RFC1833_OPERATIONS)
def callit_says_another_port(call: AnyCall) -> Result:
    """CALLIT gives the port after that of the program that it called"""
    reply: Result = call.proceed()
    if isinstance(reply, CallResult):
        return CallResult(reply.port + 1, reply.res)
    if not reply.addr:
        return reply
    host, port = from_universal(reply.addr.decode())
    return RpcbRmtcallres(to_universal(host, port + 1).encode(), reply.results)


def _answer_with_an_error(call: AnyCall, *, is_meant: bool) -> t.Any:
    if is_meant:
        raise Refused(accept_stat=AcceptStat.SYSTEM_ERR)
    return call.proceed()


@mutant(CALLITS, RFC1833_OPERATIONS)
def callit_tells_of_unknown_programs(call: AnyCall) -> t.Any:
    """CALLIT of unknown programs is answered by an error"""
    return _answer_with_an_error(call, is_meant=call.args.prog > 0x3FFF_0000)


@mutant(CALLITS, RFC1833_OPERATIONS)
def callit_tells_of_unknown_versions(call: AnyCall) -> t.Any:
    """CALLIT of unknown versions is answered by an error"""
    return _answer_with_an_error(call, is_meant=call.args.vers == 99)


@mutant(CALLITS, RFC1833_OPERATIONS)
def callit_tells_of_unknown_procedures(call: AnyCall) -> t.Any:
    """CALLIT of unknown procedures is answered by an error"""
    return _answer_with_an_error(call, is_meant=call.args.proc == 99)


@mutant(rb.INDIRECT4, RFC1833_VERSION_4)
def indirect4_is_silent(call: Call[RpcbRmtcallargs, RpcbRmtcallres]) -> RpcbRmtcallres:
    """INDIRECT gives no answer when the call that it makes fails"""
    try:
        return call.proceed()
    except Refused:
        call.server.keep_silent()
        return RpcbRmtcallres(b"", b"")


# ---------------------------------------------------------------- registrations


def _as_rpcb(args: Mapping | Rpcb) -> Rpcb:
    if isinstance(args, Rpcb):
        return args
    address = to_universal("127.0.0.1", args.port & 0xFFFF).encode()
    return Rpcb(args.prog, args.vers, OF_PROTOCOL[args.prot][0], address, SUPERUSER)


@mutant((pm.SET, rb.SET3, rb.SET4), RFC1833_VERSION_4)
def portmap_set_serves_everybody(call: Call[Mapping | Rpcb, t.Any]) -> pm.BoolRes:
    """SET is accepted from other machines"""
    reply: pm.BoolRes = call.proceed()
    return reply if reply.value else pm.BoolRes(call.server.registry.set(_as_rpcb(call.args)))


@mutant((pm.UNSET, rb.UNSET3, rb.UNSET4), RFC1833_VERSION_4)
def portmap_unset_serves_everybody(call: Call[Mapping | Rpcb, t.Any]) -> pm.BoolRes:
    """UNSET is accepted from other machines"""
    reply: pm.BoolRes = call.proceed()
    prog, vers = (
        (call.args.prog, call.args.vers)
        if isinstance(call.args, Mapping)
        else (call.args.r_prog, call.args.r_vers)
    )
    return (
        reply
        if reply.value
        else pm.BoolRes(call.server.registry.unset(prog, vers, (b"tcp", b"udp"), SUPERUSER))
    )


# ---------------------------------------------------------------- what there is not


def _called(message: bytes) -> tuple[int, int] | None:
    """Version and procedure of a call to this program."""
    if message[12:16] != pm.PROGRAM.to_bytes(4, "big"):
        return None
    return int.from_bytes(message[16:20], "big"), int.from_bytes(message[20:24], "big")


def _xid(message: bytes) -> int:
    return int.from_bytes(message[:4], "big")


@wire_mutant(RFC1831_PROGRAMS)
def portmap_has_every_version(message: Message) -> Answer:
    """portmap answers NULL in versions that it does not have"""
    called = _called(message.data)
    if called is None or called[0] in _HIGHEST:
        return message.proceed()
    return accepted(_xid(message.data), AcceptStat.SUCCESS).to_buffers()


@wire_mutant(RFC1831_MESSAGES)
def portmap_swaps_versions(message: Message) -> Answer:
    """PROG_MISMATCH of portmap has the highest version first"""
    called = _called(message.data)
    if called is None or called[0] in _HIGHEST:
        return message.proceed()
    return accepted(_xid(message.data), AcceptStat.PROG_MISMATCH, MismatchInfo(4, 2)).to_buffers()


@wire_mutant(RFC1831_PROGRAMS)
def portmap_takes_unknown_procedures_for_null(message: Message) -> Answer:
    """portmap answers procedures that it does not have with success and no results"""
    called = _called(message.data)
    if called is None or called[1] <= _HIGHEST.get(called[0], 2**32):
        return message.proceed()
    return accepted(_xid(message.data), AcceptStat.SUCCESS).to_buffers()
