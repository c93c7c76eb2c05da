# SPDX-License-Identifier: MIT
"""Mutants of GETATTR and ACCESS; those of SETATTR are in `setattr`."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    ACCESS,
    ACCESS3_EXECUTE,
    ACCESS3_EXTEND,
    ACCESS3_LOOKUP,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    GETATTR,
    WRITE,
    Access3Res,
    Access3ResFail,
    Ftype3,
    Getattr3Res,
    Getattr3ResOk,
    Nfsstat3,
    Nfstime3,
)
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Access, Getattr
from nfsmutants.rules import RFC1813_ACCESS, RFC1813_DATA_TYPES, RFC1813_GETATTR, RFC1813_PERMISSIONS
from nfsserver.fs import Caller, Inode, Kind
from nfsserver.nfs3.common import fattr3

_SECOND: t.Final = 1_000_000_000
_S_IFREG: t.Final = 0o100000


def _is_subdirectory(inode: Inode) -> bool:
    """A directory, but not the root, by which a run sees that the server is well."""
    return inode.directory is not None and inode is not inode.fs.root


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_wrong_type(call: Getattr) -> Getattr3Res:
    """GETATTR calls every directory below the root a regular file"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    return amend(reply, "obj_attributes", type=Ftype3.NF3REG) if _is_subdirectory(inode) else reply


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_calls_empty_files_fifos(call: Getattr) -> Getattr3Res:
    """GETATTR calls a regular file without data a FIFO"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    is_empty = inode.kind is Kind.REGULAR and inode.size == 0
    return amend(reply, "obj_attributes", type=Ftype3.NF3FIFO) if is_empty else reply


def _target(link: Inode) -> Inode | None:
    """What a symbolic link leads to beside it."""
    for directory in link.fs.inodes():
        entries = directory.directory
        if entries is not None and any(entries.get(name) is link for name in entries.names()):
            return entries.get(link.target)
    return None


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_follows_symlinks(call: Getattr) -> Getattr3Res:
    """GETATTR of a symbolic link gives the attributes of its target"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    target = _target(inode) if inode.kind is Kind.SYMLINK else None
    return reply if target is None else amend(reply, obj_attributes=fattr3(target))


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_invents_a_type(call: Getattr) -> Getattr3Res:
    """GETATTR gives FIFOs the type 8, which ftype3 does not have"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    return amend(reply, "obj_attributes", type=Ftype3(8)) if inode.kind is Kind.FIFO else reply


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_mode_has_the_type(call: Getattr) -> Getattr3Res:
    """GETATTR adds the type bits of st_mode to the mode of files"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    attributes = reply.resok.obj_attributes
    if inode.kind is not Kind.REGULAR or inode.size:
        return reply
    return amend(reply, "obj_attributes", mode=attributes.mode | _S_IFREG)


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_rounds_small_sizes_up(call: Getattr) -> Getattr3Res:
    """GETATTR says 8 for the size of a file of 1 to 3 bytes"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    is_small = inode.kind is Kind.REGULAR and 1 <= inode.size <= 3
    return amend(reply, "obj_attributes", size=8) if is_small else reply


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_truncates_size(call: Getattr) -> Getattr3Res:
    """GETATTR gives the lower 32 bits of a size"""
    return amend(call.proceed(), "obj_attributes", size=lambda it: it.size & 0xFFFF_FFFF)


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_overfills_nanoseconds(call: Getattr) -> Getattr3Res:
    """GETATTR gives the atime of a directory as a second less, and a billion nanoseconds more"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    attributes = reply.resok.obj_attributes
    if not _is_subdirectory(inode):
        return reply
    atime = attributes.atime
    return amend(reply, "obj_attributes", atime=Nfstime3(atime.seconds - 1, atime.nseconds + _SECOND))


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_fileid_of_the_parent(call: Getattr) -> Getattr3Res:
    """GETATTR gives a directory the fileid of its parent"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    parent = None if inode.directory is None else inode.directory.parent
    if parent is None or parent is inode.fs.root:
        return reply
    return amend(reply, "obj_attributes", fileid=parent.fileid)


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_fileid_counts_names(call: Getattr) -> Getattr3Res:
    """The fileid of a file changes with the number of its names"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    attributes = reply.resok.obj_attributes
    if inode.directory is not None:
        return reply
    return amend(reply, "obj_attributes", fileid=attributes.fileid + (inode.nlink - 1 << 32))


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_counts_one_name(call: Getattr) -> Getattr3Res:
    """GETATTR says 1 for nlink of every file"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    return reply if inode.directory is not None else amend(reply, "obj_attributes", nlink=1)


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_moves_mtime(call: Getattr) -> Getattr3Res:
    """GETATTR of an empty directory moves its mtime"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    if inode.directory is None or len(inode.directory) or inode is inode.fs.root:
        return reply
    inode.mtime = inode.fs.stamp()
    return amend(reply, obj_attributes=fattr3(inode))


# ---------------------------------------------------------------- GETATTR: for whom


