# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_remove.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    CREATE,
    REMOVE,
    Create3Args,
    Create3Res,
    Create3ResFail,
    CreateMode3,
    Nfsstat3,
    Remove3Args,
    Remove3Res,
    WccData,
)
from nfsmutants.bending import change
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import REMOVED, SPECIAL, find, remove_all, remove_another
from nfsmutants.nfs3.calls import Remove
from nfsserver.fs import Kind

# ---------------------------------------------------------------- REMOVE


@mutant(REMOVE)
def remove3_removes_nothing(call: Remove) -> Remove3Res:
    """REMOVE answers success and leaves the entry in the directory"""
    return call.proceed() if find(call.server, call.args.object) is None else REMOVED


@mutant(REMOVE)
def remove3_removes_a_neighbour(call: Remove) -> Remove3Res:
    """REMOVE removes another entry of the directory as well"""
    reply = call.proceed()
    if reply.resok is not None:
        remove_another(call, call.args.object.dir)
    return reply


@mutant(REMOVE)
def remove3_destroys_linked_files(call: Remove) -> Remove3Res:
    """REMOVE empties a file that has other names"""
    inode = find(call.server, call.args.object)
    if inode is not None and inode.nlink > 1 and inode.data is not None:
        inode.data.truncate(0)
    return call.proceed()


@mutant(REMOVE)
def remove3_keeps_nlink(call: Remove) -> Remove3Res:
    """REMOVE does not change nlink of a file with other names"""
    inode = find(call.server, call.args.object)
    reply = call.proceed()
    if inode is not None and inode.directory is None and inode.nlink and reply.resok is not None:
        inode.nlink += 1
    return reply


@mutant(REMOVE)
def remove3_follows_symlinks(call: Remove) -> Remove3Res:
    """REMOVE of a symbolic link removes its target"""
    args = call.args
    inode = find(call.server, args.object)
    if inode is not None and inode.target:
        args = change(args, "object", name=inode.target)
    return call.proceed(args)


@mutant(REMOVE)
def remove3_removes_from_files(call: Remove) -> Remove3Res:
    """REMOVE answers success if its directory is a file"""
    reply = call.proceed()
    return REMOVED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@mutant(REMOVE)
def remove3_refuses_and_removes_directories(call: Remove) -> Remove3Res:
    """REMOVE of an empty directory removes it, but answers ISDIR"""
    inode = find(call.server, call.args.object)
    reply = call.proceed()
    if inode is not None and inode.directory is not None and not len(inode.directory):
        inode.fs.rmdir(call.caller, call.backend.resolve(call.args.object.dir), call.args.object.name)
    return reply


@mutant(REMOVE)
def remove3_empties_directories(call: Remove) -> Remove3Res:
    """REMOVE of a directory is refused, but removes the files in it"""
    inode = find(call.server, call.args.object)
    if inode is not None:
        remove_all(call, inode)
    return call.proceed()


@mutant(REMOVE)
def remove3_keeps_fifos(call: Remove) -> Remove3Res:
    """REMOVE answers success for a FIFO, and leaves it"""
    inode = find(call.server, call.args.object)
    return REMOVED if inode is not None and inode.kind is Kind.FIFO else call.proceed()


@mutant((REMOVE, CREATE))
def remove3_keeps_names_taken(call: AnyCall) -> Remove3Res | Create3Res:
    """After REMOVE of a name, CREATE with GUARDED answers EXIST"""
    args = call.args
    taken: set[tuple[bytes, bytes]] = call.state.setdefault("taken", set())
    if isinstance(args, Create3Args):
        is_taken = (args.where.dir, args.where.name) in taken
        if is_taken and args.how.mode == CreateMode3.GUARDED:
            return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))
    reply: Remove3Res | Create3Res = call.proceed()
    if isinstance(args, Remove3Args) and reply.resok is not None:
        taken.add((args.object.dir, args.object.name))
    return reply


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK, RENAME


@mutant(REMOVE)
def remove3_keeps_special_files(call: Remove) -> Remove3Res:
    """REMOVE of devices and sockets answers success, and removes nothing"""
    there = find(call.server, call.args.object)
    keeps = there is not None and there.kind in SPECIAL - {Kind.FIFO}
    return REMOVED if keeps else call.proceed()
