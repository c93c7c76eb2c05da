# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_setattr.py catch."""

from __future__ import annotations

import functools
import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.nfs3 import (
    GETATTR,
    SETATTR,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import LOOKS, at_the_crash, strike
from nfsmutants.rules import (
    RFC1813_STABLE_CHANGES,
)
from nfsserver.fs import Changes, Inode
from nfsserver.fs.permissions import SUPERUSER


@mutant((SETATTR, GETATTR))
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


_SETATTRS: t.Final = (nfs2.SETATTR, nfs3.SETATTR)


def _inode(call: AnyCall) -> Inode | None:
    """The object of SETATTR."""
    if call.operation not in _SETATTRS:
        return None
    return inode_of(call.server, call.args.object if call.operation is SETATTR else call.args.file)


@mutant((*_SETATTRS, *LOOKS), breaks=RFC1813_STABLE_CHANGES)
def crash_restores_modes_of_directories(call: AnyCall) -> t.Any:
    """A crash undoes SETATTR of the mode of a directory"""
    strike(call)
    inode = _inode(call)
    if inode is not None and inode.directory is not None:
        at_the_crash(call, functools.partial(setattr, inode, "mode", inode.mode))
    return call.proceed()


@mutant((*_SETATTRS, *LOOKS), breaks=RFC1813_STABLE_CHANGES)
def crash_brings_back_data_beyond_the_end(call: AnyCall) -> t.Any:
    """A crash brings back data that SETATTR has cut off, within the size of the file"""
    strike(call)
    inode = _inode(call)
    old = b"" if inode is None or inode.data is None else inode.data.read(0, inode.size)
    if inode is not None and inode.data is not None and old:
        data = inode.data
        at_the_crash(call, lambda: data.write(0, old[: data.size], stable=True))
    return call.proceed()
