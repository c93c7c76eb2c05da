# SPDX-License-Identifier: MIT
"""Mutants of GETATTR and STATFS."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    GETATTR,
    STATFS,
    Attrstat,
    Fattr,
    FhandleArgs,
    Ftype,
    Statfsinfo,
    Statfsres,
    Timeval,
)
from nfsclient.xdr import replace
from nfsserver.nfs2.bending import bends_reply, inode_of

if t.TYPE_CHECKING:
    from collections.abc import Callable

    from nfsserver.server import Server

BendFattr: t.TypeAlias = "Callable[[Server, FhandleArgs, Fattr], Fattr]"
BendInfo: t.TypeAlias = "Callable[[Server, FhandleArgs, Statfsinfo], Statfsinfo]"


def _bends_fattr(name: str, gist: str, section: str = "2.3.5") -> Callable[[BendFattr], BendFattr]:
    def register(bend: BendFattr) -> BendFattr:
        @bends_reply(name, GETATTR, section, gist)
        def bent(server: Server, args: FhandleArgs, reply: Attrstat) -> Attrstat:
            return (
                reply
                if reply.attributes is None
                else Attrstat(reply.status, bend(server, args, reply.attributes))
            )

        return bend

    return register


def _bends_info(name: str, gist: str) -> Callable[[BendInfo], BendInfo]:
    def register(bend: BendInfo) -> BendInfo:
        @bends_reply(name, STATFS, "2.2.18", gist)
        def bent(server: Server, args: FhandleArgs, reply: Statfsres) -> Statfsres:
            return reply if reply.info is None else Statfsres(reply.status, bend(server, args, reply.info))

        return bend

    return register


@_bends_fattr("getattr2-tells-a-wrong-type", "says that every object is a device", "2.3.2")
def tells_a_wrong_type(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """Another type."""
    return replace(attributes, type=Ftype.NFCHR)


@_bends_fattr("getattr2-mode-lacks-the-type", "leaves the type bits out of mode")
def mode_lacks_the_type(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """Permission bits alone."""
    return replace(attributes, mode=attributes.mode & 0o7777)


@_bends_fattr("getattr2-rounds-the-size", "gives the size of files one byte too large")
def rounds_the_size(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """One more."""
    return replace(attributes, size=attributes.size + 1) if attributes.type is Ftype.NFREG else attributes


@_bends_fattr("getattr2-counts-a-name-too-many", "counts a name too many where a file has one")
def counts_a_name_too_many(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """One more."""
    single = attributes.type is Ftype.NFREG and attributes.nlink == 1
    return replace(attributes, nlink=2) if single else attributes


@_bends_fattr("getattr2-shares-a-fileid", "gives two neighbouring files the same fileid")
def shares_a_fileid(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """Without the lowest bits: numbers between theirs may be of other objects."""
    return replace(attributes, fileid=attributes.fileid & ~63)


@_bends_fattr("getattr2-fileid-changes-with-the-size", "makes fileid out of number and size")
def fileid_changes_with_the_size(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """The sum of both, for what is no directory."""
    is_file = attributes.type is Ftype.NFREG
    return replace(attributes, fileid=attributes.fileid + attributes.size) if is_file else attributes


@_bends_fattr("getattr2-fsid-is-that-of-the-object", "gives every object but the root an fsid of its own")
def fsid_is_that_of_the_object(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """The number of the object."""
    return replace(attributes, fsid=attributes.fileid)


@_bends_fattr("getattr2-has-too-many-microseconds", "gives nanoseconds for microseconds", "2.3.4")
def has_too_many_microseconds(_server: Server, _args: FhandleArgs, attributes: Fattr) -> Fattr:
    """A thousand times as many, and some."""
    late = {
        name: Timeval(getattr(attributes, name).seconds, getattr(attributes, name).useconds + 1_000_000)
        for name in ("atime", "mtime", "ctime")
    }
    return replace(attributes, **late)


@_bends_fattr("getattr2-keeps-old-mtime", "goes on to give an mtime of the year 2000 when it has moved")
def keeps_old_mtime(server: Server, args: FhandleArgs, attributes: Fattr) -> Fattr:
    """Remember it."""
    old: dict[bytes, Timeval] = server.mutant_state("getattr2-keeps-old-mtime").setdefault("old", {})
    if attributes.mtime.seconds == 946_684_800:
        old[args.file] = attributes.mtime
    return replace(attributes, mtime=old.get(args.file, attributes.mtime))


@_bends_fattr("getattr2-changes-the-mode", "changes the mode of what it is asked about", "2.2.2")
def changes_the_mode(server: Server, args: FhandleArgs, attributes: Fattr) -> Fattr:
    """Change it after the answer was made."""
    inode = inode_of(server, args.file)
    if inode is not None:
        inode.mode ^= 0o001
    return attributes


# ---------------------------------------------------------------- STATFS


@_bends_info("statfs2-has-blocks-of-no-bytes", "says that blocks have no bytes")
def has_blocks_of_no_bytes(_server: Server, _args: FhandleArgs, info: Statfsinfo) -> Statfsinfo:
    """A size of 0."""
    return replace(info, bsize=0)


@_bends_info("statfs2-wants-no-bytes", "says that the best size of a transfer is 0")
def wants_no_bytes(_server: Server, _args: FhandleArgs, info: Statfsinfo) -> Statfsinfo:
    """A size of 0."""
    return replace(info, tsize=0)


@_bends_info("statfs2-frees-more-than-there-is", "says that more blocks are free than there are")
def frees_more_than_there_is(_server: Server, _args: FhandleArgs, info: Statfsinfo) -> Statfsinfo:
    """One more than all."""
    return replace(info, bfree=info.blocks + 1)


@_bends_info("statfs2-gives-users-more-than-is-free", "says that users may have more blocks than are free")
def gives_users_more_than_is_free(_server: Server, _args: FhandleArgs, info: Statfsinfo) -> Statfsinfo:
    """One more."""
    return replace(info, bavail=info.bfree + 1)


@_bends_info("statfs2-differs-by-object", "counts in other blocks for what is no directory")
def differs_by_object(server: Server, args: FhandleArgs, info: Statfsinfo) -> Statfsinfo:
    """Blocks of half the size."""
    inode = inode_of(server, args.file)
    other = inode is not None and inode.directory is None
    return replace(info, bsize=info.bsize // 2, blocks=info.blocks * 2) if other else info
