# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_alike.py catch: comparing only a part of a value."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    LOOKUP,
    READDIR,
    Create3Res,
    Createhow3,
    CreateMode3,
    Lookup3Res,
    Nfsstat3,
    Readdir3Res,
    Sattr3,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import directory_of
from nfsmutants.nfs3.calls import Create, Lookup, Readdir
from nfsmutants.rules import RFC1813_CREATE, RFC1813_LOOKUP, RFC1813_READDIR

_LONG: t.Final = 60
"""Bytes of a name: longer than any that a check uses by chance."""
_SUMMED: t.Final = frozenset(b"abcdef")


def _names(call: AnyCall, handle: bytes) -> list[bytes]:
    directory = directory_of(call.server, handle)
    return [] if directory is None or directory.directory is None else list(directory.directory.names())


@mutant(CREATE)
def create3_compares_half_of_the_verifier(call: Create) -> Create3Res:
    """CREATE EXCLUSIVE succeeds if one half of the verifier is that of the file"""
    reply, where = call.proceed(), call.args.where
    verifier = bytes(call.args.how.verf or b"")
    if call.args.how.mode != CreateMode3.EXCLUSIVE:
        return reply
    key = bytes(where.dir), bytes(where.name)
    if reply.status == Nfsstat3.NFS3_OK:
        call.state[key] = verifier
    known = call.state.get(key, b"")
    is_meant = known[:4] == verifier[:4] or known[4:] == verifier[4:]
    if reply.status != Nfsstat3.NFS3ERR_EXIST or not known or not is_meant:
        return reply
    return call.proceed_with(how=Createhow3(CreateMode3.UNCHECKED, obj_attributes=Sattr3()))


@mutant(LOOKUP, breaks=RFC1813_LOOKUP)
def lookup3_compares_the_start_of_names(call: Lookup) -> Lookup3Res:
    """LOOKUP compares the first 60 bytes of names"""
    asked = bytes(call.args.what.name)
    if len(asked) <= _LONG:
        return call.proceed()
    alike = [name for name in _names(call, call.args.what.dir) if name[:_LONG] == asked[:_LONG]]
    return call.proceed_with("what", name=min(alike)) if alike else call.proceed()


@mutant(CREATE, breaks=RFC1813_CREATE)
def create3_guarded_folds_case(call: Create) -> Create3Res:
    """CREATE GUARDED succeeds with the file whose name differs in case"""
    where = call.args.where
    if call.args.how.mode != CreateMode3.GUARDED:
        return call.proceed()
    asked = bytes(where.name)
    alike = [name for name in _names(call, where.dir) if name != asked and name.lower() == asked.lower()]
    if not alike:
        return call.proceed()
    how = Createhow3(CreateMode3.UNCHECKED, obj_attributes=Sattr3())
    return call.proceed(replace(call.args, where=replace(where, name=alike[0]), how=how))


@mutant(LOOKUP, breaks=RFC1813_LOOKUP)
def lookup3_compares_sums_of_names(call: Lookup) -> Lookup3Res:
    """LOOKUP takes names of six letters for one another if their bytes have the same sum"""
    asked = bytes(call.args.what.name)
    if frozenset(asked) != _SUMMED:
        return call.proceed()
    alike = [name for name in _names(call, call.args.what.dir) if sorted(name) == sorted(asked)]
    return call.proceed_with("what", name=min(alike)) if alike else call.proceed()


@mutant(READDIR, breaks=RFC1813_READDIR)
def readdir3_compares_sums_of_names(call: Readdir) -> Readdir3Res:
    """READDIR drops entries whose names have the same letters as that of an earlier one of the page"""

    def without(resok: t.Any) -> list[t.Any]:
        kept, sums = [], set[tuple[int, ...]]()
        for entry in resok.entries:
            letters = tuple(sorted(entry.name))
            if frozenset(entry.name) != _SUMMED or letters not in sums:
                kept.append(entry)
            sums.add(letters)
        return kept

    return amend(call.proceed(), entries=without)
