# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_commit.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    WRITE,
    Commit3Res,
)
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Commit
from nfsmutants.rules import (
    RFC1813_COMMIT,
)


@mutant(COMMIT, RFC1813_COMMIT)
def commit3_flushes_nothing(call: Commit) -> Commit3Res:
    """COMMIT answers OK, but a crash loses the data"""
    return call.proceed_with(offset=2**64 - 1, count=1)


@mutant(COMMIT, RFC1813_COMMIT)
def commit3_does_not_flush_ranges(call: Commit) -> Commit3Res:
    """COMMIT of a part of a file answers OK, but a crash loses the data"""
    is_whole = call.args.offset == 0 and call.args.count == 0
    return call.proceed() if is_whole else call.proceed_with(offset=2**64 - 1, count=1)


@mutant((WRITE, COMMIT), RFC1813_COMMIT)
def commit3_verifier_survives_crash(call: AnyCall) -> t.Any:
    """COMMIT returns the first verifier of the file, even after a crash that lost data"""
    verifiers = call.state
    reply = call.proceed()
    if call.operation is WRITE:
        if reply.resok is not None:
            verifiers.setdefault(call.args.file.hex(), reply.resok.verf)
        return reply
    known = verifiers.get(call.args.file.hex())
    return reply if known is None else amend(reply, verf=known)


@mutant((WRITE, COMMIT), RFC1813_COMMIT)
def commit3_flushes_only_its_connection(call: AnyCall) -> t.Any:
    """COMMIT flushes only files that its own connection wrote last, and answers OK for others"""
    writers = call.state
    if call.operation is WRITE:
        writers[call.args.file.hex()] = call.peer
        return call.proceed()
    if writers.get(call.args.file.hex(), call.peer) == call.peer:
        return call.proceed()
    return call.proceed_with(offset=2**64 - 1, count=1)
