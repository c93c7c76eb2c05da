# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_verifier.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    READ,
    WRITE,
    StableHow,
)
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsserver.nfs3.common import SECOND


@mutant((WRITE, COMMIT))
def write3_verifier_survives_crash(call: AnyCall) -> t.Any:
    """The verifier of WRITE and COMMIT is the same after a crash that lost data"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"ever"))


@mutant((WRITE, COMMIT))
def write3_verifier_is_made_of_seconds(call: AnyCall) -> t.Any:
    """The verifier is the second in which the service started"""
    reply = call.proceed()
    start: int = call.state.setdefault(str(call.backend.boots), call.backend.fs.stamp() // SECOND)
    return amend(reply, verf=start.to_bytes(8, "big"))


@mutant((WRITE, COMMIT))
def write3_verifier_is_reused(call: AnyCall) -> t.Any:
    """An instance uses the verifier of the one before the last"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"odd or even", call.backend.boots % 2))


@mutant((READ, WRITE, COMMIT))
def nfs3_orderly_restart_loses_data(call: AnyCall) -> t.Any:
    """An orderly restart loses unstable data, and keeps the verifier"""
    args = call.args
    state = call.state
    unstable: dict[bytes, int] = state.setdefault("unstable", {})
    inode = inode_of(call.server, args.file)
    if (
        unstable.get(args.file, call.backend.boots) != call.backend.boots
        and inode is not None
        and inode.data is not None
    ):
        inode.data.truncate(0)
        del unstable[args.file]
    reply = call.proceed()
    if call.operation is READ:
        return reply
    if call.operation is COMMIT:
        unstable.pop(args.file, None)
    elif args.stable is StableHow.UNSTABLE:
        unstable.setdefault(bytes(args.file), call.backend.boots)
    return amend(reply, verf=call.backend.codec.token(b"ever"))


# ---------------------------------------------------------------- one verifier, whoever asks for it


def _instance(call: AnyCall) -> int:
    """How often the server has started since the first call."""
    first: int = call.state.setdefault("first", call.backend.boots)
    return call.backend.boots - first


@mutant((WRITE, COMMIT))
def commit3_verifier_lags_after_restart(call: AnyCall) -> t.Any:
    """After a restart, COMMIT returns another verifier than WRITE"""
    is_other = _instance(call) and call.operation is COMMIT
    return amend(call.proceed(), verf=call.backend.codec.token(b"late")) if is_other else call.proceed()


@mutant((WRITE, COMMIT))
def write3_verifier_by_file_after_restart(call: AnyCall) -> t.Any:
    """After a restart, files that were not written to before it have a separate verifier"""
    known: set[bytes] = call.state.setdefault("known", set())
    if not _instance(call):
        if call.operation is WRITE and call.args.stable is StableHow.UNSTABLE:
            known.add(bytes(call.args.file))
    elif call.args.file not in known:
        return amend(call.proceed(), verf=call.backend.codec.token(b"other"))
    return call.proceed()


@mutant((WRITE, COMMIT))
def write3_verifier_over_udp_survives_restart(call: AnyCall) -> t.Any:
    """Over UDP, WRITE and COMMIT return the verifier of the first instance for ever"""
    reply = call.proceed()
    if call.context.transport != "udp" or reply.resok is None:
        return reply
    return amend(reply, verf=call.state.setdefault("verf", reply.resok.verf))


@mutant((WRITE, COMMIT))
def write3_verifier_changes_late(call: AnyCall) -> t.Any:
    """The verifier changes with the first COMMIT after a restart"""
    reply, instance = call.proceed(), _instance(call)
    if call.operation is COMMIT and instance:
        call.state["late"] = True
    return amend(reply, verf=call.backend.codec.token(b"late", instance)) if "late" in call.state else reply


@mutant((WRITE, COMMIT))
def write3_verifier_changes_for_lost_files_only(call: AnyCall) -> t.Any:
    """After a crash, only files that had more than 4 KiB of data have a new verifier"""
    old: dict[bytes, bytes] = call.state.setdefault("old", {})
    inode = inode_of(call.server, call.args.file)
    reply = call.proceed()
    if reply.resok is None:
        return reply
    if not _instance(call):
        old[bytes(call.args.file)] = reply.resok.verf
        if inode is not None and inode.size > 4096:
            del old[bytes(call.args.file)]
        return reply
    verf = old.get(bytes(call.args.file))
    return reply if verf is None else amend(reply, verf=verf)


@mutant((WRITE, COMMIT))
def commit3_forgets_data_of_before_a_restart(call: AnyCall) -> t.Any:
    """COMMIT after a clean restart flushes nothing, and answers with the verifier of before"""
    inode, instance = inode_of(call.server, call.args.file), _instance(call)
    reply = call.proceed()
    if reply.resok is None:
        return reply
    if call.operation is COMMIT and instance and inode is not None and inode.data is not None:
        data, old = inode.data, inode.data.read(0, inode.size)
        data.truncate(0)
        data.write(0, old, stable=False)
    return amend(reply, verf=call.state.setdefault("verf", reply.resok.verf))
