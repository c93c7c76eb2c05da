# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_attributes.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import GETATTR, Attrstat, Ftype
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Getattr


@mutant(GETATTR)
def getattr2_repeats_fileids(call: Getattr) -> Attrstat:
    """GETATTR returns the same fileid for many files: it loses the low bits"""
    return amend(call.proceed(), fileid=lambda it: it.fileid & ~0x3FFF)


@mutant(GETATTR)
def getattr2_fileid_changes_with_the_size(call: Getattr) -> Attrstat:
    """GETATTR computes fileid from the inode number and the size"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    is_file = attributes.type is Ftype.NFREG
    return amend(reply, fileid=attributes.fileid + attributes.size) if is_file else reply


@mutant(GETATTR)
def getattr2_fsid_differs_by_object(call: Getattr) -> Attrstat:
    """GETATTR returns a different fsid for every object but the root"""
    return amend(call.proceed(), fsid=lambda it: it.fileid)
