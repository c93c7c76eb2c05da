# SPDX-License-Identifier: MIT
"""Mutants that answer damaged, stale and older handles badly, whatever procedure they are given to."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

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
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType, replace
from nfsserver.fs import HANDLE_SIZE, FsError
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.handles_mutants import heir

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]

_HANDLES: t.Final = "RFC 1813 section 2.5"
_ERRORS: t.Final = "RFC 1813 section 2.6"
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


def _says_of_bad_handles(name: str, gist: str, is_meant: Callable[[bytes], bool]) -> None:
    """Register what answers NOTEMPTY, not BADHANDLE, to some handles."""

    @mutant(
        name,
        bends=tuple(procedure for procedure in NFS3.procedures if procedure is not NULL),
        breaks=_ERRORS,
        gist=gist,
    )
    def middleware(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
        reply = proceed(context, args)
        if reply.status != Nfsstat3.NFS3ERR_BADHANDLE or not is_meant(_first_handle(args)):
            return reply
        return replace(reply, status=Nfsstat3.NFS3ERR_NOTEMPTY)


_says_of_bad_handles(
    "nfs3-short-handle-is-notempty",
    "every procedure answers NOTEMPTY to a handle of 4 bytes",
    lambda handle: len(handle) == 4,
)
_says_of_bad_handles(
    "nfs3-altered-handle-is-notempty",
    "every procedure answers NOTEMPTY to a handle of the right length that is none",
    lambda handle: len(handle) == HANDLE_SIZE,
)


@mutant(
    "nfs3-removed-directory-is-io",
    bends=_IN_A_DIRECTORY,
    breaks=_HANDLES,
    gist="procedures on a directory answer IO, not STALE, when it is gone",
)
def removed_directory_is_io(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Say something else."""
    reply = proceed(context, args)
    return replace(reply, status=Nfsstat3.NFS3ERR_IO) if reply.status == Nfsstat3.NFS3ERR_STALE else reply


@mutant(
    "nfs3-removed-directory-means-a-later-one",
    bends=_IN_A_DIRECTORY,
    breaks=_HANDLES,
    gist="the handle of a removed directory means a later one with its file number, but for LOOKUP and CREATE",
)
def removed_directory_means_a_later_one(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Do not look at the generation in a handle."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_STALE or context.procedure in {LOOKUP, CREATE}:
        return reply
    handles = [
        getattr(args, "link", args),
        *(getattr(args, name, args) for name in ("where", "object", "from_")),
    ]
    directory = next((place.dir for place in handles if hasattr(place, "dir")), b"")
    return proceed(context, _moved(args, heir(server, directory)))


def _moved(args: t.Any, directory: bytes) -> t.Any:
    """The arguments with another directory in all places."""
    places = [name for name in ("where", "object", "from_", "to", "link") if hasattr(args, name)]
    changed: dict[str, t.Any] = {name: replace(getattr(args, name), dir=directory) for name in places}
    return replace(args, **(changed or {"dir": directory}))


@mutant(
    "nfs3-renamed-is-stale",
    bends=(RENAME, GETATTR, SETATTR, ACCESS, READ, WRITE, COMMIT),
    breaks=_HANDLES,
    gist="the handle of a file is stale when RENAME has moved it to another directory",
)
def renamed_is_stale(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Find files by their names."""
    moved: set[bytes] = server.mutant_state("nfs3-renamed-is-stale").setdefault("moved", set())
    if context.procedure is not RENAME:
        if _first_handle(args) not in moved:
            return proceed(context, args)
        # What is answered to a handle that is none has the form of a refusal.
        field = "object" if hasattr(args, "object") else "file"
        return replace(proceed(context, replace(args, **{field: b""})), status=Nfsstat3.NFS3ERR_STALE)
    found = None
    try:
        directory = server.resolve(args.from_.dir)
        found = directory.fs.lookup(server.caller(context), directory, args.from_.name)
    except FsError:
        pass
    reply = proceed(context, args)
    if found is not None and reply.status == Nfsstat3.NFS3_OK and args.from_.dir != args.to.dir:
        moved.add(server.handle_of(found))
    return reply
