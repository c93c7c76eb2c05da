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
    Access3Res,
    Create3Res,
    Create3ResFail,
    CreateMode3,
    Diropargs3,
    Ftype3,
    Getattr3Res,
    Link3Res,
    Lookup3Res,
    Nfsstat3,
    Readlink3Res,
    Readlink3ResOk,
    Remove3Res,
    Rename3Res,
    Rmdir3Res,
    Setattr3Res,
    Setattr3ResOk,
    Specdata3,
    WccData,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal, change, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import (
    LINKED,
    MADE,
    OF_NAMES,
    REMOVED,
    RENAMED,
    RMDIRED,
    find,
    name_fields,
    success,
)
from nfsmutants.nfs3.calls import (
    Access,
    Create,
    Getattr,
    Link,
    Lookup,
    Readlink,
    Remove,
    Rename,
    Rmdir,
    Setattr,
)
from nfsmutants.rules import (
    RFC1813_ACCESS,
    RFC1813_CREATE,
    RFC1813_DATA_TYPES,
    RFC1813_LINK,
    RFC1813_LOOKUP,
    RFC1813_MKDIR,
    RFC1813_READLINK,
    RFC1813_REMOVE,
    RFC1813_RENAME,
    RFC1813_RMDIR,
    RFC1813_SETATTR,
)
from nfsserver.fs import Changes, Inode, Kind
from nfsserver.server import Server

_SPECIAL: t.Final = frozenset({Kind.BLOCK, Kind.CHARACTER, Kind.SOCKET, Kind.FIFO})
_DEVICES: t.Final = frozenset({Ftype3.NF3BLK, Ftype3.NF3CHR})
_FILE_OR_DIRECTORY: t.Final = frozenset({Kind.REGULAR, Kind.DIRECTORY})


def _is_special(inode: Inode | None) -> bool:
    return inode is not None and inode.kind in _SPECIAL


# ---------------------------------------------------------------- GETATTR, LOOKUP, ACCESS, READLINK


def _amend_types(call: Getattr, types: t.Collection[Ftype3], **changes: t.Any) -> Getattr3Res:
    """Other attributes of objects of some types."""
    reply = call.proceed()
    if reply.resok is None or reply.resok.obj_attributes.type not in types:
        return reply
    return amend(reply, "obj_attributes", **changes)


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_calls_special_files_regular(call: Getattr) -> Getattr3Res:
    """Devices and sockets are called regular files by GETATTR"""
    return _amend_types(call, _DEVICES | {Ftype3.NF3SOCK}, type=Ftype3.NF3REG)


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_has_no_device_numbers(call: Getattr) -> Getattr3Res:
    """GETATTR does not give the numbers of devices"""
    return _amend_types(call, _DEVICES, rdev=Specdata3(0, 0))


@mutant(LOOKUP, RFC1813_LOOKUP)
def lookup3_has_another_type(call: Lookup) -> Lookup3Res:
    """obj_attributes of LOOKUP have the next type in the list"""
    return amend(call.proceed(), "obj_attributes", type=lambda it: Ftype3(it.type % 7 + 1))


@mutant(LOOKUP, RFC1813_LOOKUP, kills_many="checks look up what they made")
def lookup3_finds_another_one(call: Lookup) -> Lookup3Res:
    """LOOKUP of any name finds the directory itself"""
    return call.proceed_with("what", name=b".")


