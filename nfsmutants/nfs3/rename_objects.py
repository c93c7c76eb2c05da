# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_rename_objects.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import LOOKUP, RENAME, Lookup3Res, Nfsstat3, Rename3Res, Rename3ResOk, WccData
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of, restate
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import FILE_OR_DIRECTORY, RENAMED, find, is_special
from nfsmutants.nfs3.calls import Lookup, Rename
from nfsserver.fs import Kind
from nfsserver.fs.permissions import SUPERUSER

# ---------------------------------------------------------------- directories


@mutant(RENAME)
def rename3_before_is_of_the_other_directory(call: Rename) -> Rename3Res:
    """RENAME swaps the pre-operation attributes of the two directories"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    source, target = reply.resok.fromdir_wcc, reply.resok.todir_wcc
    bent = replace(
        reply.resok,
        fromdir_wcc=replace(source, before=target.before),
        todir_wcc=replace(target, before=source.before),
    )
    return replace(reply, resok=bent)


@mutant(RENAME)
def rename3_returns_two_sizes_before(call: Rename) -> Rename3Res:
    """RENAME within one directory returns two different sizes in before"""
    reply = call.proceed()
    if reply.resok is None or call.args.from_.dir != call.args.to.dir:
        return reply
    return amend(reply, "todir_wcc.before", size=lambda it: it.size + 1)


@mutant(RENAME)
def rename3_across_exports_removes_the_file(call: Rename) -> Rename3Res:
    """RENAME into another export answers OK and removes the file"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_XDEV:
        return reply
    directory = call.backend.resolve(call.args.from_.dir)
    directory.fs.remove(SUPERUSER, directory, call.args.from_.name)
    return Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(WccData(), WccData()))


@mutant(RENAME)
def rename3_across_exports_is_io(call: Rename) -> Rename3Res:
    """RENAME into another export answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_XDEV, Nfsstat3.NFS3ERR_IO)


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK, RENAME


@mutant(RENAME)
def rename3_removes_special_files(call: Rename) -> Rename3Res:
    """RENAME of devices, sockets and FIFOs removes them"""
    if not is_special(find(call.server, call.args.from_)) or find(call.server, call.args.to) is not None:
        return call.proceed()
    directory = call.backend.resolve(call.args.from_.dir)
    directory.fs.remove(call.caller, directory, call.args.from_.name)
    return RENAMED


@mutant(RENAME)
def rename3_over_other_types_does_nothing(call: Rename) -> Rename3Res:
    """RENAME over another type of object answers success, and does nothing"""
    source, target = find(call.server, call.args.from_), find(call.server, call.args.to)
    if source is None or target is None or source.kind is Kind.DIRECTORY or target.kind is Kind.DIRECTORY:
        return call.proceed()
    return call.proceed() if source.kind is target.kind is Kind.REGULAR else RENAMED


@mutant(RENAME)
def rename3_replaces_other_types(call: Rename) -> Rename3Res:
    """RENAME of a directory over another type, or the reverse, answers success"""
    kinds = {
        found.kind
        for where in (call.args.from_, call.args.to)
        if (found := find(call.server, where)) is not None
    }
    mixed = Kind.DIRECTORY in kinds and bool(kinds - FILE_OR_DIRECTORY)
    return RENAMED if mixed else call.proceed()


# ---------------------------------------------------------------- moved directories


@mutant(RENAME)
def rename3_loses_an_entry(call: Rename) -> Rename3Res:
    """RENAME of a directory to another one loses the newest entry in it"""
    source = find(call.server, call.args.from_)
    reply = call.proceed()
    entries = None if source is None else source.directory
    if reply.resok is not None and call.args.from_.dir != call.args.to.dir and entries:
        entries.remove(entries.names()[-1])
    return reply


@mutant(LOOKUP)
def lookup3_finds_the_first_parent(call: Lookup) -> Lookup3Res:
    """LOOKUP of ".." finds what it found in this directory the first time"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.what.dir)
    if call.args.what.name != b".." or directory is None or reply.resok is None:
        return reply
    return t.cast("Lookup3Res", call.state.setdefault((directory.fileid, directory.generation), reply))
