# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_refusals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, LINK, LOOKUP, MKDIR, MKNOD, SYMLINK, Nfsstat3
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse
from nfsmutants.rules import RFC1813_CREATE

_WHY = "a server that makes objects and answers that it did not makes much else fail"


@mutant((CREATE, MKDIR, SYMLINK, MKNOD, LINK), RFC1813_CREATE, kills_many=_WHY)
def creations3_leave_what_they_refuse(call: AnyCall) -> t.Any:
    """CREATE, MKDIR, SYMLINK and MKNOD with an owner, and LINK, create the object and answer SERVERFAULT"""
    reply = call.proceed()
    return refuse(call, Nfsstat3.NFS3ERR_SERVERFAULT) if _is_refused(call, reply) else reply


@mutant((CREATE, MKDIR, SYMLINK, MKNOD, LINK, LOOKUP), RFC1813_CREATE, kills_many=_WHY)
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
