# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_refusals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    IGNORED,
    LINK,
    MKDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Diropargs,
    Nfsstat2,
)
from nfsmutants.bending import clear, clear_named, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.bending import refuse


@mutant(
    (CREATE, MKDIR, SYMLINK, LINK),
    kills_many="a server that makes objects and answers that it did not makes much else fail",
)
def creations2_leave_what_they_refuse(call: AnyCall) -> t.Any:
    """CREATE, MKDIR and SYMLINK with an owner, and LINK, create the object and answer NFSERR_IO"""
    attributes = getattr(call.args, "attributes", None)
    sets_owner = attributes is not None and attributes.uid != IGNORED
    reply = call.proceed()
    if reply.status != Nfsstat2.NFS_OK or not (sets_owner or call.operation is LINK):
        return reply
    return refuse(call, Nfsstat2.NFSERR_IO)


_CHANGING: t.Final = (CREATE, MKDIR, SYMLINK, LINK, REMOVE, RMDIR, RENAME, SETATTR, WRITE)
_DENIALS: t.Final = {Nfsstat2.NFSERR_ACCES, Nfsstat2.NFSERR_PERM}


@mutant(_CHANGING)
def changes2_refuse_and_clear(call: AnyCall) -> t.Any:
    """A call that changes something and is refused, but not denied, clears the data of the objects that it names"""
    reply = call.proceed()
    if reply.status == Nfsstat2.NFS_OK or reply.status in _DENIALS:
        return reply
    if call.operation in {SETATTR, WRITE}:
        clear(inode_of(call.server, call.args.file))
    places = [call.args, *(getattr(call.args, name, None) for name in ("where", "from_", "to"))]
    for where in places:
        if isinstance(where, Diropargs):
            clear_named(inode_of(call.server, where.dir), where.name)
    return reply


@mutant(_CHANGING)
def changes2_deny_and_do(call: AnyCall) -> t.Any:
    """A call that changes something is denied, and carried out"""
    reply = call.proceed()
    if reply.status in _DENIALS:
        call.proceed_as_root()
    return reply
