# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_nfs4.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import StableHow4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsmutants.recovery.bending import at_the_crash, strike
from nfsserver.fs.pages import PAGE
from nfsserver.nfs4.common import compound_of

Write = Call[p.Write4Args, p.Write4Res]
_SECOND: t.Final = 10**9
_OTHER: t.Final = 0xFE
"""A byte that the checks do not write: their patterns end below it."""


def _lies(call: Write, level: StableHow4) -> p.Write4Res:
    if call.args.stable is not level:
        return call.proceed()
    return amend4(call.proceed_with(stable=StableHow4.UNSTABLE4), committed=level)


@mutant(p.WRITE)
def write4_lies_about_file_sync(call: Write) -> p.Write4Res:
    """WRITE with FILE_SYNC4 answers FILE_SYNC4, but writes as with UNSTABLE4"""
    return _lies(call, StableHow4.FILE_SYNC4)


@mutant(p.WRITE)
def write4_lies_about_data_sync(call: Write) -> p.Write4Res:
    """WRITE with DATA_SYNC4 answers DATA_SYNC4, but writes as with UNSTABLE4"""
    return _lies(call, StableHow4.DATA_SYNC4)


@mutant(p.WRITE)
def write4_calls_unstable_data_stable(call: Write) -> p.Write4Res:
    """WRITE with UNSTABLE4 answers FILE_SYNC4, but does not commit the data"""
    result = call.proceed()
    is_unstable = result.resok4 is not None and result.resok4.committed is StableHow4.UNSTABLE4
    return amend4(result, committed=StableHow4.FILE_SYNC4) if is_unstable else result


@mutant(p.COMMIT)
def commit4_flushes_nothing(call: Call[p.Commit4Args, p.Commit4Res]) -> p.Commit4Res:
    """COMMIT succeeds and commits nothing"""
    return call.proceed_with(offset=2**64 - 1, count=1)


@mutant(p.COMMIT)
def commit4_flushes_the_first_half(call: Call[p.Commit4Args, p.Commit4Res]) -> p.Commit4Res:
    """COMMIT of a range commits the first half of it"""
    return call.proceed_with(count=(call.args.count + 1) // 2)


@mutant((p.WRITE, p.EXCHANGE_ID))
def write4_crash_leaves_other_bytes(call: AnyCall) -> t.Any:
    """A crash leaves what was on the disk before, of other files, instead of UNSTABLE4 data"""
    strike(call)
    inode = compound_of(call.context).current if call.operation is p.WRITE else None
    if inode is not None and inode.data is not None and call.args.stable is StableHow4.UNSTABLE4:
        data, offset, size = inode.data, call.args.offset, len(call.args.data)
        at_the_crash(call, lambda: data.write(offset, bytes([_OTHER]) * size, stable=True))
    return call.proceed()


@mutant((p.WRITE, p.EXCHANGE_ID))
def write4_crash_zeroes_pages(call: AnyCall) -> t.Any:
    """A crash zeroes whole pages that UNSTABLE4 data was written to"""
    strike(call)
    inode = compound_of(call.context).current if call.operation is p.WRITE else None
    if inode is not None and inode.data is not None and call.args.stable is StableHow4.UNSTABLE4:
        data, first = inode.data, call.args.offset // PAGE * PAGE
        at_the_crash(call, lambda: data.write(first, bytes(min(PAGE, data.size - first)), stable=True))
    return call.proceed()


# ---------------------------------------------------------------- the verifier


def _instance(call: AnyCall) -> int:
    """How often the server has started since the first call."""
    first: int = call.state.setdefault("first", call.backend.boots)
    return call.backend.boots - first


def _with_verifier(call: AnyCall, *words: t.Any) -> t.Any:
    return amend4(call.proceed(), writeverf=call.backend.codec.token(*words))


@mutant(p.WRITE)
def write4_verifier_survives_crash(call: Write) -> p.Write4Res:
    """The verifier of WRITE is the same after a crash that lost data"""
    return t.cast("p.Write4Res", _with_verifier(call, b"ever"))


@mutant((p.WRITE, p.COMMIT))
def commit4_verifier_survives_crash(call: AnyCall) -> t.Any:
    """The verifier of COMMIT, and of WRITEs that match it, is that of the first start"""
    result = call.proceed()
    if call.operation is p.WRITE and _instance(call) == 0 and result.resok4 is not None:
        call.state["verifier"] = bytes(result.resok4.writeverf)
    if call.operation is p.COMMIT and "verifier" in call.state:
        return amend4(result, writeverf=call.state["verifier"])
    return result


@mutant((p.WRITE, p.COMMIT))
def commit4_verifier_lags_after_restart(call: AnyCall) -> t.Any:
    """After a restart, COMMIT returns another verifier than WRITE"""
    is_other = _instance(call) and call.operation is p.COMMIT
    return _with_verifier(call, b"late") if is_other else call.proceed()


@mutant((p.WRITE, p.COMMIT))
def write4_verifier_by_file_after_restart(call: AnyCall) -> t.Any:
    """After a restart, files that were not written to before it have a separate verifier"""
    known: set[int] = call.state.setdefault("known", set())
    inode = compound_of(call.context).current
    if inode is None:
        return call.proceed()
    if not _instance(call):
        if call.operation is p.WRITE and call.args.stable is StableHow4.UNSTABLE4:
            known.add(id(inode))
    elif id(inode) not in known:
        return _with_verifier(call, b"other")
    return call.proceed()


@mutant((p.WRITE, p.COMMIT))
def write4_verifier_survives_restart(call: AnyCall) -> t.Any:
    """The verifier is a constant of the server"""
    return _with_verifier(call, b"constant")


@mutant((p.WRITE, p.COMMIT))
def write4_verifier_is_made_of_seconds(call: AnyCall) -> t.Any:
    """The verifier is the second in which the service started"""
    start = call.state.setdefault(call.backend.boots, call.backend.fs.stamp() // _SECOND)
    return amend4(call.proceed(), writeverf=start.to_bytes(8, "big"))


@mutant((p.WRITE, p.COMMIT))
def write4_verifier_is_reused(call: AnyCall) -> t.Any:
    """An instance uses the verifier of the one before the last"""
    return _with_verifier(call, b"odd or even", call.backend.boots % 2)
