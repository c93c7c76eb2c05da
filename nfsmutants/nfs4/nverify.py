# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_nverify.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4

Nverify = Call[p.Nverify4Args, p.Nverify4Res]


@mutant(p.NVERIFY)
def nverify4_always_differs(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of attributes that match succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_SAME, Nfsstat4.NFS4_OK)


@mutant(p.NVERIFY)
def nverify4_always_matches(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of attributes that differ gets SAME"""
    return restate4(call.proceed(), Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_SAME)


@mutant(p.NVERIFY)
def nverify4_times_never_match(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of a time succeeds, whatever it is"""
    given = call.args.obj_attributes
    if given.time_modify is None and given.time_metadata is None:
        return call.proceed()
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_SAME, Nfsstat4.NFS4_OK)


@mutant(p.NVERIFY)
def nverify4_ignores_booleans(call: Nverify) -> p.Nverify4Res:
    """NVERIFY does not compare attributes that are true or false"""
    given = call.args.obj_attributes
    booleans = {name: None for name, value in given.values().items() if isinstance(value, bool)}
    return call.proceed_with(obj_attributes=given.changed(**booleans))


@mutant(p.NVERIFY)
def nverify4_unsupported_is_ok(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of an attribute that the server does not support succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_ATTRNOTSUPP, Nfsstat4.NFS4_OK)


@mutant(p.NVERIFY)
def nverify4_takes_rdattr_error(call: Nverify) -> p.Nverify4Res:
    """NVERIFY compares rdattr_error as any other attribute"""
    result = call.proceed()
    return result if call.args.obj_attributes.rdattr_error is None else p.Nverify4Res(Nfsstat4.NFS4ERR_SAME)


@mutant(p.NVERIFY)
def nverify4_of_many_differs(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of ten attributes or more does not find that they match"""
    is_many = len(p.names_of(call.args.obj_attributes.attrmask)) >= 10
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_SAME, Nfsstat4.NFS4_OK) if is_many else call.proceed()
