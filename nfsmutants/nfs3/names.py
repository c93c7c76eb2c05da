# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_names.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    LOOKUP,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    SYMLINK,
    Diropargs3,
    Nfsstat3,
    Rename3Res,
)
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import replace
from nfsmutants.bending import restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import (
    MADE,
    OF_NAMES,
    TAKEN,
    directory_of,
    find,
    name_fields,
    remove_all,
    rewrite_names,
    success,
)
from nfsmutants.nfs3.calls import Rename
from nfsmutants.rules import RFC1813_DATA_TYPES
from nfsserver.handlers import ServerApi

_ALIASES: t.Final = (b".", b"..")


@mutant((LOOKUP, MKDIR, SYMLINK, MKNOD, RENAME))
def names3_accept_the_empty_name(call: AnyCall) -> t.Any:
    """A call with an empty name is answered with success"""
    procedure = call.operation
    where = getattr(call.args, TAKEN.get(procedure) or MADE[procedure])
    return call.proceed() if where.name else success(call)


@mutant(tuple(MADE))
def names3_create_dots_under_other_names(call: AnyCall) -> t.Any:
    """The server creates objects named . and .. under similar names"""
    field = MADE[call.operation]
    where: Diropargs3 = getattr(call.args, field)
    if where.name not in _ALIASES or directory_of(call.server, where.dir) is None:
        return call.proceed()
    return call.proceed_with(**{field: replace(where, name=where.name + b" ")})


@mutant((REMOVE, RENAME))
def names3_dots_empty_the_directory(call: AnyCall) -> t.Any:
    """REMOVE and RENAME of the names . and .. remove the files in that directory"""
    where: Diropargs3 = getattr(call.args, TAKEN[call.operation])
    directory = directory_of(call.server, where.dir)
    if where.name in _ALIASES and directory is not None and directory.directory is not None:
        parent = directory.directory.parent or directory
        remove_all(call, directory if where.name == b"." else parent)
    return call.proceed()


@mutant(RENAME)
def rename3_moves_by_dots(call: Rename) -> Rename3Res:
    """RENAME of . or .. moves the directory that it stands for"""
    steps = {b".": 1, b"..": 2}.get(call.args.from_.name, 0)
    below, above = None, directory_of(call.server, call.args.from_.dir)
    for _ in range(steps):
        below, above = above, None if above is None or above.directory is None else above.directory.parent
    if not steps or above is None or above.directory is None:
        return call.proceed()
    name = next(entry for entry in above.directory.names() if above.directory.get(entry) is below)
    return call.proceed_with("from_", dir=call.backend.handle_of(above), name=name)


_OF_MADE: t.Final = tuple(MADE)
_OF_TAKEN: t.Final = tuple(TAKEN)


def _walk_path(server: ServerApi, where: Diropargs3) -> Diropargs3:
    """Go down one directory."""
    first, slash, rest = where.name.partition(b"/")
    below = find(server, replace(where, name=first)) if slash else None
    return where if below is None else Diropargs3(server.backend.handle_of(below), rest)


@mutant(OF_NAMES, breaks=RFC1813_DATA_TYPES)
def names3_follow_paths(call: AnyCall) -> t.Any:
    """A name with a slash is followed as a path"""
    return rewrite_names(call, _walk_path)


@mutant(OF_NAMES)
def names3_end_at_a_nul(call: AnyCall) -> t.Any:
    """A name ends at its first zero byte"""
    return rewrite_names(call, lambda _, where: replace(where, name=where.name.partition(b"\0")[0]))


@mutant(OF_NAMES)
def names3_refused_are_garbage_args(call: AnyCall) -> t.Any:
    """A call with an empty name, or with a slash or a zero byte in a name, is refused with GARBAGE_ARGS"""
    fields = name_fields(call.operation)
    names = [getattr(call.args, field).name for field in fields]
    if any(not name or b"/" in name or b"\0" in name for name in names):
        raise Refused(accept_stat=AcceptStat.GARBAGE_ARGS)
    return call.proceed()


def _plain(name: bytes) -> bytes:
    return name.decode("ascii", "replace").replace("\N{REPLACEMENT CHARACTER}", "?").encode()


@mutant(_OF_MADE)
def names3_replace_non_ascii_bytes(call: AnyCall) -> t.Any:
    """The server replaces bytes of a new name that are not ASCII"""
    return rewrite_names(call, lambda _, where: replace(where, name=_plain(where.name)), taken=False)


def _like(server: ServerApi, where: Diropargs3, key: t.Callable[[bytes], bytes]) -> Diropargs3:
    """The first name in the directory with the same key."""
    inode = directory_of(server, where.dir)
    names = inode.directory.names() if inode is not None and inode.directory is not None else []
    alike = [name for name in names if key(name) == key(where.name)]
    return where if where.name in names or not alike else replace(where, name=alike[0])


@mutant(_OF_TAKEN)
def names3_ignore_non_ascii_bytes(call: AnyCall) -> t.Any:
    """The server finds names that differ in bytes that are not ASCII"""
    return rewrite_names(call, lambda server, where: _like(server, where, _plain), made=False)


def _a_byte_longer(server: ServerApi, where: Diropargs3) -> Diropargs3:
    """Count a byte more than the name has."""
    return (
        replace(where, name=where.name + b"n")
        if len(where.name) == server.backend.fs.limits.name_max
        else where
    )


@mutant(_OF_MADE)
def names3_of_name_max_are_refused(call: AnyCall) -> t.Any:
    """The server refuses a new name of name_max bytes as too long"""
    return rewrite_names(call, _a_byte_longer, taken=False)


@mutant(_OF_TAKEN)
def names3_of_name_max_are_not_found(call: AnyCall) -> t.Any:
    """The server does not find a name of name_max bytes"""
    return rewrite_names(call, _a_byte_longer, made=False)


@mutant(OF_NAMES)
def names3_too_long_are_cut(call: AnyCall) -> t.Any:
    """The server cuts a name that is too long"""
    most = call.backend.fs.limits.name_max
    return rewrite_names(call, lambda _, where: replace(where, name=where.name[:most]))


@mutant(OF_NAMES)
def names3_fold_case(call: AnyCall) -> t.Any:
    """The server finds names that differ in case"""
    return rewrite_names(call, lambda server, where: _like(server, where, bytes.lower))


@mutant(OF_NAMES)
def names3_too_long_is_io(call: AnyCall) -> t.Any:
    """The server refuses a name that is too long with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_IO)
