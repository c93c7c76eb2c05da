# SPDX-License-Identifier: MIT
"""Mutants of NFSv2 that a rule of the lint catches, and no check."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs2 import Ftype, Nfsstat2, Timeval
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Create, Getattr, Read, Readdir, Readlink, Setattr, Write

_EINVAL: t.Final = 22


@mutant(nfs2.READLINK)
def readlink2_directory_is_einval(call: Readlink) -> nfs2.Readlinkres:
    """READLINK of a directory answers 22 (EINVAL)"""
    reply = call.proceed()
    return reply if reply.status is Nfsstat2.NFS_OK else nfs2.Readlinkres(Nfsstat2(_EINVAL))


@mutant(nfs2.CREATE, kills_many="checks make their files by CREATE")
def create2_makes_another_name(call: Create) -> nfs2.Diropres:
    """CREATE makes a file with another name"""
    return call.proceed_with("where", name=b"another")


# ---------------------------------------------------------------- attributes


def _amend_mode_642(call: Getattr, **changes: t.Any) -> nfs2.Attrstat:
    """Change the attributes of a file with mode 642."""
    reply = call.proceed()
    is_meant = reply.attributes is not None and reply.attributes.mode & 0o777 == 0o642
    return amend(reply, **changes) if is_meant else reply


@mutant(nfs2.GETATTR)
def getattr2_returns_an_unknown_type(call: Getattr) -> nfs2.Attrstat:
    """GETATTR of a file with mode 642 returns the type 8"""
    return _amend_mode_642(call, type=Ftype(8))


@mutant(nfs2.GETATTR)
def getattr2_mode_contradicts_the_type(call: Getattr) -> nfs2.Attrstat:
    """GETATTR of a file with mode 642 returns the type bits of a directory in mode"""
    return _amend_mode_642(call, mode=lambda it: it.mode & 0o7777 | 0o040000)


@mutant(nfs2.GETATTR)
def getattr2_returns_nanoseconds_for_some_files(call: Getattr) -> nfs2.Attrstat:
    """GETATTR of a file with mode 642 returns nanoseconds instead of microseconds"""
    return _amend_mode_642(call, mtime=lambda it: Timeval(it.mtime.seconds, 999_999_999))


# ---------------------------------------------------------------- what changes show


@mutant(nfs2.WRITE)
def write2_returns_the_old_size(call: Write) -> nfs2.Attrstat:
    """WRITE returns the size that the file had before the data was written"""
    reply = call.proceed()
    if reply.attributes is None or not len(call.args.data):
        return reply
    return amend(reply, size=call.args.offset)


@mutant(nfs2.WRITE)
def write2_returns_another_fileid(call: Write) -> nfs2.Attrstat:
    """WRITE returns another fileid"""
    return amend(call.proceed(), fileid=lambda it: it.fileid + 1)


@mutant(nfs2.SETATTR)
def setattr2_returns_a_wrong_size(call: Setattr) -> nfs2.Attrstat:
    """SETATTR returns a size that is one byte too large"""
    reply = call.proceed()
    if reply.attributes is None or reply.attributes.type is not Ftype.NFREG:
        return reply
    return amend(reply, size=reply.attributes.size + 1)


@mutant(nfs2.READ)
def read2_returns_another_owner(call: Read) -> nfs2.Readres:
    """READ returns another owner than GETATTR"""
    reply = call.proceed()
    if reply.readok is None:
        return reply
    attributes = replace(reply.readok.attributes, uid=reply.readok.attributes.uid + 1)
    return amend(reply, attributes=attributes)


@mutant(nfs2.READ)
def read2_returns_twice_the_count(call: Read) -> nfs2.Readres:
    """READ returns twice the requested data"""
    reply = call.proceed()
    is_meant = reply.readok is not None and len(reply.readok.data) == call.args.count
    return amend(reply, data=lambda it: bytes(it.data) * 2) if is_meant else reply


# ---------------------------------------------------------------- READDIR


def _page(reply: nfs2.Readdirres) -> list[nfs2.Entry]:
    """The entries of a page on which `twin` follows another entry."""
    entries = [] if reply.readdirok is None else list(reply.readdirok.entries)
    return entries if any(entry.name == b"twin" for entry in entries[1:]) else []


@mutant(nfs2.READDIR)
def readdir2_overfills_the_page(call: Readdir) -> nfs2.Readdirres:
    """READDIR returns four times as many bytes as count allows, if count is at least 128"""
    return call.proceed_with(count=call.args.count * 4) if 128 <= call.args.count <= 256 else call.proceed()


@mutant(nfs2.READDIR)
def readdir2_returns_cookie_0(call: Readdir) -> nfs2.Readdirres:
    """READDIR ends pages that contain `twin` with cookie 0 and without eof"""
    reply = call.proceed()
    entries = _page(reply)
    if not entries:
        return reply
    entries[-1] = replace(entries[-1], cookie=bytes(4))
    return amend(reply, entries=entries, eof=False)


@mutant(nfs2.READDIR)
def readdir2_repeats_a_cookie(call: Readdir) -> nfs2.Readdirres:
    """READDIR returns the cookie of the previous entry with `twin`"""
    reply = call.proceed()
    entries = _page(reply)
    if not entries or reply.readdirok is None:
        return reply
    at = next(index for index, entry in enumerate(entries) if entry.name == b"twin")
    entries[at] = replace(entries[at], cookie=entries[at - 1].cookie)
    return amend(reply, entries=entries)
