# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_versions.py catch."""

from __future__ import annotations

from nfsclient.protocol import mount, nfs3
from nfsclient.rpc.messages import AcceptStat as Accept
from nfsclient.rpc.messages import MismatchInfo, accepted, denied
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.bending import _HEADER
from nfsmutants.rpc.headers import head_of, with_word
from nfsserver.middleware import Answer


@wire_mutant(only_raw=True)
def rpc_accepts_any_rpc_version(message: Message) -> Answer:
    """Calls of another RPC version are executed"""
    return message.proceed(with_word(message.data, 2, 2) if len(message.data) >= _HEADER else message.data)


@wire_mutant(only_raw=True)
def rpc_drops_another_rpc_version(message: Message) -> Answer:
    """Calls of another RPC version are dropped without an answer"""
    return message.proceed() if head_of(message.data)[2] == 2 else None


@wire_mutant(only_raw=True)
def rpc_mismatch_reports_wrong_versions(message: Message) -> Answer:
    """RPC_MISMATCH reports the versions 0 to 1"""
    xid, mtype, rpcvers, *_ = head_of(message.data)
    if mtype == 0 and rpcvers != 2 and len(message.data) >= _HEADER:
        return denied(xid, mismatch=MismatchInfo(0, 1)).to_buffers()
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_unknown_version_is_prog_unavail(message: Message) -> Answer:
    """An unknown version of NFS or MOUNT is answered with PROG_UNAVAIL"""
    xid, _, _, prog, vers, _ = head_of(message.data)
    if (
        prog in {nfs3.NFS3.number, mount.PROGRAM}
        and vers not in range(1, 10)
        and len(message.data) >= _HEADER
    ):
        return accepted(xid, Accept.PROG_UNAVAIL).to_buffers()
    return message.proceed()


@wire_mutant(only_raw=True)
def rpc_prog_mismatch_swaps_versions(message: Message) -> Answer:
    """PROG_MISMATCH reports 4 as the lowest version and 1 as the highest"""
    xid, _, _, prog, vers, _ = head_of(message.data)
    known = {nfs3.NFS3.number, mount.PROGRAM}
    if prog in known and vers not in range(1, 10) and len(message.data) >= _HEADER:
        return accepted(xid, Accept.PROG_MISMATCH, MismatchInfo(4, 1)).to_buffers()
    return message.proceed()
