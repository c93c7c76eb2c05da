# SPDX-License-Identifier: MIT
"""Mutants that answer damaged, stale and older handles badly, whatever procedure they are given to."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    ACCESS,
    COMMIT,
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    NFS3,
    NULL,
    READ,
    READDIR,
    READDIRPLUS,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Nfsstat3,
)
from nfsclient.xdr import XdrType, replace
from nfsmutants.bending import restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import heir
from nfsmutants.rules import RFC1813_DATA_TYPES, RFC1813_ERRORS
from nfsserver.fs import HANDLE_SIZE, FsError

_IN_A_DIRECTORY: t.Final = (
    LOOKUP,
    CREATE,
    MKDIR,
    SYMLINK,
    MKNOD,
    REMOVE,
    RMDIR,
    RENAME,
    LINK,
    READDIR,
    READDIRPLUS,
)


def _first_handle(args: XdrType) -> bytes:
    """The handle that stands first in the arguments, as it does in those of every procedure."""
    encoded = args.to_xdr()
    return encoded[4 : 4 + int.from_bytes(encoded[:4], "big")]


_EVERY: t.Final = tuple(procedure for procedure in NFS3.procedures if procedure is not NULL)


@mutant(_EVERY, RFC1813_ERRORS)
def nfs3_short_handle_is_notempty(call: AnyCall) -> t.Any:
    """Every procedure answers NOTEMPTY to a handle of 4 bytes"""
    reply = call.proceed()
    if len(_first_handle(call.args)) != 4:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOTEMPTY)


@mutant(_EVERY, RFC1813_ERRORS)
def nfs3_altered_handle_is_notempty(call: AnyCall) -> t.Any:
    """Every procedure answers NOTEMPTY to an invalid handle of the right length"""
    reply = call.proceed()
    if len(_first_handle(call.args)) != HANDLE_SIZE:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOTEMPTY)


@mutant(_IN_A_DIRECTORY, RFC1813_DATA_TYPES)
def nfs3_removed_directory_is_io(call: AnyCall) -> t.Any:
    """Procedures on a directory answer IO, not STALE, when it is gone"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_IO)


@mutant(_IN_A_DIRECTORY, RFC1813_DATA_TYPES)
def nfs3_removed_directory_means_a_later_one(call: AnyCall) -> t.Any:
    """The handle of a removed directory means a later one with its file number, but for LOOKUP and CREATE"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_STALE or call.procedure in {LOOKUP, CREATE}:
        return reply
    places: list[t.Any] = [
        getattr(call.args, name, call.args) for name in ("link", "where", "object", "from_")
    ]
    directory: bytes = next((place.dir for place in places if hasattr(place, "dir")), b"")
    return call.proceed(_moved(call.args, heir(call.server, directory)))


def _moved(args: t.Any, directory: bytes) -> t.Any:
    """The arguments with another directory in all places."""
    places: list[t.Any] = [name for name in ("where", "object", "from_", "to", "link") if hasattr(args, name)]
    changed: dict[str, t.Any] = {name: replace(getattr(args, name), dir=directory) for name in places}
    return replace(args, **(changed or {"dir": directory}))


@mutant((RENAME, GETATTR, SETATTR, ACCESS, READ, WRITE, COMMIT), RFC1813_DATA_TYPES)
def nfs3_renamed_is_stale(call: AnyCall) -> t.Any:
    """The handle of a file is stale when RENAME has moved it to another directory"""
    moved: set[bytes] = call.state.setdefault("moved", set())
    if call.procedure is not RENAME:
        if _first_handle(call.args) not in moved:
            return call.proceed()
        # What is answered to a handle that is none has the form of a refusal.
        field = "object" if hasattr(call.args, "object") else "file"
        return replace(call.proceed_with(**{field: b""}), status=Nfsstat3.NFS3ERR_STALE)
    found = None
    try:
        directory = call.server.resolve(call.args.from_.dir)
        found = directory.fs.lookup(call.caller, directory, call.args.from_.name)
    except FsError:
        pass
    reply = call.proceed()
    if found is not None and reply.status == Nfsstat3.NFS3_OK and call.args.from_.dir != call.args.to.dir:
        moved.add(call.server.handle_of(found))
    return reply
