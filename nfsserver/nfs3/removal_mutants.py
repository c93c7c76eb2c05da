# SPDX-License-Identifier: MIT
"""Mutants of REMOVE, RMDIR and LINK."""

from __future__ import annotations

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
    Link3Args,
    Link3Res,
    Nfsstat3,
    Remove3Args,
    Remove3Res,
    Rmdir3Args,
    Rmdir3Res,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import fattr3
from nfsserver.nfs3.removal_bending import LINKED, REMOVED, RMDIRED, bends, find, is_directory, remove_all

if t.TYPE_CHECKING:
    from nfsserver.server import Server


def _succeeds_instead_of(suffix: str, status: Nfsstat3, gist: str) -> None:
    """Register for REMOVE and RMDIR what answers success, and does nothing, where a status was due."""
    for procedure, success in ((REMOVE, REMOVED), (RMDIR, RMDIRED)):

        def bend(
            _server: Server,
            context: CallContext,
            args: t.Any,
            proceed: Proceed[t.Any, t.Any],
            success: t.Any = success,
        ) -> t.Any:
            reply = proceed(context, args)
            return success if reply.status == status else reply

        bends(procedure, suffix, gist)(bend)


_succeeds_instead_of(
    "removes-what-is-not-there", Nfsstat3.NFS3ERR_NOENT, "answers success for a name that does not exist"
)


def _succeeds_without_a_name(procedure: t.Any, success: t.Any) -> None:
    @bends(procedure, "takes-the-empty-name", "answers success when it is given no name", "3.2")
    def bend(_server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]) -> t.Any:
        return proceed(context, args) if args.object.name else success


_succeeds_without_a_name(REMOVE, REMOVED)
_succeeds_without_a_name(RMDIR, RMDIRED)


# ---------------------------------------------------------------- REMOVE


