# SPDX-License-Identifier: MIT
"""Mutants of LOOKUP and READLINK."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    LOOKUP,
    READLINK,
    Lookup3Args,
    Lookup3Res,
    Lookup3ResFail,
    Lookup3ResOk,
    Nfsstat3,
    Readlink3Args,
    Readlink3Res,
    Readlink3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Inode
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import fattr3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

LookupProceed: t.TypeAlias = Proceed[Lookup3Args, Lookup3Res]
ReadlinkProceed: t.TypeAlias = Proceed[Readlink3Args, Readlink3Res]
Bend: t.TypeAlias = "Callable[[Server, CallContext, Lookup3Args, LookupProceed], Lookup3Res]"


def _bends_lookup(name: str, gist: str, section: str = "3.3.3") -> Callable[[Bend], Bend]:
    def register(bend: Bend) -> Bend:
        mutant(name, bends=LOOKUP, breaks=f"RFC 1813 section {section}", gist=gist)(bend)
        return bend

    return register


def _found(server: Server, inode: Inode) -> Lookup3Res:
    """Success with `inode`."""
    return Lookup3Res(Nfsstat3.NFS3_OK, Lookup3ResOk(server.handle_of(inode), None, None))


@_bends_lookup("lookup3-finds-another-object", "LOOKUP of `wanted` gives the handle of `other`")
def finds_another_object(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Ask for the other name."""
    name = b"other" if args.what.name == b"wanted" else args.what.name
    return proceed(context, replace(args, what=replace(args.what, name=name)))


@_bends_lookup(
    "lookup3-attributes-of-the-directory", "LOOKUP returns the directory's attributes as the object's"
)
def attributes_of_the_directory(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Mix them up."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, obj_attributes=reply.resok.dir_attributes))


@_bends_lookup(
    "lookup3-dir-attributes-of-the-object", "LOOKUP returns the object's attributes as the directory's"
)
def dir_attributes_of_the_object(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Mix them up."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, dir_attributes=reply.resok.obj_attributes))


def _finding(mutant_name: str, name: bytes, gist: str) -> None:
    """Register a mutant that finds the directory itself under a name that is not there."""

    @_bends_lookup(mutant_name, gist)
    def finds(server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed) -> Lookup3Res:
        reply = proceed(context, args)
        if reply.status != Nfsstat3.NFS3ERR_NOENT or args.what.name != name:
            return reply
        return _found(server, server.resolve(args.what.dir))


_finding("lookup3-finds-what-is-not-there", b"nobody-made-this", "LOOKUP finds `nobody-made-this` anywhere")
_finding("lookup3-finds-removed-names", b"removed", "LOOKUP finds `removed`, whether or not it was removed")


@_bends_lookup("lookup3-looks-into-files", "LOOKUP finds every name in a file, and says that it is the file")
def looks_into_files(
    server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR:
        return reply
    return _found(server, server.resolve(args.what.dir))


@_bends_lookup("lookup3-does-not-know-dot", "LOOKUP does not find `.` in a directory", "3.2")
def does_not_know_dot(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Refuse it."""
    if args.what.name != b".":
        return proceed(context, args)
    return Lookup3Res(Nfsstat3.NFS3ERR_NOENT, resfail=Lookup3ResFail(None))


@_bends_lookup("lookup3-takes-dotdot-for-dot", "LOOKUP of .. gives the directory itself", "3.2")
def takes_dotdot_for_dot(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Ask for the other name."""
    name = b"." if args.what.name == b".." else args.what.name
    return proceed(context, replace(args, what=replace(args.what, name=name)))


@_bends_lookup("lookup3-leaves-the-export", "LOOKUP of .. at the root gives another directory")
def leaves_the_export(
    server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Any other directory stands for one outside of the export."""
    root = server.fs.root
    if args.what.name != b".." or args.what.dir != server.handle_of(root):
        return proceed(context, args)
    others = [inode for inode in server.fs.inodes() if inode.directory is not None and inode is not root]
    return _found(server, others[0]) if others else proceed(context, args)


@_bends_lookup("lookup3-follows-symlinks", "LOOKUP of a symbolic link gives what it points to")
def follows_symlinks(
    server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Ask for the link's data."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    target = server.resolve(reply.resok.object).target
    return proceed(context, replace(args, what=replace(args.what, name=target))) if target else reply


@_bends_lookup("lookup3-long-names-do-not-exist", "LOOKUP answers NOENT for a name that is too long", "3.2")
def long_names_do_not_exist(
    _server: Server, context: CallContext, args: Lookup3Args, proceed: LookupProceed
) -> Lookup3Res:
    """Say something else."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_NAMETOOLONG:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_NOENT)


# ---------------------------------------------------------------- READLINK


@mutant(
    "readlink3-drops-last-byte",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="READLINK returns the link's data without its last byte",
)
def readlink3_drops_last_byte(
    _server: Server, context: CallContext, args: Readlink3Args, proceed: ReadlinkProceed
) -> Readlink3Res:
    """Cut the data."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, data=reply.resok.data[:-1]))


@mutant(
    "readlink3-cuts-long-data",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="READLINK returns at most 255 bytes of the link's data",
)
def readlink3_cuts_long_data(
    _server: Server, context: CallContext, args: Readlink3Args, proceed: ReadlinkProceed
) -> Readlink3Res:
    """Cut the data."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, data=reply.resok.data[:255]))


@mutant(
    "readlink3-attributes-of-the-root",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="READLINK returns the attributes of the export's root as those of the link",
)
def readlink3_attributes_of_the_root(
    server: Server, context: CallContext, args: Readlink3Args, proceed: ReadlinkProceed
) -> Readlink3Res:
    """Take them from the root."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, symlink_attributes=fattr3(server.fs.root)))


@mutant(
    "readlink3-reads-files",
    bends=READLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="READLINK returns the data of files",
)
def readlink3_reads_files(
    server: Server, context: CallContext, args: Readlink3Args, proceed: ReadlinkProceed
) -> Readlink3Res:
    """Turn INVAL into success."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_INVAL:
        return reply
    data = server.resolve(args.symlink).data
    return Readlink3Res(Nfsstat3.NFS3_OK, Readlink3ResOk(None, b"" if data is None else data.read(0, 1024)))
