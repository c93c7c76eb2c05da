# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_refusals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Diropargs3,
    Nfsstat3,
)
from nfsmutants.bending import clear, clear_named, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse

_WHY = "a server that makes objects and answers that it did not makes much else fail"


@mutant((CREATE, MKDIR, SYMLINK, MKNOD, LINK), kills_many=_WHY)
def creations3_leave_what_they_refuse(call: AnyCall) -> t.Any:
    """CREATE, MKDIR, SYMLINK and MKNOD with an owner, and LINK, create the object and answer SERVERFAULT"""
    reply = call.proceed()
    return refuse(call, Nfsstat3.NFS3ERR_SERVERFAULT) if _is_refused(call, reply) else reply


@mutant((CREATE, MKDIR, SYMLINK, MKNOD, LINK, LOOKUP), kills_many=_WHY)
def creations3_hide_what_they_refuse(call: AnyCall) -> t.Any:
    """CREATE, MKDIR, SYMLINK and MKNOD with an owner, and LINK, refuse an object that they create; LOOKUP hides it"""
    args, hidden = call.args, call.state.setdefault("hidden", set())
    reply = call.proceed()
    if call.operation is LOOKUP:
        is_hidden = (args.what.dir, args.what.name) in hidden
        return refuse(call, Nfsstat3.NFS3ERR_NOENT) if is_hidden else reply
    if not _is_refused(call, reply):
        return reply
    where = args.link if call.operation is LINK else args.where
    hidden.add((where.dir, where.name))
    return refuse(call, Nfsstat3.NFS3ERR_SERVERFAULT)


_NAMING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, LINK, REMOVE, RMDIR, RENAME)
_CHANGING: t.Final = (*_NAMING, SETATTR, WRITE)
_DENIALS: t.Final = {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM}


@mutant(_CHANGING)
def changes3_refuse_and_clear(call: AnyCall) -> t.Any:
    """A call that changes something and is refused, but not denied, clears the data of the objects that it names"""
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3_OK or reply.status in _DENIALS:
        return reply
    if call.operation in {SETATTR, WRITE}:
        clear(inode_of(call.server, call.args.object if call.operation is SETATTR else call.args.file))
    for where in (getattr(call.args, name, None) for name in ("where", "object", "from_", "to", "link")):
        if isinstance(where, Diropargs3):
            clear_named(inode_of(call.server, where.dir), where.name)
    return reply


@mutant(_CHANGING)
def changes3_deny_and_do(call: AnyCall) -> t.Any:
    """A call that changes something is denied, and carried out"""
    reply = call.proceed()
    if reply.status in _DENIALS:
        call.proceed_as_root()
    return reply


def _is_refused(call: AnyCall, reply: t.Any) -> bool:
    """Whether the call made an object with an owner, or a link."""
    args = call.args
    places: t.Any = (
        getattr(getattr(args, "how", None), "obj_attributes", None),
        getattr(getattr(args, "symlink", None), "symlink_attributes", None),
        getattr(getattr(args, "what", None), "pipe_attributes", None),
        getattr(args, "attributes", None),
    )
    sets_owner = any(place is not None and place.uid is not None for place in places)
    return bool(reply.status == Nfsstat3.NFS3_OK and (sets_owner or call.operation is LINK))
