# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/mount/test_handles.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.mount import FHSIZE, PROGRAM, UMNT3
from nfsclient.protocol.nfs3 import GETATTR, Getattr3Args, Getattr3Res, Nfsstat3
from nfsclient.xdr import Void
from nfsmutants.form import AnyCall, mutant
from nfsmutants.mount.bending import UMNTALLS, UMNTS

# ---------------------------------------------------------------- the list of mounts


@mutant((*UMNTS, *UMNTALLS, nfs2.GETATTR, nfs3.GETATTR))
def umnt_and_umntall_revoke_handles(call: AnyCall) -> t.Any:
    """After UMNT or UMNTALL the handle of the export's root is stale"""
    state = call.state
    if call.context.program == PROGRAM:
        state["unmounted"] = True
        return call.proceed()
    root = call.backend.handle_of(call.backend.fs.root)
    if not state.get("unmounted") or call.args.to_xdr()[-FHSIZE:] != root[-FHSIZE:]:
        return call.proceed()
    return (
        nfs3.Getattr3Res(nfs3.Nfsstat3.NFS3ERR_STALE)
        if call.context.version == 3
        else nfs2.Attrstat(nfs2.Nfsstat2.NFSERR_STALE)
    )


@mutant((UMNT3, GETATTR))
def umnt3_revokes_handles(call: AnyCall) -> Void | Getattr3Res:
    """After UMNT the handle of the export's root is stale"""
    state = call.state
    if not isinstance(call.args, Getattr3Args):
        state["unmounted"] = True
    elif state.get("unmounted") and call.args.object == call.backend.handle_of(call.backend.fs.root):
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE)
    result: Void | Getattr3Res = call.proceed()
    return result
