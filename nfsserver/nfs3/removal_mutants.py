# SPDX-License-Identifier: MIT
"""Mutants of REMOVE, RMDIR, RENAME and LINK."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    LINK,
    LOOKUP,
    REMOVE,
    RENAME,
    RMDIR,
    Diropargs3,
    Link3Args,
    Link3Res,
    Link3ResOk,
    Lookup3Res,
    Lookup3ResFail,
    Nfsstat3,
    Remove3Args,
    Remove3Res,
    Remove3ResOk,
    Rename3Args,
    Rename3Res,
    Rename3ResOk,
    Rmdir3Args,
    Rmdir3Res,
    Rmdir3ResOk,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Bend: t.TypeAlias = "Callable[[Server, CallContext, t.Any, Proceed[t.Any, t.Any]], t.Any]"

_SECTION: t.Final = {REMOVE: "3.3.12", RMDIR: "3.3.13", RENAME: "3.3.14", LINK: "3.3.15"}
_REMOVED: t.Final = Remove3Res(Nfsstat3.NFS3_OK, Remove3ResOk(WccData()))
_RMDIRED: t.Final = Rmdir3Res(Nfsstat3.NFS3_OK, Rmdir3ResOk(WccData()))
_RENAMED: t.Final = Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(WccData(), WccData()))
_LINKED: t.Final = Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(None, WccData()))


def _bends(procedure: t.Any, suffix: str, gist: str) -> Callable[[Bend], Bend]:
    """Register middleware as ``<procedure>3-<suffix>``."""
    name = f"{procedure.name.lower()}3-{suffix}"
    clause = f"RFC 1813 section {_SECTION[procedure]}"
    return mutant(name, bends=(procedure,), breaks=clause, gist=f"{procedure.name} {gist}")


def _find(server: Server, where: Diropargs3) -> Inode | None:
    """What stands under a name; None if nothing does, or the directory is none."""
    try:
        directory = server.resolve(where.dir).directory
    except FsError:
        return None
    return None if directory is None else directory.get(where.name)


def _succeeds_instead_of(suffix: str, status: Nfsstat3, gist: str) -> None:
    """Register for REMOVE and RMDIR what answers success, and does nothing, where a status was due."""
    for procedure, success in ((REMOVE, _REMOVED), (RMDIR, _RMDIRED)):

        def bend(
            _server: Server,
            context: CallContext,
            args: t.Any,
            proceed: Proceed[t.Any, t.Any],
            success: t.Any = success,
        ) -> t.Any:
            reply = proceed(context, args)
            return success if reply.status == status else reply

        _bends(procedure, suffix, gist)(bend)


_succeeds_instead_of(
    "removes-what-is-not-there", Nfsstat3.NFS3ERR_NOENT, "answers success for a name that does not exist"
)


# ---------------------------------------------------------------- REMOVE


@_bends(REMOVE, "removes-nothing", "answers success and leaves the entry in the directory")
def removes_nothing(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Answer success wherever the name exists."""
    return proceed(context, args) if _find(server, args.object) is None else _REMOVED


