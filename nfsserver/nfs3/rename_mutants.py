# SPDX-License-Identifier: MIT
"""Mutants of RENAME."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    LOOKUP,
    RENAME,
    Diropargs3,
    Lookup3Res,
    Lookup3ResFail,
    Lookup3ResOk,
    Nfsstat3,
    Rename3Args,
    Rename3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.removal_bending import RENAMED, bends, find, is_directory, remove_all

if t.TYPE_CHECKING:
    from nfsserver.server import Server

RenameProceed: t.TypeAlias = Proceed[Rename3Args, Rename3Res]


def _link_again(server: Server, context: CallContext, inode: Inode, where: Diropargs3) -> None:
    """Give a file a name, over whatever has it."""
    directory = server.resolve(where.dir)
    existing = find(server, where)
    if existing is not None and existing is not inode:
        directory.fs.remove(server.caller(context), directory, where.name)
    if existing is not inode:
        directory.fs.link(server.caller(context), inode, directory, where.name)


@bends(RENAME, "leaves-the-old-name", "of a file to the name `new` leaves the old name behind")
def leaves_the_old_name(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Make a link of it."""
    inode = find(server, args.from_)
    reply = proceed(context, args)
    if reply.resok is not None and inode is not None and inode.directory is None and args.to.name == b"new":
        _link_again(server, context, inode, args.from_)
    return reply


