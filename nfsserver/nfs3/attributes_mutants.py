# SPDX-License-Identifier: MIT
"""Mutants of GETATTR and ACCESS; those of SETATTR are in `setattr_mutants`."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    ACCESS,
    ACCESS3_EXECUTE,
    ACCESS3_EXTEND,
    ACCESS3_LOOKUP,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    GETATTR,
    WRITE,
    Access3Args,
    Access3Res,
    Access3ResFail,
    Fattr3,
    Ftype3,
    Getattr3Args,
    Getattr3Res,
    Getattr3ResOk,
    Nfsstat3,
    Nfstime3,
)
from nfsclient.rpc.service import CallContext
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import replace
from nfsserver.fs import Caller, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import fattr3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextGetattr: t.TypeAlias = Proceed[Getattr3Args, Getattr3Res]
NextAccess: t.TypeAlias = Proceed[Access3Args, Access3Res]
BendAttributes: t.TypeAlias = Callable[[Inode, Fattr3], Fattr3]
BendRights: t.TypeAlias = Callable[[Caller, Inode, int, int], int]

_SECOND: t.Final = 1_000_000_000
_S_IFREG: t.Final = 0o100000


# ---------------------------------------------------------------- GETATTR: what attributes say


def _bends_attributes(name: str, gist: str) -> Callable[[BendAttributes], BendAttributes]:
    """Register what makes other attributes of those that GETATTR returns: (object, attributes) -> attributes."""

    def register(bend: BendAttributes) -> BendAttributes:
        @mutant(name, bends=GETATTR, breaks="RFC 1813 section 2.5", gist=gist)
        def middleware(
            server: Server, context: CallContext, args: Getattr3Args, proceed: NextGetattr
        ) -> Getattr3Res:
            reply = proceed(context, args)
            if reply.resok is None:
                return reply
            attributes = bend(server.resolve(args.object), reply.resok.obj_attributes)
            return replace(reply, resok=Getattr3ResOk(attributes))

        return bend

    return register


def _is_subdirectory(inode: Inode) -> bool:
    """A directory, but not the root, by which a run sees that the server is well."""
    return inode.directory is not None and inode is not inode.fs.root


@_bends_attributes("getattr3-wrong-type", "GETATTR calls every directory below the root a regular file")
def getattr3_wrong_type(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Turn NF3DIR into NF3REG."""
    return replace(attributes, type=Ftype3.NF3REG) if _is_subdirectory(inode) else attributes