@_bends(REMOVE, "removes-a-neighbour", "removes the entry `neighbour` as well")
def removes_a_neighbour(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Remove it too."""
    reply = proceed(context, args)
    if reply.resok is not None and _find(server, replace(args.object, name=b"neighbour")) is not None:
        directory = server.resolve(args.object.dir)
        directory.fs.remove(server.caller(context), directory, b"neighbour")
    return reply


@_bends(REMOVE, "destroys-linked-files", "empties a file that has other names")
def destroys_linked_files(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Cut the data off."""
    inode = _find(server, args.object)
    if inode is not None and inode.nlink > 1 and inode.data is not None:
        inode.data.truncate(0)
    return proceed(context, args)


@_bends(REMOVE, "forgets-to-count", "leaves nlink of a file with other names as it was")
def remove_forgets_to_count(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Count it up again."""
    inode = _find(server, args.object)
    reply = proceed(context, args)
    if inode is not None and inode.directory is None and inode.nlink and reply.resok is not None:
        inode.nlink += 1
    return reply


@_bends(REMOVE, "follows-symlinks", "of a symbolic link removes what it points to")
def follows_symlinks(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Go by the link's data."""
    inode = _find(server, args.object)
    if inode is not None and inode.target:
        args = replace(args, object=replace(args.object, name=inode.target))
    return proceed(context, args)


@_bends(REMOVE, "removes-from-files", "answers success when its directory is a file")
def removes_from_files(
    _server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    return _REMOVED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply


# ---------------------------------------------------------------- RMDIR


@_bends(RMDIR, "removes-nothing", "answers success and leaves the directory")
def rmdir_removes_nothing(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Answer success for any directory."""
    inode = _find(server, args.object)
    return proceed(context, args) if inode is None or inode.directory is None else _RMDIRED


@_bends(
    RMDIR, "empties-before-refusing", "refuses a directory that is not empty, and removes the files in it"
)
def empties_before_refusing(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove them afterwards."""
    inode = _find(server, args.object)
    reply = proceed(context, args)
    if reply.resok is None and inode is not None and inode.directory is not None:
        for name in inode.directory.names():
            inode.fs.remove(server.caller(context), inode, name)
    return reply


@_bends(RMDIR, "full-is-io", "answers IO for a directory that is not empty")
def full_is_io(
    _server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Say something else."""
    reply = proceed(context, args)
    if reply.status not in {Nfsstat3.NFS3ERR_NOTEMPTY, Nfsstat3.NFS3ERR_EXIST}:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_IO)


@_bends(RMDIR, "removes-files", "removes a file")
def removes_files(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """Remove it as REMOVE does."""
    inode = _find(server, args.object)
    if inode is None or inode.directory is not None:
        return proceed(context, args)
    inode.fs.remove(server.caller(context), server.resolve(args.object.dir), args.object.name)
    return _RMDIRED


# ---------------------------------------------------------------- RENAME

RenameProceed: t.TypeAlias = Proceed[Rename3Args, Rename3Res]


def _link_again(server: Server, context: CallContext, inode: Inode, where: Diropargs3) -> None:
    """Give a file a name, over whatever has it."""
    directory = server.resolve(where.dir)
    existing = _find(server, where)
    if existing is not None and existing is not inode:
        directory.fs.remove(server.caller(context), directory, where.name)
    if existing is not inode:
        directory.fs.link(server.caller(context), inode, directory, where.name)


@_bends(RENAME, "leaves-the-old-name", "of a file to the name `new` leaves the old name behind")
def leaves_the_old_name(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Make a link of it."""
    inode = _find(server, args.from_)
    reply = proceed(context, args)
    if reply.resok is not None and inode is not None and inode.directory is None and args.to.name == b"new":
        _link_again(server, context, inode, args.from_)
    return reply


@_bends(RENAME, "makes-a-new-file", "of a file to the name `new` makes another, empty file")
def makes_a_new_file(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Replace it."""
    reply = proceed(context, args)
    inode = _find(server, args.to)
    if reply.resok is not None and args.to.name == b"new" and inode is not None and inode.directory is None:
        directory = server.resolve(args.to.dir)
        directory.fs.remove(server.caller(context), directory, args.to.name)
        directory.fs.create(server.caller(context), directory, args.to.name)
    return reply


@_bends(RENAME, "stays-in-its-directory", "puts the new name into the old directory")
def stays_in_its_directory(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Ask for another directory."""
    return proceed(context, replace(args, to=replace(args.to, dir=args.from_.dir)))


@_bends(RENAME, "keeps-the-target", "over a file removes the source, and leaves the target")
def keeps_the_target(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Put the target back."""
    target = _find(server, args.to)
    source = _find(server, args.from_)
    if target is None or target.data is None or source is None or source.data is None or source is target:
        return proceed(context, args)
    directory = server.resolve(args.from_.dir)
    directory.fs.remove(server.caller(context), directory, args.from_.name)
    return _RENAMED


@_bends(RENAME, "replaces-no-directories", "over an empty directory answers success and does nothing")
def replaces_no_directories(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Answer success."""
    target, source = _find(server, args.to), _find(server, args.from_)
    both = target is not None and source is not None and target.directory is not None is not source.directory
    return _RENAMED if both and source is not target else proceed(context, args)


def _replacing(suffix: str, gist: str, *, source_is_directory: bool, target_is_directory: bool) -> None:
    """Register a mutant that clears an incompatible or full target out of the way."""

    @_bends(RENAME, suffix, gist)
    def replaces(
        server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
    ) -> Rename3Res:
        source, target = _find(server, args.from_), _find(server, args.to)
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


@_bends(RENAME, "removes-one-of-two-links", "of a file to another of its own names removes the first")
def removes_one_of_two_links(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Remove it."""
    source, target = _find(server, args.from_), _find(server, args.to)
    if source is None or source is not target or source.data is None:
        return proceed(context, args)
    directory = server.resolve(args.from_.dir)
    directory.fs.remove(server.caller(context), directory, args.from_.name)
    return _RENAMED


@_bends(RENAME, "removes-the-target-first", "removes the target before it finds that there is no source")
def removes_the_target_first(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Remove it when the source is missing."""
    target = _find(server, args.to)
    if _find(server, args.from_) is None and target is not None and target.directory is None:
        directory = server.resolve(args.to.dir)
        directory.fs.remove(server.caller(context), directory, args.to.name)
    return proceed(context, args)


@_bends(RENAME, "loses-directories", "of a directory to below itself cuts it off from the tree")
def loses_directories(
    server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Take the name away when the move is refused as invalid."""
    reply = proceed(context, args)
    source, parent = _find(server, args.from_), server.resolve(args.from_.dir).directory
    if reply.status != Nfsstat3.NFS3ERR_INVAL or source is None or source.directory is None or parent is None:
        return reply
    parent.remove(args.from_.name)
    return _RENAMED


# ---------------------------------------------------------------- LINK

LinkProceed: t.TypeAlias = Proceed[Link3Args, Link3Res]


@_bends(LINK, "links-nothing", "answers success and makes no name")
def links_nothing(
    _server: Server, _context: CallContext, _args: Link3Args, _proceed: LinkProceed
) -> Link3Res:
    """Only say so."""
    return _LINKED


@_bends(LINK, "makes-a-copy", "copies the file instead")
def makes_a_copy(server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed) -> Link3Res:
    """Make another file with the same data, when nothing is in the way."""
    source = server.resolve(args.file)
    directory = server.resolve(args.link.dir)
    if source.data is None or directory.directory is None or _find(server, args.link) is not None:
        return proceed(context, args)
    copy = directory.fs.create(server.caller(context), directory, args.link.name)
    assert copy.data is not None
    copy.data.write(0, source.data.read(0, source.size), stable=True)
    return _LINKED


@_bends(LINK, "forgets-to-count", "leaves nlink as it was")
def link_forgets_to_count(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Count it down again."""
    reply = proceed(context, args)
    if reply.resok is not None:
        server.resolve(args.file).nlink -= 1
    return reply


@_bends(LINK, "attributes-of-the-directory", "returns the attributes of the directory as those of the file")
def attributes_of_the_directory(
    _server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Take them from linkdir_wcc."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, file_attributes=reply.resok.linkdir_wcc.after))


@_bends(LINK, "replaces-files", "puts the link in the place of a file of that name")
def link_replaces_files(
    server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed
) -> Link3Res:
    """Remove what is in the way."""
    existing = _find(server, args.link)
    if existing is not None and existing.data is not None:
        directory = server.resolve(args.link.dir)
        directory.fs.remove(server.caller(context), directory, args.link.name)
    return proceed(context, args)


@_bends(LINK, "links-in-files", "answers success when its directory is a file")
def links_in_files(_server: Server, context: CallContext, args: Link3Args, proceed: LinkProceed) -> Link3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    return _LINKED if reply.status == Nfsstat3.NFS3ERR_NOTDIR else reply
