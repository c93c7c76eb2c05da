# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_errors.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import Nfsstat3
from nfsmutants.bending import restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import NAME_CHANGES, proceed_without


@mutant(NAME_CHANGES)
def names3_read_only_is_io(call: AnyCall) -> t.Any:
    """Calls on names in a read-only file system are refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_IO)


@mutant(NAME_CHANGES)
def names3_ignore_read_only(call: AnyCall) -> t.Any:
    """Calls on names in a read-only file system work as in any other"""
    return proceed_without(call, read_only=False)
