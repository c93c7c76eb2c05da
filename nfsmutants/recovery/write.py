# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_write.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    READ,
    WRITE,
    StableHow,
    Write3Res,
)
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Write
from nfsmutants.rules import (
    RFC1813_STABLE_DATA,
    RFC1813_WRITE,
)


@mutant(WRITE, RFC1813_WRITE)
def write3_lies_about_file_sync(call: Write) -> Write3Res:
    """WRITE with FILE_SYNC answers FILE_SYNC, but writes as with UNSTABLE"""
    if call.args.stable is not StableHow.FILE_SYNC:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=StableHow.FILE_SYNC)


@mutant(WRITE, RFC1813_WRITE)
def write3_lies_about_data_sync(call: Write) -> Write3Res:
    """WRITE with DATA_SYNC answers DATA_SYNC, but writes as with UNSTABLE"""
    if call.args.stable is not StableHow.DATA_SYNC:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=StableHow.DATA_SYNC)


@mutant((READ, WRITE), RFC1813_STABLE_DATA)
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
