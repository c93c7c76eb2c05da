# SPDX-License-Identifier: MIT
"""Mutants of SETATTR at the ends of what its values can be."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    GETATTR,
    SETATTR,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResOk,
    SetTime,
    TimeHow,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_SETATTR: t.Final = "RFC 1813 section 3.3.2"
_SECOND: t.Final = 1_000_000_000
_COMMON_IDS: t.Final = range(1, 65_535)
_LAST_OF_31_BITS: t.Final = 2**31 - 1

Bend: t.TypeAlias = Callable[[Inode, Sattr3], Sattr3]


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _bends(name: str, gist: str, breaks: str = _SETATTR) -> Callable[[Bend], Bend]:
    """Register what sets something else than was asked: (object, asked) -> asked."""

    def register(bend: Bend) -> Bend:
        @mutant(name, bends=SETATTR, breaks=breaks, gist=gist)
        def middleware(
            server: Server,
            context: CallContext,
            args: Setattr3Args,
            proceed: Proceed[Setattr3Args, Setattr3Res],
        ) -> Setattr3Res:
            inode = _inode(server, args.object)
            if inode is None:
                return proceed(context, args)
            return proceed(context, replace(args, new_attributes=bend(inode, args.new_attributes)))

        return bend

    return register


@_bends(
    "setattr3-mixes-modes-up",
    "SETATTR mixes the last bit up of modes that give all or none the right to execute",
)
def mixes_modes_up(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Turn it over."""
    if asked.mode is None or (asked.mode & 0o777 and asked.mode & 0o111 != 0o111):
        return asked
    return replace(asked, mode=asked.mode ^ 1)


@mutant(
    "setattr3-keeps-undefined-mode-bits",
    bends=SETATTR,
    breaks="RFC 1813 section 2.5",
    gist="SETATTR keeps bits of mode that mean nothing",
)
def keeps_undefined_mode_bits(
    server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
) -> Setattr3Res:
    """Store them."""
    reply = proceed(context, args)
    inode, mode = _inode(server, args.object), args.new_attributes.mode
    if reply.status == Nfsstat3.NFS3_OK and inode is not None and mode is not None and mode > 0o7777:
        inode.mode = mode
    return reply


def _other(number: int | None) -> int | None:
    return number if number is None or number in _COMMON_IDS else number ^ 1


@_bends("setattr3-stores-other-ids", "SETATTR stores a neighbour of an owner or a group that few have")
def stores_other_ids(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Count one up or down."""
    return replace(asked, uid=_other(asked.uid), gid=_other(asked.gid))


@_bends("setattr3-stops-at-31-bits", "SETATTR of a size of 2 GiB or more gives one below that")
def stops_at_31_bits(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Say nothing of it."""
    large = asked.size is not None and asked.size >= _LAST_OF_31_BITS
    return replace(asked, size=_LAST_OF_31_BITS - 1) if large else asked


@_bends(
    "setattr3-shrinks-large-files-to-nothing", "SETATTR of a smaller size empties a file of 2 GiB or more"
)
def shrinks_large_files_to_nothing(inode: Inode, asked: Sattr3) -> Sattr3:
    """Cut all of it off first."""
    if inode.data is not None and asked.size is not None and asked.size < _LAST_OF_31_BITS < inode.size:
        inode.data.truncate(0)
    return asked


def _late(time: SetTime) -> SetTime:
    if time.time is None:
        return time
    return replace(time, time=replace(time.time, seconds=(time.time.seconds + 60) % 2**32))


@_bends(
    "setattr3-is-a-minute-late",
    "SETATTR sets times of the client's a minute later",
    "RFC 1813 section 3.3.19",
)
def is_a_minute_late(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Add it."""
    return replace(asked, atime=_late(asked.atime), mtime=_late(asked.mtime))


@_bends(
    "setattr3-has-one-source-of-time",
    "SETATTR of one time of the client's and one of the server's sets both to the server's",
    "RFC 1813 section 3.3.19",
)
def has_one_source_of_time(_inode: Inode, asked: Sattr3) -> Sattr3:
    """Take one for both."""
    both = {asked.atime.set_it: asked.atime, asked.mtime.set_it: asked.mtime}
    if set(both) != {TimeHow.SET_TO_CLIENT_TIME, TimeHow.SET_TO_SERVER_TIME}:
        return asked
    now = both[TimeHow.SET_TO_SERVER_TIME]
    return replace(asked, atime=now, mtime=now)


@mutant(
    "setattr3-keeps-overfull-nanoseconds",
    bends=(SETATTR, GETATTR),
    breaks="RFC 1813 section 2.5",
    gist="SETATTR takes nanoseconds of a second or more, and GETATTR gives them back",
)
def keeps_overfull_nanoseconds(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Remember them by the handle."""
    kept: dict[bytes, dict[str, Nfstime3]] = server.mutant_state(
        "setattr3-keeps-overfull-nanoseconds"
    ).setdefault("kept", {})
    if isinstance(args, Setattr3Args):
        times = {"atime": args.new_attributes.atime.time, "mtime": args.new_attributes.mtime.time}
        overfull = {which: time for which, time in times.items() if time and time.nseconds >= _SECOND}
        if not overfull:
            return proceed(context, args)
        kept.setdefault(args.object, {}).update(overfull)
        return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(WccData()))
    reply = proceed(context, args)
    if reply.resok is None or args.object not in kept:
        return reply
    bent = replace(reply.resok.obj_attributes, **kept[args.object])
    return replace(reply, resok=replace(reply.resok, obj_attributes=bent))
