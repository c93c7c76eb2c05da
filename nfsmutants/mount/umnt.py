# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_umnt.py catch."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol.mount import UMNT1, UMNT2, UMNT3, DirpathArgs
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.mount.bending import UMNTALLS, UMNTS
from nfsmutants.rules import RFC1813_UMNTALL

# ---------------------------------------------------------------- the list of mounts


@mutant((UMNT1, UMNT2))
def umnt1_removes_nothing(_call: Call[DirpathArgs, t.Any]) -> Void:
    """UMNT of versions 1 and 2 does nothing"""
    return Void()


@mutant(UMNTS)
def umnt_fails_for_unknown_mounts(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """UMNT of a path that the client has not mounted fails with an error of RPC"""
    if call.args.dirpath not in {path for _, path in call.server.mounts.entries()}:
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    return call.proceed()


@mutant(UMNTS)
def umnt_removes_every_entry(call: Call[DirpathArgs, t.Any]) -> t.Any:
    """UMNT does the work of UMNTALL"""
    call.server.mounts.forget_all(call.context)
    return call.proceed()


@mutant((*UMNTS, *UMNTALLS), breaks=RFC1813_UMNTALL)
def umnt_and_umntall_remove_other_clients(call: AnyCall) -> t.Any:
    """UMNT and UMNTALL of one client also remove entries of other clients"""
    reply = call.proceed()
    for host, _ in call.server.mounts.entries():
        from_there = dataclasses.replace(call.context, peer=(host.decode(), call.peer[1]))
        call.handler(from_there, call.args)
    return reply


@mutant(UMNT3)
def umnt3_removes_nothing(_call: Call[DirpathArgs, Void]) -> Void:
    """UMNT removes nothing from the list"""
    return Void()
