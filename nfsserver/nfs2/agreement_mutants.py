# SPDX-License-Identifier: MIT
"""Mutants by which NFSv2 and NFSv3 tell different things of one file."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs2 import (
    CREATE,
    LOOKUP,
    READ,
    READDIR,
    WRITE,
    Createargs,
    Diropargs,
    Diropres,
    Fattr,
    Ftype,
    Readargs,
    Readdirargs,
    Readdirres,
    Readres,
    Timeval,
    Writeargs,
)
from nfsclient.xdr import replace
from nfsserver.fs import Inode, Kind
from nfsserver.nfs2.bending import bends_args, bends_reply, child_of
from nfsserver.nfs2.common import LARGEST

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_FATTR: t.Final = "2.3.5"


def _bends_found(
    name: str, gist: str, section: str = _FATTR
) -> Callable[[Callable[[Fattr], Fattr]], Callable[[Fattr], Fattr]]:
    """Register a change of the attributes that LOOKUP gives."""

    def register(bend: Callable[[Fattr], Fattr]) -> Callable[[Fattr], Fattr]:
        @bends_reply(name, LOOKUP, section, gist)
        def bent(_server: Server, _args: Diropargs, reply: Diropres) -> Diropres:
            if reply.diropok is None:
                return reply
            return replace(reply, diropok=replace(reply.diropok, attributes=bend(reply.diropok.attributes)))

        return bend

    return register


@_bends_found("lookup2-owners-are-others", "gives another owner than version 3 does")
def owners_are_others(attributes: Fattr) -> Fattr:
    """The next one."""
    return replace(attributes, uid=attributes.uid + 1)


@_bends_found("lookup2-modes-are-others", "gives other permissions than version 3 does")
def modes_are_others(attributes: Fattr) -> Fattr:
    """One bit."""
    return replace(attributes, mode=attributes.mode ^ 0o001)


@_bends_found("lookup2-types-are-others", "gives another type than version 3 does", "2.3.2")
def types_are_others(attributes: Fattr) -> Fattr:
    """A device."""
    return replace(attributes, type=Ftype.NFCHR)


@_bends_found("lookup2-fileids-are-others", "gives another number than version 3 does")
def fileids_are_others(attributes: Fattr) -> Fattr:
    """With the highest bit."""
    return replace(attributes, fileid=attributes.fileid ^ 0x8000_0000)


@_bends_found("lookup2-times-are-others", "gives times that are an hour later than those of version 3")
def times_are_others(attributes: Fattr) -> Fattr:
    """As with a time zone."""
    late = {
        name: Timeval(getattr(attributes, name).seconds + 3600, getattr(attributes, name).useconds)
        for name in ("atime", "mtime", "ctime")
    }
    return replace(attributes, **late)


@_bends_found(
    "lookup2-special-files-are-links", "says that devices, sockets and FIFOs are symbolic links", "2.3.2"
)
def special_files_are_links(attributes: Fattr) -> Fattr:
    """Type, and type bits."""
    if attributes.type in (Ftype.NFREG, Ftype.NFDIR, Ftype.NFLNK):
        return attributes
    return replace(attributes, type=Ftype.NFLNK, mode=attributes.mode & 0o7777 | 0o120000)


@bends_reply("lookup2-cuts-files-to-its-measure", LOOKUP, _FATTR, "cuts files that are too large for it")
def cuts_files_to_its_measure(server: Server, args: Diropargs, reply: Diropres) -> Diropres:
    """To what 32 bits can say."""
    inode: Inode | None = child_of(server, args.dir, args.name)
    if inode is not None and inode.kind is Kind.REGULAR and inode.data is not None and inode.size > LARGEST:
        inode.data.truncate(LARGEST)
    return reply


@bends_reply(
    "read2-has-data-of-its-own",
    READ,
    "2.2.7",
    "turns the bits of data that begins with an 8",
)
def has_data_of_its_own(_server: Server, _args: Readargs, reply: Readres) -> Readres:
    """With every bit turned."""
    if reply.readok is None or not bytes(reply.readok.data).startswith(b"\x08"):
        return reply
    return replace(
        reply, readok=replace(reply.readok, data=bytes(byte ^ 0xFF for byte in bytes(reply.readok.data)))
    )


@bends_args(
    "write2-writes-data-of-its-own",
    WRITE,
    "2.2.9",
    "turns the bits of data that begins with an 8",
)
def writes_data_of_its_own(_server: Server, args: Writeargs) -> Writeargs:
    """With every bit turned."""
    data = bytes(args.data)
    return replace(args, data=bytes(byte ^ 0xFF for byte in data)) if data.startswith(b"\x08") else args


@bends_reply("readdir2-lists-names-in-upper-case", READDIR, "2.1", "lists names in upper case")
def lists_names_in_upper_case(_server: Server, _args: Readdirargs, reply: Readdirres) -> Readdirres:
    """All of them."""
    page = reply.readdirok
    if page is None:
        return reply
    entries = [
        replace(entry, name=entry.name.upper() if len(entry.name) < 6 else entry.name)
        for entry in page.entries
    ]
    return replace(reply, readdirok=replace(page, entries=entries))


@bends_args("create2-makes-names-of-its-own", CREATE, "2.1", "makes names that version 3 does not know")
def makes_names_of_its_own(_server: Server, args: Createargs) -> Createargs:
    """Of the name made."""
    return replace(args, where=replace(args.where, name=b"of2")) if args.where.name == b"made" else args
