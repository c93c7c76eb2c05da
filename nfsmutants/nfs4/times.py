# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_times.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs4.bending import amend4, succeeded


@mutant((p.SETATTR, p.GETATTR))
def getattr4_keeps_the_time_that_was_set(call: AnyCall) -> t.Any:
    """GETATTR returns the time_modify that SETATTR has set last, whatever happened since"""
    result = call.proceed()
    if call.operation is p.SETATTR:
        wanted = call.args.obj_attributes.time_modify_set
        if succeeded(result) and wanted is not None and wanted.time is not None:
            call.state["time"] = wanted.time
        return result
    known = call.state.get("time")
    if not succeeded(result) or known is None or result.resok4.obj_attributes.time_modify is None:
        return result
    return amend4(result, obj_attributes=replace(result.resok4.obj_attributes, time_modify=known))
