# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_lookup.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4
from nfsmutants.rules import RFC5661_ERRORS

Lookup = Call[p.Lookup4Args, p.Lookup4Res]


@mutant(p.LOOKUP)
def lookup4_returns_another_entry(call: Lookup) -> p.Lookup4Res:
    """LOOKUP of `wanted` finds `other`"""
    return call.proceed_with(objname=b"other") if call.args.objname == b"wanted" else call.proceed()


@mutant(p.LOOKUP)
def lookup4_finds_every_name(call: Lookup) -> p.Lookup4Res:
    """LOOKUP of a name that does not exist succeeds, and stays in the directory"""
    result = call.proceed()
    for status in (Nfsstat4.NFS4ERR_NOENT, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_BADCHAR):
        result = restate4(result, status, Nfsstat4.NFS4_OK)
    return result


@mutant(p.LOOKUP, breaks=RFC5661_ERRORS)
def lookup4_absent_is_inval(call: Lookup) -> p.Lookup4Res:
    """LOOKUP of a name that does not exist gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOENT, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.LOOKUP)
def lookup4_in_a_file_is_noent(call: Lookup) -> p.Lookup4Res:
    """LOOKUP in an object that is no directory gets NOENT"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOTDIR, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.LOOKUP)
def lookup4_in_a_link_is_notdir(call: Lookup) -> p.Lookup4Res:
    """LOOKUP in a symbolic link gets NOTDIR"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_SYMLINK, Nfsstat4.NFS4ERR_NOTDIR)


@mutant(p.LOOKUP)
def lookup4_empty_name_is_noent(call: Lookup) -> p.Lookup4Res:
    """LOOKUP of an empty name gets NOENT"""
    result = call.proceed()
    return result if call.args.objname else restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)
