# SPDX-License-Identifier: MIT
"""Mutants of LOOKUP, and of what all procedures share that put a name into a directory."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.errors import XdrError
from nfsclient.protocol.nfs2 import (
    CREATE,
    LINK,
    LOOKUP,
    MAXNAMLEN,
    MAXPATHLEN,
    MKDIR,
    RENAME,
    SYMLINK,
    Diropargs,
    Diropok,
    Diropres,
    Nfsstat2,
    Symlinkargs,
)
from nfsclient.rpc.messages import CallHeader
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import SUPERUSER, FsError, Inode, Kind
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant
from nfsserver.nfs2.bending import (
    around,
    bends_args,
    bends_reply,
    child_of,
    inode_of,
    place_of,
    success,
    with_place,
)
from nfsserver.nfs2.common import fattr

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextLookup: t.TypeAlias = Proceed[Diropargs, Diropres]
AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]
AnyAround: t.TypeAlias = "Callable[[Server, CallContext, t.Any, AnyProceed], t.Any]"

_LOOKUP: t.Final = "2.2.5"
_ENTERING: t.Final = (CREATE, MKDIR, SYMLINK, LINK, RENAME)
_MAKING: t.Final = (CREATE, MKDIR, SYMLINK, LINK)
_PLAIN: t.Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def _found(server: Server, inode: Inode) -> Diropres:
    return Diropres(Nfsstat2.NFS_OK, Diropok(server.handle_of(inode), fattr(inode)))


# ---------------------------------------------------------------- LOOKUP


@bends_reply("lookup2-finds-the-directory", LOOKUP, _LOOKUP, "gives the handle of the directory itself")
def finds_the_directory(_server: Server, args: Diropargs, reply: Diropres) -> Diropres:
    """With the right attributes."""
    if reply.diropok is None:
        return reply
    return replace(reply, diropok=replace(reply.diropok, file=args.dir))


@bends_reply(
    "lookup2-has-attributes-of-the-directory", LOOKUP, _LOOKUP, "gives the attributes of the directory"
)
def has_attributes_of_the_directory(server: Server, args: Diropargs, reply: Diropres) -> Diropres:
    """With the right handle."""
    inode = inode_of(server, args.dir)
    if reply.diropok is None or inode is None:
        return reply
    return replace(reply, diropok=replace(reply.diropok, attributes=fattr(inode)))


def _says(status: Nfsstat2, instead_of: Nfsstat2) -> Callable[..., Diropres]:
    def middleware(_server: Server, context: CallContext, args: Diropargs, proceed: NextLookup) -> Diropres:
        reply = proceed(context, args)
        return Diropres(status) if reply.status == instead_of else reply

    return middleware


around("lookup2-says-nxio", LOOKUP, "2.3.1", "says NXIO of names that are missing")(
    _says(Nfsstat2.NFSERR_NXIO, Nfsstat2.NFSERR_NOENT)
)
around("lookup2-says-noent-in-a-file", LOOKUP, "2.3.1", "says NOENT where the directory is none")(
    _says(Nfsstat2.NFSERR_NOENT, Nfsstat2.NFSERR_NOTDIR)
)


@around("lookup2-finds-names-in-anything", LOOKUP, "2.3.10", "finds a file in itself, by any name")
def finds_names_in_anything(
    server: Server, context: CallContext, args: Diropargs, proceed: NextLookup
) -> Diropres:
    """Itself."""
    reply = proceed(context, args)
    inode = inode_of(server, args.dir)
    return _found(server, inode) if reply.status == Nfsstat2.NFSERR_NOTDIR and inode is not None else reply


@around("lookup2-follows-paths", LOOKUP, "2.1", "follows a name with slashes as a path")
def follows_paths(server: Server, context: CallContext, args: Diropargs, proceed: NextLookup) -> Diropres:
    """Name by name."""
    inode = inode_of(server, args.dir)
    if inode is None or b"/" not in args.name:
        return proceed(context, args)
    try:
        for name in filter(None, args.name.split(b"/")):
            inode = inode.fs.lookup(SUPERUSER, inode, name)
    except FsError:
        return proceed(context, args)
    return _found(server, inode)


@bends_args(
    "lookup2-cuts-names-at-nul",
    LOOKUP,
    _LOOKUP,
    "leaves NUL out of names, and takes none for the first",
)
def cuts_names_at_nul(server: Server, args: Diropargs) -> Diropargs:
    """Find something else."""
    inode = inode_of(server, args.dir)
    name = args.name.replace(b"\0", b"")
    if not name and inode is not None and inode.directory is not None:
        name = next(iter(inode.directory.names()), b"")
    return replace(args, name=name)


@bends_args(
    "lookup2-takes-dots-for-each-other",
    LOOKUP,
    "3.2",
    "takes a directory for its parent, and the other way",
)
def takes_dots_for_each_other(_server: Server, args: Diropargs) -> Diropargs:
    """Swap them."""
    return replace(args, name={b".": b"..", b"..": b"."}.get(args.name, args.name))


@bends_reply(
    "lookup2-follows-links", LOOKUP, "2.2.14", "finds what a symbolic link in the same directory leads to"
)
def follows_links(server: Server, args: Diropargs, reply: Diropres) -> Diropres:
    """If that is there."""
    link = child_of(server, args.dir, args.name)
    if link is None or link.kind is not Kind.SYMLINK:
        return reply
    target = child_of(server, args.dir, link.target)
    return reply if target is None else _found(server, target)


# ---------------------------------------------------------------- putting names into directories


def _bends_names(
    name: str, section: str, gist: str, procedures: tuple[t.Any, ...] = _ENTERING
) -> Callable[[AnyAround], AnyAround]:
    return mutant(name, bends=procedures, breaks=f"RFC 1094 section {section}", gist=gist)


@_bends_names(
    "nfs2-changes-odd-names", "2.2.10", "Names with bytes other than letters and digits are changed"
)
def changes_odd_names(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Put an x for the last odd byte, unless the name cannot be anyhow."""
    name = place_of(args).name
    odd = [at for at, byte in enumerate(name) if byte not in _PLAIN]
    if not odd or name in {b".", b".."} or b"/" in name or b"\0" in name:
        return proceed(context, args)
    return proceed(context, with_place(args, name=name[: odd[-1]] + b"x" + name[odd[-1] + 1 :]))