@mutant(ACCESS, RFC1813_ACCESS)
def access3_calls_everything_regular(call: Access) -> Access3Res:
    """obj_attributes of ACCESS have the type of regular files"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.obj_attributes is None:
        return reply
    bent = replace(reply.resok.obj_attributes, type=Ftype3.NF3REG)
    return amend(reply, obj_attributes=bent)


@mutant(READLINK, RFC1813_READLINK)
def readlink3_reads_anything(call: Readlink) -> Readlink3Res:
    """READLINK of what is neither a link nor a file answers with nothing"""
    inode = inode_of(call.server, call.args.symlink)
    if inode is None or inode.kind in (Kind.SYMLINK, Kind.REGULAR):
        return call.proceed()
    return Readlink3Res(Nfsstat3.NFS3_OK, Readlink3ResOk(None, b""))


@mutant(READLINK, RFC1813_READLINK)
def readlink3_refusals_show_a_link(call: Readlink) -> Readlink3Res:
    """symlink_attributes of a READLINK that fails have the type of a link"""
    reply = call.proceed()
    if reply.resfail is None or reply.resfail.symlink_attributes is None:
        return reply
    bent = replace(reply.resfail.symlink_attributes, type=Ftype3.NF3LNK)
    return amend_refusal(reply, symlink_attributes=bent)


# ---------------------------------------------------------------- SETATTR


@mutant(SETATTR, RFC1813_SETATTR)
def setattr3_changes_only_files(call: Setattr) -> Setattr3Res:
    """SETATTR sets neither owners nor times of what is no regular file, nor the modes of special files"""
    inode = inode_of(call.server, call.args.object)
    if inode is None or inode.kind is Kind.REGULAR:
        return call.proceed()
    mode = call.args.new_attributes.mode if inode.directory is not None else None
    never = DONT_CHANGE_TIME
    return call.proceed_with("new_attributes", mode=mode, uid=None, gid=None, atime=never, mtime=never)


@mutant(SETATTR, RFC1813_SETATTR)
def setattr3_mode_touches_all_else(call: Setattr) -> Setattr3Res:
    """SETATTR of a mode moves mtime by seconds"""
    inode = inode_of(call.server, call.args.object)
    if inode is not None and call.args.new_attributes.mode is not None:
        inode.mtime += 5_000_000_000
    return call.proceed()


@mutant(SETATTR, RFC1813_SETATTR)
def setattr3_takes_sizes_of_special_files(call: Setattr) -> Setattr3Res:
    """SETATTR of the size of links, devices and sockets answers success"""
    inode = inode_of(call.server, call.args.object)
    others = _FILE_OR_DIRECTORY | {Kind.FIFO}
    if inode is None or inode.kind in others or call.args.new_attributes.size is None:
        return call.proceed()
    return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(WccData()))


@mutant(SETATTR, RFC1813_SETATTR)
def setattr3_guards_no_special_files(call: Setattr) -> Setattr3Res:
    """SETATTR does not compare the guard for links and special files"""
    inode = inode_of(call.server, call.args.object)
    is_meant = inode is not None and inode.kind not in _FILE_OR_DIRECTORY
    return call.proceed_with(guard=None) if is_meant else call.proceed()


# ---------------------------------------------------------------- names


@mutant(OF_NAMES, RFC1813_DATA_TYPES)
def names3_look_into_special_files(call: AnyCall) -> t.Any:
    """Names in devices, sockets and FIFOs are answered with success"""
    places = [getattr(call.args, field) for field in name_fields(call.procedure)]
    is_meant = any(_is_special(inode_of(call.server, place.dir)) for place in places)
    return success(call) if is_meant else call.proceed()


def _pointed_to(server: Server, where: Diropargs3) -> Diropargs3:
    """The directory that a link points to, in place of the link."""
    link = inode_of(server, where.dir)
    if link is None or link.kind is not Kind.SYMLINK:
        return where
    for directory in server.fs.inodes():
        entries = directory.directory
        target = None if entries is None else entries.get(link.target)
        if entries is not None and target is not None and link in map(entries.get, entries.names()):
            return replace(where, dir=server.handle_of(target))
    return where


@mutant(OF_NAMES, RFC1813_DATA_TYPES)
def names3_follow_links_to_directories(call: AnyCall) -> t.Any:
    """The handle of a symbolic link is taken for that of the directory that it points to"""
    bent = {
        field: _pointed_to(call.server, getattr(call.args, field)) for field in name_fields(call.procedure)
    }
    return call.proceed_with(**bent)


@mutant((MKDIR, SYMLINK, MKNOD, LINK), RFC1813_MKDIR)
def names3_make_over_others(call: AnyCall) -> t.Any:
    """What is made over a name that exists, and is no regular file's, is answered with success"""
    there = find(call.server, getattr(call.args, MADE[call.procedure]))
    return call.proceed() if there is None or there.kind is Kind.REGULAR else success(call)


