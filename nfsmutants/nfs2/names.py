# SPDX-License-Identifier: MIT
"""Mutants of LOOKUP, and of what all procedures share that put a name into a directory."""

from __future__ import annotations

import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol.nfs2 import (
    CREATE,
    LINK,
    LOOKUP,
    MAXNAMLEN,
    MAXPATHLEN,
    MKDIR,
    RENAME,
    SYMLINK,
    Diropres,
    Nfsstat2,
)
from nfsclient.rpc.messages import CallHeader
from nfsmutants.bending import amend, child_of, inode_of, restate
from nfsmutants.form import AnyCall, Message, mutant, wire_mutant
from nfsmutants.nfs2.bending import found, place_of, success, with_place
from nfsmutants.nfs2.calls import Lookup, Symlink
from nfsmutants.rules import (
    RFC1094_CREATE,
    RFC1094_DIROPRES,
    RFC1094_DOTS,
    RFC1094_LOOKUP,
    RFC1094_NAMES,
    RFC1094_STATUS,
    RFC1094_SYMLINK,
)
from nfsserver.fs import SUPERUSER, FsError, Kind
from nfsserver.middleware import Answer
from nfsserver.nfs2.common import fattr

_ENTERING: t.Final = (CREATE, MKDIR, SYMLINK, LINK, RENAME)
_MAKING: t.Final = (CREATE, MKDIR, SYMLINK, LINK)
_PLAIN: t.Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


# ---------------------------------------------------------------- LOOKUP


@mutant(LOOKUP, RFC1094_LOOKUP)
def lookup2_finds_the_directory(call: Lookup) -> Diropres:
    """LOOKUP gives the handle of the directory itself"""
    return amend(call.proceed(), file=call.args.dir)


@mutant(LOOKUP, RFC1094_LOOKUP)
def lookup2_has_attributes_of_the_directory(call: Lookup) -> Diropres:
    """LOOKUP gives the attributes of the directory"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.dir)
    if reply.diropok is None or inode is None:
        return reply
    return amend(reply, attributes=fattr(inode))


@mutant(LOOKUP, RFC1094_STATUS)
def lookup2_says_nxio(call: Lookup) -> Diropres:
    """LOOKUP says NXIO of names that are missing"""
    return restate(call.proceed(), Nfsstat2.NFSERR_NOENT, Nfsstat2.NFSERR_NXIO)


@mutant(LOOKUP, RFC1094_STATUS)
def lookup2_says_noent_in_a_file(call: Lookup) -> Diropres:
    """LOOKUP says NOENT where the directory is a file"""
    return restate(call.proceed(), Nfsstat2.NFSERR_NOTDIR, Nfsstat2.NFSERR_NOENT)


@mutant(LOOKUP, RFC1094_DIROPRES)
def lookup2_finds_names_in_anything(call: Lookup) -> Diropres:
    """LOOKUP finds a file in itself, by any name"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.dir)
    return (
        found(call.server, inode) if reply.status == Nfsstat2.NFSERR_NOTDIR and inode is not None else reply
    )


@mutant(LOOKUP, RFC1094_NAMES)
def lookup2_follows_paths(call: Lookup) -> Diropres:
    """LOOKUP follows a name with slashes as a path"""
    inode = inode_of(call.server, call.args.dir)
    if inode is None or b"/" not in call.args.name:
        return call.proceed()
    try:
        for name in filter(None, call.args.name.split(b"/")):
            inode = inode.fs.lookup(SUPERUSER, inode, name)
    except FsError:
        return call.proceed()
    return found(call.server, inode)


@mutant(LOOKUP, RFC1094_LOOKUP)
def lookup2_cuts_names_at_nul(call: Lookup) -> Diropres:
    """LOOKUP leaves NUL out of names, and takes none for the first"""
    inode = inode_of(call.server, call.args.dir)
    name = call.args.name.replace(b"\0", b"")
    if not name and inode is not None and inode.directory is not None:
        name = next(iter(inode.directory.names()), b"")
    return call.proceed_with(name=name)


@mutant(LOOKUP, RFC1094_DOTS)
def lookup2_takes_dots_for_each_other(call: Lookup) -> Diropres:
    """LOOKUP takes a directory for its parent, and the other way"""
    return call.proceed_with(name={b".": b"..", b"..": b"."}.get(call.args.name, call.args.name))


@mutant(LOOKUP, RFC1094_SYMLINK)
def lookup2_follows_links(call: Lookup) -> Diropres:
    """LOOKUP finds what a symbolic link in the same directory leads to"""
    reply = call.proceed()
    link = child_of(call.server, call.args.dir, call.args.name)
    if link is None or link.kind is not Kind.SYMLINK:
        return reply
    target = child_of(call.server, call.args.dir, link.target)
    return reply if target is None else found(call.server, target)


