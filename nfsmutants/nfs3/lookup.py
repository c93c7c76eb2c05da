# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_lookup.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import LOOKUP, Ftype3, Lookup3Res, Lookup3ResFail, Lookup3ResOk, Nfsstat3
from nfsmutants.bending import amend, restate
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import directory_of
from nfsmutants.nfs3.calls import Lookup
from nfsmutants.rules import RFC1813_NAMES
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi


@mutant(LOOKUP)
def lookup3_finds_names_of_the_first_export(call: Lookup) -> Lookup3Res:
    """LOOKUP in the root of another export finds the entries of the first export"""
    roots = {call.backend.handle_of(file_system.root) for file_system in call.backend.exports.values()}
    if call.args.what.dir not in roots:
        return call.proceed()
    return call.proceed_with("what", dir=call.backend.handle_of(call.backend.fs.root))


def _found(server: ServerApi, inode: Inode) -> Lookup3Res:
    """A success with `inode`."""
    return Lookup3Res(Nfsstat3.NFS3_OK, Lookup3ResOk(server.backend.handle_of(inode), None, None))


@mutant(LOOKUP)
def lookup3_returns_another_entry(call: Lookup) -> Lookup3Res:
    """LOOKUP returns the handle of another entry"""
    directory = directory_of(call.server, call.args.what.dir)
    names = directory.directory.names() if directory is not None and directory.directory is not None else []
    others = [name for name in names if name != call.args.what.name]
    is_meant = call.args.what.name in names and others
    return call.proceed_with("what", name=others[0]) if is_meant else call.proceed()


@mutant(LOOKUP)
def lookup3_attributes_of_the_directory(call: Lookup) -> Lookup3Res:
    """LOOKUP returns the directory's attributes as those of the object"""
    return amend(call.proceed(), obj_attributes=lambda it: it.dir_attributes)


@mutant(LOOKUP)
def lookup3_dir_attributes_of_the_object(call: Lookup) -> Lookup3Res:
    """LOOKUP returns the object's attributes as those of the directory"""
    return amend(call.proceed(), dir_attributes=lambda it: it.obj_attributes)


def _find_anything(call: Lookup, name: bytes) -> Lookup3Res:
    """Find the directory itself under a name that does not exist."""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOENT or call.args.what.name != name:
        return reply
    return _found(call.server, call.backend.resolve(call.args.what.dir))


@mutant(LOOKUP)
def lookup3_finds_every_name(call: Lookup) -> Lookup3Res:
    """LOOKUP finds every name, whether it exists or not"""
    return _find_anything(call, call.args.what.name)


@mutant(LOOKUP)
def lookup3_finds_removed_names(call: Lookup) -> Lookup3Res:
    """LOOKUP finds the name `removed`, even after its removal"""
    return _find_anything(call, b"removed")


@mutant(LOOKUP)
def lookup3_finds_names_in_files(call: Lookup) -> Lookup3Res:
    """LOOKUP in a file finds the file itself under every name"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR:
        return reply
    return _found(call.server, call.backend.resolve(call.args.what.dir))


@mutant(LOOKUP)
def lookup3_does_not_find_dot(call: Lookup) -> Lookup3Res:
    """LOOKUP does not find `.` in a directory"""
    if call.args.what.name != b".":
        return call.proceed()
    return Lookup3Res(Nfsstat3.NFS3ERR_NOENT, resfail=Lookup3ResFail(None))


@mutant(LOOKUP)
def lookup3_dotdot_is_the_directory_itself(call: Lookup) -> Lookup3Res:
    """LOOKUP of .. returns the directory itself"""
    name = b"." if call.args.what.name == b".." else call.args.what.name
    return call.proceed_with("what", name=name)


@mutant(LOOKUP)
def lookup3_leaves_the_export(call: Lookup) -> Lookup3Res:
    """LOOKUP of .. in the root returns another directory"""
    root = call.backend.fs.root
    if call.args.what.name != b".." or call.args.what.dir != call.backend.handle_of(root):
        return call.proceed()
    others = [
        inode for inode in call.backend.fs.inodes() if inode.directory is not None and inode is not root
    ]
    return _found(call.server, others[0]) if others else call.proceed()


@mutant(LOOKUP)
def lookup3_follows_symlinks(call: Lookup) -> Lookup3Res:
    """LOOKUP of a symbolic link returns its target"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    target = call.backend.resolve(reply.resok.object).target
    return call.proceed_with("what", name=target) if target else reply


@mutant(LOOKUP, breaks=RFC1813_NAMES)
def lookup3_too_long_is_noent(call: Lookup) -> Lookup3Res:
    """LOOKUP answers NOENT for a name that is too long"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_NOENT)


# ---------------------------------------------------------------- GETATTR, LOOKUP, ACCESS, READLINK


@mutant(LOOKUP)
def lookup3_returns_another_type(call: Lookup) -> Lookup3Res:
    """obj_attributes of LOOKUP have the next type in the list"""
    return amend(call.proceed(), "obj_attributes", type=lambda it: Ftype3(it.type % 7 + 1))


@mutant(LOOKUP, kills_many="checks look up what they made")
def lookup3_returns_the_directory(call: Lookup) -> Lookup3Res:
    """LOOKUP of any name finds the directory itself"""
    return call.proceed_with("what", name=b".")
