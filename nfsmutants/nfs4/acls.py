# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_acls.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsace4, Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import succeeded
from nfsmutants.nfs4.getattr_values import Getattr, shown
from nfsserver.nfs4.common import compound_of

Setattr = Call[p.Setattr4Args, p.Setattr4Res]


@mutant(p.GETATTR)
def getattr4_acl_denies_all(call: Getattr) -> p.Getattr4Res:
    """The ACL of an object of which only the mode was set is empty"""
    return shown(call, "acl", lambda inode, known: known if inode.acl is not None else [])


@mutant(p.SETATTR)
def setattr4_mode_keeps_the_acl(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the mode leaves the ACL as it was"""
    inode = compound_of(call.context).current
    known = None if inode is None else inode.acl
    result = call.proceed()
    if inode is not None and known is not None and call.args.obj_attributes.acl is None:
        inode.acl = known
    return result


def _set_bits(call: Setattr, bits: t.Callable[[list[Nfsace4], int, int], int]) -> p.Setattr4Res:
    """SETATTR of an ACL; the mode then has the bits of (ACL, mode of before, mode that is right)."""
    inode, acl = compound_of(call.context).current, call.args.obj_attributes.acl
    before = 0 if inode is None else inode.mode
    result = call.proceed()
    if inode is not None and acl is not None and succeeded(result):
        inode.mode = bits(acl, before, inode.mode)
    return result


@mutant(p.SETATTR)
def setattr4_acl_counts_only_the_owner(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an ACL sets the bits of the owner in the mode, and no others"""
    return _set_bits(call, lambda _, before, right: before & ~0o700 | right & 0o700)


@mutant(p.SETATTR)
def setattr4_acl_loses_an_entry(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an ACL does not keep the last entry"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is not None and call.args.obj_attributes.acl is not None and inode.acl:
        inode.acl = inode.acl[:-1]
    return result


@mutant(p.SETATTR)
def setattr4_acl_clears_the_high_bits(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an ACL clears the three high bits of the mode"""
    return _set_bits(call, lambda _, __, right: right & 0o777)


@mutant(p.SETATTR)
def setattr4_acl_then_mode(call: Setattr) -> p.Setattr4Res:
    """SETATTR of a mode and an ACL sets the mode last"""
    mode = call.args.obj_attributes.mode
    return _set_bits(call, lambda _, __, right: right if mode is None else mode)


@mutant(p.CREATE)
def create4_ignores_the_acl(call: Call[p.Create4Args, p.Create4Res]) -> p.Create4Res:
    """CREATE with an ACL makes an object that nobody may use"""
    acl = call.args.createattrs.acl
    result = call.proceed()
    inode = compound_of(call.context).current
    if acl is not None and inode is not None and succeeded(result):
        inode.mode &= ~0o777
    return result


@mutant(p.SETATTR)
def setattr4_unknown_aces_are_inval(call: Setattr) -> p.Setattr4Res:
    """SETATTR of an ACE of a type that aclsupport lacks gets INVAL"""
    result, acl = call.proceed(), call.args.obj_attributes.acl or []
    is_meant = result.status == Nfsstat4.NFS4ERR_ATTRNOTSUPP and any(ace.type > 1 for ace in acl)
    return p.Setattr4Res(Nfsstat4.NFS4ERR_INVAL, []) if is_meant else result