@bends(REMOVE, "removes-nothing", "answers success and leaves the entry in the directory")
def removes_nothing(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Answer success wherever the name exists."""
    return proceed(context, args) if find(server, args.object) is None else REMOVED


@bends(REMOVE, "removes-a-neighbour", "removes the entry `neighbour` as well")
def removes_a_neighbour(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Remove it too."""
    reply = proceed(context, args)
    if reply.resok is not None and find(server, replace(args.object, name=b"neighbour")) is not None:
        directory = server.resolve(args.object.dir)
        directory.fs.remove(server.caller(context), directory, b"neighbour")
    return reply


@bends(REMOVE, "destroys-linked-files", "empties a file that has other names")
def destroys_linked_files(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Cut the data off."""
    inode = find(server, args.object)
    if inode is not None and inode.nlink > 1 and inode.data is not None:
        inode.data.truncate(0)
    return proceed(context, args)


@bends(REMOVE, "forgets-to-count", "leaves nlink of a file with other names as it was")
def remove_forgets_to_count(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Count it up again."""
    inode = find(server, args.object)
    reply = proceed(context, args)
    if inode is not None and inode.directory is None and inode.nlink and reply.resok is not None:
        inode.nlink += 1
    return reply


@bends(REMOVE, "follows-symlinks", "of a symbolic link removes what it points to")
def follows_symlinks(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Go by the link's data."""
    inode = find(server, args.object)
    if inode is not None and inode.target:
        args = replace(args, object=replace(args.object, name=inode.target))
    return proceed(context, args)


@bends(REMOVE, "removes-from-files", "answers success when its directory is a file")
def removes_from_files(
    _server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    return REMOVED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@bends(REMOVE, "refuses-and-removes-directories", "removes an empty directory, and answers that it is one")
def refuses_and_removes_directories(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Remove it after the refusal."""
    inode = find(server, args.object)
    reply = proceed(context, args)
    if inode is not None and inode.directory is not None and not len(inode.directory):
        inode.fs.rmdir(server.caller(context), server.resolve(args.object.dir), args.object.name)
    return reply


@bends(REMOVE, "empties-directories", "refuses a directory, and removes the files in it")
def empties_directories(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Remove them first."""
    inode = find(server, args.object)
    if inode is not None:
        remove_all(server, context, inode)
    return proceed(context, args)


@bends(REMOVE, "keeps-fifos", "answers success for a FIFO, and leaves it")
def keeps_fifos(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Only say so."""
    inode = find(server, args.object)
    return REMOVED if inode is not None and inode.kind is Kind.FIFO else proceed(context, args)


@mutant(
    "remove3-keeps-names-taken",
    bends=(REMOVE, CREATE),
    breaks="RFC 1813 section 3.3.12",
    gist="after REMOVE of `again` CREATE with GUARDED answers that it exists",
)
def keeps_names_taken(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> Remove3Res | Create3Res:
    """Remember the directory."""
    state = server.mutant_state("remove3-keeps-names-taken")
    if isinstance(args, Create3Args):
        taken = args.where.name == b"again" and args.where.dir.hex() in state
        if taken and args.how.mode == CreateMode3.GUARDED:
            return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))
    reply: Remove3Res | Create3Res = proceed(context, args)
    if isinstance(args, Remove3Args) and args.object.name == b"again" and reply.resok is not None:
        state[args.object.dir.hex()] = True
    return reply


# ---------------------------------------------------------------- RMDIR


@bends(RMDIR, "removes-nothing", "answers success and leaves the directory")
def rmdir_removes_nothing(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Answer success for any directory."""
    inode = find(server, args.object)
    return proceed(context, args) if inode is None or inode.directory is None else RMDIRED


@bends(RMDIR, "empties-before-refusing", "refuses a directory that is not empty, and removes the files in it")
def empties_before_refusing(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove them afterwards."""
    inode = find(server, args.object)
    reply = proceed(context, args)
    if reply.resok is None and inode is not None and inode.directory is not None:
        for name in inode.directory.names():
            inode.fs.remove(server.caller(context), inode, name)
    return reply


@bends(RMDIR, "full-is-io", "answers IO for a directory that is not empty")
def full_is_io(
    _server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Say something else."""
    reply = proceed(context, args)
    if reply.status not in {Nfsstat3.NFS3ERR_NOTEMPTY, Nfsstat3.NFS3ERR_EXIST}:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_IO)


@bends(RMDIR, "removes-files", "removes a file")
def removes_files(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove it as REMOVE does."""
    inode = find(server, args.object)
    if inode is None or inode.directory is not None:
        return proceed(context, args)
    inode.fs.remove(server.caller(context), server.resolve(args.object.dir), args.object.name)
    return RMDIRED


@bends(RMDIR, "removes-a-neighbour", "removes the entry `neighbour` as well")
def rmdir_removes_a_neighbour(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove it too."""
    reply = proceed(context, args)
    if reply.resok is not None and find(server, replace(args.object, name=b"neighbour")) is not None:
        directory = server.resolve(args.object.dir)
        directory.fs.remove(server.caller(context), directory, b"neighbour")
    return reply


@bends(RMDIR, "follows-symlinks", "of a symbolic link removes the directory that it points to")
def rmdir_follows_symlinks(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Go by the link's data."""
    inode = find(server, args.object)
    if inode is not None and inode.target:
        args = replace(args, object=replace(args.object, name=inode.target))
    return proceed(context, args)


@bends(RMDIR, "removes-from-files", "answers success when its directory is a file")
def rmdir_removes_from_files(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    from_file = reply.status == Nfsstat3.NFS3ERR_NOTDIR and not is_directory(server, args.object.dir)
    return RMDIRED if from_file else reply


@bends(RMDIR, "empties-by-dot", "of . refuses, and removes the files in the directory")
def empties_by_dot(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove them first."""
    if args.object.name == b".":
        remove_all(server, context, server.resolve(args.object.dir))
    return proceed(context, args)


@bends(RMDIR, "empties-by-dotdot", "of .. refuses, and removes the files in the parent")
def empties_by_dotdot(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove them first."""
    inode = server.resolve(args.object.dir)
    parent = inode.directory.parent if inode.directory is not None else None
    if args.object.name == b".." and parent is not None:
        remove_all(server, context, parent)
    return proceed(context, args)


# ---------------------------------------------------------------- LINK

LinkProceed: t.TypeAlias = Proceed[Link3Args, Link3Res]


@bends(LINK, "links-nothing", "answers success and makes no name")
def links_nothing(
    _server: Server, _context: CallContext, _args: Link3Args, _proceed: LinkProceed
) -> Link3Res:
    """Only say so."""
    return LINKED


@bends(LINK, "makes-a-copy", "copies the file instead")
def makes_a_copy(server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed) -> Link3Res:
    """Make another file with the same data, when nothing is in the way."""
    source = server.resolve(args.file)
    directory = server.resolve(args.link.dir)
    if source.data is None or directory.directory is None or find(server, args.link) is not None:
        return proceed(context, args)
    copy = directory.fs.create(server.caller(context), directory, args.link.name)
    assert copy.data is not None
    copy.data.write(0, source.data.read(0, source.size), stable=True)
    return LINKED


@bends(LINK, "forgets-to-count", "leaves nlink as it was")
def link_forgets_to_count(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Count it down again."""
    reply = proceed(context, args)
    if reply.resok is not None:
        server.resolve(args.file).nlink -= 1
    return reply


@bends(LINK, "attributes-of-the-directory", "returns the attributes of the directory as those of the file")
def attributes_of_the_directory(
    _server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Take them from linkdir_wcc."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, file_attributes=reply.resok.linkdir_wcc.after))


@bends(LINK, "replaces-files", "puts the link in the place of a file of that name")
def link_replaces_files(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Remove what is in the way."""
    existing = find(server, args.link)
    if existing is not None and existing.data is not None:
        directory = server.resolve(args.link.dir)
        directory.fs.remove(server.caller(context), directory, args.link.name)
    return proceed(context, args)


@bends(LINK, "links-in-files", "answers success when its directory is a file")
def links_in_files(_server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed) -> Link3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    return LINKED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


@bends(LINK, "links-in-the-parent", "puts the link beside its directory when that is called `elsewhere`")
def links_in_the_parent(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Ask for the parent."""
    inode = server.resolve(args.link.dir)
    parent = inode.directory.parent if inode.directory is not None else None
    if parent is None or parent.directory is None or parent.directory.get(b"elsewhere") is not inode:
        return proceed(context, args)
    return proceed(context, replace(args, link=replace(args.link, dir=server.handle_of(parent))))


@bends(LINK, "counts-refusals", "counts nlink up when the name exists")
def counts_refusals(server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed) -> Link3Res:
    """Count before looking."""
    reply = proceed(context, args)
    if reply.status == Nfsstat3.NFS3ERR_EXIST:
        server.resolve(args.file).nlink += 1
    return reply


@bends(LINK, "follows-symlinks", "of a symbolic link makes a link to what it points to")
def link_follows_symlinks(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Go by the link's data."""
    source = server.resolve(args.file)
    target = find(server, replace(args.link, name=source.target)) if source.target else None
    return proceed(context, args if target is None else replace(args, file=server.handle_of(target)))


@bends(LINK, "refuses-and-links-directories", "refuses a directory, and makes an empty one of that name")
def refuses_and_links_directories(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Make one after the refusal."""
    reply = proceed(context, args)
    if server.resolve(args.file).directory is not None and find(server, args.link) is None:
        directory = server.resolve(args.link.dir)
        directory.fs.mkdir(server.caller(context), directory, args.link.name)
    return reply


@bends(LINK, "replaces-directories", "puts the link in the place of an empty directory")
def link_replaces_directories(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Remove what is in the way."""
    existing = find(server, args.link)
    if existing is not None and existing.directory is not None and not len(existing.directory):
        existing.fs.rmdir(server.caller(context), server.resolve(args.link.dir), args.link.name)
    return proceed(context, args)


@bends(LINK, "takes-the-empty-name", "makes a link called `empty` when it is given no name", "3.2")
def link_takes_the_empty_name(
    _server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Find a name."""
    return proceed(context, replace(args, link=replace(args.link, name=args.link.name or b"empty")))


@bends(LINK, "cuts-long-names", "cuts a name to name_max, though PATHCONF says no_trunc", "3.3.20")
def link_cuts_long_names(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Keep what fits."""
    name = args.link.name[: server.limits.name_max]
    return proceed(context, replace(args, link=replace(args.link, name=name)))


@bends(LINK, "refusals-show-the-directory", "of a refusal returns the directory's attributes as the file's")
def refusals_show_the_directory(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Take the wrong object."""
    reply = proceed(context, args)
    if reply.resfail is None:
        return reply
    attributes = fattr3(server.resolve(args.link.dir))
    return replace(reply, resfail=replace(reply.resfail, file_attributes=attributes))
