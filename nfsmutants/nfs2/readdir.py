# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_readdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import READDIR, REMOVE, Entry, Nfsstat2, Readdirok, Readdirres
from nfsclient.xdr import replace
from nfsmutants.bending import amend, child_of, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.calls import Readdir
from nfsserver.fs import Directory, Kind

_DOTS: t.Final = frozenset({b".", b".."})
_LONG: t.Final = 200


def _cookie(number: int) -> bytes:
    return number.to_bytes(4, "big")


@mutant(READDIR, kills_many="checks see by READDIR what is in a directory")
def readdir2_omits_the_last_entry(call: Readdir) -> Readdirres:
    """READDIR omits the last name"""
    reply = call.proceed()
    is_last = reply.resok is not None and reply.resok.eof
    return amend(reply, entries=lambda it: it.entries[:-1]) if is_last else reply


@mutant(READDIR, kills_many="checks see by READDIR what is in a directory")
def readdir2_repeats_an_entry(call: Readdir) -> Readdirres:
    """READDIR returns the last name of the first page twice"""
    reply = call.proceed()
    if reply.resok is None or call.args.cookie != bytes(4):
        return reply
    entries = reply.resok.entries
    return amend(reply, entries=[entries[-1], *entries])


@mutant(READDIR, kills_many="checks see by READDIR what is in a directory")
def readdir2_invents_an_entry(call: Readdir) -> Readdirres:
    """READDIR lists a name that does not exist"""
    reply = call.proceed()
    if reply.resok is None or not reply.resok.eof:
        return reply
    return amend(reply, entries=[*reply.resok.entries, Entry(4711, b"invented", _cookie(99))])


@mutant((READDIR, REMOVE))
def readdir2_lists_removed_entries(call: AnyCall) -> t.Any:
    """READDIR lists the name that was removed last"""
    gone: dict[bytes, bytes] = call.state.setdefault("gone", {})
    reply = call.proceed()
    if call.operation is REMOVE:
        if reply.resok is not None:
            gone[call.args.dir] = call.args.name
        return reply
    if reply.readdirok is None or not reply.readdirok.eof or call.args.dir not in gone:
        return reply
    again = Entry(1, gone[call.args.dir], _cookie(99))
    return amend(reply, entries=[*reply.readdirok.entries, again])


@mutant(READDIR)
def readdir2_omits_names_before_a_directory(call: Readdir) -> Readdirres:
    """READDIR omits the names created before a directory named d"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    page = reply.resok
    if (
        child_of(call.server, call.args.dir, b"d") is None
        or child_of(call.server, call.args.dir, b"object") is None
    ):
        return reply
    return amend(reply, entries=[entry for entry in page.entries if entry.name != b"object"])


@mutant(READDIR)
def readdir2_exceeds_count(call: Readdir) -> Readdirres:
    """READDIR treats count as twice as many bytes"""
    return call.proceed_with(count=min(call.args.count * 2, 8192))


@mutant(READDIR)
def readdir2_skips_the_fourth_entry(call: Readdir) -> Readdirres:
    """READDIR skips the entry after the third one"""
    return call.proceed_with(cookie=_cookie(4)) if call.args.cookie == _cookie(3) else call.proceed()


@mutant(READDIR)
def readdir2_lists_a_directory_only_once(call: Readdir) -> Readdirres:
    """READDIR of a directory that was listed to the end returns no entries, even from cookie 0"""
    listed: set[bytes] = call.state.setdefault("listed", set())
    if call.args.dir in listed and call.args.cookie == bytes(4):
        return Readdirres(Nfsstat2.NFS_OK, Readdirok([], eof=True))
    reply = call.proceed()
    if reply.readdirok is not None and reply.readdirok.eof:
        listed.add(call.args.dir)
    return reply


@mutant(READDIR)
def readdir2_never_returns_eof(call: Readdir) -> Readdirres:
    """READDIR of a directory with twelve names never returns eof"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    page = reply.resok
    inode = inode_of(call.server, call.args.dir)
    is_it = inode is not None and inode.directory is not None and len(inode.directory) == 12
    return (
        amend(reply, eof=False)
        if (is_it and call.args.count < 8192) or (is_it and not page.entries)
        else reply
    )


