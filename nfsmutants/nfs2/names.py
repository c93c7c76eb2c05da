# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_names.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    IGNORED,
    LINK,
    LOOKUP,
    MAXNAMLEN,
    MKDIR,
    RENAME,
    SYMLINK,
    Createargs,
    Diropres,
    Nfsstat2,
)
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.nfs2.bending import _arguments_of, cut_name, place_of, success, with_place
from nfsmutants.rules import RFC1094_CREATE
from nfsserver.fs import SUPERUSER, FsError
from nfsserver.middleware import Answer

_ENTERING: t.Final = (CREATE, MKDIR, SYMLINK, LINK, RENAME)
_MAKING: t.Final = (CREATE, MKDIR, SYMLINK, LINK)
_PLAIN: t.Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


# ---------------------------------------------------------------- LOOKUP


@mutant(_ENTERING)
def nfs2_changes_names_with_special_bytes(call: AnyCall) -> t.Any:
    """The server changes names with bytes other than letters and digits"""
    name = place_of(call.args).name
    odd = [at for at, byte in enumerate(name) if byte not in _PLAIN]
    if not odd or name in {b".", b".."} or b"/" in name or b"\0" in name:
        return call.proceed()
    return call.proceed(with_place(call.args, name=name[: odd[-1]] + b"x" + name[odd[-1] + 1 :]))


@mutant(_ENTERING)
def nfs2_refuses_a_name_and_creates_another(call: AnyCall) -> t.Any:
    """The server refuses a name, but makes a file with another name"""
    reply = call.proceed()
    place = place_of(call.args)
    inode = inode_of(call.server, place.dir)
    cannot_be = place.name in {b"", b".", b".."} or b"/" in place.name or b"\0" in place.name
    if reply.status != Nfsstat2.NFS_OK and cannot_be and inode is not None and inode.directory is not None:
        inode.fs.create(SUPERUSER, inode, b"other")
    return reply


@mutant(_MAKING, breaks=RFC1094_CREATE)
def nfs2_replaces_existing_names(call: AnyCall) -> t.Any:
    """The server removes an existing name to create the new object"""
    place = place_of(call.args)
    directory, existing = inode_of(call.server, place.dir), child_of(call.server, place.dir, place.name)
    if directory is not None and existing is not None:
        remove = directory.fs.remove if existing.directory is None else directory.fs.rmdir
        try:
            remove(SUPERUSER, directory, place.name)
        except FsError:
            return call.proceed()
    return call.proceed()


@mutant(CREATE)
def create2_sets_attributes_of_existing(call: Call[Createargs, Diropres]) -> Diropres:
    """CREATE of an existing name sets the mode of the object"""
    existing = child_of(call.server, call.args.where.dir, call.args.where.name)
    if existing is not None and call.args.attributes.mode != IGNORED:
        existing.mode = call.args.attributes.mode
    return call.proceed()


@mutant(_MAKING)
def nfs2_accepts_existing_names(call: AnyCall) -> t.Any:
    """MKDIR, SYMLINK and LINK of an existing name answer success"""
    reply = call.proceed()
    place = place_of(call.args)
    existing = child_of(call.server, place.dir, place.name)
    if reply.status != Nfsstat2.NFSERR_EXIST or existing is None:
        return reply
    return success(call.server, call.operation, existing)


@mutant(_ENTERING)
def nfs2_creates_in_non_directories(call: AnyCall) -> t.Any:
    """The server creates names in an object that is not a directory"""
    inode = inode_of(call.server, place_of(call.args).dir)
    if inode is None or inode.directory is not None:
        return call.proceed()
    return success(call.server, call.operation, inode)


# ---------------------------------------------------------------- oversized strings


@wire_mutant()
def nfs2_cuts_long_names(message: Message) -> Answer:
    """The server cuts names of more than 255 bytes"""
    number, at = _arguments_of(message.data)
    if number not in {LOOKUP.number, CREATE.number, MKDIR.number}:
        return message.proceed()
    return message.proceed(cut_name(message.data, at + 32, MAXNAMLEN))