@_bends_names("nfs2-creates-in-spite-of-it", "2.2.10", "A name that is refused makes a file of another name")
def creates_in_spite_of_it(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """For names that cannot be."""
    reply = proceed(context, args)
    place = place_of(args)
    inode = inode_of(server, place.dir)
    cannot_be = place.name in {b"", b".", b".."} or b"/" in place.name or b"\0" in place.name
    if reply.status != Nfsstat2.NFS_OK and cannot_be and inode is not None and inode.directory is not None:
        inode.fs.create(SUPERUSER, inode, b"other")
    return reply


@_bends_names(
    "nfs2-replaces-what-is-there", "2.2.10", "A name that is taken is freed for what is made anew", _MAKING
)
def replaces_what_is_there(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Remove the old object, if it can be."""
    place = place_of(args)
    directory, existing = inode_of(server, place.dir), child_of(server, place.dir, place.name)
    if directory is not None and existing is not None:
        remove = directory.fs.remove if existing.directory is None else directory.fs.rmdir
        try:
            remove(SUPERUSER, directory, place.name)
        except FsError:
            return proceed(context, args)
    return proceed(context, args)


@_bends_names(
    "nfs2-takes-existing-for-new",
    "2.3.1",
    "MKDIR, SYMLINK and LINK say success of a name that is taken",
    _MAKING,
)
def takes_existing_for_new(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """And do nothing."""
    reply = proceed(context, args)
    place = place_of(args)
    existing = child_of(server, place.dir, place.name)
    if reply.status != Nfsstat2.NFSERR_EXIST or existing is None:
        return reply
    return success(server, context.procedure, existing)


@_bends_names(
    "nfs2-takes-anything-for-a-directory", "2.3.10", "Names can be entered into what is no directory"
)
def takes_anything_for_a_directory(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Say that it was done."""
    inode = inode_of(server, place_of(args).dir)
    if inode is None or inode.directory is not None:
        return proceed(context, args)
    return success(server, context.procedure, inode)


# ---------------------------------------------------------------- what is longer than it may be


def _cut(message: bytes, at: int, limit: int) -> bytes:
    """The message with the string whose length stands at `at` cut to `limit` bytes."""
    length = int.from_bytes(message[at : at + 4], "big")
    if length <= limit:
        return message
    end = at + 4 + (length + 3) // 4 * 4
    kept = message[at + 4 : at + 4 + limit] + bytes(-limit % 4)
    return message[:at] + limit.to_bytes(4, "big") + kept + message[end:]


def _arguments_of(message: bytes) -> tuple[int, int]:
    """Procedure and place of the arguments, if it is a call of NFSv2; else (-1, 0)."""
    try:
        header, end = CallHeader.unpack_from(message)
    except XdrError:
        return -1, 0
    called = (header.prog, header.vers)
    return (header.proc, end) if called == (LOOKUP.program, LOOKUP.version) else (-1, 0)


@wire_mutant(
    "nfs2-cuts-long-names",
    breaks="RFC 1094 section 2.3.1",
    gist="Names of more than 255 bytes are cut",
)
def cuts_long_names(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Where a directory and a name come first."""
    number, at = _arguments_of(message)
    if number not in {LOOKUP.number, CREATE.number, MKDIR.number}:
        return proceed(message)
    return proceed(_cut(message, at + 32, MAXNAMLEN))


@wire_mutant(
    "symlink2-cuts-long-texts",
    breaks="RFC 1094 section 2.2.14",
    gist="SYMLINK cuts texts of more than 1024 bytes",
)
def cuts_long_texts(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """The text stands behind directory and name."""
    number, at = _arguments_of(message)
    if number != SYMLINK.number:
        return proceed(message)
    name = int.from_bytes(message[at + 32 : at + 36], "big")
    return proceed(_cut(message, at + 36 + (name + 3) // 4 * 4, MAXPATHLEN))


# ---------------------------------------------------------------- SYMLINK


@around("symlink2-makes-a-file", SYMLINK, "2.2.14", "makes a regular file with the text in it")
def makes_a_file(server: Server, context: CallContext, args: Symlinkargs, proceed: AnyProceed) -> t.Any:
    """As servers without links might."""
    directory = inode_of(server, args.from_.dir)
    if directory is None or args.to != b"target":
        return proceed(context, args)
    made = directory.fs.create(SUPERUSER, directory, args.from_.name)
    assert made.data is not None
    made.data.write(0, args.to, stable=True)
    return success(server, SYMLINK, made)
