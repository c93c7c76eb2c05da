# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_types.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs4.bending import refusal
from nfsmutants.rules import RFC5661_ERRORS

_OF_TYPES: t.Final = frozenset(
    {
        Nfsstat4.NFS4ERR_ISDIR,
        Nfsstat4.NFS4ERR_NOTDIR,
        Nfsstat4.NFS4ERR_SYMLINK,
        Nfsstat4.NFS4ERR_WRONG_TYPE,
    }
)


@mutant(
    (
        p.COMMIT,
        p.LOOKUPP,
        p.SECINFO_NO_NAME,
        p.READ,
        p.WRITE,
        p.OPEN,
        p.LOCKT,
        p.LOOKUP,
        p.CREATE,
        p.REMOVE,
        p.READDIR,
        p.SECINFO,
        p.LINK,
        p.RENAME,
    ),
    breaks=RFC5661_ERRORS,
)
def types4_wrong_one_is_serverfault(call: AnyCall) -> t.Any:
    """An operation on an object of the wrong type gets SERVERFAULT"""
    result = call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_SERVERFAULT) if p.status_of(result) in _OF_TYPES else result
