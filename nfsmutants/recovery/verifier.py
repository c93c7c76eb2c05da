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
from nfsmutants.rules import RFC1813_WRITE
from nfsserver.nfs3.common import SECOND


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_survives_crash(call: AnyCall) -> t.Any:
    """The verifier of WRITE and COMMIT is the same after a crash that lost data"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"ever"))


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_is_made_of_seconds(call: AnyCall) -> t.Any:
    """The verifier is the second in which the service started"""
    reply = call.proceed()
    start: int = call.state.setdefault(str(call.backend.boots), call.backend.fs.stamp() // SECOND)
    return amend(reply, verf=start.to_bytes(8, "big"))


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_is_reused(call: AnyCall) -> t.Any:
    """An instance uses the verifier of the one before the last"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"odd or even", call.backend.boots % 2))


@mutant((READ, WRITE, COMMIT), RFC1813_WRITE)
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
