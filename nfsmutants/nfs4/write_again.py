# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_write_again.py catch: two of those in `model`, and one for READ."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4


@mutant(p.READ)
def read4_ends_large_data_with_a_zero(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ of more than 64 KiB returns a zero as its last byte"""
    result = call.proceed()
    data = bytes(result.resok4.data) if result.resok4 is not None else b""
    return amend4(result, data=data[:-1] + b"\0") if len(data) > 65_536 else result
