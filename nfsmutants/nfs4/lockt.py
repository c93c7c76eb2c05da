# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_lockt.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4
from nfsserver.nfs4.common import compound_of

Lockt = Call[p.Lockt4Args, p.Lockt4Res]


@mutant(p.LOCKT)
def lockt4_finds_nothing(call: Lockt) -> p.Lockt4Res:
    """LOCKT of a locked range succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_DENIED, Nfsstat4.NFS4_OK)


@mutant(p.LOCKT)
def lockt4_names_nobody(call: Lockt) -> p.Lockt4Res:
    """LOCKT that is denied says that a client with id 0 has the lock"""
    result = call.proceed()
    if result.denied is None:
        return result
    return replace(result, denied=replace(result.denied, owner=p.StateOwner4(0, result.denied.owner.owner)))


@mutant(p.LOCKT)
def lockt4_always_denies(call: Lockt) -> p.Lockt4Res:
    """LOCKT is denied although nobody has a lock there"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4_OK:
        return result
    denied = p.Lock4Denied(call.args.offset, call.args.length, call.args.locktype, call.args.owner)
    return p.Lockt4Res(Nfsstat4.NFS4ERR_DENIED, denied=denied)


@mutant(p.LOCKT)
def lockt4_finds_own_locks(call: Lockt) -> p.Lockt4Res:
    """LOCKT finds the locks of the lock-owner in the request"""
    return call.proceed_with(owner=p.StateOwner4(0, b"somebody else"))


@mutant(p.LOCKT)
def lockt4_wrong_range_is_ok(call: Lockt) -> p.Lockt4Res:
    """LOCKT of a range that is invalid succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4_OK)


@mutant(p.LOCKT)
def lockt4_of_a_directory_is_inval(call: Lockt) -> p.Lockt4Res:
    """LOCKT of a directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.LOCKT)
def lockt4_of_a_link_is_wrong_type(call: Lockt) -> p.Lockt4Res:
    """LOCKT of a symbolic link gets WRONG_TYPE"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_SYMLINK, Nfsstat4.NFS4ERR_WRONG_TYPE)


@mutant(p.LOCKT)
def lockt4_compares_the_clientid(call: Lockt) -> p.Lockt4Res:
    """LOCKT takes a lock-owner with another client ID than that of the session for another one"""
    if call.args.owner.clientid in {0, compound_of(call.context).client.id}:
        return call.proceed()
    return call.proceed_with(owner=p.StateOwner4(0, b"somebody else"))
