# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_rmdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import READ, REMOVE, RMDIR, Nfsstat3, Rmdir3Res
from nfsclient.xdr import replace
from nfsmutants.bending import change
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import (
    RMDIRED,
    directory_of,
    find,
    is_special,
    refuse_read,
    remove_all,
    remove_another,
    success,
)
from nfsmutants.nfs3.calls import Rmdir
from nfsserver.fs import Caller


@mutant_of_each((REMOVE, RMDIR))
def removes_missing_names(call: AnyCall) -> t.Any:
    """{} answers success for a name that does not exist"""
    reply = call.proceed()
    return success(call) if reply.status == Nfsstat3.NFS3ERR_NOENT else reply


@mutant_of_each((REMOVE, RMDIR))
def accepts_the_empty_name(call: AnyCall) -> t.Any:
    """{} of an empty name answers success"""
    return call.proceed() if call.args.object.name else success(call)


# ---------------------------------------------------------------- RMDIR


@mutant(RMDIR)
def rmdir3_removes_nothing(call: Rmdir) -> Rmdir3Res:
    """RMDIR answers success and leaves the directory"""
    inode = find(call.server, call.args.object)
    return call.proceed() if inode is None or inode.directory is None else RMDIRED


@mutant(RMDIR)
def rmdir3_empties_before_refusing(call: Rmdir) -> Rmdir3Res:
    """RMDIR of a directory that is not empty is refused, but removes the files in it"""
    inode = find(call.server, call.args.object)
    reply = call.proceed()
    if reply.resok is None and inode is not None and inode.directory is not None:
        for name in inode.directory.names():
            inode.fs.remove(call.caller, inode, name)
    return reply


@mutant(RMDIR)
def rmdir3_not_empty_is_io(call: Rmdir) -> Rmdir3Res:
    """RMDIR answers IO for a directory that is not empty"""
    reply = call.proceed()
    if reply.status not in {Nfsstat3.NFS3ERR_NOTEMPTY, Nfsstat3.NFS3ERR_EXIST}:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_IO)


@mutant(RMDIR)
def rmdir3_removes_files(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes a file"""
    inode = find(call.server, call.args.object)
    if inode is None or inode.directory is not None:
        return call.proceed()
    inode.fs.remove(call.caller, call.backend.resolve(call.args.object.dir), call.args.object.name)
    return RMDIRED


@mutant(RMDIR)
def rmdir3_removes_a_neighbour(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes another entry of the directory as well"""
    reply = call.proceed()
    if reply.resok is not None:
        remove_another(call, call.args.object.dir)
    return reply


@mutant(RMDIR)
def rmdir3_follows_symlinks(call: Rmdir) -> Rmdir3Res:
    """RMDIR of a symbolic link removes the directory that is its target"""
    args = call.args
    inode = find(call.server, args.object)
    if inode is not None and inode.target:
        args = change(args, "object", name=inode.target)
    return call.proceed(args)


@mutant(RMDIR)
def rmdir3_removes_from_files(call: Rmdir) -> Rmdir3Res:
    """RMDIR answers success if its directory is a file"""
    reply = call.proceed()
    from_file = (
        reply.status == Nfsstat3.NFS3ERR_NOTDIR and directory_of(call.server, call.args.object.dir) is None
    )
    return RMDIRED if from_file else reply


@mutant(RMDIR)
def rmdir3_empties_by_dot(call: Rmdir) -> Rmdir3Res:
    """RMDIR of . is refused, but removes the files in the directory"""
    if call.args.object.name == b".":
        remove_all(call, call.backend.resolve(call.args.object.dir))
    return call.proceed()


@mutant(RMDIR)
def rmdir3_empties_by_dotdot(call: Rmdir) -> Rmdir3Res:
    """RMDIR of .. is refused, but removes the files in the parent"""
    inode = call.backend.resolve(call.args.object.dir)
    parent = inode.directory.parent if inode.directory is not None else None
    if call.args.object.name == b".." and parent is not None:
        remove_all(call, parent)
    return call.proceed()


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK, RENAME


@mutant(RMDIR)
def rmdir3_removes_special_files(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes devices, sockets and FIFOs"""
    if not is_special(find(call.server, call.args.object)):
        return call.proceed()
    directory = call.backend.resolve(call.args.object.dir)
    directory.fs.remove(call.caller, directory, call.args.object.name)
    return RMDIRED


# ---------------------------------------------------------------- damage


@mutant((RMDIR, READ))
def rmdir3_destroys_data(call: AnyCall) -> t.Any:
    """RMDIR of a file is refused, but destroys its blocks: READ answers IO"""
    destroyed: set[bytes] = call.state.setdefault("destroyed", set())
    if call.operation is READ:
        is_lost = call.args.file in destroyed
        return refuse_read(call, Nfsstat3.NFS3ERR_IO) if is_lost else call.proceed()
    inode = find(call.server, call.args.object)
    if inode is not None and inode.directory is None:
        destroyed.add(call.backend.handle_of(inode))
    return call.proceed()


@mutant(RMDIR)
def rmdir3_removes_the_parent(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes the parent directory as well, with all that is in it"""
    parent = directory_of(call.server, call.args.object.dir)
    reply = call.proceed()
    if reply.resok is None or parent is None or parent.directory is None:
        return reply
    remove_all(call, parent)
    above = parent.directory.parent
    entries = above.directory if above is not None else None
    if above is not None and entries is not None:
        name = next(name for name in entries.names() if entries.get(name) is parent)
        parent.fs.rmdir(Caller(0, 0), above, name)
    return reply
