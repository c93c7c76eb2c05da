# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_room.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate_last


@mutant(p.COMPOUND)
def room4_no_room_is_io(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """An operation for which there is no room, or that changes a read-only file system, gets IO"""
    reply = call.proceed()
    for status in (Nfsstat4.NFS4ERR_ROFS, Nfsstat4.NFS4ERR_NOSPC, Nfsstat4.NFS4ERR_DQUOT):
        reply = restate_last(reply, status, Nfsstat4.NFS4ERR_IO)
    return reply
