# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_umntall.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import UMNTALL1, UMNTALL2, UMNTALL3
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.mount.bending import MNTS, UMNTALLS

# ---------------------------------------------------------------- the list of mounts


@mutant((*UMNTALLS, *MNTS))
def umntall_fails_without_mounts(call: AnyCall) -> t.Any:
    """A second UMNTALL without MNT in between fails with an error of RPC"""
    state = call.state
    is_mount = call.operation in MNTS
    if not is_mount and state.get("last") == "UMNTALL":
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    state["last"] = "MNT" if is_mount else "UMNTALL"
    return call.proceed()


@mutant((UMNTALL1, UMNTALL2))
def umntall1_removes_nothing(_call: Call[Void, t.Any]) -> Void:
    """UMNTALL of versions 1 and 2 does nothing"""
    return Void()


@mutant(UMNTALLS)
def umntall_keeps_the_last_entry(call: Call[Void, t.Any]) -> t.Any:
    """UMNTALL leaves the latest of two or more mounts in the list"""
    paths = [path for host, path in call.server.mounts.entries() if host == call.peer[0].encode()]
    reply = call.proceed()
    if len(paths) > 1:
        call.server.mounts.record(call.context, paths[-1])
    return reply


@mutant(UMNTALL3)
def umntall3_removes_nothing(_call: Call[Void, Void]) -> Void:
    """UMNTALL removes nothing from the list"""
    return Void()
