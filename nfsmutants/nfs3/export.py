# SPDX-License-Identifier: MIT
"""Mutants that do not keep one export from another."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    LINK,
    LOOKUP,
    RENAME,
    Link3Res,
    Link3ResOk,
    Lookup3Res,
    Nfsstat3,
    Rename3Res,
    Rename3ResOk,
    WccData,
)
from nfsmutants.bending import restate
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Link, Lookup, Rename
from nfsmutants.rules import (
    RFC1813_LINK,
    RFC1813_LINK_HINTS,
    RFC1813_LOOKUP,
    RFC1813_RENAME,
    RFC1813_RENAME_HINTS,
)
from nfsserver.fs.permissions import SUPERUSER


@mutant(RENAME, RFC1813_RENAME)
def rename3_loses_across_exports(call: Rename) -> Rename3Res:
    """RENAME into another export answers OK and removes the file"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_XDEV:
        return reply
    directory = call.server.resolve(call.args.from_.dir)
    directory.fs.remove(SUPERUSER, directory, call.args.from_.name)
    return Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(WccData(), WccData()))


@mutant(LINK, RFC1813_LINK)
def link3_copies_across_exports(call: Link) -> Link3Res:
    """LINK into another export answers OK and makes an empty file there"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_XDEV:
        return reply
    directory = call.server.resolve(call.args.link.dir)
    directory.fs.create(SUPERUSER, directory, call.args.link.name)
    return Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(None, WccData()))


@mutant(RENAME, RFC1813_RENAME_HINTS)
def rename3_across_exports_is_io(call: Rename) -> Rename3Res:
    """RENAME into another export answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_XDEV, Nfsstat3.NFS3ERR_IO)


@mutant(LINK, RFC1813_LINK_HINTS)
def link3_across_exports_is_io(call: Link) -> Link3Res:
    """LINK into another export answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_XDEV, Nfsstat3.NFS3ERR_IO)


@mutant(LOOKUP, RFC1813_LOOKUP)
def lookup3_looks_into_the_first_export(call: Lookup) -> Lookup3Res:
    """LOOKUP in the root of another export finds what is in the root of the first"""
    roots = {call.server.handle_of(file_system.root) for file_system in call.server.exports.values()}
    if call.args.what.dir not in roots:
        return call.proceed()
    return call.proceed_with("what", dir=call.server.handle_of(call.server.fs.root))
