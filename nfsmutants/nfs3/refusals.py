# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_refusals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, LINK, MKDIR, MKNOD, SYMLINK, Nfsstat3
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse
from nfsmutants.rules import RFC1813_CREATE


@mutant(
    (CREATE, MKDIR, SYMLINK, MKNOD, LINK),
    RFC1813_CREATE,
    kills_many="a server that makes objects and answers that it did not makes much else fail",
)
def creations3_leave_what_they_refuse(call: AnyCall) -> t.Any:
    """CREATE, MKDIR, SYMLINK and MKNOD with an owner, and LINK, create the object and answer SERVERFAULT"""
    args = call.args
    places: t.Any = (
        getattr(getattr(args, "how", None), "obj_attributes", None),
        getattr(getattr(args, "symlink", None), "symlink_attributes", None),
        getattr(getattr(args, "what", None), "pipe_attributes", None),
        getattr(args, "attributes", None),
    )
    sets_owner = any(place is not None and place.uid is not None for place in places)
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3_OK or not (sets_owner or call.operation is LINK):
        return reply
    return refuse(call, Nfsstat3.NFS3ERR_SERVERFAULT)
