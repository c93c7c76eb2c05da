# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_rename.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    RENAME,
    Diropargs3,
    Nfsstat3,
    Rename3Res,
    Rename3ResFail,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change, inode_of, restate
from nfsmutants.form import mutant, mutant_in_steps
from nfsmutants.nfs3.bending import RENAMED, directory_of, find, remove, remove_all
from nfsmutants.nfs3.calls import Rename
from nfsmutants.windows import Steps
from nfsserver.fs import Inode, Kind
from nfsserver.handlers import ServerApi


def _link_again(server: ServerApi, context: CallContext, inode: Inode, where: Diropargs3) -> None:
    """Give a file a name, replacing any object that has it."""
    directory = server.backend.resolve(where.dir)
    existing = find(server, where)
    if existing is not None and existing is not inode:
        directory.fs.remove(server.backend.caller(context), directory, where.name)
    if existing is not inode:
        directory.fs.link(server.backend.caller(context), inode, directory, where.name)


@mutant(RENAME)
def rename3_keeps_the_old_name(call: Rename) -> Rename3Res:
    """RENAME of a file within a directory keeps the old name, too"""
    inode = find(call.server, call.args.from_)
    reply = call.proceed()
    is_here = call.args.from_.dir == call.args.to.dir
    if is_here and reply.resok is not None and inode is not None and inode.directory is None:
        _link_again(call.server, call.context, inode, call.args.from_)
    return reply


@mutant(RENAME)
def rename3_makes_a_new_file(call: Rename) -> Rename3Res:
    """RENAME of a file creates another, empty file"""
    args = call.args
    reply = call.proceed()
    inode = find(call.server, args.to)
    if reply.resok is not None and inode is not None and inode.directory is None:
        directory = call.backend.resolve(args.to.dir)
        directory.fs.remove(call.caller, directory, args.to.name)
        directory.fs.create(call.caller, directory, args.to.name)
    return reply


@mutant(RENAME)
def rename3_stays_in_its_directory(call: Rename) -> Rename3Res:
    """RENAME creates the new name in the old directory"""
    return call.proceed_with("to", dir=call.args.from_.dir)


@mutant(RENAME)
def rename3_keeps_the_target(call: Rename) -> Rename3Res:
    """RENAME over a file removes the source and keeps the target"""
    target = find(call.server, call.args.to)
    source = find(call.server, call.args.from_)
    if target is None or target.data is None or source is None or source.data is None or source is target:
        return call.proceed()
    directory = call.backend.resolve(call.args.from_.dir)
    directory.fs.remove(call.caller, directory, call.args.from_.name)
    return RENAMED


@mutant(RENAME)
def rename3_over_empty_directory_does_nothing(call: Rename) -> Rename3Res:
    """RENAME over an empty directory answers success and does nothing"""
    target, source = find(call.server, call.args.to), find(call.server, call.args.from_)
    both = target is not None and source is not None and target.directory is not None is not source.directory
    return RENAMED if both and source is not target else call.proceed()


def _clear_the_way(call: Rename, *, for_directory: bool, of_directory: bool) -> Rename3Res:
    """Remove an incompatible target, or one with files in it, before the call."""
    source, target = find(call.server, call.args.from_), find(call.server, call.args.to)
    if source is None or target is None or source is target:
        return call.proceed()
    if (source.directory is not None, target.directory is not None) == (for_directory, of_directory):
        remove_all(call, target)
        remove(call, call.args.to)
    return call.proceed()


@mutant(RENAME)
def rename3_replaces_full_directories(call: Rename) -> Rename3Res:
    """RENAME over a directory that is not empty removes its entries"""
    return _clear_the_way(call, for_directory=True, of_directory=True)


@mutant(RENAME)
def rename3_replaces_directories_by_files(call: Rename) -> Rename3Res:
    """RENAME replaces a directory with a file"""
    return _clear_the_way(call, for_directory=False, of_directory=True)


@mutant(RENAME)
def rename3_replaces_files_by_directories(call: Rename) -> Rename3Res:
    """RENAME replaces a file with a directory"""
    return _clear_the_way(call, for_directory=True, of_directory=False)


def _over_another_file(call: Rename) -> Inode | None:
    """The file that the call replaces by another one; None if it does anything else."""
    source, target = find(call.server, call.args.from_), find(call.server, call.args.to)
    if source is None or target is None or source is target:
        return None
    return target if source.directory is None is target.directory else None


