# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_lookup.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import LOOKUP, Diropres, Nfsstat2
from nfsmutants.bending import amend, child_of, inode_of, restate
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import found
from nfsmutants.nfs2.calls import Lookup
from nfsserver.fs import SUPERUSER, FsError, Kind
from nfsserver.nfs2.common import fattr

# ---------------------------------------------------------------- LOOKUP


@mutant(LOOKUP, kills_many="checks find their objects by LOOKUP")
def lookup2_finds_the_directory(call: Lookup) -> Diropres:
    """LOOKUP returns the handle of the directory itself"""
    return amend(call.proceed(), file=call.args.dir)


@mutant(LOOKUP)
def lookup2_returns_attributes_of_the_directory(call: Lookup) -> Diropres:
    """LOOKUP returns the attributes of the directory"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.dir)
    if reply.diropok is None or inode is None:
        return reply
    return amend(reply, attributes=fattr(inode))


@mutant(LOOKUP)
def lookup2_missing_name_is_nxio(call: Lookup) -> Diropres:
    """LOOKUP answers NXIO for names that do not exist"""
    return restate(call.proceed(), Nfsstat2.NFSERR_NOENT, Nfsstat2.NFSERR_NXIO)


@mutant(LOOKUP)
def lookup2_file_is_noent(call: Lookup) -> Diropres:
    """LOOKUP answers NOENT if the directory is a file"""
    return restate(call.proceed(), Nfsstat2.NFSERR_NOTDIR, Nfsstat2.NFSERR_NOENT)


@mutant(LOOKUP)
def lookup2_finds_names_in_files(call: Lookup) -> Diropres:
    """LOOKUP in a file finds the file itself under any name"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.dir)
    return (
        found(call.server, inode) if reply.status == Nfsstat2.NFSERR_NOTDIR and inode is not None else reply
    )


@mutant(LOOKUP)
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


@mutant(LOOKUP)
def lookup2_cuts_names_at_nul(call: Lookup) -> Diropres:
    """LOOKUP removes NUL from names, and finds the first entry if nothing is left"""
    inode = inode_of(call.server, call.args.dir)
    name = call.args.name.replace(b"\0", b"")
    if not name and inode is not None and inode.directory is not None:
        name = next(iter(inode.directory.names()), b"")
    return call.proceed_with(name=name)


@mutant(LOOKUP)
def lookup2_swaps_the_dots(call: Lookup) -> Diropres:
    """LOOKUP confuses a directory with its parent"""
    return call.proceed_with(name={b".": b"..", b"..": b"."}.get(call.args.name, call.args.name))


@mutant(LOOKUP)
def lookup2_follows_links(call: Lookup) -> Diropres:
    """LOOKUP of a symbolic link returns its target, if that is in the same directory"""
    reply = call.proceed()
    link = child_of(call.server, call.args.dir, call.args.name)
    if link is None or link.kind is not Kind.SYMLINK:
        return reply
    target = child_of(call.server, call.args.dir, link.target)
    return reply if target is None else found(call.server, target)
