# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_getattr_change.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
Setattr = Call[p.Setattr4Args, p.Setattr4Res]
_OF_LINKS: t.Final = (p.SETATTR, p.LINK, p.REMOVE)
_OF_ENTRIES: t.Final = (p.SETATTR, p.CREATE, p.LINK, p.REMOVE, p.RENAME)


def _changed(call: AnyCall) -> Inode | None:
    """The object whose attributes SETATTR, LINK or REMOVE changes."""
    state = compound_of(call.context)
    if call.operation is p.SETATTR:
        return state.current
    if call.operation is p.LINK:
        return state.saved
    entries = None if state.current is None else state.current.directory
    return None if entries is None else entries.get(bytes(call.args.target))


def _keeping(call: AnyCall, inode: Inode | None, name: str) -> t.Any:
    """Proceed; an attribute of the object stays as it was."""
    known = getattr(inode, name) if inode is not None else None
    result = call.proceed()
    if inode is not None and succeeded(result):
        setattr(inode, name, known)
    return result


@mutant(_OF_LINKS)
def nfs4_leaves_change_of_files(call: AnyCall) -> t.Any:
    """SETATTR, LINK and REMOVE leave the attribute change of a file as it was"""
    inode = _changed(call)
    is_file = inode is not None and inode.directory is None
    return _keeping(call, inode, "change") if is_file else call.proceed()


@mutant(_OF_ENTRIES)
def nfs4_leaves_change_of_directories(call: AnyCall) -> t.Any:
    """What is done to the entries of a directory, or to its mode, leaves its attribute change as it was"""
    inode = compound_of(call.context).current
    is_directory = inode is not None and inode.directory is not None
    return _keeping(call, inode, "change") if is_directory else call.proceed()


@mutant(p.SETATTR)
def setattr4_size_leaves_time_modify(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size leaves time_modify as it was"""
    inode, given = compound_of(call.context).current, call.args.obj_attributes
    if given.size is None or given.time_modify_set is not None:
        return call.proceed()
    result: p.Setattr4Res = _keeping(call, inode, "mtime")
    return result


@mutant(p.GETATTR)
def getattr4_change_stands_without_times(call: Getattr) -> p.Getattr4Res:
    """change is the same for ever, and time_metadata is not supported"""
    result = call.proceed()
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or known.change is None:
        return result
    return amend4(result, obj_attributes=known.changed(change=1, time_metadata=None))


@mutant(p.SETATTR)
def setattr4_size_leaves_change(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size leaves change as it was"""
    inode = compound_of(call.context).current
    if call.args.obj_attributes.size is None:
        return call.proceed()
    result: p.Setattr4Res = _keeping(call, inode, "change")
    return result


@mutant(_OF_LINKS)
def nfs4_leaves_time_metadata(call: AnyCall) -> t.Any:
    """SETATTR, LINK and REMOVE leave time_metadata of a file as it was"""
    inode = _changed(call)
    is_file = inode is not None and inode.directory is None
    return _keeping(call, inode, "ctime") if is_file else call.proceed()