@mutant_in_steps(RENAME)
def rename3_removes_the_target_in_a_first_step(call: Rename) -> Steps[Rename3Res]:
    """RENAME over a file removes it before it moves the source"""
    if _over_another_file(call) is not None:
        remove(call, call.args.to)
        yield
    return call.proceed()


@mutant(RENAME)
def rename3_removes_one_of_two_links(call: Rename) -> Rename3Res:
    """RENAME of a file to another name of the same file removes the first name"""
    source, target = find(call.server, call.args.from_), find(call.server, call.args.to)
    if source is None or source is not target or source.data is None:
        return call.proceed()
    directory = call.backend.resolve(call.args.from_.dir)
    directory.fs.remove(call.caller, directory, call.args.from_.name)
    return RENAMED


@mutant(RENAME)
def rename3_removes_the_target_first(call: Rename) -> Rename3Res:
    """RENAME removes the target even if the source does not exist"""
    target = find(call.server, call.args.to)
    if find(call.server, call.args.from_) is None and target is not None and target.directory is None:
        directory = call.backend.resolve(call.args.to.dir)
        directory.fs.remove(call.caller, directory, call.args.to.name)
    return call.proceed()


@mutant(RENAME)
def rename3_moves_below_itself(call: Rename) -> Rename3Res:
    """RENAME of a directory below itself cuts it off the tree"""
    reply = call.proceed()
    source, parent = find(call.server, call.args.from_), call.backend.resolve(call.args.from_.dir).directory
    if reply.status != Nfsstat3.NFS3ERR_INVAL or source is None or source.directory is None or parent is None:
        return reply
    parent.remove(call.args.from_.name)
    return RENAMED


@mutant(RENAME)
def rename3_keeps_the_name_in_the_old_directory(call: Rename) -> Rename3Res:
    """RENAME from another directory keeps the old name, too"""
    args = call.args
    inode = find(call.server, args.from_)
    reply = call.proceed()
    is_elsewhere = args.from_.dir != args.to.dir
    if is_elsewhere and reply.resok is not None and inode is not None and inode.directory is None:
        _link_again(call.server, call.context, inode, args.from_)
    return reply


@mutant(RENAME)
def rename3_empties_directories(call: Rename) -> Rename3Res:
    """RENAME of a directory removes the files in it"""
    inode = find(call.server, call.args.from_)
    reply = call.proceed()
    if reply.resok is not None and inode is not None:
        remove_all(call, inode)
    return reply


@mutant(RENAME)
def rename3_keeps_dotdot(call: Rename) -> Rename3Res:
    """RENAME of a directory into another one leaves its .. entry on the old parent"""
    inode = find(call.server, call.args.from_)
    reply = call.proceed()
    if reply.resok is not None and inode is not None and inode.directory is not None:
        inode.directory.parent = call.backend.resolve(call.args.from_.dir)
    return reply


@mutant(RENAME)
def rename3_stales_handles(call: Rename) -> Rename3Res:
    """RENAME makes the object's handles stale"""
    reply = call.proceed()
    inode = find(call.server, call.args.to)
    if reply.resok is not None and inode is not None:
        inode.generation += 1
    return reply


@mutant(RENAME)
def rename3_of_itself_removes(call: Rename) -> Rename3Res:
    """RENAME of a file to its present name removes the file"""
    args = call.args
    reply = call.proceed()
    inode = find(call.server, args.to)
    if args.from_ == args.to and inode is not None and inode.directory is None:
        inode.fs.remove(call.caller, call.backend.resolve(args.to.dir), args.to.name)
    return reply


@mutant(RENAME)
def rename3_of_itself_is_exist(call: Rename) -> Rename3Res:
    """RENAME of a file to its present name is refused: the name exists"""
    inode = find(call.server, call.args.to)
    if call.args.from_ == call.args.to and inode is not None and inode.directory is None:
        return Rename3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Rename3ResFail(WccData(), WccData()))
    return call.proceed()


@mutant(RENAME)
def rename3_destroys_replaced_files(call: Rename) -> Rename3Res:
    """RENAME over a file that has other names empties it"""
    target = find(call.server, call.args.to)
    if target is not None and target.nlink > 1 and target.data is not None:
        target.data.truncate(0)
    return call.proceed()


@mutant(RENAME)
def rename3_keeps_nlink_of_replaced_files(call: Rename) -> Rename3Res:
    """RENAME over a file that has other names does not change its nlink"""
    target = find(call.server, call.args.to)
    nlink = 0 if target is None else target.nlink
    reply = call.proceed()
    if target is not None and target.directory is None and nlink > 1:
        target.nlink = nlink
    return reply


