# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_setattr.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    GETATTR,
    SETATTR,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import (
    RFC1813_STABLE_CHANGES,
)
from nfsserver.fs import Changes
from nfsserver.fs.permissions import SUPERUSER


@mutant((SETATTR, GETATTR), RFC1813_STABLE_CHANGES)
def setattr3_is_lost_in_a_crash(call: AnyCall) -> t.Any:
    """A crash undoes the mode, size and mtime that SETATTR set"""
    saved: dict[bytes, tuple[int, Changes]] = call.state.setdefault("saved", {})
    inode = inode_of(call.server, call.args.object)
    if inode is not None and call.operation is SETATTR:
        size = None if inode.data is None else inode.size
        changes = Changes(mode=inode.mode, size=size, mtime=inode.mtime)
        saved.setdefault(bytes(call.args.object), (call.backend.boots, changes))
    elif inode is not None and saved.get(call.args.object, (call.backend.boots,))[0] != call.backend.boots:
        inode.fs.setattr(SUPERUSER, inode, saved.pop(call.args.object)[1])
    return call.proceed()
