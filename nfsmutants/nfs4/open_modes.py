# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_open_modes.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsserver.nfs4.common import compound_of


@mutant(p.OPEN)
def open4_clears_the_last_digit_of_the_mode(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN that creates a file clears the bits of others in its mode"""
    result = call.proceed()
    inode = compound_of(call.context).current
    is_new = call.args.openhow.opentype is p.Opentype4.OPEN4_CREATE
    if is_new and result.resok4 is not None and inode is not None:
        inode.mode &= ~0o7
    return result
