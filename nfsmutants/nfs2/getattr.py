# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_getattr.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import GETATTR, Attrstat, Ftype
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Getattr


@mutant(GETATTR)
def getattr2_reports_everything_as_device(call: Getattr) -> Attrstat:
    """GETATTR reports every object as a device"""
    return amend(call.proceed(), type=Ftype.NFCHR)


@mutant(GETATTR)
def getattr2_mode_lacks_the_type(call: Getattr) -> Attrstat:
    """GETATTR omits the type bits from mode"""
    return amend(call.proceed(), mode=lambda it: it.mode & 0o7777)


@mutant(GETATTR)
def getattr2_rounds_the_size(call: Getattr) -> Attrstat:
    """GETATTR returns a size that is one byte too large"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    return amend(reply, size=attributes.size + 1) if attributes.type is Ftype.NFREG else reply


@mutant(GETATTR)
def getattr2_reports_one_link_too_many(call: Getattr) -> Attrstat:
    """GETATTR reports one link too many for a file with one name"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    single = attributes.type is Ftype.NFREG and attributes.nlink == 1
    return amend(reply, nlink=2) if single else reply


@mutant(GETATTR)
def getattr2_changes_the_mode(call: Getattr) -> Attrstat:
    """GETATTR changes the mode of the object"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = inode_of(call.server, call.args.file)
    if inode is not None:
        inode.mode ^= 0o001
    return reply
