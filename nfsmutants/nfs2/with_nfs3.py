# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_with_nfs3.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import (
    CREATE,
    LOOKUP,
    READ,
    READDIR,
    WRITE,
    Attrstat,
    Diropres,
    Ftype,
    Readdirres,
    Readres,
    Timeval,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, child_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Create, Lookup, Read, Readdir, Write
from nfsserver.nfs2.common import LARGEST


@mutant(LOOKUP)
def lookup2_returns_another_owner(call: Lookup) -> Diropres:
    """LOOKUP returns another owner than NFSv3"""
    return amend(call.proceed(), "attributes", uid=lambda it: it.uid + 1)


@mutant(LOOKUP)
def lookup2_returns_another_mode(call: Lookup) -> Diropres:
    """LOOKUP returns other permissions than NFSv3"""
    return amend(call.proceed(), "attributes", mode=lambda it: it.mode ^ 0o001)


@mutant(LOOKUP)
def lookup2_returns_another_type(call: Lookup) -> Diropres:
    """LOOKUP returns another type than NFSv3"""
    return amend(call.proceed(), "attributes", type=Ftype.NFCHR)


@mutant(LOOKUP)
def lookup2_returns_another_fileid(call: Lookup) -> Diropres:
    """LOOKUP returns another fileid than NFSv3"""
    return amend(call.proceed(), "attributes", fileid=lambda it: it.fileid ^ 0x8000_0000)


@mutant(LOOKUP)
def lookup2_returns_other_times(call: Lookup) -> Diropres:
    """LOOKUP returns times one hour later than those of NFSv3"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok.attributes
    late = {
        name: Timeval(getattr(attributes, name).seconds + 3600, getattr(attributes, name).useconds)
        for name in ("atime", "mtime", "ctime")
    }
    return amend(reply, "attributes", **late)


@mutant(LOOKUP)
def lookup2_reports_special_files_as_links(call: Lookup) -> Diropres:
    """LOOKUP reports devices, sockets and FIFOs as symbolic links"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok.attributes
    if attributes.type in (Ftype.NFREG, Ftype.NFDIR, Ftype.NFLNK):
        return reply
    return amend(reply, "attributes", type=Ftype.NFLNK, mode=attributes.mode & 0o7777 | 0o120000)


@mutant(LOOKUP)
def lookup2_truncates_large_files(call: Lookup) -> Diropres:
    """LOOKUP truncates files that are too large for NFSv2"""
    reply = call.proceed()
    inode = child_of(call.server, call.args.dir, call.args.name)
    if reply.resok is not None and inode is not None and inode.data is not None and inode.size > LARGEST:
        inode.data.truncate(LARGEST)
    return reply


@mutant(READ, kills_many="checks see by READ what is in a file")
def read2_inverts_the_data(call: Read) -> Readres:
    """READ inverts every bit of the data"""
    return amend(call.proceed(), data=lambda it: bytes(byte ^ 0xFF for byte in bytes(it.data)))


@mutant(WRITE, kills_many="checks read back what they wrote")
def write2_inverts_the_data(call: Write) -> Attrstat:
    """WRITE inverts every bit of the data"""
    return call.proceed_with(data=bytes(byte ^ 0xFF for byte in bytes(call.args.data)))


@mutant(READDIR, kills_many="checks see by READDIR what is in a directory")
def readdir2_lists_names_in_upper_case(call: Readdir) -> Readdirres:
    """READDIR lists names in upper case"""
    return amend(
        call.proceed(), entries=lambda it: [replace(entry, name=entry.name.upper()) for entry in it.entries]
    )


@mutant(CREATE, kills_many="checks make their files by CREATE")
def create2_appends_a_version_to_names(call: Create) -> Diropres:
    """CREATE appends a version number to the name, which NFSv3 does not find"""
    return call.proceed_with("where", name=call.args.where.name + b";1")
