# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_refusals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import CREATE, IGNORED, LINK, MKDIR, SYMLINK, Nfsstat2
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.bending import refuse
from nfsmutants.rules import RFC1094_CREATE


@mutant(
    (CREATE, MKDIR, SYMLINK, LINK),
    RFC1094_CREATE,
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
