# SPDX-License-Identifier: MIT
"""Mutants of wcc_data that show between two connections, in SETATTR, and in the times of directories."""

from __future__ import annotations

import typing as t

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
    Rename3Res,
    Setattr3Res,
    WccAttr,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import directory_of, name_fields, with_old_times
from nfsmutants.nfs3.calls import Rename, Setattr
from nfsmutants.rules import RFC1813_DATA_TYPES, RFC1813_GETATTR, RFC1813_RENAME

_CHANGES: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)
_FIELDS: t.Final = {"from_": "fromdir_wcc", "to": "todir_wcc", "link": "linkdir_wcc"}


# ---------------------------------------------------------------- SETATTR


@mutant(SETATTR, RFC1813_DATA_TYPES)
def setattr3_before_has_another_size(call: Setattr) -> Setattr3Res:
    """before of SETATTR has another size"""
    return amend(call.proceed(), "obj_wcc.before", size=lambda it: it.size + 1)


@mutant(SETATTR, RFC1813_DATA_TYPES)
def setattr3_after_is_of_another_object(call: Setattr) -> Setattr3Res:
    """after of SETATTR has another fileid"""
    return amend(call.proceed(), "obj_wcc.after", fileid=lambda it: it.fileid + 1)


@mutant(SETATTR, RFC1813_DATA_TYPES)
def setattr3_after_has_old_times(call: Setattr) -> Setattr3Res:
    """after of SETATTR has the times from before"""
    return amend(call.proceed(), obj_wcc=lambda it: with_old_times(it.obj_wcc))


@mutant(SETATTR, RFC1813_DATA_TYPES)
def setattr3_refusals_have_another_size(call: Setattr) -> Setattr3Res:
    """before of a SETATTR that is refused has another size"""
    return amend_refusal(call.proceed(), "obj_wcc.before", size=lambda it: it.size + 1)


# ---------------------------------------------------------------- two connections


@mutant((GETATTR, *_CHANGES), RFC1813_DATA_TYPES)
def wcc3_remembers_by_connection(call: AnyCall) -> t.Any:
    """before is what GETATTR last said of the directory on the same connection"""
    said: dict[t.Any, Fattr3] = call.state.setdefault("said", {})
    reply = call.proceed()
    if reply.resok is None:
        return reply
    if call.procedure is GETATTR:
        said[call.peer, call.args.object] = reply.resok.obj_attributes
        return reply
    bent = {}
    for field in name_fields(call.procedure):
        old = said.get((call.peer, getattr(call.args, field).dir))
        path = _FIELDS.get(field, "dir_wcc")
        if old is not None:
            bent[path] = replace(getattr(reply.resok, path), before=WccAttr(old.size, old.mtime, old.ctime))
    return replace(reply, resok=replace(reply.resok, **bent))


@mutant((GETATTR, *_CHANGES), RFC1813_GETATTR)
def getattr3_remembers_directories_by_connection(call: AnyCall) -> t.Any:
    """GETATTR repeats what it said of a directory on this connection, when another one has changed it since"""
    state = call.state
    changed_by: dict[bytes, t.Any] = state.setdefault("changed_by", {})
    said: dict[t.Any, t.Any] = state.setdefault("said", {})
    if call.procedure is not GETATTR:
        changed_by.update((getattr(call.args, field).dir, call.peer) for field in name_fields(call.procedure))
        return call.proceed()
    known = said.get((call.peer, call.args.object))
    if known is not None and changed_by.get(call.args.object, call.peer) != call.peer:
        return known
    reply = said[call.peer, call.args.object] = call.proceed()
    return reply


# ---------------------------------------------------------------- directories


@mutant(_CHANGES, RFC1813_DATA_TYPES)
def names3_leave_mtime_of_directories(call: AnyCall) -> t.Any:
    """What changes the entries of a directory leaves its mtime alone"""
    directories = [
        directory_of(call.server, getattr(call.args, field)) for field in name_fields(call.procedure)
    ]
    known = [(directory, directory.mtime) for directory in directories if directory is not None]
    reply = call.proceed()
    for directory, mtime in known:
        directory.mtime = mtime
    return reply


@mutant(RENAME, RFC1813_RENAME)
def rename3_before_is_of_the_other_directory(call: Rename) -> Rename3Res:
    """RENAME returns before of each directory in the place of the other's"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    source, target = reply.resok.fromdir_wcc, reply.resok.todir_wcc
    bent = replace(
        reply.resok,
        fromdir_wcc=replace(source, before=target.before),
        todir_wcc=replace(target, before=source.before),
    )
    return replace(reply, resok=bent)


@mutant(RENAME, RFC1813_DATA_TYPES)
def rename3_contradicts_itself_before(call: Rename) -> Rename3Res:
    """RENAME within one directory returns two sizes from before"""
    reply = call.proceed()
    if reply.resok is None or call.args.from_.dir != call.args.to.dir:
        return reply
    return amend(reply, "todir_wcc.before", size=lambda it: it.size + 1)
