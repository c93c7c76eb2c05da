# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_optional.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import succeeded
from nfsmutants.nfs4.getattr_values import shown
from nfsserver.fs import Kind
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]


@mutant(p.SETATTR)
def setattr4_marks_are_ignored(call: Call[p.Setattr4Args, p.Setattr4Res]) -> p.Setattr4Res:
    """SETATTR of archive, hidden, system, mimetype or time_backup says that it has set it, and does not"""
    inode = compound_of(call.context).current
    kept = {} if inode is None else dict(inode.marks)
    result = call.proceed()
    if inode is not None:
        inode.marks = kept
    return result


@mutant(p.RENAME)
def rename4_forgets_marks(call: Call[p.Rename4Args, p.Rename4Res]) -> p.Rename4Res:
    """An object that gets another name has lost hidden, system, mimetype and time_backup"""
    result, directory = call.proceed(), compound_of(call.context).current
    if succeeded(result) and directory is not None and directory.directory is not None:
        moved = directory.directory.get(bytes(call.args.newname))
        if moved is not None:
            moved.marks.clear()
    return result


@mutant((p.OPEN, p.CREATE))
def create4_forgets_marks(call: AnyCall) -> t.Any:
    """An object that OPEN or CREATE makes has no marks, though attrset says so"""
    name = call.args.objname if call.operation is p.CREATE else call.args.claim.file
    directory = compound_of(call.context).current
    result = call.proceed()
    if succeeded(result) and name is not None and directory is not None and directory.directory is not None:
        made = directory.directory.get(bytes(name))
        assert made is not None
        made.marks.clear()
    return result


@mutant(p.WRITE)
def write4_keeps_archive(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """A file that was archived is still archived after a WRITE"""
    result, inode = call.proceed(), compound_of(call.context).current
    if inode is not None and inode.marks.get("archive"):
        inode.mark({"archive": True})
    return result


@mutant(p.GETATTR)
def getattr4_quota_used_is_zero(call: Getattr) -> p.Getattr4Res:
    """quota_used is 0"""
    return shown(call, "quota_used", lambda _, __: 0)


@mutant(p.GETATTR)
def getattr4_quota_grows_with_use(call: Getattr) -> p.Getattr4Res:
    """quota_avail_hard is what is used"""
    return shown(call, "quota_avail_hard", lambda inode, _: inode.used)


@mutant(p.GETATTR)
def getattr4_fs_root_is_too_long(call: Getattr) -> p.Getattr4Res:
    """fs_root has a component too many"""
    return shown(call, "fs_locations", lambda _, it: replace(it, fs_root=[*it.fs_root, b"nowhere"]))


@mutant(p.GETATTR)
def getattr4_fs_root_is_empty(call: Getattr) -> p.Getattr4Res:
    """fs_root of an export is the root of the server"""
    return shown(call, "fs_locations", lambda _, it: replace(it, fs_root=[]))


@mutant(p.GETATTR)
def getattr4_fs_root_of_a_file_is_empty(call: Getattr) -> p.Getattr4Res:
    """fs_root of anything but the root of a file system has a component too many"""
    return shown(
        call,
        "fs_locations",
        lambda inode, it: (
            it if inode is inode.fs.root or _is_scratch(inode) else replace(it, fs_root=[b"nowhere"])
        ),
    )


def _is_scratch(inode: t.Any) -> bool:
    """Whether it is a directory in the root."""
    return bool(inode.kind is Kind.DIRECTORY and inode.place is not None and inode.place[0] is inode.fs.root)


@mutant(p.GETATTR)
def getattr4_locations_without_servers(call: Getattr) -> p.Getattr4Res:
    """fs_locations has a location of no server"""
    return shown(
        call,
        "fs_locations",
        lambda _, it: replace(it, locations=[*it.locations, p.FsLocation4([], it.fs_root)]),
    )
