# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_errors.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import GETATTR, NFS2
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of
from nfsserver.middleware import Answer

# ---------------------------------------------------------------- transports


@wire_mutant()
def nfs2_treats_unknown_procedures_as_null(message: Message) -> Answer:
    """Undefined procedures of NFSv2 succeed without results, like NULL"""
    xid, _, _, program, version, procedure = head_of(message.data)
    if (program, version) != (GETATTR.program, GETATTR.version) or procedure < len(NFS2.procedures):
        return message.proceed()
    return accepted(xid, AcceptStat.SUCCESS).to_buffers()
