# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_verifier.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    GETATTR,
    LOOKUP,
    NFS3,
    NULL,
    WRITE,
    Commit3Res,
    Commit3ResFail,
    Nfsstat3,
)
from nfsclient.rpc.auth import AuthSys
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Commit
from nfsserver.nfs3.common import Watched

# ---------------------------------------------------------------- WRITE: stability


# ---------------------------------------------------------------- verifiers


@mutant((WRITE, COMMIT))
def write3_verifier_by_user(call: AnyCall) -> t.Any:
    """WRITE and COMMIT return a separate verifier for each user"""
    credential = call.context.credential
    uid = credential.uid if isinstance(credential, AuthSys) else -1
    return amend(call.proceed(), verf=call.backend.codec.token(b"user", uid, call.backend.boots))


@mutant((WRITE, COMMIT))
def write3_verifier_by_transport(call: AnyCall) -> t.Any:
    """WRITE and COMMIT return a different verifier over TCP and UDP"""
    verifier = call.backend.codec.token(call.context.transport.encode(), call.backend.boots)
    return amend(call.proceed(), verf=verifier)


@mutant(tuple(procedure for procedure in NFS3.procedures if procedure is not NULL))
def nfs3_verifier_changes_with_calls(call: AnyCall) -> t.Any:
    """The verifier changes after a call other than WRITE, GETATTR and LOOKUP, or after a refused WRITE"""
    state = call.state
    reply = call.proceed()
    if call.operation is WRITE and reply.status == Nfsstat3.NFS3_OK:
        return amend(reply, verf=call.backend.codec.token(b"deeds", state.get("deeds", 0)))
    if call.operation not in {GETATTR, LOOKUP}:
        state["deeds"] = state.get("deeds", 0) + 1
    return reply


def _is_full(call: AnyCall) -> bool:
    return call.backend.fs.statistics().free_bytes == 0


@mutant(COMMIT)
def commit3_nospc_loses_data(call: Commit) -> Commit3Res:
    """COMMIT on a full disk answers NOSPC and discards the data, and the next COMMIT succeeds with the old verifier"""
    inode, failed = inode_of(call.server, call.args.file), call.state.setdefault("failed", set())
    if inode is None or inode.data is None or not _is_full(call) or call.args.file in failed:
        return call.proceed()
    failed.add(bytes(call.args.file))
    inode.data.truncate(0)
    wcc = Watched(call.server, call.args.file).wcc()
    return Commit3Res(Nfsstat3.NFS3ERR_NOSPC, resfail=Commit3ResFail(wcc))


@mutant(COMMIT)
def commit3_full_disk_loses_data(call: Commit) -> Commit3Res:
    """COMMIT on a full disk succeeds with the old verifier, and discards the data"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.data is not None and _is_full(call):
        inode.data.truncate(0)
    return call.proceed()
