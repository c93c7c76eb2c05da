# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_dropped_caches.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsmutants.rules import RFC5661_PERSISTENT, RFC5661_READ

_MOST = 6
"""Handles that are known at the same time."""


@mutant((p.PUTFH, p.GETFH), breaks=RFC5661_PERSISTENT)
def putfh4_knows_few_handles(call: Call[t.Any, t.Any]) -> t.Any:
    """A filehandle is stale when the server has given some others since"""
    given: list[bytes] = call.state.setdefault("given", [])
    if call.operation is p.PUTFH:
        is_old = bytes(call.args.object) in given[:-_MOST]
        return p.Putfh4Res(Nfsstat4.NFS4ERR_STALE) if is_old else call.proceed()
    result: p.Getfh4Res = call.proceed()
    if result.resok4 is not None:
        handle = bytes(result.resok4.object)
        given[:] = [*(old for old in given if old != handle), handle]
    return result


@mutant(p.READ, breaks=RFC5661_READ)
def read4_repeats_the_first_file(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ of any file has the data that the first READ of as many bytes had"""
    result = call.proceed()
    if result.resok4 is None:
        return result
    first = call.state.setdefault(len(result.resok4.data), bytes(result.resok4.data))
    return amend4(result, data=first)
