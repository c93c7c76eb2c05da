# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_read.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal, restate4

Read = Call[p.Read4Args, p.Read4Res]


@mutant(p.READ, kills_many="checks see by READ what is in a file")
def read4_returns_zeros(call: Read) -> p.Read4Res:
    """READ returns zeros instead of data"""
    return amend4(call.proceed(), data=lambda it: bytes(len(it.data)))


@mutant(p.READ)
def read4_never_at_the_end(call: Read) -> p.Read4Res:
    """READ of data never says eof"""
    return amend4(call.proceed(), eof=lambda it: it.eof and not len(it.data))


@mutant(p.READ)
def read4_beyond_is_inval(call: Read) -> p.Read4Res:
    """READ at or beyond the end of a file gets INVAL"""
    result = call.proceed()
    is_empty = result.resok4 is not None and not len(result.resok4.data)
    return refusal(result, Nfsstat4.NFS4ERR_INVAL) if is_empty and call.args.offset else result


@mutant(p.READ)
def read4_beyond_has_bytes(call: Read) -> p.Read4Res:
    """READ at or beyond the end of a file returns the bytes of a buffer"""
    result = call.proceed()
    is_empty = result.resok4 is not None and not len(result.resok4.data)
    return amend4(result, data=b"junk") if is_empty and call.args.offset else result


@mutant(p.READ)
def read4_of_a_directory_is_inval(call: Read) -> p.Read4Res:
    """READ of a directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_INVAL)
