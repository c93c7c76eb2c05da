# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_unstable.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import COMMIT, WRITE, StableHow
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import LOOKS, at_the_crash, strike
from nfsmutants.rules import RFC1813_COMMIT

_OTHER: t.Final = 0xFE
"""A byte that the checks do not write: their patterns end below it."""


@mutant((WRITE, *LOOKS))
def write3_crash_leaves_other_bytes(call: AnyCall) -> t.Any:
    """A crash leaves what was on the disk before, of other files, instead of UNSTABLE data"""
    strike(call)
    inode = inode_of(call.server, call.args.file) if call.operation is WRITE else None
    if inode is not None and inode.data is not None and call.args.stable is StableHow.UNSTABLE:
        data, offset, size = inode.data, call.args.offset, len(call.args.data)
        at_the_crash(call, lambda: data.write(offset, bytes([_OTHER]) * size, stable=True))
    return call.proceed()


@mutant(WRITE)
def write3_stable_write_shares_fate(call: AnyCall) -> t.Any:
    """WRITE with DATA_SYNC or FILE_SYNC into data that is not committed is not committed either"""
    inode = inode_of(call.server, call.args.file)
    is_dirty = inode is not None and inode.data is not None and inode.data.is_dirty
    if not is_dirty or call.args.stable is StableHow.UNSTABLE:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=call.args.stable)


@mutant((WRITE, COMMIT), breaks=RFC1813_COMMIT)
def commit3_commits_own_data_only(call: AnyCall) -> t.Any:
    """COMMIT commits only what its own connection has written"""
    written: dict[t.Any, list[tuple[int, int]]] = call.state.setdefault("written", {})
    mine = written.setdefault((call.peer, bytes(call.args.file)), [])
    if call.operation is WRITE:
        mine.append((call.args.offset, len(call.args.data)))
        return call.proceed()
    replies = [call.proceed_with(offset=offset, count=count) for offset, count in mine]
    return replies[-1] if replies else call.proceed_with(offset=2**64 - 1, count=1)