@bends(RENAME, "makes-a-new-file", "of a file to the name `new` makes another, empty file")
def makes_a_new_file(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Replace it."""
    reply = proceed(context, args)
    inode = find(server, args.to)
    if reply.resok is not None and args.to.name == b"new" and inode is not None and inode.directory is None:
        directory = server.resolve(args.to.dir)
        directory.fs.remove(server.caller(context), directory, args.to.name)
        directory.fs.create(server.caller(context), directory, args.to.name)
    return reply


@bends(RENAME, "stays-in-its-directory", "puts the new name into the old directory")
def stays_in_its_directory(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Ask for another directory."""
    return proceed(context, replace(args, to=replace(args.to, dir=args.from_.dir)))


@bends(RENAME, "keeps-the-target", "over a file removes the source, and leaves the target")
def keeps_the_target(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Put the target back."""
    target = find(server, args.to)
    source = find(server, args.from_)
    if target is None or target.data is None or source is None or source.data is None or source is target:
        return proceed(context, args)
    directory = server.resolve(args.from_.dir)
    directory.fs.remove(server.caller(context), directory, args.from_.name)
    return RENAMED


@bends(RENAME, "replaces-no-directories", "over an empty directory answers success and does nothing")
def replaces_no_directories(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Answer success."""
    target, source = find(server, args.to), find(server, args.from_)
    both = target is not None and source is not None and target.directory is not None is not source.directory
    return RENAMED if both and source is not target else proceed(context, args)


def _replacing(suffix: str, gist: str, *, source_is_directory: bool, target_is_directory: bool) -> None:
    """Register a mutant that clears an incompatible or full target out of the way."""

    @bends(RENAME, suffix, gist)
    def replaces(
        server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
    ) -> Rename3Res:
        source, target = find(server, args.from_), find(server, args.to)
        if source is None or target is None or source is target:
            return proceed(context, args)
        kinds = (source.directory is not None, target.directory is not None)
        if kinds == (source_is_directory, target_is_directory):
            directory = server.resolve(args.to.dir)
            if target.directory is None:
                directory.fs.remove(server.caller(context), directory, args.to.name)
            else:
                for name in target.directory.names():
                    target.fs.remove(server.caller(context), target, name)
                directory.fs.rmdir(server.caller(context), directory, args.to.name)
        return proceed(context, args)


_replacing(
    "replaces-full-directories",
    "over a directory that is not empty removes what is in it",
    source_is_directory=True,
    target_is_directory=True,
)
_replacing(
    "replaces-directories-by-files",
    "puts a file in the place of a directory",
    source_is_directory=False,
    target_is_directory=True,
)
_replacing(
    "replaces-files-by-directories",
    "puts a directory in the place of a file",
    source_is_directory=True,
    target_is_directory=False,
)


@mutant(
    "rename3-takes-two-steps",
    bends=(RENAME, LOOKUP),
    breaks="RFC 1813 section 3.3.14",
    gist="RENAME over `target` removes it first: the next LOOKUP of the name finds nothing",
)
def takes_two_steps(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> Rename3Res | Lookup3Res:
    """Let one LOOKUP after a RENAME see the moment between."""
    state = server.mutant_state("rename3-takes-two-steps")
    reply: Rename3Res | Lookup3Res = proceed(context, args)
    if isinstance(args, Rename3Args):
        state["between"] = args.to.name == b"target" and reply.resok is not None
    elif state.pop("between", False) and args.what.name == b"target":
        return Lookup3Res(Nfsstat3.NFS3ERR_NOENT, resfail=Lookup3ResFail(None))
    return reply


@bends(RENAME, "removes-one-of-two-links", "of a file to another of its own names removes the first")
def removes_one_of_two_links(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Remove it."""
    source, target = find(server, args.from_), find(server, args.to)
    if source is None or source is not target or source.data is None:
        return proceed(context, args)
    directory = server.resolve(args.from_.dir)
    directory.fs.remove(server.caller(context), directory, args.from_.name)
    return RENAMED


@bends(RENAME, "removes-the-target-first", "removes the target before it finds that there is no source")
def removes_the_target_first(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Remove it when the source is missing."""
    target = find(server, args.to)
    if find(server, args.from_) is None and target is not None and target.directory is None:
        directory = server.resolve(args.to.dir)
        directory.fs.remove(server.caller(context), directory, args.to.name)
    return proceed(context, args)


@bends(RENAME, "loses-directories", "of a directory to below itself cuts it off from the tree")
def loses_directories(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Take the name away when the move is refused as invalid."""
    reply = proceed(context, args)
    source, parent = find(server, args.from_), server.resolve(args.from_.dir).directory
    if reply.status != Nfsstat3.NFS3ERR_INVAL or source is None or source.directory is None or parent is None:
        return reply
    parent.remove(args.from_.name)
    return RENAMED


@bends(
    RENAME, "leaves-a-name-elsewhere", "from another directory to the name `moved` leaves the old name behind"
)
def leaves_a_name_elsewhere(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Make a link of it."""
    inode = find(server, args.from_)
    reply = proceed(context, args)
    elsewhere = args.from_.dir != args.to.dir and args.to.name == b"moved"
    if elsewhere and reply.resok is not None and inode is not None and inode.directory is None:
        _link_again(server, context, inode, args.from_)
    return reply


@bends(RENAME, "empties-directories", "of a directory removes the files in it")
def rename_empties_directories(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Remove them afterwards."""
    inode = find(server, args.from_)
    reply = proceed(context, args)
    if reply.resok is not None and inode is not None:
        remove_all(server, context, inode)
    return reply


@bends(RENAME, "forgets-the-parent", "of a directory into another one leaves its .. as it was")
def forgets_the_parent(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Set it back."""
    inode = find(server, args.from_)
    reply = proceed(context, args)
    if reply.resok is not None and inode is not None and inode.directory is not None:
        inode.directory.parent = server.resolve(args.from_.dir)
    return reply


@bends(RENAME, "stales-handles", "to the name `kept` makes the object's handles stale")
def stales_handles(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Begin another generation."""
    reply = proceed(context, args)
    inode = find(server, args.to)
    if reply.resok is not None and inode is not None and args.to.name == b"kept":
        inode.generation += 1
    return reply


@bends(RENAME, "of-itself-removes", "of a file to the name that it has removes it")
def of_itself_removes(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Remove it afterwards."""
    reply = proceed(context, args)
    inode = find(server, args.to)
    if args.from_ == args.to and inode is not None and inode.directory is None:
        inode.fs.remove(server.caller(context), server.resolve(args.to.dir), args.to.name)
    return reply


@bends(RENAME, "destroys-replaced-files", "over a file that has other names empties it")
def destroys_replaced_files(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Cut the data off."""
    target = find(server, args.to)
    if target is not None and target.nlink > 1 and target.data is not None:
        target.data.truncate(0)
    return proceed(context, args)


@bends(RENAME, "forgets-to-count", "over a file that has other names leaves its nlink as it was")
def rename_forgets_to_count(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Set it back."""
    target = find(server, args.to)
    nlink = 0 if target is None else target.nlink
    reply = proceed(context, args)
    if target is not None and target.directory is None and nlink > 1:
        target.nlink = nlink
    return reply


@bends(
    RENAME,
    "too-many-directories-is-io",
    "into a directory that can have no more subdirectories is refused with IO",
    section="2.6",
)
def too_many_directories_is_io(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Say something else."""
    reply = proceed(context, args)
    return replace(reply, status=Nfsstat3.NFS3ERR_IO) if reply.status == Nfsstat3.NFS3ERR_MLINK else reply


@bends(RENAME, "follows-symlinks", "of a symbolic link renames what it points to")
def rename_follows_symlinks(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Go by the link's data."""
    inode = find(server, args.from_)
    if inode is not None and inode.kind is Kind.SYMLINK:
        args = replace(args, from_=replace(args.from_, name=inode.target))
    return proceed(context, args)


@bends(RENAME, "replaces-what-links-point-to", "over a symbolic link replaces what it points to")
def replaces_what_links_point_to(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Go by the link's data."""
    inode = find(server, args.to)
    if inode is not None and inode.kind is Kind.SYMLINK:
        args = replace(args, to=replace(args.to, name=inode.target))
    return proceed(context, args)


def _succeeds_with_a_file(suffix: str, which: t.Literal["from_", "to"], gist: str) -> None:
    """Register what answers success when one of the directories is a file."""

    @bends(RENAME, suffix, gist)
    def bend(server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed) -> Rename3Res:
        reply = proceed(context, args)
        where: Diropargs3 = getattr(args, which)
        of_file = reply.status == Nfsstat3.NFS3ERR_NOTDIR and not is_directory(server, where.dir)
        return RENAMED if of_file else reply


_succeeds_with_a_file("renames-from-files", "from_", "answers success when the source directory is a file")
_succeeds_with_a_file("renames-into-files", "to", "answers success when the target directory is a file")


@bends(RENAME, "contradicts-itself", "within one directory returns two sizes of it", "2.5")
def contradicts_itself(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Add one to the size of the target directory."""
    reply = proceed(context, args)
    if reply.resok is None or args.from_.dir != args.to.dir:
        return reply
    wcc = reply.resok.todir_wcc
    if wcc.after is None:
        return reply
    bent = replace(wcc, after=replace(wcc.after, size=wcc.after.size + 1))
    return replace(reply, resok=replace(reply.resok, todir_wcc=bent))


@bends(RENAME, "swaps-the-directories", "returns fromdir_wcc as todir_wcc, and the other way round")
def swaps_the_directories(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Swap them."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    swapped = replace(reply.resok, fromdir_wcc=reply.resok.todir_wcc, todir_wcc=reply.resok.fromdir_wcc)
    return replace(reply, resok=swapped)


@bends(RENAME, "takes-the-empty-name", "gives the name `empty` when it is given none", "3.2")
def rename_takes_the_empty_name(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Find a name."""
    return proceed(context, replace(args, to=replace(args.to, name=args.to.name or b"empty")))


@bends(RENAME, "cuts-long-names", "cuts a name to name_max, though PATHCONF says no_trunc", "3.3.20")
def rename_cuts_long_names(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Keep what fits."""
    name = args.to.name[: server.limits.name_max]
    return proceed(context, replace(args, to=replace(args.to, name=name)))


@mutant(
    "rename3-shows-a-third-object",
    bends=(RENAME, LOOKUP),
    breaks="RFC 1813 section 3.3.14",
    gist="after RENAME over `target` the next LOOKUP of the name finds the directory instead",
)
def shows_a_third_object(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> Rename3Res | Lookup3Res:
    """Let one LOOKUP after a RENAME see something that never had the name."""
    state = server.mutant_state("rename3-shows-a-third-object")
    reply: Rename3Res | Lookup3Res = proceed(context, args)
    if isinstance(args, Rename3Args):
        state["between"] = args.to.name == b"target" and reply.resok is not None
    elif state.pop("between", False) and args.what.name == b"target":
        return Lookup3Res(Nfsstat3.NFS3_OK, Lookup3ResOk(args.what.dir, None, None))
    return reply


@mutant(
    "rename3-unlinks-first",
    bends=(RENAME, LOOKUP),
    breaks="RFC 1813 section 3.3.14",
    gist="RENAME to `moved` takes the old name away first: the next LOOKUP of the new one finds nothing",
)
def unlinks_first(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> Rename3Res | Lookup3Res:
    """Let the first LOOKUP of the new name after a RENAME see the moment between."""
    state = server.mutant_state("rename3-unlinks-first")
    reply: Rename3Res | Lookup3Res = proceed(context, args)
    if isinstance(args, Rename3Args):
        state["between"] = args.to.name == b"moved" and reply.resok is not None
    elif args.what.name == b"moved" and state.pop("between", False):
        return Lookup3Res(Nfsstat3.NFS3ERR_NOENT, resfail=Lookup3ResFail(None))
    return reply