@mutant((GETATTR, WRITE), RFC1813_GETATTR)
def getattr3_remembers_by_connection(call: AnyCall) -> t.Any:
    """GETATTR repeats what it said on this connection before, when another one has written since"""
    state = call.state
    writers: dict[bytes, Address] = state.setdefault("writers", {})
    replies: dict[tuple[Address, bytes], Getattr3Res] = state.setdefault("replies", {})
    if call.procedure is WRITE:
        writers[call.args.file] = call.peer
        return call.proceed()
    known = replies.get((call.peer, call.args.object))
    if known is not None and writers.get(call.args.object, call.peer) != call.peer:
        return known
    reply = replies[call.peer, call.args.object] = call.proceed()
    return reply


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_owner_is_the_asker(call: Getattr) -> Getattr3Res:
    """GETATTR gives whoever asks as the owner of a file, unless root asks"""
    reply = call.proceed()
    uid = call.caller.uid
    if reply.resok is None or uid == 0 or reply.resok.obj_attributes.type != Ftype3.NF3REG:
        return reply
    return replace(reply, resok=Getattr3ResOk(replace(reply.resok.obj_attributes, uid=uid)))


def _is_other(caller: Caller, inode: Inode) -> bool:
    """Neither root nor the owner, nor of the group."""
    return not (caller.is_superuser or caller.uid == inode.uid or caller.in_group(inode.gid))


@mutant(ACCESS, RFC1813_ACCESS)
def access3_grants_more_than_asked(call: Access) -> Access3Res:
    """ACCESS grants READ together with LOOKUP"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    granted = reply.resok.access
    return amend(reply, access=granted | ACCESS3_READ) if call.args.access == ACCESS3_LOOKUP else reply


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_forgets_extend(call: Access) -> Access3Res:
    """ACCESS grants MODIFY but not EXTEND of files"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    granted = reply.resok.access
    return amend(reply, access=granted & ~ACCESS3_EXTEND) if inode.directory is None else reply


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_forgets_lookup(call: Access) -> Access3Res:
    """ACCESS does not grant LOOKUP"""
    return amend(call.proceed(), access=lambda it: it.access & ~ACCESS3_LOOKUP)


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_never_executes(call: Access) -> Access3Res:
    """ACCESS does not grant EXECUTE"""
    return amend(call.proceed(), access=lambda it: it.access & ~ACCESS3_EXECUTE)


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_executes_anything(call: Access) -> Access3Res:
    """ACCESS grants EXECUTE of files to their owners, whatever the mode"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    granted = reply.resok.access
    is_owners_file = inode.directory is None and call.caller.uid == inode.uid
    return amend(reply, access=granted | call.args.access & ACCESS3_EXECUTE) if is_owners_file else reply


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_ignores_the_mode(call: Access) -> Access3Res:
    """ACCESS grants others all that they ask for"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.object)
    if inode is None or not _is_other(call.caller, inode):
        return reply
    return amend(reply, access=call.args.access)


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_readers_may_modify(call: Access) -> Access3Res:
    """ACCESS grants MODIFY of empty files to others who may read them"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    granted = reply.resok.access
    if (
        inode.kind is Kind.REGULAR
        and inode.size == 0
        and _is_other(call.caller, inode)
        and granted & ACCESS3_READ
    ):
        return amend(reply, access=granted | call.args.access & ACCESS3_MODIFY)
    return reply


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_opens_directories(call: Access) -> Access3Res:
    """ACCESS grants READ and LOOKUP of any directory to anybody"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    granted = reply.resok.access
    if inode.directory is None:
        return reply
    return amend(reply, access=granted | call.args.access & (ACCESS3_READ | ACCESS3_LOOKUP))


@mutant(ACCESS, RFC1813_PERMISSIONS)
def access3_ignores_groups(call: Access) -> Access3Res:
    """ACCESS knows the caller's main group only"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    is_by_list = inode.gid in call.caller.groups and inode.gid != call.caller.gid
    return (
        amend(reply, access=0)
        if is_by_list and call.caller.uid != inode.uid and not call.caller.is_superuser
        else reply
    )


@mutant(ACCESS, RFC1813_ACCESS)
def access3_takes_others_for_the_group(call: Access) -> Access3Res:
    """ACCESS grants others what the group of a file may read"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.server.resolve(call.args.object)
    granted = reply.resok.access
    if inode.directory is None and _is_other(call.caller, inode) and inode.mode & 0o040:
        return amend(reply, access=granted | call.args.access & ACCESS3_READ)
    return reply


def _refusal(reply: Access3Res) -> Access3Res:
    attributes = None if reply.resok is None else reply.resok.obj_attributes
    return Access3Res(Nfsstat3.NFS3ERR_INVAL, resfail=Access3ResFail(attributes))


@mutant(ACCESS, RFC1813_ACCESS)
def access3_refuses_unknown_bits(call: Access) -> Access3Res:
    """ACCESS answers INVAL when it is asked about bits that nobody defined"""
    reply = call.proceed()
    return _refusal(reply) if call.args.access & ~0x3F else reply


@mutant(ACCESS, RFC1813_ACCESS)
def access3_refuses_to_be_asked_nothing(call: Access) -> Access3Res:
    """ACCESS answers INVAL when it is asked about no permission"""
    reply = call.proceed()
    return reply if call.args.access else _refusal(reply)


@mutant(ACCESS, RFC1813_ACCESS)
def access3_denies_with_an_error(call: Access) -> Access3Res:
    """ACCESS answers ACCES when nothing of what was asked is granted"""
    reply = call.proceed()
    is_denied = reply.resok is not None and reply.resok.access == 0 and call.args.access != 0
    return replace(_refusal(reply), status=Nfsstat3.NFS3ERR_ACCES) if is_denied else reply


@mutant(ACCESS, RFC1813_ACCESS)
def access3_attributes_of_the_root(call: Access) -> Access3Res:
    """ACCESS returns the attributes of the export's root, whatever it was asked about"""
    return amend(call.proceed(), obj_attributes=fattr3(call.server.fs.root))