@mutant(READDIR)
def readdir2_returns_eof_early(call: Readdir) -> Readdirres:
    """READDIR returns eof with every page"""
    return amend(call.proceed(), eof=True)


@mutant(READDIR)
def readdir2_returns_empty_pages(call: Readdir) -> Readdirres:
    """READDIR returns no entries in pages after the first"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    return reply if call.args.cookie == bytes(4) else amend(reply, entries=[], eof=False)


@mutant(READDIR)
def readdir2_returns_other_fileids(call: Readdir) -> Readdirres:
    """READDIR returns other fileids than GETATTR"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    page = reply.resok
    bent = [
        entry if entry.name in _DOTS else replace(entry, fileid=entry.fileid + 1) for entry in page.entries
    ]
    return amend(reply, entries=bent)


@mutant(READDIR)
def readdir2_dots_have_no_fileid(call: Readdir) -> Readdirres:
    """READDIR returns fileid 0 for `.` and `..`"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    page = reply.resok
    bent = [replace(entry, fileid=0) if entry.name in _DOTS else entry for entry in page.entries]
    return amend(reply, entries=bent)


@mutant(READDIR)
def readdir2_lists_non_directories(call: Readdir) -> Readdirres:
    """READDIR of an object that is not a directory succeeds without entries"""
    reply = call.proceed()
    is_other = reply.status == Nfsstat2.NFSERR_NOTDIR
    return Readdirres(Nfsstat2.NFS_OK, Readdirok([], eof=True)) if is_other else reply


@mutant(READDIR)
def readdir2_invents_names_for_odd_arguments(call: Readdir) -> Readdirres:
    """READDIR lists names that do not exist if its arguments are unusual"""
    inode = inode_of(call.server, call.args.dir)
    number = int.from_bytes(call.args.cookie, "big")
    directory = None if inode is None else inode.directory
    invented = directory is not None and number and not directory.has_issued(number)
    if invented or call.args.count > 8192:
        page = Readdirok([Entry(1, b"\xde\xad", _cookie(1))], eof=True)
        return Readdirres(Nfsstat2.NFS_OK, page)
    return call.proceed()


def _position(directory: Directory, number: int) -> int:
    """The cookie that would now follow this many entries."""
    cookies = [entry.cookie for entry in directory.after(0)]
    at = number - Directory.PARENT_COOKIE
    return cookies[min(at, len(cookies)) - 1] if at > 0 and cookies else number


@mutant(READDIR)
def readdir2_treats_cookies_as_positions(call: Readdir) -> Readdirres:
    """READDIR treats cookies as numbers of entries"""
    inode = inode_of(call.server, call.args.dir)
    number = int.from_bytes(call.args.cookie, "big")
    if inode is None or inode.directory is None or number < 5:
        return call.proceed()
    if inode.directory.get(b"zz-added") is not None:
        return call.proceed_with(cookie=_cookie(number - 2))
    return call.proceed_with(cookie=_cookie(_position(inode.directory, number)))


@mutant(READDIR)
def readdir2_restarts_after_a_removal(call: Readdir) -> Readdirres:
    """READDIR starts again from the beginning after a removed entry"""
    inode = inode_of(call.server, call.args.dir)
    number = int.from_bytes(call.args.cookie, "big")
    if inode is None or inode.directory is None or inode.kind is not Kind.DIRECTORY or number < 3:
        return call.proceed()
    is_there = any(entry.cookie == number for entry in inode.directory.after(0))
    return call.proceed() if is_there else call.proceed_with(cookie=bytes(4))


@mutant(READDIR)
def readdir2_lacks_long_names(call: Readdir) -> Readdirres:
    """READDIR leaves out names of 200 bytes and more"""
    return amend(
        call.proceed(), entries=lambda it: [entry for entry in it.entries if len(entry.name) < _LONG]
    )


@mutant(READDIR)
def readdir2_cuts_long_names(call: Readdir) -> Readdirres:
    """READDIR returns no more than 199 bytes of a name that has more"""
    return amend(
        call.proceed(),
        entries=lambda it: [replace(entry, name=entry.name[: _LONG - 1]) for entry in it.entries],
    )
