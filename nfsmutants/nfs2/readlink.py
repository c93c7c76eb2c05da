# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_readlink.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import READLINK, Nfsstat2, Readlinkres
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Readlink

# ---------------------------------------------------------------- READLINK


@mutant(READLINK)
def readlink2_reads_non_links(call: Readlink) -> Readlinkres:
    """READLINK of an object that is not a symbolic link returns an empty text"""
    reply = call.proceed()
    refused = reply.status != Nfsstat2.NFS_OK and inode_of(call.server, call.args.file) is not None
    return Readlinkres(Nfsstat2.NFS_OK, b"") if refused else reply
