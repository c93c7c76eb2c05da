# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_create_owners.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsserver.nfs4.common import compound_of


@mutant(p.GETATTR)
def create4_derives_no_owner(call: AnyCall) -> t.Any:
    """An object that another user than root has made has an empty owner and an empty group"""
    result, inode = call.proceed(), compound_of(call.context).current
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or inode is None or not inode.uid or known.owner is None or known.owner_group is None:
        return result
    return amend4(result, obj_attributes=known.changed(owner=b"", owner_group=b""))


@mutant((p.OPEN, p.CREATE))
def create4_foreign_owner_is_access(call: AnyCall) -> t.Any:
    """A new object for another owner gets ACCESS"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_PERM, Nfsstat4.NFS4ERR_ACCESS)
