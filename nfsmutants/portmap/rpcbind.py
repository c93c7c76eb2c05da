# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_rpcbind.py catch."""

from __future__ import annotations

from nfsclient.protocol import portmap as pm
from nfsclient.protocol.portmap import GetportRes
from nfsclient.protocol.rpcbind import TextRes
from nfsclient.rpc.messages import AcceptStat, MismatchInfo, accepted
from nfsmutants.form import AnyCall, Message, mutant, wire_mutant
from nfsmutants.portmap.bending import GETADDRS, _next_port
from nfsserver.middleware import Answer

_HIGHEST = {2: 5, 3: 8, 4: 12}
"""Version -> its last procedure."""


# ---------------------------------------------------------------- unknown versions and procedures


def _called(message: bytes) -> tuple[int, int] | None:
    """Version and procedure, if it is a call to this program."""
    if message[12:16] != pm.PROGRAM.to_bytes(4, "big"):
        return None
    return int.from_bytes(message[16:20], "big"), int.from_bytes(message[20:24], "big")


def _xid(message: bytes) -> int:
    return int.from_bytes(message[:4], "big")


@wire_mutant()
def portmap_serves_unknown_versions(message: Message) -> Answer:
    """portmap answers NULL in versions that it does not support"""
    called = _called(message.data)
    if called is None or called[0] in _HIGHEST:
        return message.proceed()
    return accepted(_xid(message.data), AcceptStat.SUCCESS).to_buffers()


@wire_mutant()
def portmap_mismatch_swaps_versions(message: Message) -> Answer:
    """PROG_MISMATCH of portmap has the highest version first"""
    called = _called(message.data)
    if called is None or called[0] in _HIGHEST:
        return message.proceed()
    return accepted(_xid(message.data), AcceptStat.PROG_MISMATCH, MismatchInfo(4, 2)).to_buffers()


@wire_mutant()
def portmap_treats_unknown_procedures_as_null(message: Message) -> Answer:
    """portmap answers undefined procedures with success and no results"""
    called = _called(message.data)
    if called is None or called[1] <= _HIGHEST.get(called[0], 2**32):
        return message.proceed()
    return accepted(_xid(message.data), AcceptStat.SUCCESS).to_buffers()


# ---------------------------------------------------------------- looking up


@mutant(GETADDRS)
def getaddr_returns_a_wrong_port_for_portmap(call: AnyCall) -> GetportRes | TextRes:
    """GETADDR returns the port after that of portmap version 2"""
    return _next_port(call, is_meant=(call.args.r_prog, call.args.r_vers) == (pm.PROGRAM, 2))
