# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_grants.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    LOOKUP,
    MKDIR,
    READ,
    READDIR,
    READLINK,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    STATFS,
    WRITE,
    Nfsstat2,
)
from nfsmutants.form import AnyCall, mutant_of_each
from nfsmutants.nfs2.bending import refuse

_BY_MODE: t.Final = (READ, WRITE, LOOKUP, READDIR, CREATE, MKDIR, RENAME, REMOVE, RMDIR)


@mutant_of_each(
    (*_BY_MODE, SETATTR, READLINK, STATFS),
    kills_many="a server that never does one thing fails whatever is about it",
)
def denies_everybody(call: AnyCall) -> t.Any:
    """{} is always denied, although the mode permits it"""
    return refuse(call, Nfsstat2.NFSERR_ACCES)
