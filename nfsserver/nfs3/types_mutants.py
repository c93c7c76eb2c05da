# SPDX-License-Identifier: MIT
"""Mutants of types: what is done wrong to objects that are neither regular files nor, mostly, directories."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    ACCESS,
    CREATE,
    DONT_CHANGE_TIME,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    READLINK,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    Access3Args,
    Access3Res,
    Create3Args,
    Create3Res,
    Create3ResFail,
    CreateMode3,
    Diropargs3,
    Ftype3,
    Getattr3Args,
    Getattr3Res,
    Link3Args,
    Link3Res,
    Lookup3Args,
    Lookup3Res,
    Nfsstat3,
    Readlink3Args,
    Readlink3Res,
    Readlink3ResOk,
    Remove3Args,
    Remove3Res,
    Rename3Args,
    Rename3Res,
    Rmdir3Args,
    Rmdir3Res,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResOk,
    Specdata3,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Changes, FsError, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.naming_bending import (
    MADE,
    OF_NAMES,
    TAKEN,
    AnyProceed,
    procedure_of,
    success,
)
from nfsserver.nfs3.removal_bending import LINKED, REMOVED, RENAMED, RMDIRED, bends, find

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_ATTRIBUTES: t.Final = "RFC 1813 section 2.5"
_SPECIAL: t.Final = frozenset({Kind.BLOCK, Kind.CHARACTER, Kind.SOCKET, Kind.FIFO})
_DEVICES: t.Final = frozenset({Ftype3.NF3BLK, Ftype3.NF3CHR})
_FILE_OR_DIRECTORY: t.Final = frozenset({Kind.REGULAR, Kind.DIRECTORY})


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _is_special(inode: Inode | None) -> bool:
    return inode is not None and inode.kind in _SPECIAL


# ---------------------------------------------------------------- GETATTR, LOOKUP, ACCESS, READLINK


def _bend_getattr(name: str, gist: str, of: t.Collection[Ftype3], **changes: t.Any) -> None:
    @mutant(name, bends=GETATTR, breaks=_ATTRIBUTES, gist=gist)
    def bend(
        _server: Server,
        context: CallContext,
        args: Getattr3Args,
        proceed: Proceed[Getattr3Args, Getattr3Res],
    ) -> Getattr3Res:
        reply = proceed(context, args)
        if reply.resok is None or reply.resok.obj_attributes.type not in of:
            return reply
        bent = replace(reply.resok.obj_attributes, **changes)
        return replace(reply, resok=replace(reply.resok, obj_attributes=bent))


_bend_getattr(
    "getattr3-calls-special-files-regular",
    "devices and sockets are called regular files by GETATTR",
    _DEVICES | {Ftype3.NF3SOCK},
    type=Ftype3.NF3REG,
)
_bend_getattr(
    "getattr3-has-no-device-numbers",
    "GETATTR does not give the numbers of devices",
    _DEVICES,
    rdev=Specdata3(0, 0),
)


@mutant(
    "lookup3-has-another-type",
    bends=LOOKUP,
    breaks="RFC 1813 section 3.3.3",
    gist="obj_attributes of LOOKUP have the next type in the list, for the name `found`",
)
def lookup3_has_another_type(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: Proceed[Lookup3Args, Lookup3Res]
) -> Lookup3Res:
    """Count on by one."""
    reply = proceed(context, args)
    if args.what.name != b"found" or reply.resok is None or reply.resok.obj_attributes is None:
        return reply
    attributes = reply.resok.obj_attributes
    bent = replace(attributes, type=Ftype3(attributes.type % 7 + 1))
    return replace(reply, resok=replace(reply.resok, obj_attributes=bent))


@mutant(
    "lookup3-finds-another-one",
    bends=LOOKUP,
    breaks="RFC 1813 section 3.3.3",
    gist="LOOKUP of `wanted` finds the directory itself",
)
def lookup3_finds_another_one(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: Proceed[Lookup3Args, Lookup3Res]
) -> Lookup3Res:
    """Look for a dot."""
    name = b"." if args.what.name == b"wanted" else args.what.name
    return proceed(context, replace(args, what=replace(args.what, name=name)))


@mutant(
    "access3-calls-everything-regular",
    bends=ACCESS,
    breaks="RFC 1813 section 3.3.4",
    gist="obj_attributes of ACCESS have the type of regular files",
)
def access3_calls_everything_regular(
    _server: Server, context: CallContext, args: Access3Args, proceed: Proceed[Access3Args, Access3Res]
) -> Access3Res:
    """Put that type there."""
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.obj_attributes is None:
        return reply
    bent = replace(reply.resok.obj_attributes, type=Ftype3.NF3REG)
    return replace(reply, resok=replace(reply.resok, obj_attributes=bent))


@mutant(
    "readlink3-reads-anything",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="READLINK of what is neither a link nor a file answers with nothing",
)
def readlink3_reads_anything(
    server: Server, context: CallContext, args: Readlink3Args, proceed: Proceed[Readlink3Args, Readlink3Res]
) -> Readlink3Res:
    """Find no text in it."""
    inode = _inode(server, args.symlink)
    if inode is None or inode.kind in (Kind.SYMLINK, Kind.REGULAR):
        return proceed(context, args)
    return Readlink3Res(Nfsstat3.NFS3_OK, Readlink3ResOk(None, b""))


@mutant(
    "readlink3-refusals-show-a-link",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="symlink_attributes of a READLINK that fails have the type of a link",
)
def readlink3_refusals_show_a_link(
    _server: Server, context: CallContext, args: Readlink3Args, proceed: Proceed[Readlink3Args, Readlink3Res]
) -> Readlink3Res:
    """Put that type there."""
    reply = proceed(context, args)
    if reply.resfail is None or reply.resfail.symlink_attributes is None:
        return reply
    bent = replace(reply.resfail.symlink_attributes, type=Ftype3.NF3LNK)
    return replace(reply, resfail=replace(reply.resfail, symlink_attributes=bent))


# ---------------------------------------------------------------- SETATTR


def _bend_setattr(
    name: str, gist: str, bend: t.Callable[[Inode, Setattr3Args], Setattr3Args | Setattr3Res]
) -> None:
    @mutant(name, bends=SETATTR, breaks="RFC 1813 section 3.3.2", gist=gist)
    def middleware(
        server: Server,
        context: CallContext,
        args: Setattr3Args,
        proceed: Proceed[Setattr3Args, Setattr3Res],
    ) -> Setattr3Res:
        inode = _inode(server, args.object)
        bent = args if inode is None else bend(inode, args)
        return bent if isinstance(bent, Setattr3Res) else proceed(context, bent)


def _changes_only_files(inode: Inode, args: Setattr3Args) -> Setattr3Args:
    if inode.kind is Kind.REGULAR:
        return args
    mode = args.new_attributes.mode if inode.directory is not None else None
    ignored = replace(
        args.new_attributes, mode=mode, uid=None, gid=None, atime=DONT_CHANGE_TIME, mtime=DONT_CHANGE_TIME
    )
    return replace(args, new_attributes=ignored)


def _mode_touches_all_else(inode: Inode, args: Setattr3Args) -> Setattr3Args:
    if args.new_attributes.mode == 0o710:
        inode.mtime += 5_000_000_000
    return args


def _takes_sizes(inode: Inode, args: Setattr3Args) -> Setattr3Args | Setattr3Res:
    if inode.kind in _FILE_OR_DIRECTORY or inode.kind is Kind.FIFO or args.new_attributes.size is None:
        return args
    return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(WccData()))


_bend_setattr(
    "setattr3-changes-only-files",
    "SETATTR sets neither owners nor times of what is no regular file, nor the modes of special files",
    _changes_only_files,
)
_bend_setattr("setattr3-mode-touches-all-else", "SETATTR of the mode 710 moves mtime", _mode_touches_all_else)
_bend_setattr(
    "setattr3-takes-sizes-of-special-files",
    "SETATTR of the size of links, devices and sockets answers success",
    _takes_sizes,
)
_bend_setattr(
    "setattr3-guards-no-special-files",
    "SETATTR does not compare the guard for links and special files",
    lambda inode, args: args if inode.kind in _FILE_OR_DIRECTORY else replace(args, guard=None),
)


# ---------------------------------------------------------------- names


def _fields(args: t.Any) -> list[str]:
    procedure = procedure_of(args)
    return [table[procedure] for table in (MADE, TAKEN) if procedure in table]


@mutant(
    "names3-look-into-special-files",
    bends=OF_NAMES,
    breaks=_ATTRIBUTES,
    gist="names in devices, sockets and FIFOs are answered with success",
)
def look_into_special_files(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Say that it was done."""
    if any(_is_special(_inode(server, getattr(args, field).dir)) for field in _fields(args)):
        return success(args)
    return proceed(context, args)


