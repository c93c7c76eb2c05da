# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_read_ranges.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsserver.nfs4.common import compound_of

Read = Call[p.Read4Args, p.Read4Res]
_FAR: t.Final = 2**63 - 64


@mutant(p.READ)
def read4_of_nothing_is_inval(call: Read) -> p.Read4Res:
    """READ with a count of zero gets INVAL"""
    return call.proceed() if call.args.count else refusal(call.proceed(), Nfsstat4.NFS4ERR_INVAL)


@mutant(p.READ)
def read4_wraps_around(call: Read) -> p.Read4Res:
    """READ of a range that ends at 2^63 or beyond reads from the beginning of the file"""
    return call.proceed_with(offset=0) if call.args.offset >= _FAR else call.proceed()


@mutant(p.READ)
def read4_far_beyond_is_not_eof(call: Read) -> p.Read4Res:
    """READ of a range that ends at 2^63 or beyond returns nothing, and eof FALSE"""
    return amend4(call.proceed(), eof=False) if call.args.offset >= _FAR else call.proceed()


@mutant(p.READ)
def read4_far_beyond_is_inval(call: Read) -> p.Read4Res:
    """READ of a range that ends at 2^63 or beyond gets INVAL"""
    return refusal(call.proceed(), Nfsstat4.NFS4ERR_INVAL) if call.args.offset >= _FAR else call.proceed()


@mutant(p.READ)
def read4_changes_the_time(call: Read) -> p.Read4Res:
    """READ sets the time of modification"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is not None and result.resok4 is not None:
        inode.mtime += 1_000_000_000
    return result
