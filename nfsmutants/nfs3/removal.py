# SPDX-License-Identifier: MIT
"""Mutants of REMOVE, RMDIR and LINK."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    LINK,
    REMOVE,
    RMDIR,
    Create3Args,
    Create3Res,
    Create3ResFail,
    CreateMode3,
    Diropargs3,
    Link3Res,
    Nfsstat3,
    Remove3Args,
    Remove3Res,
    Rmdir3Res,
    WccData,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal, change
from nfsmutants.form import AnyCall, mutant, mutant_of_each
from nfsmutants.nfs3.bending import LINKED, REMOVED, RMDIRED, find, is_directory, remove, remove_all, success
from nfsmutants.nfs3.calls import Link, Remove, Rmdir
from nfsmutants.rules import RFC1813_LINK, RFC1813_NAMES, RFC1813_PATHCONF, RFC1813_REMOVE, RFC1813_RMDIR
from nfsserver.fs import FsError, Kind
from nfsserver.nfs3.common import fattr3


@mutant_of_each({REMOVE: RFC1813_REMOVE, RMDIR: RFC1813_RMDIR})
def removes_what_is_not_there(call: AnyCall) -> t.Any:
    """{} answers success for a name that does not exist"""
    reply = call.proceed()
    return success(call) if reply.status == Nfsstat3.NFS3ERR_NOENT else reply


@mutant_of_each({REMOVE: RFC1813_NAMES, RMDIR: RFC1813_NAMES})
def takes_the_empty_name(call: AnyCall) -> t.Any:
    """{} answers success when it is given no name"""
    return call.proceed() if call.args.object.name else success(call)


# ---------------------------------------------------------------- REMOVE


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_removes_nothing(call: Remove) -> Remove3Res:
    """REMOVE answers success and leaves the entry in the directory"""
    return call.proceed() if find(call.server, call.args.object) is None else REMOVED


def _remove_one_more(call: AnyCall, handle: bytes) -> None:
    """Remove the first file or empty directory that is left."""
    directory = call.server.resolve(handle)
    for name in directory.directory.names() if directory.directory is not None else ():
        with contextlib.suppress(FsError):
            remove(call, Diropargs3(handle, name))
            return


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_removes_a_neighbour(call: Remove) -> Remove3Res:
    """REMOVE removes another entry of the directory as well"""
    reply = call.proceed()
    if reply.resok is not None:
        _remove_one_more(call, call.args.object.dir)
    return reply


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_destroys_linked_files(call: Remove) -> Remove3Res:
    """REMOVE empties a file that has other names"""
    inode = find(call.server, call.args.object)
    if inode is not None and inode.nlink > 1 and inode.data is not None:
        inode.data.truncate(0)
    return call.proceed()


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_forgets_to_count(call: Remove) -> Remove3Res:
    """REMOVE leaves nlink of a file with other names as it was"""
    inode = find(call.server, call.args.object)
    reply = call.proceed()
    if inode is not None and inode.directory is None and inode.nlink and reply.resok is not None:
        inode.nlink += 1
    return reply


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_follows_symlinks(call: Remove) -> Remove3Res:
    """REMOVE of a symbolic link removes what it points to"""
    args = call.args
    inode = find(call.server, args.object)
    if inode is not None and inode.target:
        args = change(args, "object", name=inode.target)
    return call.proceed(args)


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_removes_from_files(call: Remove) -> Remove3Res:
    """REMOVE answers success when its directory is a file"""
    reply = call.proceed()
    return REMOVED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_refuses_and_removes_directories(call: Remove) -> Remove3Res:
    """REMOVE removes an empty directory, and answers that it is one"""
    inode = find(call.server, call.args.object)
    reply = call.proceed()
    if inode is not None and inode.directory is not None and not len(inode.directory):
        inode.fs.rmdir(call.caller, call.server.resolve(call.args.object.dir), call.args.object.name)
    return reply


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_empties_directories(call: Remove) -> Remove3Res:
    """REMOVE refuses a directory, and removes the files in it"""
    inode = find(call.server, call.args.object)
    if inode is not None:
        remove_all(call, inode)
    return call.proceed()


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_keeps_fifos(call: Remove) -> Remove3Res:
    """REMOVE answers success for a FIFO, and leaves it"""
    inode = find(call.server, call.args.object)
    return REMOVED if inode is not None and inode.kind is Kind.FIFO else call.proceed()


@mutant((REMOVE, CREATE), RFC1813_REMOVE)
def remove3_keeps_names_taken(call: AnyCall) -> Remove3Res | Create3Res:
    """After REMOVE of a name CREATE with GUARDED answers that it exists"""
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


# ---------------------------------------------------------------- RMDIR


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_removes_nothing(call: Rmdir) -> Rmdir3Res:
    """RMDIR answers success and leaves the directory"""
    inode = find(call.server, call.args.object)
    return call.proceed() if inode is None or inode.directory is None else RMDIRED


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_empties_before_refusing(call: Rmdir) -> Rmdir3Res:
    """RMDIR refuses a directory that is not empty, and removes the files in it"""
    inode = find(call.server, call.args.object)
    reply = call.proceed()
    if reply.resok is None and inode is not None and inode.directory is not None:
        for name in inode.directory.names():
            inode.fs.remove(call.caller, inode, name)
    return reply


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_full_is_io(call: Rmdir) -> Rmdir3Res:
    """RMDIR answers IO for a directory that is not empty"""
    reply = call.proceed()
    if reply.status not in {Nfsstat3.NFS3ERR_NOTEMPTY, Nfsstat3.NFS3ERR_EXIST}:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_IO)


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_removes_files(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes a file"""
    inode = find(call.server, call.args.object)
    if inode is None or inode.directory is not None:
        return call.proceed()
    inode.fs.remove(call.caller, call.server.resolve(call.args.object.dir), call.args.object.name)
    return RMDIRED


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_removes_a_neighbour(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes another entry of the directory as well"""
    reply = call.proceed()
    if reply.resok is not None:
        _remove_one_more(call, call.args.object.dir)
    return reply


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_follows_symlinks(call: Rmdir) -> Rmdir3Res:
    """RMDIR of a symbolic link removes the directory that it points to"""
    args = call.args
    inode = find(call.server, args.object)
    if inode is not None and inode.target:
        args = change(args, "object", name=inode.target)
    return call.proceed(args)


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_removes_from_files(call: Rmdir) -> Rmdir3Res:
    """RMDIR answers success when its directory is a file"""
    reply = call.proceed()
    from_file = reply.status == Nfsstat3.NFS3ERR_NOTDIR and not is_directory(
        call.server, call.args.object.dir
    )
    return RMDIRED if from_file else reply


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_empties_by_dot(call: Rmdir) -> Rmdir3Res:
    """RMDIR of . refuses, and removes the files in the directory"""
    if call.args.object.name == b".":
        remove_all(call, call.server.resolve(call.args.object.dir))
    return call.proceed()


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_empties_by_dotdot(call: Rmdir) -> Rmdir3Res:
    """RMDIR of .. refuses, and removes the files in the parent"""
    inode = call.server.resolve(call.args.object.dir)
    parent = inode.directory.parent if inode.directory is not None else None
    if call.args.object.name == b".." and parent is not None:
        remove_all(call, parent)
    return call.proceed()


@mutant(LINK, RFC1813_LINK)
def link3_links_nothing(_call: Link) -> Link3Res:
    """LINK answers success and makes no name"""
    return LINKED


@mutant(LINK, RFC1813_LINK)
def link3_makes_a_copy(call: Link) -> Link3Res:
    """LINK copies the file instead"""
    source = call.server.resolve(call.args.file)
    directory = call.server.resolve(call.args.link.dir)
    if source.data is None or directory.directory is None or find(call.server, call.args.link) is not None:
        return call.proceed()
    copy = directory.fs.create(call.caller, directory, call.args.link.name)
    assert copy.data is not None
    copy.data.write(0, source.data.read(0, source.size), stable=True)
    return LINKED


@mutant(LINK, RFC1813_LINK)
def link3_forgets_to_count(call: Link) -> Link3Res:
    """LINK leaves nlink as it was"""
    reply = call.proceed()
    if reply.resok is not None:
        call.server.resolve(call.args.file).nlink -= 1
    return reply


@mutant(LINK, RFC1813_LINK)
def link3_attributes_of_the_directory(call: Link) -> Link3Res:
    """LINK returns the attributes of the directory as those of the file"""
    return amend(call.proceed(), file_attributes=lambda it: it.linkdir_wcc.after)


@mutant(LINK, RFC1813_LINK)
def link3_replaces_files(call: Link) -> Link3Res:
    """LINK puts the link in the place of a file of that name"""
    existing = find(call.server, call.args.link)
    if existing is not None and existing.data is not None:
        directory = call.server.resolve(call.args.link.dir)
        directory.fs.remove(call.caller, directory, call.args.link.name)
    return call.proceed()


@mutant(LINK, RFC1813_LINK)
def link3_links_in_files(call: Link) -> Link3Res:
    """LINK answers success when its directory is a file"""
    reply = call.proceed()
    return LINKED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@mutant(LINK, RFC1813_LINK)
def link3_links_in_the_parent(call: Link) -> Link3Res:
    """LINK puts the link into the parent of the directory"""
    inode = call.server.resolve(call.args.link.dir)
    parent = inode.directory.parent if inode.directory is not None else None
    if parent is None or parent is inode:
        return call.proceed()
    return call.proceed_with("link", dir=call.server.handle_of(parent))


@mutant(LINK, RFC1813_LINK)
def link3_counts_refusals(call: Link) -> Link3Res:
    """LINK counts nlink up when the name exists"""
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_EXIST:
        call.server.resolve(call.args.file).nlink += 1
    return reply


@mutant(LINK, RFC1813_LINK)
def link3_follows_symlinks(call: Link) -> Link3Res:
    """LINK of a symbolic link makes a link to what it points to"""
    source = call.server.resolve(call.args.file)
    target = find(call.server, replace(call.args.link, name=source.target)) if source.target else None
    return call.proceed() if target is None else call.proceed_with(file=call.server.handle_of(target))


@mutant(LINK, RFC1813_LINK)
def link3_refuses_and_links_directories(call: Link) -> Link3Res:
    """LINK refuses a directory, and makes an empty one of that name"""
    reply = call.proceed()
    if (
        call.server.resolve(call.args.file).directory is not None
        and find(call.server, call.args.link) is None
    ):
        directory = call.server.resolve(call.args.link.dir)
        directory.fs.mkdir(call.caller, directory, call.args.link.name)
    return reply


@mutant(LINK, RFC1813_LINK)
def link3_replaces_directories(call: Link) -> Link3Res:
    """LINK puts the link in the place of an empty directory"""
    existing = find(call.server, call.args.link)
    if existing is not None and existing.directory is not None and not len(existing.directory):
        existing.fs.rmdir(call.caller, call.server.resolve(call.args.link.dir), call.args.link.name)
    return call.proceed()


@mutant(LINK, RFC1813_NAMES)
def link3_takes_the_empty_name(call: Link) -> Link3Res:
    """LINK makes a link called `empty` when it is given no name"""
    return call.proceed_with("link", name=call.args.link.name or b"empty")


@mutant(LINK, RFC1813_PATHCONF)
def link3_cuts_long_names(call: Link) -> Link3Res:
    """LINK cuts a name to name_max, though PATHCONF says no_trunc"""
    name = call.args.link.name[: call.server.limits.name_max]
    return call.proceed_with("link", name=name)


@mutant(LINK, RFC1813_LINK)
def link3_refusals_show_the_directory(call: Link) -> Link3Res:
    """LINK of a refusal returns the directory's attributes as the file's"""
    reply = call.proceed()
    if reply.resfail is None:
        return reply
    attributes = fattr3(call.server.resolve(call.args.link.dir))
    return amend_refusal(reply, file_attributes=attributes)