@mutant(CREATE, RFC1813_CREATE)
def create3_guarded_sets_the_mode(call: Create) -> Create3Res:
    """GUARDED CREATE over what exists refuses, and sets its mode"""
    there = find(call.server, call.args.where)
    asked = call.args.how.obj_attributes
    if there is not None and asked is not None and asked.mode is not None:
        there.mode = asked.mode ^ 1
    return call.proceed()


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_takes_others(call: Create) -> Create3Res:
    """EXCLUSIVE CREATE takes what exists and is no regular file"""
    there = find(call.server, call.args.where)
    if there is None or there.kind is Kind.REGULAR or call.args.how.mode != CreateMode3.EXCLUSIVE:
        return call.proceed()
    return t.cast("Create3Res", success(call))


@mutant(CREATE, RFC1813_CREATE)
def create3_unchecked_replaces_others(call: Create) -> Create3Res:
    """UNCHECKED CREATE puts a file in the place of what was there"""
    args = call.args
    there = find(call.server, args.where)
    if there is None or there.kind is Kind.REGULAR or args.how.mode != CreateMode3.UNCHECKED:
        return call.proceed()
    reply = call.proceed(change(args, "where", name=args.where.name + b"~"))
    made = find(call.server, replace(args.where, name=args.where.name + b"~"))
    directory = call.server.resolve(args.where.dir).directory
    if made is not None and directory is not None:
        directory.replace(args.where.name, made)
    return reply


@mutant(CREATE, RFC1813_CREATE)
def create3_follows_links(call: Create) -> Create3Res:
    """CREATE over a symbolic link refuses, and makes a file where it points to"""
    there = find(call.server, call.args.where)
    if there is None or there.kind is not Kind.SYMLINK:
        return call.proceed()
    directory = call.server.resolve(call.args.where.dir)
    directory.fs.create(call.caller, directory, there.target, Changes())
    return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))


# ---------------------------------------------------------------- REMOVE, RMDIR, LINK, RENAME


@mutant(REMOVE, RFC1813_REMOVE)
def remove3_keeps_special_files(call: Remove) -> Remove3Res:
    """REMOVE of devices and sockets answers success, and removes nothing"""
    there = find(call.server, call.args.object)
    keeps = there is not None and there.kind in _SPECIAL - {Kind.FIFO}
    return REMOVED if keeps else call.proceed()


@mutant(RMDIR, RFC1813_RMDIR)
def rmdir3_removes_special_files(call: Rmdir) -> Rmdir3Res:
    """RMDIR removes devices, sockets and FIFOs"""
    if not _is_special(find(call.server, call.args.object)):
        return call.proceed()
    directory = call.server.resolve(call.args.object.dir)
    directory.fs.remove(call.caller, directory, call.args.object.name)
    return RMDIRED


@mutant(LINK, RFC1813_LINK)
def link3_makes_files_of_special_files(call: Link) -> Link3Res:
    """LINK of devices, sockets and FIFOs makes a new file"""
    if not _is_special(inode_of(call.server, call.args.file)):
        return call.proceed()
    directory = call.server.resolve(call.args.link.dir)
    directory.fs.create(call.caller, directory, call.args.link.name, Changes())
    return LINKED


@mutant(RENAME, RFC1813_RENAME)
def rename3_loses_special_files(call: Rename) -> Rename3Res:
    """RENAME of devices, sockets and FIFOs removes them"""
    if not _is_special(find(call.server, call.args.from_)) or find(call.server, call.args.to) is not None:
        return call.proceed()
    directory = call.server.resolve(call.args.from_.dir)
    directory.fs.remove(call.caller, directory, call.args.from_.name)
    return RENAMED


@mutant(RENAME, RFC1813_RENAME)
def rename3_replaces_only_files_by_files(call: Rename) -> Rename3Res:
    """RENAME answers success, and does nothing, over other types"""
    source, target = find(call.server, call.args.from_), find(call.server, call.args.to)
    if source is None or target is None or source.kind is Kind.DIRECTORY or target.kind is Kind.DIRECTORY:
        return call.proceed()
    return call.proceed() if source.kind is target.kind is Kind.REGULAR else RENAMED


@mutant(RENAME, RFC1813_RENAME)
def rename3_mixes_directories_with_others(call: Rename) -> Rename3Res:
    """RENAME answers success for a directory over another type, or under one"""
    kinds = {
        found.kind
        for where in (call.args.from_, call.args.to)
        if (found := find(call.server, where)) is not None
    }
    mixed = Kind.DIRECTORY in kinds and bool(kinds - _FILE_OR_DIRECTORY)
    return RENAMED if mixed else call.proceed()
