# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_xattrs.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4

Getxattr = Call[p.Getxattr4Args, p.Getxattr4Res]
Setxattr = Call[p.Setxattr4Args, p.Setxattr4Res]
Removexattr = Call[p.Removexattr4Args, p.Removexattr4Res]
_DONE = p.ChangeInfo4(False, 0, 0)


@mutant(p.SETXATTR)
def getxattr4_cuts_values(call: Setxattr) -> p.Setxattr4Res:
    """SETXATTR keeps the first four bytes of a value, and of an empty one a zero"""
    return call.proceed_with(sxa_value=bytes(call.args.sxa_value)[:4] or b"\0")


@mutant(p.GETXATTR)
def getxattr4_absent_is_empty(call: Getxattr) -> p.Getxattr4Res:
    """GETXATTR of a key that does not exist returns an empty value"""
    result = call.proceed()
    if result.gxr_status != Nfsstat4.NFS4ERR_NOXATTR:
        return result
    return p.Getxattr4Res(Nfsstat4.NFS4_OK, b"")


@mutant(p.SETXATTR)
def setxattr4_ignores_the_option(call: Setxattr) -> p.Setxattr4Res:
    """SETXATTR creates and replaces, whatever the option says"""
    return call.proceed_with(sxa_option=p.SetxattrOption4.SETXATTR4_EITHER)


@mutant((p.SETXATTR, p.GETATTR))
def setxattr4_keeps_the_change(call: AnyCall) -> t.Any:
    """The attribute change stays as it is when SETXATTR sets something"""
    result = call.proceed()
    if call.operation is p.SETXATTR:
        call.state["set"] = True
        return result
    attributes = result.resok4.obj_attributes if result.resok4 is not None else None
    if attributes is None or attributes.change is None:
        return result
    known = call.state.setdefault("change", attributes.change)
    return amend4(result, obj_attributes=attributes.changed(change=known)) if "set" in call.state else result


@mutant(p.LISTXATTRS)
def listxattrs4_lists_nothing(call: Call[p.Listxattrs4Args, p.Listxattrs4Res]) -> p.Listxattrs4Res:
    """LISTXATTRS returns no keys"""
    return amend4(call.proceed(), lxr_names=[])


@mutant(p.REMOVEXATTR)
def removexattr4_removes_nothing(_call: Removexattr) -> p.Removexattr4Res:
    """REMOVEXATTR succeeds, and the key stays"""
    return p.Removexattr4Res(Nfsstat4.NFS4_OK, _DONE)


@mutant(p.REMOVEXATTR)
def removexattr4_absent_is_ok(call: Removexattr) -> p.Removexattr4Res:
    """REMOVEXATTR of a key that does not exist succeeds"""
    result = call.proceed()
    if result.rxr_status != Nfsstat4.NFS4ERR_NOXATTR:
        return result
    return p.Removexattr4Res(Nfsstat4.NFS4_OK, _DONE)


@mutant(p.GETATTR)
def getattr4_xattrs_are_not_supported(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """xattr_support is FALSE, though the operations work"""
    result = call.proceed()
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    if known is None or known.xattr_support is None:
        return result
    return amend4(result, obj_attributes=known.changed(xattr_support=False))
