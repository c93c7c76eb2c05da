# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_handles.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    GETATTR,
    MKDIR,
    Getattr3Res,
    Nfsstat3,
)
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import (
    RFC1813_SYNCHRONOUS,
)


@mutant((CREATE, MKDIR, GETATTR), RFC1813_SYNCHRONOUS)
def getattr3_handles_are_stale_after_restart(call: AnyCall) -> t.Any:
    """GETATTR answers STALE to handles from before the last start of the service"""
    given: dict[bytes, int] = call.state.setdefault("given", {})
    if call.operation is GETATTR:
        is_old = given.get(call.args.object, call.backend.boots) != call.backend.boots
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE) if is_old else call.proceed()
    reply = call.proceed()
    if reply.resok is not None and reply.resok.obj is not None:
        given[bytes(reply.resok.obj)] = call.backend.boots
    return reply
