# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_setattr_types.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    DONT_CHANGE_TIME,
    SETATTR,
    Nfsstat3,
    Setattr3Res,
    Setattr3ResFail,
    Setattr3ResOk,
    WccData,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import FILE_OR_DIRECTORY, is_unprivileged
from nfsmutants.nfs3.calls import Setattr
from nfsserver.fs import Kind


@mutant(SETATTR)
def setattr3_denies_nobody(call: Setattr) -> Setattr3Res:
    """Everybody may set owner, group and times"""
    asked = call.args.new_attributes
    is_other = asked.mode is None and asked.size is None
    return call.proceed_as_root() if is_other else call.proceed()


@mutant(SETATTR)
def setattr3_only_owners_set_server_time(call: Setattr) -> Setattr3Res:
    """Only the owner may set times to the server's time"""
    if is_unprivileged(call.context) and call.backend.resolve(call.args.object).uid != call.caller.uid:
        return Setattr3Res(Nfsstat3.NFS3ERR_PERM, resfail=Setattr3ResFail(WccData()))
    return call.proceed()


# ---------------------------------------------------------------- SETATTR


@mutant(SETATTR)
def setattr3_ignores_non_files(call: Setattr) -> Setattr3Res:
    """SETATTR ignores owners and times of objects other than regular files, and modes of special files"""
    inode = inode_of(call.server, call.args.object)
    if inode is None or inode.kind is Kind.REGULAR:
        return call.proceed()
    mode = call.args.new_attributes.mode if inode.directory is not None else None
    never = DONT_CHANGE_TIME
    return call.proceed_with("new_attributes", mode=mode, uid=None, gid=None, atime=never, mtime=never)


@mutant(SETATTR)
def setattr3_mode_changes_mtime_by_seconds(call: Setattr) -> Setattr3Res:
    """SETATTR of a mode changes mtime by seconds"""
    inode = inode_of(call.server, call.args.object)
    if inode is not None and call.args.new_attributes.mode is not None:
        inode.mtime += 5_000_000_000
    return call.proceed()


@mutant(SETATTR)
def setattr3_accepts_sizes_of_special_files(call: Setattr) -> Setattr3Res:
    """SETATTR of the size of links, devices and sockets answers success"""
    inode = inode_of(call.server, call.args.object)
    others = FILE_OR_DIRECTORY | {Kind.FIFO}
    if inode is None or inode.kind in others or call.args.new_attributes.size is None:
        return call.proceed()
    return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(WccData()))


@mutant(SETATTR)
def setattr3_ignores_guard_of_special_files(call: Setattr) -> Setattr3Res:
    """SETATTR ignores the guard for links and special files"""
    inode = inode_of(call.server, call.args.object)
    is_meant = inode is not None and inode.kind not in FILE_OR_DIRECTORY
    return call.proceed_with(guard=None) if is_meant else call.proceed()