def _pointed_to(server: Server, where: Diropargs3) -> Diropargs3:
    """The directory that a link points to, in place of the link."""
    link = _inode(server, where.dir)
    if link is None or link.kind is not Kind.SYMLINK:
        return where
    for directory in server.fs.inodes():
        entries = directory.directory
        target = None if entries is None else entries.get(link.target)
        if entries is not None and target is not None and link in map(entries.get, entries.names()):
            return replace(where, dir=server.handle_of(target))
    return where


@mutant(
    "names3-follow-links-to-directories",
    bends=OF_NAMES,
    breaks=_ATTRIBUTES,
    gist="the handle of a symbolic link is taken for that of the directory that it points to",
)
def follow_links_to_directories(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Go there."""
    bent = {field: _pointed_to(server, getattr(args, field)) for field in _fields(args)}
    return proceed(context, replace(args, **bent))


@mutant(
    "names3-make-over-others",
    bends=(MKDIR, SYMLINK, MKNOD, LINK),
    breaks="RFC 1813 section 3.3.9",
    gist="what is made over a name that exists, and is no regular file's, is answered with success",
)
def make_over_others(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Say that it was made."""
    there = find(server, getattr(args, MADE[procedure_of(args)]))
    return proceed(context, args) if there is None or there.kind is Kind.REGULAR else success(args)


def _bend_create(name: str, gist: str) -> t.Callable[[t.Any], t.Any]:
    return mutant(name, bends=CREATE, breaks="RFC 1813 section 3.3.8", gist=gist)


@_bend_create("create3-guarded-sets-the-mode", "GUARDED CREATE over what exists refuses, and sets its mode")
def guarded_sets_the_mode(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Set it first."""
    there = find(server, args.where)
    asked = args.how.obj_attributes
    if there is not None and asked is not None and asked.mode is not None:
        there.mode = asked.mode ^ 1
    return proceed(context, args)


@_bend_create("create3-exclusive-takes-others", "EXCLUSIVE CREATE takes what exists and is no regular file")
def exclusive_takes_others(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Say that it was made."""
    there = find(server, args.where)
    if there is None or there.kind is Kind.REGULAR or args.how.mode != CreateMode3.EXCLUSIVE:
        return proceed(context, args)
    return t.cast("Create3Res", success(args))


@_bend_create(
    "create3-unchecked-replaces-others", "UNCHECKED CREATE puts a file in the place of what was there"
)
def unchecked_replaces_others(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Make it under another name and let the old name stand for it."""
    there = find(server, args.where)
    if there is None or there.kind is Kind.REGULAR or args.how.mode != CreateMode3.UNCHECKED:
        return proceed(context, args)
    reply = proceed(context, replace(args, where=replace(args.where, name=args.where.name + b"~")))
    made = find(server, replace(args.where, name=args.where.name + b"~"))
    directory = server.resolve(args.where.dir).directory
    if made is not None and directory is not None:
        directory.replace(args.where.name, made)
    return reply


@_bend_create(
    "create3-follows-links", "CREATE over a symbolic link refuses, and makes a file where it points to"
)
def create_follows_links(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Make it there."""
    there = find(server, args.where)
    if there is None or there.kind is not Kind.SYMLINK:
        return proceed(context, args)
    directory = server.resolve(args.where.dir)
    directory.fs.create(server.caller(context), directory, there.target, Changes())
    return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK, RENAME


@bends(REMOVE, "keeps-special-files", "of devices and sockets answers success, and removes nothing")
def keeps_special_files(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """FIFOs excepted."""
    there = find(server, args.object)
    keeps = there is not None and there.kind in _SPECIAL - {Kind.FIFO}
    return REMOVED if keeps else proceed(context, args)


@bends(RMDIR, "removes-special-files", "removes devices, sockets and FIFOs")
def removes_special_files(
    server: Server, context: CallContext, args: Rmdir3Args, proceed: Proceed[Rmdir3Args, Rmdir3Res]
) -> Rmdir3Res:
    """As REMOVE does."""
    if not _is_special(find(server, args.object)):
        return proceed(context, args)
    directory = server.resolve(args.object.dir)
    directory.fs.remove(server.caller(context), directory, args.object.name)
    return RMDIRED


@bends(LINK, "makes-files-of-special-files", "of devices, sockets and FIFOs makes a new file")
def makes_files_of_special_files(
    server: Server, context: CallContext, args: Link3Args, proceed: Proceed[Link3Args, Link3Res]
) -> Link3Res:
    """An empty one."""
    if not _is_special(_inode(server, args.file)):
        return proceed(context, args)
    directory = server.resolve(args.link.dir)
    directory.fs.create(server.caller(context), directory, args.link.name, Changes())
    return LINKED


@bends(RENAME, "loses-special-files", "of devices, sockets and FIFOs removes them")
def loses_special_files(
    server: Server, context: CallContext, args: Rename3Args, proceed: Proceed[Rename3Args, Rename3Res]
) -> Rename3Res:
    """Instead of moving them."""
    if not _is_special(find(server, args.from_)) or find(server, args.to) is not None:
        return proceed(context, args)
    directory = server.resolve(args.from_.dir)
    directory.fs.remove(server.caller(context), directory, args.from_.name)
    return RENAMED


@bends(RENAME, "replaces-only-files-by-files", "answers success, and does nothing, over other types")
def replaces_only_files_by_files(
    server: Server, context: CallContext, args: Rename3Args, proceed: Proceed[Rename3Args, Rename3Res]
) -> Rename3Res:
    """Directories excepted too."""
    source, target = find(server, args.from_), find(server, args.to)
    if source is None or target is None or source.kind is Kind.DIRECTORY or target.kind is Kind.DIRECTORY:
        return proceed(context, args)
    return proceed(context, args) if source.kind is target.kind is Kind.REGULAR else RENAMED


@bends(
    RENAME, "mixes-directories-with-others", "answers success for a directory over another type, or under one"
)
def mixes_directories_with_others(
    server: Server, context: CallContext, args: Rename3Args, proceed: Proceed[Rename3Args, Rename3Res]
) -> Rename3Res:
    """Regular files excepted."""
    kinds = {found.kind for where in (args.from_, args.to) if (found := find(server, where)) is not None}
    mixed = Kind.DIRECTORY in kinds and bool(kinds - _FILE_OR_DIRECTORY)
    return RENAMED if mixed else proceed(context, args)
