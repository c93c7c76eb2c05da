# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_write.py catch."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.nfs3 import (
    READ,
    WRITE,
    StableHow,
    Write3Res,
)
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Write
from nfsmutants.recovery.bending import CREATES, LOOKS, at_the_crash, damage_new, strike
from nfsmutants.rules import (
    RFC1813_STABLE_DATA,
)
from nfsserver.fs.pages import PagedData


@mutant(WRITE)
def write3_lies_about_file_sync(call: Write) -> Write3Res:
    """WRITE with FILE_SYNC answers FILE_SYNC, but writes as with UNSTABLE"""
    if call.args.stable is not StableHow.FILE_SYNC:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=StableHow.FILE_SYNC)


@mutant(WRITE)
def write3_lies_about_data_sync(call: Write) -> Write3Res:
    """WRITE with DATA_SYNC answers DATA_SYNC, but writes as with UNSTABLE"""
    if call.args.stable is not StableHow.DATA_SYNC:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=StableHow.DATA_SYNC)


@mutant(WRITE)
def write3_calls_unstable_data_stable(call: Write) -> Write3Res:
    """WRITE with UNSTABLE answers FILE_SYNC, but does not commit the data"""
    reply = call.proceed()
    is_unstable = reply.resok is not None and reply.resok.committed is StableHow.UNSTABLE
    return amend(reply, committed=StableHow.FILE_SYNC) if is_unstable else reply


@mutant((READ, WRITE))
def write3_second_crash_loses_stable_data(call: AnyCall) -> t.Any:
    """The second crash in a row loses data written with FILE_SYNC"""
    stable = call.state
    inode, file = inode_of(call.server, call.args.file), call.args.file.hex()
    if (
        call.backend.boots - stable.get(file, call.backend.boots) > 1
        and inode is not None
        and inode.data is not None
    ):
        inode.data.truncate(0)
        del stable[file]
    if call.operation is WRITE and call.args.stable is StableHow.FILE_SYNC:
        stable[file] = call.backend.boots
    return call.proceed()


# ---------------------------------------------------------------- in both versions

_WRITES: t.Final = (nfs2.WRITE, nfs3.WRITE)


@mutant((*CREATES, *LOOKS), breaks=RFC1813_STABLE_DATA)
def crash_empties_some_of_many_files(call: AnyCall) -> t.Any:
    """A crash empties every sixteenth new file"""
    return damage_new(
        call, lambda number, inode: None if number % 16 or inode.data is None else inode.data.truncate(0)
    )


def _at_each_write(call: AnyCall, damage: Callable[[PagedData, int], None]) -> t.Any:
    """Let a crash do this to each file that was written to, with the size that it had."""
    strike(call)
    inode = inode_of(call.server, call.args.file) if call.operation in _WRITES else None
    size = 0 if inode is None else inode.size
    reply = call.proceed()
    if inode is not None and inode.data is not None:
        at_the_crash(call, functools.partial(damage, inode.data, size))
    return reply


@mutant((*_WRITES, *LOOKS), breaks=RFC1813_STABLE_DATA)
def crash_rounds_sizes_up(call: AnyCall) -> t.Any:
    """After a crash, files that were written to have a size that is a multiple of 512"""
    return _at_each_write(call, lambda data, _: data.truncate(-(-data.size // 512) * 512))


@mutant(
    (*_WRITES, *LOOKS),
    breaks=RFC1813_STABLE_DATA,
    kills_many="checks read back what was written before the crash",
)
def crash_fills_gaps(call: AnyCall) -> t.Any:
    """After a crash, the gap before a WRITE beyond the end has what was on the disk before"""

    def fill(data: PagedData, size: int) -> None:
        if data.size > size + 8192:
            data.write(size, b"garbage", stable=True)

    return _at_each_write(call, fill)


@mutant((*_WRITES, *LOOKS), breaks=RFC1813_STABLE_DATA)
def crash_restores_mtime_of_writes(call: AnyCall) -> t.Any:
    """A crash undoes what the last WRITE to a file did to its mtime"""
    strike(call)
    inode = inode_of(call.server, call.args.file) if call.operation in _WRITES else None
    if inode is not None:
        at_the_crash(call, functools.partial(setattr, inode, "mtime", inode.mtime), of=inode)
    return call.proceed()


@mutant((*_WRITES, *LOOKS), breaks=RFC1813_STABLE_DATA)
def crash_undoes_overwriting(call: AnyCall) -> t.Any:
    """A crash undoes the last WRITE to data that was written before"""
    strike(call)
    inode = inode_of(call.server, call.args.file) if call.operation in _WRITES else None
    if inode is not None and inode.data is not None and call.args.offset + len(call.args.data) <= inode.size:
        data, at = inode.data, call.args.offset
        old = data.read(at, len(call.args.data))
        at_the_crash(call, lambda: data.write(at, old, stable=True), of=inode)
    return call.proceed()


@mutant((*_WRITES, *LOOKS), breaks=RFC1813_STABLE_DATA)
def crash_forgets_data_over_udp(call: AnyCall) -> t.Any:
    """A crash loses the data of WRITEs over UDP"""
    if call.context.transport != "udp":
        strike(call)
        return call.proceed()
    return _at_each_write(call, lambda data, _: data.truncate(0))
