# SPDX-License-Identifier: MIT
"""Mutants of permissions, in what changes names and attributes."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    READLINK,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    Nfsstat3,
    Readlink3Res,
    Readlink3ResFail,
    Setattr3Res,
    Setattr3ResFail,
    WccData,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import MADE, OF_NAMES, TAKEN, directory_of
from nfsmutants.nfs3.calls import Readlink, Setattr
from nfsmutants.rules import RFC1813_PERMISSIONS


def _is_common(context: CallContext) -> bool:
    return isinstance(context.credential, AuthSys) and context.credential.uid != 0


@mutant(OF_NAMES, RFC1813_PERMISSIONS)
def names3_deny_nobody(call: AnyCall) -> t.Any:
    """Everybody may look into a directory, and change it"""
    return call.proceed_as_root()


@mutant(OF_NAMES, RFC1813_PERMISSIONS)
def names3_deny_everybody(call: AnyCall) -> t.Any:
    """A directory of others is not changed, whatever its mode says"""
    procedure = call.procedure
    where = getattr(call.args, MADE.get(procedure) or TAKEN[procedure])
    directory = directory_of(call.server, where)
    if directory is None or not _is_common(call.context) or directory.uid == call.caller.uid:
        return call.proceed()
    mode, directory.mode = directory.mode, directory.mode & 0o700
    try:
        return call.proceed()
    finally:
        directory.mode = mode


@mutant((REMOVE, RMDIR, RENAME), RFC1813_PERMISSIONS)
def names3_ignore_the_sticky_bit(call: AnyCall) -> t.Any:
    """Who may write to a directory removes the objects of others from it, sticky or not"""
    directory = directory_of(call.server, getattr(call.args, TAKEN[call.procedure]))
    if directory is None:
        return call.proceed()
    sticky = directory.mode & 0o1000
    directory.mode &= ~0o1000
    try:
        return call.proceed()
    finally:
        directory.mode |= sticky


@mutant(SETATTR, RFC1813_PERMISSIONS)
def setattr3_denies_nobody(call: Setattr) -> Setattr3Res:
    """Everybody may set owner, group and times"""
    asked = call.args.new_attributes
    is_other = asked.mode is None and asked.size is None
    return call.proceed_as_root() if is_other else call.proceed()


@mutant(SETATTR, RFC1813_PERMISSIONS)
def setattr3_time_is_the_owners_alone(call: Setattr) -> Setattr3Res:
    """Only the owner may set times to the server's"""
    if _is_common(call.context) and call.server.resolve(call.args.object).uid != call.caller.uid:
        return Setattr3Res(Nfsstat3.NFS3ERR_PERM, resfail=Setattr3ResFail(WccData()))
    return call.proceed()


@mutant(READLINK, RFC1813_PERMISSIONS)
def readlink3_needs_permission(call: Readlink) -> Readlink3Res:
    """READLINK is for the owner of the link"""
    if _is_common(call.context) and call.server.resolve(call.args.symlink).uid != call.caller.uid:
        return Readlink3Res(Nfsstat3.NFS3ERR_ACCES, resfail=Readlink3ResFail(None))
    return call.proceed()