@mutant(_ENTERING, RFC1094_CREATE)
def nfs2_changes_odd_names(call: AnyCall) -> t.Any:
    """Names with bytes other than letters and digits are changed"""
    name = place_of(call.args).name
    odd = [at for at, byte in enumerate(name) if byte not in _PLAIN]
    if not odd or name in {b".", b".."} or b"/" in name or b"\0" in name:
        return call.proceed()
    return call.proceed(with_place(call.args, name=name[: odd[-1]] + b"x" + name[odd[-1] + 1 :]))


@mutant(_ENTERING, RFC1094_CREATE)
def nfs2_creates_in_spite_of_it(call: AnyCall) -> t.Any:
    """A name that is refused makes a file of another name"""
    reply = call.proceed()
    place = place_of(call.args)
    inode = inode_of(call.server, place.dir)
    cannot_be = place.name in {b"", b".", b".."} or b"/" in place.name or b"\0" in place.name
    if reply.status != Nfsstat2.NFS_OK and cannot_be and inode is not None and inode.directory is not None:
        inode.fs.create(SUPERUSER, inode, b"other")
    return reply


@mutant(_MAKING, RFC1094_CREATE)
def nfs2_replaces_what_is_there(call: AnyCall) -> t.Any:
    """A name that is taken is freed for the new object"""
    place = place_of(call.args)
    directory, existing = inode_of(call.server, place.dir), child_of(call.server, place.dir, place.name)
    if directory is not None and existing is not None:
        remove = directory.fs.remove if existing.directory is None else directory.fs.rmdir
        try:
            remove(SUPERUSER, directory, place.name)
        except FsError:
            return call.proceed()
    return call.proceed()


@mutant(_MAKING, RFC1094_STATUS)
def nfs2_takes_existing_for_new(call: AnyCall) -> t.Any:
    """MKDIR, SYMLINK and LINK say success of a name that is taken"""
    reply = call.proceed()
    place = place_of(call.args)
    existing = child_of(call.server, place.dir, place.name)
    if reply.status != Nfsstat2.NFSERR_EXIST or existing is None:
        return reply
    return success(call.server, call.procedure, existing)


@mutant(_ENTERING, RFC1094_DIROPRES)
def nfs2_takes_anything_for_a_directory(call: AnyCall) -> t.Any:
    """Names can be entered into what is no directory"""
    inode = inode_of(call.server, place_of(call.args).dir)
    if inode is None or inode.directory is not None:
        return call.proceed()
    return success(call.server, call.procedure, inode)


# ---------------------------------------------------------------- what is longer than it may be


def _cut(message: bytes, at: int, limit: int) -> bytes:
    """The message with the string whose length stands at `at` cut to `limit` bytes."""
    length = int.from_bytes(message[at : at + 4], "big")
    if length <= limit:
        return message
    end = at + 4 + (length + 3) // 4 * 4
    kept = message[at + 4 : at + 4 + limit] + bytes(-limit % 4)
    return message[:at] + limit.to_bytes(4, "big") + kept + message[end:]


def _arguments_of(message: bytes) -> tuple[int, int]:
    """Procedure and place of the arguments, if it is a call of NFSv2; else (-1, 0)."""
    try:
        header, end = CallHeader.unpack_from(message)
    except XdrError:
        return -1, 0
    called = (header.prog, header.vers)
    return (header.proc, end) if called == (LOOKUP.program, LOOKUP.version) else (-1, 0)


@wire_mutant(RFC1094_STATUS)
def nfs2_cuts_long_names(message: Message) -> Answer:
    """Names of more than 255 bytes are cut"""
    number, at = _arguments_of(message.data)
    if number not in {LOOKUP.number, CREATE.number, MKDIR.number}:
        return message.proceed()
    return message.proceed(_cut(message.data, at + 32, MAXNAMLEN))


@wire_mutant(RFC1094_SYMLINK)
def symlink2_cuts_long_texts(message: Message) -> Answer:
    """SYMLINK cuts texts of more than 1024 bytes"""
    number, at = _arguments_of(message.data)
    if number != SYMLINK.number:
        return message.proceed()
    name = int.from_bytes(message.data[at + 32 : at + 36], "big")
    return message.proceed(_cut(message.data, at + 36 + (name + 3) // 4 * 4, MAXPATHLEN))


# ---------------------------------------------------------------- SYMLINK


@mutant(SYMLINK, RFC1094_SYMLINK)
def symlink2_makes_a_file(call: Symlink) -> t.Any:
    """SYMLINK makes a regular file with the text in it"""
    directory = inode_of(call.server, call.args.from_.dir)
    if directory is None:
        return call.proceed()
    made = directory.fs.create(SUPERUSER, directory, call.args.from_.name)
    assert made.data is not None
    made.data.write(0, call.args.to, stable=True)
    return success(call.server, SYMLINK, made)
