# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_capabilities.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsmutants.nfs4.getattr_values import Getattr, shown

Setattr = Call[p.Setattr4Args, p.Setattr4Res]


@mutant(p.GETATTR)
def getattr4_links_are_not_supported(call: Getattr) -> p.Getattr4Res:
    """link_support is FALSE although LINK works"""
    return shown(call, "link_support", lambda _, __: False)


@mutant(p.GETATTR)
def getattr4_symlinks_are_not_supported(call: Getattr) -> p.Getattr4Res:
    """symlink_support is FALSE although CREATE makes symbolic links"""
    return shown(call, "symlink_support", lambda _, __: False)


@mutant(p.GETATTR)
def getattr4_case_insensitive_is_inverted(call: Getattr) -> p.Getattr4Res:
    """case_insensitive is the opposite of how names are compared"""
    return shown(call, "case_insensitive", lambda _, known: not known)


@mutant(p.READDIR)
def readdir4_lists_lower_case(call: Call[p.Readdir4Args, p.Readdir4Res]) -> p.Readdir4Res:
    """READDIR lists each name in lower case, though case_preserving is TRUE"""
    return amend4(
        call.proceed(),
        "reply",
        entries=lambda it: [replace(entry, name=bytes(entry.name).lower()) for entry in it.entries],
    )


@mutant(p.SETATTR)
def setattr4_times_are_attrnotsupp(call: Setattr) -> p.Setattr4Res:
    """SETATTR of a time gets ATTRNOTSUPP, though cansettime is TRUE"""
    given = call.args.obj_attributes
    if given.time_access_set is None and given.time_modify_set is None:
        return call.proceed()
    return p.Setattr4Res(Nfsstat4.NFS4ERR_ATTRNOTSUPP, [])


@mutant(p.SETATTR)
def setattr4_times_are_seconds(call: Setattr) -> p.Setattr4Res:
    """SETATTR sets the whole seconds of time_modify, though time_delta is a nanosecond"""
    time = call.args.obj_attributes.time_modify_set
    if time is None or time.time is None:
        return call.proceed()
    given = call.args.obj_attributes.changed(time_modify_set=p.client_time(time.time.seconds))
    return call.proceed_with(obj_attributes=given)
