# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_setattr_together.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import succeeded


@mutant(p.SETATTR)
def setattr4_mode_drops_the_time_in_silence(call: Call[p.Setattr4Args, p.Setattr4Res]) -> p.Setattr4Res:
    """SETATTR with a mode and a time sets the mode only, and says that it has set both"""
    new = call.args.obj_attributes
    if new.mode is None or new.time_modify_set is None:
        return call.proceed()
    result = call.proceed_with(obj_attributes=new.changed(time_modify_set=None))
    return replace(result, attrsset=new.attrmask) if succeeded(result) else result
