# SPDX-License-Identifier: MIT
"""Mutants of names, in every procedure that takes one."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    READLINK,
    REMOVE,
    RENAME,
    SYMLINK,
    Diropargs3,
    Link3Args,
    Link3Res,
    Nfsstat3,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.handles_mutants import heir
from nfsserver.nfs3.naming_bending import (
    MADE,
    OF_NAMES,
    TAKEN,
    AnyProceed,
    directory_of,
    procedure_of,
    rewrites,
    success,
)
from nfsserver.nfs3.removal_bending import find, remove_all

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_NAMES: t.Final = "RFC 1813 section 3.2"
_HANDLES: t.Final = "RFC 1813 section 2.5"
_PATHCONF: t.Final = "RFC 1813 section 3.3.20"
_ALIASES: t.Final = (b".", b"..")


@mutant(
    "names3-take-the-empty-name",
    bends=(LOOKUP, MKDIR, SYMLINK, MKNOD, RENAME),
    breaks=_NAMES,
    gist="a call without a name is answered with success",
)
def take_the_empty_name(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Say so, and do nothing."""
    procedure = procedure_of(args)
    where = getattr(args, TAKEN.get(procedure) or MADE[procedure])
    return proceed(context, args) if where.name else success(args)


@mutant(
    "names3-make-aliases",
    bends=tuple(MADE),
    breaks=_NAMES,
    gist="what is made under the names . and .. is made indeed, under a name that looks like them",
)
def make_aliases(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Make it beside them."""
    field = MADE[procedure_of(args)]
    where: Diropargs3 = getattr(args, field)
    if where.name not in _ALIASES or directory_of(server, where) is None:
        return proceed(context, args)
    return proceed(context, replace(args, **{field: replace(where, name=where.name + b" ")}))


@mutant(
    "names3-empty-by-aliases",
    bends=(REMOVE, RENAME),
    breaks=_NAMES,
    gist="REMOVE of, and RENAME from, the names . and .. remove the files in that directory",
)
def empty_by_aliases(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Remove them first."""
    where: Diropargs3 = getattr(args, TAKEN[procedure_of(args)])
    directory = directory_of(server, where)
    if where.name in _ALIASES and directory is not None and directory.directory is not None:
        parent = directory.directory.parent or directory
        remove_all(server, context, directory if where.name == b"." else parent)
    return proceed(context, args)


@rewrites("names3-walk-paths", "a name with a slash is walked as a path", breaks=_HANDLES)
def walk_paths(server: Server, where: Diropargs3) -> Diropargs3:
    """Go down one directory."""
    first, slash, rest = where.name.partition(b"/")
    below = find(server, replace(where, name=first)) if slash else None
    return where if below is None else Diropargs3(server.handle_of(below), rest)


@rewrites("names3-end-at-a-nul", "a name ends at its first zero byte", breaks=_HANDLES)
def end_at_a_nul(_server: Server, where: Diropargs3) -> Diropargs3:
    """As strings of C do."""
    return replace(where, name=where.name.partition(b"\0")[0])


@rewrites(
    "names3-replace-bytes",
    "bytes of a new name that are not ASCII are replaced",
    breaks=_NAMES,
    taken=False,
)
def replace_bytes(_server: Server, where: Diropargs3) -> Diropargs3:
    """Write question marks."""
    return replace(where, name=_plain(where.name))


def _plain(name: bytes) -> bytes:
    return name.decode("ascii", "replace").replace("\N{REPLACEMENT CHARACTER}", "?").encode()


@rewrites(
    "names3-mix-bytes-up",
    "names are found that differ in bytes that are not ASCII",
    breaks=_NAMES,
    made=False,
)
def mix_bytes_up(server: Server, where: Diropargs3) -> Diropargs3:
    """Take whatever looks like it."""
    return _like(server, where, _plain)


def _like(server: Server, where: Diropargs3, key: t.Callable[[bytes], bytes]) -> Diropargs3:
    """The first name in the directory that has the same key."""
    inode = directory_of(server, where)
    names = inode.directory.names() if inode is not None and inode.directory is not None else []
    alike = [name for name in names if key(name) == key(where.name)]
    return where if where.name in names or not alike else replace(where, name=alike[0])


def _one_more(server: Server, where: Diropargs3) -> Diropargs3:
    """Count a byte more than there is."""
    return replace(where, name=where.name + b"n") if len(where.name) == server.fs.limits.name_max else where


rewrites(
    "names3-are-a-byte-shorter", "a new name of name_max bytes is too long", breaks=_PATHCONF, taken=False
)(_one_more)
rewrites(
    "names3-are-found-a-byte-shorter", "a name of name_max bytes is not found", breaks=_PATHCONF, made=False
)(_one_more)


@rewrites("names3-are-cut", "a name that is too long is cut", breaks=_PATHCONF)
def are_cut(server: Server, where: Diropargs3) -> Diropargs3:
    """Keep its beginning."""
    return replace(where, name=where.name[: server.fs.limits.name_max])


@rewrites("names3-fold-case", "a name stands for what has it in another case", breaks=_PATHCONF)
def fold_case(server: Server, where: Diropargs3) -> Diropargs3:
    """Look for it in lower case."""
    return _like(server, where, bytes.lower)


# ---------------------------------------------------------------- handles beside names


@mutant(
    "names3-removed-is-io",
    bends=(*OF_NAMES, READLINK),
    breaks=_HANDLES,
    gist="what is asked by the handle of a removed object is answered with IO, not STALE",
)
def removed_is_io(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Say something else."""
    reply = proceed(context, args)
    return replace(reply, status=Nfsstat3.NFS3ERR_IO) if reply.status == Nfsstat3.NFS3ERR_STALE else reply


@mutant(
    "names3-reach-a-later-directory",
    bends=tuple(procedure for procedure in OF_NAMES if procedure not in {LOOKUP, CREATE}),
    breaks=_HANDLES,
    gist="the generation in a handle is not looked at: that of a removed directory means a later one",
)
def reach_a_later_directory(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Go by the file number."""
    procedure = procedure_of(args)
    bent = {}
    for table in (MADE, TAKEN):
        if procedure in table:
            where: Diropargs3 = getattr(args, table[procedure])
            bent[table[procedure]] = replace(where, dir=heir(server, where.dir))
    return proceed(context, replace(args, **bent))


@mutant(
    "link3-reaches-a-later-file",
    bends=LINK,
    breaks=_HANDLES,
    gist="LINK does not look at the generation in a handle: that of a removed file means a later one",
)
def link3_reaches_a_later_file(
    server: Server, context: CallContext, args: Link3Args, proceed: Proceed[Link3Args, Link3Res]
) -> Link3Res:
    """Go by the file number."""
    return proceed(context, replace(args, file=heir(server, args.file)))
