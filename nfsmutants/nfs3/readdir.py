# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_readdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    READDIR,
    REMOVE,
    Entry3,
    Nfsstat3,
    Readdir3Res,
    Readdir3ResOk,
    Readdirplus3ResOk,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import DOTS, LISTINGS
from nfsmutants.nfs3.calls import Readdir
from nfsmutants.rules import RFC1813_READDIR
from nfsserver.nfs3.common import fattr3


def _is_dots_only(resok: Readdir3ResOk | Readdirplus3ResOk) -> bool:
    return all(entry.name in {b".", b".."} for entry in resok.entries)


@mutant_of_each(LISTINGS)
def repeats_an_entry(call: AnyCall) -> t.Any:
    """{} repeats the last entry of a page at the beginning of the next page"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    if resok.eof or len(resok.entries) < 3:
        return reply
    *kept, last = resok.entries
    return amend(reply, entries=[*kept, replace(last, cookie=kept[-1].cookie)])


@mutant_of_each(LISTINGS)
def claims_eof_early(call: AnyCall) -> t.Any:
    """{} returns eof with every page"""
    return amend(call.proceed(), eof=True)


@mutant_of_each(LISTINGS)
def never_returns_eof(call: AnyCall) -> t.Any:
    """{} never returns eof in a directory that has entries"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return reply if resok.entries and _is_dots_only(resok) else amend(reply, eof=False)


@mutant_of_each(LISTINGS)
def skips_the_entry_after_the_cookie(call: AnyCall) -> t.Any:
    """{} omits the entry after the cookie, unless it is the last of a page"""
    ends = call.state.setdefault("ends", set())
    reply = call.proceed()
    if reply.resok is None:
        return reply
    entries = reply.resok.entries
    if call.args.cookie and call.args.cookie not in ends:
        entries = entries[1:]
    if entries and not reply.resok.eof:
        ends.add(entries[-1].cookie)
    return amend(reply, entries=entries)


@mutant_of_each(LISTINGS)
def lists_a_file(call: AnyCall) -> t.Any:
    """{} of an object that is not a directory returns an empty listing"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR:
        return reply
    resok = Readdir3ResOk if isinstance(reply, Readdir3Res) else Readdirplus3ResOk
    return type(reply)(Nfsstat3.NFS3_OK, resok(reply.resfail.dir_attributes, bytes(8), [], eof=True))


# ---------------------------------------------------------------- READDIR alone


@mutant(READDIR)
def readdir3_exceeds_count(call: Readdir) -> Readdir3Res:
    """READDIR returns four times as many bytes as count allows"""
    return call.proceed_with(count=min(4 * call.args.count, 2**32 - 1))


@mutant(READDIR)
def readdir3_invents_an_entry(call: Readdir) -> Readdir3Res:
    """READDIR lists a name that does not exist in directories with one entry"""
    reply = call.proceed()
    if reply.resok is None or call.args.cookie or len(reply.resok.entries) != 3:
        return reply
    entries = [replace(reply.resok.entries[0], name=b"nobody-made-me"), *reply.resok.entries]
    return amend(reply, entries=entries)


@mutant((READDIR, REMOVE))
def readdir3_lists_removed_entries(call: AnyCall) -> t.Any:
    """READDIR still lists the last removed name"""
    gone: dict[bytes, bytes] = call.state.setdefault("gone", {})
    reply = call.proceed()
    if call.operation is REMOVE:
        if reply.resok is not None:
            gone[call.args.object.dir] = call.args.object.name
        return reply
    if reply.resok is None or call.args.dir not in gone:
        return reply
    last = reply.resok.entries[-1]
    again = Entry3(last.fileid, gone[call.args.dir], last.cookie)
    return amend(reply, entries=[*reply.resok.entries, again])


@mutant(READDIR)
def readdir3_empty_directory_lacks_eof(call: Readdir) -> Readdir3Res:
    """READDIR never returns eof in an empty directory"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    everything = call.backend.fs.readdir(call.caller, call.backend.resolve(call.args.dir), 0)
    if any(entry.name not in {b".", b".."} for entry in everything):
        return reply
    return amend(reply, eof=False)


@mutant(READDIR)
def readdir3_restarts_after_the_end(call: Readdir) -> Readdir3Res:
    """READDIR starts again if the cookie is that of the last entry"""
    reply = call.proceed()
    if reply.resok is None or not call.args.cookie or reply.resok.entries:
        return reply
    return call.proceed_with(cookie=0, cookieverf=bytes(8))


@mutant(READDIR)
def readdir3_skips_an_entry_after_removal(call: Readdir) -> Readdir3Res:
    """READDIR omits the next entry if the directory has become smaller since it returned the cookie"""
    sizes = call.state
    reply = call.proceed()
    if reply.resok is None or reply.resok.dir_attributes is None:
        return reply
    size = reply.resok.dir_attributes.size
    was = sizes.get(f"{call.args.dir.hex()}:{call.args.cookie}", size)
    entries = reply.resok.entries[1:] if size < was else reply.resok.entries
    for entry in entries[-1:]:
        sizes[f"{call.args.dir.hex()}:{entry.cookie}"] = size
    return amend(reply, entries=entries)


@mutant(READDIR, breaks=RFC1813_READDIR)
def readdir3_too_small_returns_eof(call: Readdir) -> Readdir3Res:
    """READDIR returns an empty page with eof if no entry fits into count"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_TOOSMALL:
        return reply
    return Readdir3Res(Nfsstat3.NFS3_OK, Readdir3ResOk(None, bytes(8), [], eof=True))


@mutant(READDIR)
def readdir3_too_small_returns_nothing(call: Readdir) -> Readdir3Res:
    """READDIR returns an empty page without eof if no entry fits into count"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_TOOSMALL:
        return reply
    return Readdir3Res(Nfsstat3.NFS3_OK, Readdir3ResOk(None, bytes(8), [], eof=False))


@mutant(READDIR)
def readdir3_wrong_fileid(call: Readdir) -> Readdir3Res:
    """READDIR returns entries with a fileid that no object has"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    entries = [
        replace(entry, fileid=entry.fileid + 1_000_000) if entry.name not in DOTS else entry
        for entry in reply.resok.entries
    ]
    return amend(reply, entries=entries)


@mutant(READDIR)
def readdir3_attributes_of_another(call: Readdir) -> Readdir3Res:
    """READDIR returns the attributes of the export's root as those of the directory"""
    return amend(call.proceed(), dir_attributes=fattr3(call.backend.fs.root))
