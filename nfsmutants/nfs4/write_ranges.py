# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_write_ranges.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import refusal
from nfsserver.nfs4.common import compound_of

Write = Call[p.Write4Args, p.Write4Res]
_FAR: t.Final = 2**63 - 64


@mutant(p.WRITE)
def write4_of_nothing_is_inval(call: Write) -> p.Write4Res:
    """WRITE of no data gets INVAL"""
    return call.proceed() if call.args.data else refusal(call.proceed(), Nfsstat4.NFS4ERR_INVAL)


def _resizes(call: Write, *, shorter: bool) -> p.Write4Res:
    """WRITE of no data makes its offset the size of a file that is longer, or shorter."""
    inode, result, offset = compound_of(call.context).current, call.proceed(), call.args.offset
    data = None if inode is None or call.args.data else inode.data
    if data is not None and inode is not None and (offset < inode.size) is shorter:
        data.truncate(offset)
    return result


@mutant(p.WRITE)
def write4_of_nothing_truncates(call: Write) -> p.Write4Res:
    """WRITE of no data inside a file ends the file there"""
    return _resizes(call, shorter=True)


@mutant(p.WRITE)
def write4_of_nothing_extends(call: Write) -> p.Write4Res:
    """WRITE of no data beyond the end extends the file to its offset"""
    return _resizes(call, shorter=False)


@mutant(p.WRITE)
def write4_wraps_around(call: Write) -> p.Write4Res:
    """WRITE of a range that ends at 2^63 or beyond writes to the beginning of the file"""
    return call.proceed_with(offset=0) if call.args.offset >= _FAR else call.proceed()
