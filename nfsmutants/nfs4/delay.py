# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_delay.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, mutant
from nfsserver.nfs4.common import compound_of, failed

_ASKED: t.Final = tuple(operation for operation in p.OPERATIONS if operation is not p.ILLEGAL)


@mutant(_ASKED)
def delay4_never_ends(call: AnyCall) -> t.Any:
    """The last operation of a compound gets DELAY, however often it is sent"""
    compound = compound_of(call.context)
    if compound.index < compound.last:
        return call.proceed()
    return failed(p.operation_of(call.args), Nfsstat4.NFS4ERR_DELAY)
