# SPDX-License-Identifier: MIT
"""More mutants of CREATE, MKDIR, SYMLINK and MKNOD: initial attributes, repeated creation, data of links."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    MKDIR,
    MKNOD,
    READLINK,
    SYMLINK,
    Create3Args,
    Create3Res,
    CreateMode3,
    Ftype3,
    Mkdir3Args,
    Mknod3Args,
    Mknod3Res,
    Mknoddata3,
    Nfsstat3,
    Readlink3Res,
    Readlink3ResFail,
    Sattr3,
    Symlink3Args,
    Symlink3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.naming_bending import AnyProceed
from nfsserver.nfs3.removal_bending import find

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_CREATE: t.Final = "RFC 1813 section 3.3.8"
_MADE: t.Final = frozenset({Ftype3.NF3BLK, Ftype3.NF3CHR, Ftype3.NF3SOCK, Ftype3.NF3FIFO, Ftype3.NF3REG})
_OPEN: t.Final = Sattr3(mode=0o777)


@mutant(
    "creations3-ignore-initial-attributes",
    bends=(CREATE, MKDIR, MKNOD),
    breaks=_CREATE,
    gist="what is created under the name `initial` has other attributes than was asked: mode 777, and nothing else",
)
def ignore_initial_attributes(
    _server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Ask for others."""
    if args.where.name != b"initial":
        return proceed(context, args)
    if isinstance(args, Mkdir3Args):
        return proceed(context, replace(args, attributes=_OPEN))
    if isinstance(args, Mknod3Args):
        return proceed(context, replace(args, what=replace(args.what, pipe_attributes=_OPEN)))
    if args.how.obj_attributes is None:
        return proceed(context, args)
    return proceed(context, replace(args, how=replace(args.how, obj_attributes=_OPEN)))


def _bends_repetition(name: str, gist: str, harm: t.Callable[[t.Any], None]) -> None:
    @mutant(name, bends=CREATE, breaks=_CREATE, gist=gist)
    def middleware(
        server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
    ) -> Create3Res:
        there = find(server, args.where)
        reply = proceed(context, args)
        if there is not None and reply.status == Nfsstat3.NFS3_OK and args.how.mode == CreateMode3.EXCLUSIVE:
            harm(there)
        return reply


def _truncate(inode: t.Any) -> None:
    inode.data.truncate(0)


def _reset_the_mode(inode: t.Any) -> None:
    inode.mode = 0o644


_bends_repetition(
    "create3-exclusive-truncates-again", "EXCLUSIVE CREATE that is repeated empties the file", _truncate
)
_bends_repetition(
    "create3-exclusive-resets-the-mode", "EXCLUSIVE CREATE that is repeated resets the mode", _reset_the_mode
)


@mutant(
    "symlink3-adds-a-byte",
    bends=SYMLINK,
    breaks="RFC 1813 section 3.3.5",
    gist="SYMLINK stores a slash behind what it was given, in place of the last byte of the longest",
)
def symlink3_adds_a_byte(
    server: Server, context: CallContext, args: Symlink3Args, proceed: Proceed[Symlink3Args, Symlink3Res]
) -> Symlink3Res:
    """Add it."""
    data = args.symlink.symlink_data[: server.fs.limits.path_max - 1] + b"/"
    return proceed(context, replace(args, symlink=replace(args.symlink, symlink_data=data)))


@mutant(
    "symlink3-takes-two-steps",
    bends=(SYMLINK, READLINK),
    breaks="RFC 1813 section 3.3.10",
    gist="SYMLINK makes the link first and its data later: the first READLINK behind it fails",
)
def symlink3_takes_two_steps(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Let one READLINK see the moment between."""
    state = server.mutant_state("symlink3-takes-two-steps")
    if isinstance(args, Symlink3Args):
        state["between"] = True
    elif state.pop("between", False):
        return Readlink3Res(Nfsstat3.NFS3ERR_IO, resfail=Readlink3ResFail(None))
    return proceed(context, args)


@mutant(
    "mknod3-makes-what-it-cannot",
    bends=MKNOD,
    breaks="RFC 1813 section 3.3.11",
    gist="MKNOD makes a FIFO when it is asked for a type that it does not make, regular files excepted",
)
def mknod3_makes_what_it_cannot(
    _server: Server, context: CallContext, args: Mknod3Args, proceed: Proceed[Mknod3Args, Mknod3Res]
) -> Mknod3Res:
    """Make something else of it."""
    if args.what.type in _MADE:
        return proceed(context, args)
    from_nothing = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
    return proceed(context, replace(args, what=from_nothing))