@_bends_attributes("getattr3-calls-empty-files-fifos", "GETATTR calls a regular file without data a FIFO")
def getattr3_calls_empty_files_fifos(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Turn NF3REG into NF3FIFO."""
    is_empty = inode.kind is Kind.REGULAR and inode.size == 0
    return replace(attributes, type=Ftype3.NF3FIFO) if is_empty else attributes


def _target(link: Inode) -> Inode | None:
    """What a symbolic link leads to beside it."""
    for directory in link.fs.inodes():
        entries = directory.directory
        if entries is not None and any(entries.get(name) is link for name in entries.names()):
            return entries.get(link.target)
    return None


@_bends_attributes(
    "getattr3-follows-symlinks", "GETATTR of a symbolic link gives the attributes of its target"
)
def getattr3_follows_symlinks(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Look behind the link."""
    target = _target(inode) if inode.kind is Kind.SYMLINK else None
    return attributes if target is None else fattr3(target)


@_bends_attributes("getattr3-invents-a-type", "GETATTR gives FIFOs the type 8, which ftype3 does not have")
def getattr3_invents_a_type(inode: Inode, attributes: Fattr3) -> Fattr3:
    """One more than NF3FIFO."""
    return replace(attributes, type=Ftype3(8)) if inode.kind is Kind.FIFO else attributes


@_bends_attributes("getattr3-mode-has-the-type", "GETATTR adds the type bits of st_mode to the mode of files")
def getattr3_mode_has_the_type(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Forget to mask, for files without data."""
    if inode.kind is not Kind.REGULAR or inode.size:
        return attributes
    return replace(attributes, mode=attributes.mode | _S_IFREG)


@_bends_attributes("getattr3-rounds-small-sizes-up", "GETATTR says 8 for the size of a file of 1 to 3 bytes")
def getattr3_rounds_small_sizes_up(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Count blocks of 8 bytes."""
    is_small = inode.kind is Kind.REGULAR and 1 <= inode.size <= 3
    return replace(attributes, size=8) if is_small else attributes


@_bends_attributes("getattr3-truncates-size", "GETATTR gives the lower 32 bits of a size")
def getattr3_truncates_size(_inode: Inode, attributes: Fattr3) -> Fattr3:
    """Cut it."""
    return replace(attributes, size=attributes.size & 0xFFFF_FFFF)


@_bends_attributes(
    "getattr3-overfills-nanoseconds",
    "GETATTR gives the atime of a directory as a second less, and a billion nanoseconds more",
)
def getattr3_overfills_nanoseconds(inode: Inode, attributes: Fattr3) -> Fattr3:
    """The same moment, badly written."""
    if not _is_subdirectory(inode):
        return attributes
    atime = attributes.atime
    return replace(attributes, atime=Nfstime3(atime.seconds - 1, atime.nseconds + _SECOND))


@_bends_attributes("getattr3-fileid-of-the-parent", "GETATTR gives a directory the fileid of its parent")
def getattr3_fileid_of_the_parent(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Look one up, two levels below the root and deeper."""
    parent = None if inode.directory is None else inode.directory.parent
    if parent is None or parent is inode.fs.root:
        return attributes
    return replace(attributes, fileid=parent.fileid)


@_bends_attributes(
    "getattr3-fileid-counts-names", "the fileid of a file changes with the number of its names"
)
def getattr3_fileid_counts_names(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Add the names beyond the first."""
    if inode.directory is not None:
        return attributes
    return replace(attributes, fileid=attributes.fileid + (inode.nlink - 1 << 32))


@_bends_attributes("getattr3-counts-one-name", "GETATTR says 1 for nlink of every file")
def getattr3_counts_one_name(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Do not count."""
    return attributes if inode.directory is not None else replace(attributes, nlink=1)


@_bends_attributes("getattr3-moves-mtime", "GETATTR of an empty directory moves its mtime")
def getattr3_moves_mtime(inode: Inode, attributes: Fattr3) -> Fattr3:
    """Touch what was looked at."""
    if inode.directory is None or len(inode.directory) or inode is inode.fs.root:
        return attributes
    inode.mtime = inode.fs.stamp()
    return fattr3(inode)


# ---------------------------------------------------------------- GETATTR: for whom


@mutant(
    "getattr3-remembers-by-connection",
    bends=(GETATTR, WRITE),
    breaks="RFC 1813 section 3.3.1",
    gist="GETATTR repeats what it said on this connection before, when another one has written since",
)
def getattr3_remembers_by_connection(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Keep a cache that only writes on the same connection get through."""
    state = server.mutant_state("getattr3-remembers-by-connection")
    writers: dict[bytes, Address] = state.setdefault("writers", {})
    replies: dict[tuple[Address, bytes], Getattr3Res] = state.setdefault("replies", {})
    if context.procedure is WRITE:
        writers[args.file] = context.peer
        return proceed(context, args)
    known = replies.get((context.peer, args.object))
    if known is not None and writers.get(args.object, context.peer) != context.peer:
        return known
    reply = replies[context.peer, args.object] = proceed(context, args)
    return reply


@mutant(
    "getattr3-owner-is-the-asker",
    bends=GETATTR,
    breaks="RFC 1813 section 2.5",
    gist="GETATTR gives whoever asks as the owner of a file, unless root asks",
)
def getattr3_owner_is_the_asker(
    server: Server, context: CallContext, args: Getattr3Args, proceed: NextGetattr
) -> Getattr3Res:
    """Tell them what they like to hear."""
    reply = proceed(context, args)
    uid = server.caller(context).uid
    if reply.resok is None or uid == 0 or reply.resok.obj_attributes.type != Ftype3.NF3REG:
        return reply
    return replace(reply, resok=Getattr3ResOk(replace(reply.resok.obj_attributes, uid=uid)))


# ---------------------------------------------------------------- ACCESS


def _bends_rights(name: str, gist: str, section: str = "4.4") -> Callable[[BendRights], BendRights]:
    """Register what grants other rights: (caller, object, asked, granted) -> granted."""

    def register(bend: BendRights) -> BendRights:
        @mutant(name, bends=ACCESS, breaks=f"RFC 1813 section {section}", gist=gist)
        def middleware(
            server: Server, context: CallContext, args: Access3Args, proceed: NextAccess
        ) -> Access3Res:
            reply = proceed(context, args)
            if reply.resok is None:
                return reply
            inode = server.resolve(args.object)
            granted = bend(server.caller(context), inode, args.access, reply.resok.access)
            return replace(reply, resok=replace(reply.resok, access=granted))

        return bend

    return register


def _is_other(caller: Caller, inode: Inode) -> bool:
    """Neither root nor the owner, nor of the group."""
    return not (caller.is_superuser or caller.uid == inode.uid or caller.in_group(inode.gid))


@_bends_rights("access3-grants-more-than-asked", "ACCESS grants READ together with LOOKUP", "3.3.4")
def access3_grants_more_than_asked(_caller: Caller, _inode: Inode, asked: int, granted: int) -> int:
    """Add a bit."""
    return granted | ACCESS3_READ if asked == ACCESS3_LOOKUP else granted


@_bends_rights("access3-forgets-extend", "ACCESS grants MODIFY but not EXTEND of files")
def access3_forgets_extend(_caller: Caller, inode: Inode, _asked: int, granted: int) -> int:
    """Leave a bit out."""
    return granted & ~ACCESS3_EXTEND if inode.directory is None else granted


@_bends_rights("access3-forgets-lookup", "ACCESS does not grant LOOKUP")
def access3_forgets_lookup(_caller: Caller, _inode: Inode, _asked: int, granted: int) -> int:
    """Leave a bit out."""
    return granted & ~ACCESS3_LOOKUP


@_bends_rights("access3-never-executes", "ACCESS does not grant EXECUTE")
def access3_never_executes(_caller: Caller, _inode: Inode, _asked: int, granted: int) -> int:
    """Leave a bit out."""
    return granted & ~ACCESS3_EXECUTE


@_bends_rights(
    "access3-executes-anything", "ACCESS grants EXECUTE of files to their owners, whatever the mode"
)
def access3_executes_anything(caller: Caller, inode: Inode, asked: int, granted: int) -> int:
    """Add a bit."""
    is_owners_file = inode.directory is None and caller.uid == inode.uid
    return granted | asked & ACCESS3_EXECUTE if is_owners_file else granted


@_bends_rights("access3-ignores-the-mode", "ACCESS grants all that is asked to others, of files of mode 600")
def access3_ignores_the_mode(caller: Caller, inode: Inode, asked: int, granted: int) -> int:
    """Take the strictest mode for none, while a file has no data."""
    is_empty_file = inode.kind is Kind.REGULAR and inode.size == 0
    return asked if is_empty_file and inode.mode == 0o600 and _is_other(caller, inode) else granted


@_bends_rights(
    "access3-readers-may-modify", "ACCESS grants MODIFY of empty files to others who may read them"
)
def access3_readers_may_modify(caller: Caller, inode: Inode, asked: int, granted: int) -> int:
    """Take the right to read for more."""
    if inode.kind is Kind.REGULAR and inode.size == 0 and _is_other(caller, inode) and granted & ACCESS3_READ:
        return granted | asked & ACCESS3_MODIFY
    return granted


@_bends_rights("access3-opens-directories", "ACCESS grants READ and LOOKUP of any directory to anybody")
def access3_opens_directories(_caller: Caller, inode: Inode, asked: int, granted: int) -> int:
    """Add bits."""
    if inode.directory is None:
        return granted
    return granted | asked & (ACCESS3_READ | ACCESS3_LOOKUP)


@_bends_rights("access3-ignores-groups", "ACCESS knows the caller's main group only")
def access3_ignores_groups(caller: Caller, inode: Inode, _asked: int, granted: int) -> int:
    """Deny all to members by the list of groups."""
    is_by_list = inode.gid in caller.groups and inode.gid != caller.gid
    return 0 if is_by_list and caller.uid != inode.uid and not caller.is_superuser else granted


@_bends_rights(
    "access3-takes-others-for-the-group", "ACCESS grants others what the group of a file may read", "3.3.4"
)
def access3_takes_others_for_the_group(caller: Caller, inode: Inode, asked: int, granted: int) -> int:
    """Look at the wrong digit of the mode."""
    if inode.directory is None and _is_other(caller, inode) and inode.mode & 0o040:
        return granted | asked & ACCESS3_READ
    return granted


def _refusal(reply: Access3Res) -> Access3Res:
    attributes = None if reply.resok is None else reply.resok.obj_attributes
    return Access3Res(Nfsstat3.NFS3ERR_INVAL, resfail=Access3ResFail(attributes))


@mutant(
    "access3-refuses-unknown-bits",
    bends=ACCESS,
    breaks="RFC 1813 section 3.3.4",
    gist="ACCESS answers INVAL when it is asked about bits that nobody defined",
)
def access3_refuses_unknown_bits(
    _server: Server, context: CallContext, args: Access3Args, proceed: NextAccess
) -> Access3Res:
    """Be strict."""
    reply = proceed(context, args)
    return _refusal(reply) if args.access & ~0x3F else reply


@mutant(
    "access3-refuses-to-be-asked-nothing",
    bends=ACCESS,
    breaks="RFC 1813 section 3.3.4",
    gist="ACCESS answers INVAL when it is asked about no permission",
)
def access3_refuses_to_be_asked_nothing(
    _server: Server, context: CallContext, args: Access3Args, proceed: NextAccess
) -> Access3Res:
    """Be strict."""
    reply = proceed(context, args)
    return reply if args.access else _refusal(reply)


@mutant(
    "access3-denies-with-an-error",
    bends=ACCESS,
    breaks="RFC 1813 section 3.3.4",
    gist="ACCESS answers ACCES when nothing of what was asked about a file is granted",
)
def access3_denies_with_an_error(
    _server: Server, context: CallContext, args: Access3Args, proceed: NextAccess
) -> Access3Res:
    """Take an empty mask for an error."""
    reply = proceed(context, args)
    is_denied = reply.resok is not None and reply.resok.access == 0 and args.access == 0x3F
    return replace(_refusal(reply), status=Nfsstat3.NFS3ERR_ACCES) if is_denied else reply


@mutant(
    "access3-attributes-of-the-root",
    bends=ACCESS,
    breaks="RFC 1813 section 3.3.4",
    gist="ACCESS returns the attributes of the export's root, whatever it was asked about",
)
def access3_attributes_of_the_root(
    server: Server, context: CallContext, args: Access3Args, proceed: NextAccess
) -> Access3Res:
    """Take them from the root."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, obj_attributes=fattr3(server.fs.root)))
