# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_callit.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import CallResult
from nfsclient.protocol.rpcbind import RpcbRmtcallres, from_universal, to_universal
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsmutants.form import AnyCall, mutant

Result: t.TypeAlias = CallResult | RpcbRmtcallres
CALLITS = (pm.CALLIT, rb.CALLIT3, rb.BCAST4)


# ---------------------------------------------------------------- CALLIT and INDIRECT


def _results(reply: Result) -> bytes:
    return bytes(reply.res if isinstance(reply, CallResult) else reply.results)


def _with_results(reply: Result, results: bytes) -> Result:
    if isinstance(reply, CallResult):
        return CallResult(reply.port, results)
    return RpcbRmtcallres(reply.addr, results)


@mutant(CALLITS)
def callit_adds_to_the_results(call: AnyCall) -> Result:
    """CALLIT returns four bytes although the procedure that it called has no results"""
    reply: Result = call.proceed()
    return reply if _results(reply) else _with_results(reply, bytes(4))


@mutant(CALLITS)
def callit_loses_results(call: AnyCall) -> Result:
    """CALLIT returns only the first four bytes of the results"""
    reply: Result = call.proceed()
    return _with_results(reply, _results(reply)[:4])


@mutant(CALLITS)
def callit_returns_another_port(call: AnyCall) -> Result:
    """CALLIT returns the port after that of the program that it called"""
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


@mutant(CALLITS)
def callit_answers_unknown_programs(call: AnyCall) -> t.Any:
    """CALLIT of unknown programs answers with an error"""
    return _answer_with_an_error(call, is_meant=call.args.prog > 0x3FFF_0000)


@mutant(CALLITS)
def callit_answers_unknown_versions(call: AnyCall) -> t.Any:
    """CALLIT of unknown versions answers with an error"""
    return _answer_with_an_error(call, is_meant=call.args.vers == 99)


@mutant(CALLITS)
def callit_answers_unknown_procedures(call: AnyCall) -> t.Any:
    """CALLIT of unknown procedures answers with an error"""
    return _answer_with_an_error(call, is_meant=call.args.proc == 99)
