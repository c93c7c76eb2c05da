# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_putpubfh.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsserver.nfs4.common import compound_of


@mutant(p.PUTPUBFH)
def putpubfh4_keeps_the_current_filehandle(call: Call[p.Putpubfh4Args, p.Putpubfh4Res]) -> p.Putpubfh4Res:
    """PUTPUBFH succeeds, and keeps the current filehandle"""
    state = compound_of(call.context)
    before = state.current, state.handle
    result = call.proceed()
    if before[0] is not None:
        state.current, state.handle = before
    return result
