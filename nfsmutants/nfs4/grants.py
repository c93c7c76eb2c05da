# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_grants.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs4.bending import refusal

_USING: t.Final = (p.READ, p.WRITE, p.LOOKUP, p.READDIR, p.OPEN, p.CREATE, p.REMOVE, p.RENAME)


@mutant((p.ACCESS, *_USING))
def operations4_deny_what_access_grants(call: AnyCall) -> t.Any:
    """The first operation after an ACCESS is denied, whatever ACCESS grants"""
    was_requested = call.state.pop("asked", False)
    if call.operation is p.ACCESS:
        call.state["asked"] = True
        return call.proceed()
    return refusal(call.proceed(), Nfsstat4.NFS4ERR_ACCESS) if was_requested else call.proceed()
