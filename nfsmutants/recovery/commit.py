# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_commit.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    GETATTR,
    RENAME,
    WRITE,
    Commit3Res,
)
from nfsmutants.bending import amend, child_of, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Commit
from nfsmutants.recovery.bending import at_the_crash, strike
from nfsserver.fs import Inode


@mutant(COMMIT)
def commit3_flushes_nothing(call: Commit) -> Commit3Res:
    """COMMIT answers OK, but a crash loses the data"""
    return call.proceed_with(offset=2**64 - 1, count=1)


@mutant(COMMIT)
def commit3_does_not_flush_ranges(call: Commit) -> Commit3Res:
    """COMMIT of a part of a file answers OK, but a crash loses the data"""
    is_whole = call.args.offset == 0 and call.args.count == 0
    return call.proceed() if is_whole else call.proceed_with(offset=2**64 - 1, count=1)


@mutant((WRITE, COMMIT))
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


@mutant((WRITE, COMMIT))
def commit3_flushes_only_its_connection(call: AnyCall) -> t.Any:
    """COMMIT flushes only files that its own connection wrote last, and answers OK for others"""
    writers = call.state
    if call.operation is WRITE:
        writers[call.args.file.hex()] = call.peer
        return call.proceed()
    if writers.get(call.args.file.hex(), call.peer) == call.peer:
        return call.proceed()
    return call.proceed_with(offset=2**64 - 1, count=1)


# ---------------------------------------------------------------- which data it flushes


def _flushes_nothing(call: AnyCall) -> t.Any:
    return call.proceed_with(offset=2**64 - 1, count=1)


@mutant(COMMIT)
def commit3_flushes_few_files(call: Commit) -> t.Any:
    """COMMIT flushes the first ten files only, and answers OK for others"""
    files: set[bytes] = call.state.setdefault("files", set())
    files.add(bytes(call.args.file))
    return call.proceed() if len(files) <= 10 else _flushes_nothing(call)


@mutant(COMMIT)
def commit3_count_zero_flushes_one_block(call: Commit) -> t.Any:
    """COMMIT with count 0 and an offset flushes one block of 4 KiB"""
    return call.proceed() if call.args.count or not call.args.offset else call.proceed_with(count=4096)


@mutant((COMMIT, RENAME))
def commit3_flushes_by_the_old_name(call: AnyCall) -> t.Any:
    """COMMIT of a renamed file flushes nothing"""
    renamed: set[Inode] = call.state.setdefault("renamed", set())
    if call.operation is COMMIT:
        return _flushes_nothing(call) if inode_of(call.server, call.args.file) in renamed else call.proceed()
    moved = child_of(call.server, call.args.from_.dir, call.args.from_.name)
    if moved is not None:
        renamed.add(moved)
    return call.proceed()


@mutant(COMMIT)
def commit3_over_udp_answers_at_once(call: Commit) -> t.Any:
    """COMMIT over UDP answers OK before the data is on stable storage"""
    return _flushes_nothing(call) if call.context.transport == "udp" else call.proceed()


@mutant((COMMIT, GETATTR))
def commit3_shrinks_files_in_a_crash(call: AnyCall) -> t.Any:
    """A crash cuts committed files to whole blocks of 512 bytes"""
    strike(call)
    inode = inode_of(call.server, call.args.file) if call.operation is COMMIT else None
    if inode is not None and inode.data is not None:
        data = inode.data
        at_the_crash(call, lambda: data.truncate(data.size // 512 * 512))
    return call.proceed()