@mutant(RENAME)
def rename3_too_many_directories_is_io(call: Rename) -> Rename3Res:
    """RENAME into a directory that can have no more subdirectories is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_MLINK, Nfsstat3.NFS3ERR_IO)


@mutant(RENAME)
def rename3_follows_symlinks(call: Rename) -> Rename3Res:
    """RENAME of a symbolic link renames its target"""
    args = call.args
    inode = find(call.server, args.from_)
    if inode is not None and inode.kind is Kind.SYMLINK:
        args = change(args, "from_", name=inode.target)
    return call.proceed(args)


@mutant(RENAME)
def rename3_replaces_what_links_point_to(call: Rename) -> Rename3Res:
    """RENAME over a symbolic link replaces its target"""
    args = call.args
    inode = find(call.server, args.to)
    if inode is not None and inode.kind is Kind.SYMLINK:
        args = change(args, "to", name=inode.target)
    return call.proceed(args)


def _succeed_in_a_file(call: Rename, where: Diropargs3) -> Rename3Res:
    reply = call.proceed()
    of_file = reply.status == Nfsstat3.NFS3ERR_NOTDIR and directory_of(call.server, where.dir) is None
    return RENAMED if of_file else reply


@mutant(RENAME)
def rename3_renames_from_files(call: Rename) -> Rename3Res:
    """RENAME answers success if the source directory is a file"""
    return _succeed_in_a_file(call, call.args.from_)


@mutant(RENAME)
def rename3_renames_into_files(call: Rename) -> Rename3Res:
    """RENAME answers success if the target directory is a file"""
    return _succeed_in_a_file(call, call.args.to)


@mutant(RENAME)
def rename3_returns_two_sizes_after(call: Rename) -> Rename3Res:
    """RENAME within one directory returns two different sizes of it"""
    reply = call.proceed()
    if reply.resok is None or call.args.from_.dir != call.args.to.dir:
        return reply
    wcc = reply.resok.todir_wcc
    if wcc.after is None:
        return reply
    bent = change(wcc, "after", size=wcc.after.size + 1)
    return amend(reply, todir_wcc=bent)


@mutant(RENAME)
def rename3_swaps_the_directories(call: Rename) -> Rename3Res:
    """RENAME swaps fromdir_wcc and todir_wcc"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    swapped = replace(reply.resok, fromdir_wcc=reply.resok.todir_wcc, todir_wcc=reply.resok.fromdir_wcc)
    return replace(reply, resok=swapped)


@mutant(RENAME)
def rename3_accepts_the_empty_name(call: Rename) -> Rename3Res:
    """RENAME to an empty name uses the name `empty`"""
    return call.proceed_with("to", name=call.args.to.name or b"empty")


@mutant(RENAME)
def rename3_cuts_long_names(call: Rename) -> Rename3Res:
    """RENAME cuts a name to name_max, though PATHCONF says no_trunc"""
    name = call.args.to.name[: call.backend.limits.name_max]
    return call.proceed_with("to", name=name)


@mutant_in_steps(RENAME)
def rename3_shows_a_temporary_file(call: Rename) -> Steps[Rename3Res]:
    """RENAME over a file gives its name to a temporary file, before it moves the source"""
    target, directory = _over_another_file(call), inode_of(call.server, call.args.to.dir)
    if target is not None and directory is not None and directory.directory is not None:
        entries, temporary = directory.directory, call.args.to.name + b"~"
        entries.replace(call.args.to.name, directory.fs.create(call.caller, directory, temporary))
        yield
        if entries.get(call.args.to.name) is entries.get(temporary):
            entries.replace(call.args.to.name, target)
        directory.fs.remove(call.caller, directory, temporary)
    return call.proceed()


@mutant_in_steps(RENAME)
def rename3_removes_the_old_name_in_a_first_step(call: Rename) -> Steps[Rename3Res]:
    """RENAME removes the old name before it adds the new one"""
    source, directory = find(call.server, call.args.from_), inode_of(call.server, call.args.from_.dir)
    if source is not None and source.directory is None and directory is not None:
        entries, name = directory.directory, call.args.from_.name
        assert entries is not None
        entries.remove(name)
        yield
        if entries.get(name) is None:
            entries.add(name, source)
    return call.proceed()
