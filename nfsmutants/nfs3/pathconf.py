# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_pathconf.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    CREATE,
    LOOKUP,
    PATHCONF,
    READDIR,
    SETATTR,
    Create3Res,
    Lookup3Res,
    Nfsstat3,
    Pathconf3Res,
    Readdir3Res,
    Setattr3Res,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import is_not_directory
from nfsmutants.nfs3.calls import Create, Lookup, Pathconf, Readdir, Setattr
from nfsmutants.rules import RFC1813_PATHCONF

# ---------------------------------------------------------------- READDIR alone


@mutant(READDIR)
def readdir3_lowers_names(call: Readdir) -> Readdir3Res:
    """READDIR lists names in lower case, though PATHCONF says that case is preserved"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    entries = [replace(entry, name=entry.name.lower()) for entry in reply.resok.entries]
    return amend(reply, entries=entries)


# ---------------------------------------------------------------- PATHCONF


@mutant(PATHCONF, breaks=RFC1813_PATHCONF)
def pathconf3_understates_linkmax(call: Pathconf) -> Pathconf3Res:
    """PATHCONF returns a linkmax of 8"""
    return amend(call.proceed(), linkmax=8)


@mutant(PATHCONF)
def pathconf3_differs_by_type(call: Pathconf) -> Pathconf3Res:
    """PATHCONF returns another linkmax for files than for directories"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return (
        amend(reply, linkmax=resok.linkmax - 1) if is_not_directory(call.server, call.args.object) else reply
    )


@mutant(PATHCONF)
def pathconf3_overstates_name_max(call: Pathconf) -> Pathconf3Res:
    """PATHCONF returns twice the real name_max"""
    return amend(call.proceed(), name_max=lambda it: it.name_max * 2)


@mutant(PATHCONF, breaks=RFC1813_PATHCONF)
def pathconf3_understates_name_max(call: Pathconf) -> Pathconf3Res:
    """PATHCONF returns no_trunc and half of the real name_max, so the server accepts longer names"""
    return amend(call.proceed(), name_max=lambda it: it.name_max // 2)


@mutant(PATHCONF)
def pathconf3_denies_no_trunc(call: Pathconf) -> Pathconf3Res:
    """PATHCONF returns no_trunc FALSE, though long names are refused"""
    return amend(call.proceed(), no_trunc=False)


@mutant(CREATE)
def create3_cuts_long_names(call: Create) -> Create3Res:
    """CREATE cuts a name to name_max, though PATHCONF says no_trunc"""
    name = call.args.where.name[: call.backend.limits.name_max]
    return call.proceed_with("where", name=name)


@mutant(SETATTR)
def setattr3_owners_give_files_away(call: Setattr) -> Setattr3Res:
    """SETATTR lets an owner change the owner, though PATHCONF says chown_restricted"""
    if call.args.new_attributes.uid is None or call.caller.uid == 0:
        return call.proceed()
    return call.proceed_as_root()


@mutant(LOOKUP)
def lookup3_folds_case(call: Lookup) -> Lookup3Res:
    """LOOKUP of a name in upper case finds one in lower case"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOENT or not call.args.what.name.isupper():
        return reply
    return call.proceed_with("what", name=call.args.what.name.lower())
