# SPDX-License-Identifier: MIT
"""Mutants of wcc_data that show between two connections, in SETATTR, and in the times of directories."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    CREATE,
    GETATTR,
    LINK,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    Fattr3,
    Rename3Args,
    Rename3Res,
    Setattr3Args,
    Setattr3Res,
    WccAttr,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.naming_bending import MADE, TAKEN, AnyProceed, directory_of, procedure_of
from nfsserver.nfs3.removal_bending import bends

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_WCC: t.Final = "RFC 1813 section 2.5"
_CHANGES: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)
_FIELDS: t.Final = {"from_": "fromdir_wcc", "to": "todir_wcc", "link": "linkdir_wcc"}

BendWcc: t.TypeAlias = Callable[[WccData], WccData]


def _fields(args: t.Any) -> list[str]:
    procedure = procedure_of(args)
    return [table[procedure] for table in (TAKEN, MADE) if procedure in table]


# ---------------------------------------------------------------- SETATTR


def _bends_setattr(name: str, arm: t.Literal["resok", "resfail"], gist: str, bend: BendWcc) -> None:
    @mutant(name, bends=SETATTR, breaks=_WCC, gist=gist)
    def middleware(
        _server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
    ) -> Setattr3Res:
        reply = proceed(context, args)
        results = getattr(reply, arm)
        if results is None:
            return reply
        return replace(reply, **{arm: replace(results, obj_wcc=bend(results.obj_wcc))})


def _larger_before(wcc: WccData) -> WccData:
    return wcc if wcc.before is None else replace(wcc, before=replace(wcc.before, size=wcc.before.size + 1))


def _of_another(wcc: WccData) -> WccData:
    return wcc if wcc.after is None else replace(wcc, after=replace(wcc.after, fileid=wcc.after.fileid + 1))


def _old_times(wcc: WccData) -> WccData:
    if wcc.before is None or wcc.after is None:
        return wcc
    return replace(wcc, after=replace(wcc.after, mtime=wcc.before.mtime, ctime=wcc.before.ctime))


_bends_setattr(
    "setattr3-before-has-another-size", "resok", "before of SETATTR has another size", _larger_before
)
_bends_setattr(
    "setattr3-after-is-of-another-object", "resok", "after of SETATTR has another fileid", _of_another
)
_bends_setattr(
    "setattr3-after-has-old-times", "resok", "after of SETATTR has the times from before", _old_times
)
_bends_setattr(
    "setattr3-refusals-have-another-size",
    "resfail",
    "before of a SETATTR that is refused has another size",
    _larger_before,
)


# ---------------------------------------------------------------- two connections


@mutant(
    "wcc3-remembers-by-connection",
    bends=(GETATTR, *_CHANGES),
    breaks=_WCC,
    gist="before is what GETATTR last said of the directory on the same connection",
)
def remembers_by_connection(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Keep what was said."""
    said: dict[t.Any, Fattr3] = server.mutant_state("wcc3-remembers-by-connection").setdefault("said", {})
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    if context.procedure is GETATTR:
        said[context.peer, args.object] = reply.resok.obj_attributes
        return reply
    bent = {}
    for field in _fields(args):
        old = said.get((context.peer, getattr(args, field).dir))
        path = _FIELDS.get(field, "dir_wcc")
        if old is not None:
            bent[path] = replace(getattr(reply.resok, path), before=WccAttr(old.size, old.mtime, old.ctime))
    return replace(reply, resok=replace(reply.resok, **bent))


@mutant(
    "getattr3-remembers-directories-by-connection",
    bends=(GETATTR, *_CHANGES),
    breaks="RFC 1813 section 3.3.1",
    gist="GETATTR repeats what it said of a directory on this connection, when another one has changed it since",
)
def remembers_directories_by_connection(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Keep a cache that only changes on the same connection get through."""
    state = server.mutant_state("getattr3-remembers-directories-by-connection")
    changed_by: dict[bytes, t.Any] = state.setdefault("changed_by", {})
    said: dict[t.Any, t.Any] = state.setdefault("said", {})
    if context.procedure is not GETATTR:
        changed_by.update((getattr(args, field).dir, context.peer) for field in _fields(args))
        return proceed(context, args)
    known = said.get((context.peer, args.object))
    if known is not None and changed_by.get(args.object, context.peer) != context.peer:
        return known
    reply = said[context.peer, args.object] = proceed(context, args)
    return reply


# ---------------------------------------------------------------- directories


@mutant(
    "names3-leave-mtime-of-directories",
    bends=_CHANGES,
    breaks=_WCC,
    gist="what changes the entries of a directory leaves its mtime alone",
)
def leave_mtime_of_directories(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Put it back."""
    directories = [directory_of(server, getattr(args, field)) for field in _fields(args)]
    known = [(directory, directory.mtime) for directory in directories if directory is not None]
    reply = proceed(context, args)
    for directory, mtime in known:
        directory.mtime = mtime
    return reply


RenameProceed: t.TypeAlias = Proceed[Rename3Args, Rename3Res]


@bends(
    RENAME, "before-is-of-the-other-directory", "returns before of each directory in the place of the other's"
)
def before_is_of_the_other_directory(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Mix them up."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    source, target = reply.resok.fromdir_wcc, reply.resok.todir_wcc
    bent = replace(
        reply.resok,
        fromdir_wcc=replace(source, before=target.before),
        todir_wcc=replace(target, before=source.before),
    )
    return replace(reply, resok=bent)


@bends(RENAME, "contradicts-itself-before", "within one directory returns two sizes from before", "2.5")
def contradicts_itself_before(
    _server: Server, context: CallContext, args: Rename3Args, proceed: RenameProceed
) -> Rename3Res:
    """Add one to the one of the target directory."""
    reply = proceed(context, args)
    if reply.resok is None or args.from_.dir != args.to.dir:
        return reply
    bent = replace(reply.resok, todir_wcc=_larger_before(reply.resok.todir_wcc))
    return replace(reply, resok=bent)
