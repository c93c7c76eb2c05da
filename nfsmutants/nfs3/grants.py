# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_grants.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    CREATE,
    FSINFO,
    FSSTAT,
    LOOKUP,
    MKDIR,
    PATHCONF,
    READ,
    READDIR,
    READLINK,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    WRITE,
    Commit3Res,
    Commit3ResFail,
    Nfsstat3,
)
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import refuse
from nfsmutants.nfs3.calls import Commit
from nfsserver.nfs3.common import Watched


@mutant_of_each(
    (
        *(READ, WRITE, LOOKUP, READDIR, CREATE, MKDIR, RENAME, REMOVE, RMDIR),
        SETATTR,
        READLINK,
        FSSTAT,
        FSINFO,
        PATHCONF,
    ),
    kills_many="a server that never does one thing fails whatever is about it",
)
def denies_everybody(call: AnyCall) -> t.Any:
    """{} is always denied, although ACCESS grants all permissions"""
    return refuse(call, Nfsstat3.NFS3ERR_ACCES)


@mutant(COMMIT)
def commit3_never_has_room(call: Commit) -> Commit3Res:
    """COMMIT writes the data, and answers NOSPC"""
    call.proceed()
    return Commit3Res(
        Nfsstat3.NFS3ERR_NOSPC, resfail=Commit3ResFail(Watched(call.server, call.args.file).wcc())
    )
