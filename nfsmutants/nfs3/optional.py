# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_optional.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, LINK, MKNOD, READDIRPLUS, SYMLINK, CreateMode3, Nfsstat3
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse


@mutant((SYMLINK, LINK, MKNOD, CREATE, READDIRPLUS))
def nfs3_optional_is_a_system_error(call: AnyCall) -> t.Any:
    """What the server does not support answers SYSTEM_ERR of RPC: SYMLINK, LINK, MKNOD, READDIRPLUS, EXCLUSIVE"""
    if call.operation is CREATE and call.args.how.mode != CreateMode3.EXCLUSIVE:
        return call.proceed()
    raise Refused(accept_stat=AcceptStat.SYSTEM_ERR)


@mutant((SYMLINK, LINK, MKNOD, CREATE, READDIRPLUS))
def nfs3_optional_is_a_fault(call: AnyCall) -> t.Any:
    """What the server does not support answers SERVERFAULT: SYMLINK, LINK, MKNOD, READDIRPLUS, EXCLUSIVE"""
    if call.operation is CREATE and call.args.how.mode != CreateMode3.EXCLUSIVE:
        return call.proceed()
    return refuse(call, Nfsstat3.NFS3ERR_SERVERFAULT)
