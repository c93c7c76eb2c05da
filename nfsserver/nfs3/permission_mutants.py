# SPDX-License-Identifier: MIT
"""Mutants of permissions, in what changes names and attributes."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol.nfs3 import (
    READLINK,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    Nfsstat3,
    Readlink3Args,
    Readlink3Res,
    Readlink3ResFail,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResFail,
    WccData,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.naming_bending import MADE, OF_NAMES, TAKEN, AnyProceed, directory_of, procedure_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_PERMISSIONS: t.Final = "RFC 1813 section 4.4"


def _as_root(context: CallContext) -> CallContext:
    return dataclasses.replace(context, credential=AuthSys(0, 0))


def _is_common(context: CallContext) -> bool:
    return isinstance(context.credential, AuthSys) and context.credential.uid != 0


@mutant(
    "names3-deny-nobody",
    bends=OF_NAMES,
    breaks=_PERMISSIONS,
    gist="nobody is held back from looking into a directory, and from changing it",
)
def deny_nobody(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Take everybody for root."""
    return proceed(_as_root(context), args)


@mutant(
    "names3-deny-everybody",
    bends=OF_NAMES,
    breaks=_PERMISSIONS,
    gist="a directory of others is not changed, whatever its mode says",
)
def deny_everybody(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Take the caller for somebody who may do nothing there, once."""
    procedure = procedure_of(args)
    where = getattr(args, MADE.get(procedure) or TAKEN[procedure])
    directory = directory_of(server, where)
    if directory is None or not _is_common(context) or directory.uid == server.caller(context).uid:
        return proceed(context, args)
    mode, directory.mode = directory.mode, directory.mode & 0o700
    try:
        return proceed(context, args)
    finally:
        directory.mode = mode


@mutant(
    "names3-ignore-the-sticky-bit",
    bends=(REMOVE, RMDIR, RENAME),
    breaks=_PERMISSIONS,
    gist="who may write to a directory removes the objects of others from it, sticky or not",
)
def ignore_the_sticky_bit(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Take the bit away for a moment."""
    directory = directory_of(server, getattr(args, TAKEN[procedure_of(args)]))
    if directory is None:
        return proceed(context, args)
    sticky = directory.mode & 0o1000
    directory.mode &= ~0o1000
    try:
        return proceed(context, args)
    finally:
        directory.mode |= sticky


@mutant(
    "setattr3-denies-nobody",
    bends=SETATTR,
    breaks=_PERMISSIONS,
    gist="nobody is held back from setting owner, group and times",
)
def setattr3_denies_nobody(
    _server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
) -> Setattr3Res:
    """Take everybody for root."""
    asked = args.new_attributes
    return proceed(context if asked.mode is not None or asked.size is not None else _as_root(context), args)


@mutant(
    "setattr3-time-is-the-owners-alone",
    bends=SETATTR,
    breaks=_PERMISSIONS,
    gist="only the owner may set times to the server's",
)
def setattr3_time_is_the_owners_alone(
    server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
) -> Setattr3Res:
    """Refuse all others."""
    if _is_common(context) and server.resolve(args.object).uid != server.caller(context).uid:
        return Setattr3Res(Nfsstat3.NFS3ERR_PERM, resfail=Setattr3ResFail(WccData()))
    return proceed(context, args)


@mutant(
    "readlink3-needs-permission",
    bends=READLINK,
    breaks=_PERMISSIONS,
    gist="READLINK is for the owner of the link",
)
def readlink3_needs_permission(
    server: Server, context: CallContext, args: Readlink3Args, proceed: Proceed[Readlink3Args, Readlink3Res]
) -> Readlink3Res:
    """Refuse all others."""
    if _is_common(context) and server.resolve(args.symlink).uid != server.caller(context).uid:
        return Readlink3Res(Nfsstat3.NFS3ERR_ACCES, resfail=Readlink3ResFail(None))
    return proceed(context, args)
