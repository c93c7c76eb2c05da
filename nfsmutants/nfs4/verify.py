# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_verify.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4

Verify = Call[p.Verify4Args, p.Verify4Res]


@mutant(p.VERIFY)
def verify4_always_differs(call: Verify) -> p.Verify4Res:
    """VERIFY of attributes that match gets NOT_SAME"""
    return restate4(call.proceed(), Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_NOT_SAME)


@mutant(p.VERIFY)
def verify4_always_matches(call: Verify) -> p.Verify4Res:
    """VERIFY of attributes that differ succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOT_SAME, Nfsstat4.NFS4_OK)


@mutant(p.VERIFY)
def verify4_compares_the_first_only(call: Verify) -> p.Verify4Res:
    """VERIFY compares one attribute, and ignores the others"""
    names = p.names_of(call.args.obj_attributes.attrmask)
    first = call.args.obj_attributes.changed(**dict.fromkeys(names[1:]))
    return call.proceed_with(obj_attributes=first)


@mutant(p.VERIFY)
def verify4_fsid_never_matches(call: Verify) -> p.Verify4Res:
    """VERIFY of the fsid gets NOT_SAME, whatever it is"""
    if call.args.obj_attributes.fsid is None:
        return call.proceed()
    return restate4(call.proceed(), Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_NOT_SAME)


@mutant(p.VERIFY)
def verify4_ignores_times(call: Verify) -> p.Verify4Res:
    """VERIFY does not compare times"""
    times = dict.fromkeys(("time_modify", "time_metadata", "time_delta"))
    return call.proceed_with(obj_attributes=call.args.obj_attributes.changed(**times))


@mutant(p.VERIFY)
def verify4_unsupported_is_not_same(call: Verify) -> p.Verify4Res:
    """VERIFY of an attribute that the server does not support gets NOT_SAME"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_ATTRNOTSUPP, Nfsstat4.NFS4ERR_NOT_SAME)


@mutant(p.VERIFY)
def verify4_takes_rdattr_error(call: Verify) -> p.Verify4Res:
    """VERIFY compares rdattr_error as any other attribute"""
    result = call.proceed()
    return result if call.args.obj_attributes.rdattr_error is None else p.Verify4Res(Nfsstat4.NFS4_OK)


@mutant(p.VERIFY)
def verify4_of_many_differs(call: Verify) -> p.Verify4Res:
    """VERIFY of ten attributes or more does not find that they match"""
    is_many = len(p.names_of(call.args.obj_attributes.attrmask)) >= 10
    return (
        restate4(call.proceed(), Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_NOT_SAME) if is_many else call.proceed()
    )
