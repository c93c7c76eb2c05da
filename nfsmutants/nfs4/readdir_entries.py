# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_readdir_entries.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.nfs4.common import compound_of

Readdir = Call[p.Readdir4Args, p.Readdir4Res]
_LONG: t.Final = 200


@mutant(p.READDIR)
def readdir4_lacks_long_names(call: Readdir) -> p.Readdir4Res:
    """READDIR leaves out names of 200 bytes and more"""
    return amend4(
        call.proceed(), "reply", entries=lambda it: [entry for entry in it.entries if len(entry.name) < _LONG]
    )


@mutant((p.REMOVE, p.READDIR))
def readdir4_skips_an_entry_after_removal(call: AnyCall) -> t.Any:
    """READDIR that goes on after a removal skips an entry, as if cookies were positions"""
    where, result = compound_of(call.context).current, call.proceed()
    key = None if where is None else (where.fileid, where.generation)
    if call.operation is p.REMOVE:
        if result.status == Nfsstat4.NFS4_OK:
            call.state[key] = True
        return result
    if not call.args.cookie or not call.state.pop(key, False):
        return result
    return amend4(result, "reply", entries=lambda it: it.entries[1:])


def _goes_on_after_a_change(call: AnyCall) -> tuple[t.Any, bool]:
    """The result, and whether it is a page of a directory in which names were made or removed since the page before."""
    where, result = compound_of(call.context).current, call.proceed()
    key = None if where is None else (where.fileid, where.generation)
    if call.operation is not p.READDIR:
        call.state[key] = True
        return result, False
    is_changed = call.state.pop(key, False)
    return result, bool(is_changed and call.args.cookie)


@mutant((p.REMOVE, p.OPEN, p.READDIR))
def readdir4_ends_after_a_change(call: AnyCall) -> t.Any:
    """READDIR that goes on after a change of the directory says that there are no more entries"""
    result, is_meant = _goes_on_after_a_change(call)
    return amend4(result, reply=p.Dirlist4([], True)) if is_meant else result


@mutant((p.REMOVE, p.OPEN, p.READDIR))
def readdir4_skips_an_entry_after_a_change(call: AnyCall) -> t.Any:
    """READDIR that goes on after a change of the directory skips an entry"""
    result, is_meant = _goes_on_after_a_change(call)
    return amend4(result, "reply", entries=lambda it: it.entries[1:]) if is_meant else result


@mutant(p.READDIR)
def readdir4_invents_an_entry_for_unknown_cookies(call: Readdir) -> p.Readdir4Res:
    """READDIR with a cookie that no entry has returns an entry `invented`"""
    result = call.proceed()
    where = compound_of(call.context).current
    if where is None or where.directory is None or where.directory.has_issued(call.args.cookie):
        return result
    if not call.args.cookie:
        return result
    invented = p.Dirlist4([p.Entry4(call.args.cookie, b"invented", p.Fattr4())], True)
    return p.Readdir4Res(Nfsstat4.NFS4_OK, p.Readdir4ResOk(bytes(p.NFS4_VERIFIER_SIZE), invented))


@mutant(p.READDIR)
def readdir4_remembers_filehandles_by_name(call: Readdir) -> p.Readdir4Res:
    """READDIR returns the filehandle that the first object of this name in the directory had"""
    where = compound_of(call.context).current
    place = None if where is None else (where.fileid, where.generation)

    def remembered(entry: p.Entry4) -> p.Entry4:
        handle = entry.attrs.filehandle
        if handle is None:
            return entry
        first = call.state.setdefault((place, bytes(entry.name)), handle)
        return replace(entry, attrs=entry.attrs.changed(filehandle=first))

    return amend4(call.proceed(), "reply", entries=lambda it: [remembered(entry) for entry in it.entries])
